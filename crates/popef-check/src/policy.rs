use std::collections::BTreeMap;

use popef::types::DataType;
use popef_findings::{Level, Rule, Severity};

/// What a team requires of the files that it ships.
///
/// A plain value. With the feature `serde`, it can be read from every format that serde supports. In TOML:
///
/// ```toml
/// max-file-size = 8589934592       # bytes
/// compressed-executables = true
/// no-pickles = true
/// opaques = ["popart"]             # the only names allowed
/// known-imports = ["bert.Head", "mymodels.*"]   # what pickles may import beside what is known
/// num-ipus = 4
/// ipu-version = 2
/// poplar-hash = "0f1e2d3c4b"       # of TensorFlow's blob
/// target-arch = "ipu2"
/// poptorch-version = "3.4.0+0000000000_1234567-feedface"
///
/// [rules]
/// PE008 = "off"                    # or "note", "warning", "error"
///
/// [[inputs]]
/// name = "images"
/// data-type = "f16"
/// shape = ["?", 3, 224, 224]       # the batch is open
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", default, deny_unknown_fields))]
pub struct Policy {
    /// The severity of rules by id, or off.
    pub rules: BTreeMap<String, Level>,
    /// The largest size of a file in bytes.
    pub max_file_size: Option<u64>,
    /// Whether all executables have to be compressed.
    pub compressed_executables: bool,
    /// Whether Python pickles in opaque blobs are forbidden.
    pub no_pickles: bool,
    /// The names that opaque blobs may have. All if `None`.
    pub opaques: Option<Vec<String>>,
    /// What pickles may import in addition to what these checks know: a module and a name, such as `bert.Head`, or
    /// everything in a package, such as `mymodels.*`. A dangerous import is still an error.
    pub known_imports: Vec<String>,
    /// The number of IPUs that each model has to use.
    pub num_ipus: Option<u32>,
    /// The IPU version that each model has to be compiled for.
    pub ipu_version: Option<u32>,
    /// The hash of the Poplar package that TensorFlow's blobs have to state. TensorFlow compares it on loading.
    pub poplar_hash: Option<String>,
    /// The target architecture that TensorFlow's blobs have to state, such as `ipu21`.
    pub target_arch: Option<String>,
    /// The version of PopTorch that has to be in PopTorch's data, exactly as PopTorch states it.
    pub poptorch_version: Option<String>,
    /// Inputs that each model has to have.
    pub inputs: Vec<TensorDemand>,
    /// Outputs that each model has to have.
    pub outputs: Vec<TensorDemand>,
}

/// An input or output that a model has to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", deny_unknown_fields))]
pub struct TensorDemand {
    /// The anchor's name.
    pub name: String,
    /// The type of its elements. Any if `None`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub data_type: Option<DataType>,
    /// Its shape, without the dimensions for replicas and repeats. Any if `None`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub shape: Option<Vec<Extent>>,
}

/// What a dimension has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Anything; written `"?"`.
    Any,
    /// This and nothing else.
    Exactly(i64),
}

impl TensorDemand {
    /// Returns whether a shape is allowed.
    pub fn allows_shape(&self, shape: &[i64]) -> bool {
        let fits = |(demand, &extent): (&Extent, &i64)| match demand {
            Extent::Any => true,
            Extent::Exactly(demanded) => *demanded == extent,
        };
        self.shape.as_ref().is_none_or(|demand| demand.len() == shape.len() && demand.iter().zip(shape).all(fits))
    }
}

impl Policy {
    /// Returns whether the policy lets pickles import this.
    pub(super) fn knows_import(&self, path: &str) -> bool {
        self.known_imports.iter().any(|known| match known.strip_suffix(".*") {
            Some(package) => path.strip_prefix(package).is_some_and(|rest| rest.starts_with('.')),
            None => path == known,
        })
    }

    /// The severity of a rule's findings under this policy, if it has this one without it. `None` if it is off.
    pub(super) fn severity_of(&self, rule: &Rule, without: Severity) -> Option<Severity> {
        let level = self.rules.iter().find(|(id, _)| rule.id.eq_ignore_ascii_case(id));
        level.map_or(Some(without), |(_, level)| level.severity())
    }
}

/// In text formats, `"?"` is any extent and a number is itself. In binary formats, an extent is an optional number.
#[cfg(feature = "serde")]
mod serde_impls {
    use super::Extent;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for Extent {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match (self, serializer.is_human_readable()) {
                (Extent::Any, true) => serializer.serialize_str("?"),
                (Extent::Any, false) => serializer.serialize_none(),
                (Extent::Exactly(extent), true) => serializer.serialize_i64(*extent),
                (Extent::Exactly(extent), false) => serializer.serialize_some(extent),
            }
        }
    }

    impl<'de> Deserialize<'de> for Extent {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            #[derive(Deserialize)]
            #[serde(untagged)]
            enum Written {
                Number(i64),
                Text(String),
            }
            let wrong = || D::Error::custom("a dimension is a number that is not negative, or \"?\" for any");
            let extent = if deserializer.is_human_readable() {
                match Written::deserialize(deserializer).map_err(|_| wrong())? {
                    Written::Number(extent) => Some(extent),
                    Written::Text(text) if text == "?" => None,
                    Written::Text(_) => return Err(wrong()),
                }
            } else {
                Option::deserialize(deserializer)?
            };
            match extent {
                None => Ok(Extent::Any),
                Some(extent @ 0..) => Ok(Extent::Exactly(extent)),
                Some(_) => Err(wrong()),
            }
        }
    }
}
