//! Policies for profiles.

use std::collections::BTreeMap;

use popef_findings::{Level, Rule, Severity};

/// What a team requires of a profile: limits, and the thresholds of findings.
///
/// A plain value. With the feature `serde`, it can be read from every format that serde supports. In TOML, with the thresholds as
/// they are by default:
///
/// ```toml
/// max-tile = "600KiB"       # limits: errors if they are exceeded, without defaults
/// max-total = 900000000
/// max-cycles = 2000000
/// min-balance = 0.3
///
/// full = 0.9                # what a share of its memory the fullest tile uses from which on memory is short
/// max-over-median = 2.0     # and so on: `popef explain PP102` says what each is for
/// max-exchange-code = 0.2
/// max-control-code = 0.2
/// max-always-live = 0.9
/// max-temporary = 0.6
/// max-gaps = 0.1
/// max-twin-code = 0.01
/// max-differences = 0.1
/// heavy-step = 0.02
/// min-step-balance = 0.5
/// min-active-tiles = 0.25
/// min-threads = 0.34
/// max-sync = 0.5
/// max-host = 0.3
/// heavy-copies = 0.1
/// min-overlap = 0.1
///
/// [rules]
/// PP201 = "error"           # or "off", "note", "warning"
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Policy {
    /// The severity of rules by id, or off.
    pub rules: BTreeMap<String, Level>,
    /// The most memory that a tile may need, with gaps.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::bytes"))]
    pub max_tile: Option<u64>,
    /// The most memory that all tiles may need: what is always live, plus the maximum of the rest on each tile.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::bytes"))]
    pub max_total: Option<u64>,
    /// The most cycles that the execution may take.
    pub max_cycles: Option<u64>,
    /// The smallest balance that a heavy step may have.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::optional_share"))]
    pub min_balance: Option<f64>,
    /// Memory is short if the fullest tile needs at least this share of its memory.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::factor"))]
    pub full: f64,
    /// The largest ratio of what the fullest tile needs to what the median needs.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::factor"))]
    pub max_over_median: f64,
    /// The largest share that code and headers of exchanges may have of all data.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_exchange_code: f64,
    /// The largest share that control code may have of all data.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_control_code: f64,
    /// The largest share that what is always live may have at the peak.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_always_live: f64,
    /// The largest share that what is not always live may have at the peak.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_temporary: f64,
    /// The largest share of a tile's memory that gaps inside regions may have.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_gaps: f64,
    /// The largest share of all data that code of vertex types may have if they exist for `half` too.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_twin_code: f64,
    /// The largest share of the values of steps that may differ from what follows from the graph.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_differences: f64,
    /// A step is heavy if all its runs take at least this share of the cycles of all steps.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub heavy_step: f64,
    /// The smallest balance that a heavy step may have.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub min_step_balance: f64,
    /// The smallest share of tiles that may take part in a heavy compute step.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub min_active_tiles: f64,
    /// The smallest thread balance that a heavy compute step may have.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub min_threads: f64,
    /// The largest share of all tiles' cycles that synchronisation may have.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_sync: f64,
    /// The largest share of all tiles' cycles that copies with the host may have.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub max_host: f64,
    /// Copies with the host should overlap with compute if they take at least this share of the execution.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub heavy_copies: f64,
    /// The smallest share of these copies during which there should be compute.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "read::share"))]
    pub min_overlap: f64,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            rules: BTreeMap::new(),
            max_tile: None,
            max_total: None,
            max_cycles: None,
            min_balance: None,
            full: 0.9,
            max_over_median: 2.0,
            max_exchange_code: 0.2,
            max_control_code: 0.2,
            max_always_live: 0.9,
            max_temporary: 0.6,
            max_gaps: 0.1,
            max_twin_code: 0.01,
            max_differences: 0.1,
            heavy_step: 0.02,
            min_step_balance: 0.5,
            min_active_tiles: 0.25,
            min_threads: 0.34,
            max_sync: 0.5,
            max_host: 0.3,
            heavy_copies: 0.1,
            min_overlap: 0.1,
        }
    }
}

impl Policy {
    /// The severity of a rule's findings. `None` if the rule is off.
    pub(super) fn severity_of(&self, rule: &Rule) -> Option<Severity> {
        let level = self.rules.iter().find(|(id, _)| rule.id.eq_ignore_ascii_case(id));
        level.map_or(Some(rule.severity), |(_, level)| level.severity())
    }
}

/// Parses a number of bytes, with or without a unit: `4096`, `600KiB`, `500 MB`.
///
/// ```
/// use poplar_inspect::profile::parse_bytes;
///
/// assert_eq!(parse_bytes("600KiB"), Some(614_400));
/// assert_eq!(parse_bytes("600 kilos"), None);
/// ```
pub fn parse_bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 13] = [
        ("", 1),
        ("B", 1),
        ("K", 1 << 10),
        ("M", 1 << 20),
        ("G", 1 << 30),
        ("T", 1 << 40),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ];
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, unit) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim_start()))?;
    number.parse::<u64>().ok()?.checked_mul(*unit)
}

/// Readers that check values, which serde would accept as they are.
#[cfg(feature = "serde")]
mod read {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Bytes {
        Number(u64),
        Text(String),
    }

    pub(super) fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        let wrong =
            || D::Error::custom("a size is a number of bytes that is not negative, or a text such as \"600KiB\"");
        let bytes = match Bytes::deserialize(deserializer).map_err(|_| wrong())? {
            Bytes::Number(bytes) => Some(bytes),
            Bytes::Text(text) => super::parse_bytes(&text),
        };
        bytes.map(Some).ok_or_else(wrong)
    }

    pub(super) fn factor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let wrong = || D::Error::custom("the value must be a number that is not negative");
        f64::deserialize(deserializer).ok().filter(|factor| (0.0..f64::MAX).contains(factor)).ok_or_else(wrong)
    }

    pub(super) fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let wrong = || D::Error::custom("the value must be a share, which is a number from 0 to 1");
        f64::deserialize(deserializer).ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(wrong)
    }

    pub(super) fn optional_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        share(deserializer).map(Some)
    }
}
