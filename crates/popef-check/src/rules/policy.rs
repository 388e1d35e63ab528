//! Rules of a team's policy.

use super::super::findings::{Findings, Spot};
use super::super::policy::{Extent, TensorDemand};
use super::super::run::{Check, model, pickle, set};
use super::super::set::Set;
use super::super::words::{count, quote, shape};
use popef::error::{Error, ErrorCode};
use popef::model::Model;
use popef::read::OpaqueBlob;
use popef::types::{Anchor, TensorType, Text};
use popef_findings::{Rule, When};
use popef_payload::Framework;

pub(super) const RULES: &[Check] = &[
    Rule::error("PE701", "policy: the file is too large")
        .meaning("The file has more bytes than the policy allows.")
        .fix("Compress its executables, put data into separate files, or change max-file-size in the policy.")
        .when(When::Policy)
        .run(set(|set, out| {
            let Some(limit) = set.policy.max_file_size else { return };
            for (file, opened) in set.files().iter().enumerate().filter(|(_, opened)| opened.size() > limit) {
                out.add(Spot::file(file), [], || {
                    format!("the file has {}, the policy allows {limit}", count(opened.size(), "byte"))
                });
            }
        })),
    Rule::error("PE702", "policy: an executable is not compressed")
        .meaning("The policy requires that all executables are compressed.")
        .fix("Compress the executable with popef compress, or change compressed-executables in the policy.")
        .when(When::Policy)
        .run(set(|set, out| {
            let stored = set.executables().filter(|executable| !executable.is_compressed());
            for executable in stored.filter(|_| set.policy.compressed_executables) {
                out.add(Spot::blob(executable.file, executable.blob.blob()), [executable.name()], || {
                    let bytes = count(executable.data().len(), "byte");
                    format!("executable {} of {bytes} is not compressed", quote(&executable.name()))
                });
            }
        })),
    Rule::error("PE703", "policy: a pickle")
        .meaning("The policy forbids Python pickles, because loading a pickle runs code that it names.")
        .fix("Remove the blob with popef strip, or change no-pickles in the policy.")
        .when(When::Policy)
        .run(pickle(|set, pickled, out| {
            if set.policy.no_pickles {
                out.add(pickled.start, pickled.name.clone(), || {
                    format!("{} is a Python pickle, which the policy forbids", pickled.named())
                });
            }
        })),
    Rule::error("PE704", "policy: an opaque blob that is not allowed")
        .meaning("The policy lists the allowed names of opaque blobs, and this is not one of them.")
        .fix("Remove the blob with popef strip, or add its name to opaques in the policy.")
        .when(When::Policy)
        .run(set(|set, out| {
            let Some(allowed) = &set.policy.opaques else { return };
            let is_allowed = |name: &Text<'_>| allowed.iter().any(|allowed| *name == **allowed);
            for opaque in set.opaques().filter(|opaque| !is_allowed(&opaque.name())) {
                out.add(Spot::blob(opaque.file, opaque.blob.blob()), [opaque.name()], || {
                    format!("opaque blob {} is not one of those that the policy allows", quote(&opaque.name()))
                });
            }
        })),
    Rule::error("PE705", "policy: wrong number of IPUs")
        .meaning("A model uses another number of IPUs than the policy requires.")
        .fix("Compile the model for that number, or change num-ipus in the policy.")
        .when(When::Policy)
        .run(model(|set, model, out| {
            demand(model, out, set.policy.num_ipus, model.metadata().num_ipus, |found, needed| {
                format!("the model uses {}, the policy requires {needed}", count(found.into(), "IPU"))
            });
        })),
    Rule::error("PE706", "policy: wrong IPU version")
        .meaning("A model is compiled for another IPU version than the policy requires.")
        .fix("Compile the model for that version, or change ipu-version in the policy.")
        .when(When::Policy)
        .run(model(|set, model, out| {
            demand(model, out, set.policy.ipu_version, model.metadata().ipu_version, |found, needed| {
                format!("the model is for IPU version {found}, the policy requires {needed}")
            });
        })),
    Rule::error("PE707", "policy: an input is missing")
        .meaning("A model does not have an input that the policy requires.")
        .fix("Export the model with that input, or change inputs in the policy.")
        .when(When::Policy)
        .run(model(|set, model, out| absent(model, out, TensorType::Input, &set.policy.inputs, "input"))),
    Rule::error("PE708", "policy: an output is missing")
        .meaning("A model does not have an output that the policy requires.")
        .fix("Export the model with that output, or change outputs in the policy.")
        .when(When::Policy)
        .run(model(|set, model, out| absent(model, out, TensorType::Output, &set.policy.outputs, "output"))),
    Rule::error("PE709", "policy: an input or output with the wrong type or shape")
        .meaning(
            "An input or output has another type or shape than the policy requires. Shapes are those of the model, \
             without the dimensions for replicas and repeats.",
        )
        .fix("Export the model as required, or change the policy.")
        .when(When::Policy)
        .run(model(|set, model, out| {
            unlike(model, out, TensorType::Input, &set.policy.inputs, "input");
            unlike(model, out, TensorType::Output, &set.policy.outputs, "output");
        })),
    Rule::error("PE710", "policy: compiled with another Poplar")
        .meaning(
            "TensorFlow's opaque blob states another hash of the Poplar package than the policy requires, or none. \
             TensorFlow refuses to load an executable of another Poplar.",
        )
        .fix("Compile the model with the required SDK, or change poplar-hash in the policy.")
        .when(When::Policy)
        .run(set(|set, out| {
            stated(set, out, set.policy.poplar_hash.as_deref(), ("Poplar", "poplar-hash"), |blob| blob.poplar_hash);
        })),
    Rule::error("PE711", "policy: compiled for another architecture")
        .meaning(
            "TensorFlow's opaque blob states another target architecture than the policy requires, or none. Only files \
             for serving state it.",
        )
        .fix("Compile the model for the required architecture, or change target-arch in the policy.")
        .when(When::Policy)
        .run(set(|set, out| {
            stated(set, out, set.policy.target_arch.as_deref(), ("the architecture", "target-arch"), |blob| {
                blob.target_arch
            });
        })),
];

/// What TensorFlow's blob states of its origin and target. Empty texts if it does not.
struct Stated {
    poplar_hash: String,
    target_arch: String,
}

#[cfg(feature = "tensorflow")]
fn stated_by(opaque: &OpaqueBlob<'_>) -> Result<Stated, Error> {
    let executable = popef_payload::tensorflow::Executable::read(opaque)?;
    let message = executable.message();
    Ok(Stated {
        poplar_hash: message.poplar_package_hash().to_owned(),
        target_arch: message.embedded_runtime_config().map_or("", |config| config.target_arch()).to_owned(),
    })
}

/// A build without the feature fails with the words for that.
#[cfg(not(feature = "tensorflow"))]
fn stated_by(opaque: &OpaqueBlob<'_>) -> Result<Stated, Error> {
    popef_payload::Payload::read(opaque).map(|_| Stated { poplar_hash: String::new(), target_arch: String::new() })
}

/// Compares what the policy demands with what each of TensorFlow's blobs states.
fn stated(
    set: &Set,
    out: &mut Findings<'_>,
    demanded: Option<&str>,
    (what, key): (&str, &str),
    of: fn(Stated) -> String,
) {
    let Some(demanded) = demanded else { return };
    let blobs = || set.opaques().filter(|opaque| Framework::of_blob(opaque) == Some(Framework::Tensorflow));
    if blobs().next().is_none() {
        out.skip(&format!("{key} of the policy"), "the files have no opaque blob of TensorFlow's");
    }
    for opaque in blobs() {
        let found = match stated_by(&opaque) {
            Ok(stated) => of(stated),
            // A blob that is damaged states nothing, so that a cut does not make a model pass.
            Err(error) if error.is_about_the_file() && error.code() != ErrorCode::PayloadNotBuilt => String::new(),
            Err(error) => {
                out.skip(&format!("{key} of the policy"), &error.reason());
                continue;
            }
        };
        if found != demanded {
            out.add(Spot::data(opaque.file, opaque.blob.blob()), [opaque.executable()], || {
                let demanded = quote(&demanded.into());
                if found.is_empty() {
                    format!("TensorFlow's blob does not state {what}, the policy requires {demanded}")
                } else {
                    let found = quote(&found.as_str().into());
                    format!("TensorFlow's blob states {what} {found}, the policy requires {demanded}")
                }
            });
        }
    }
}

fn demand(
    model: &Model,
    out: &mut Findings<'_>,
    needed: Option<u32>,
    found: u32,
    message: impl Fn(u32, u32) -> String,
) {
    if let Some(needed) = needed.filter(|&needed| needed != found) {
        out.add(Spot::model(model), [model.metadata().executable.by_ref()], || message(found, needed));
    }
}

/// Iterates over the anchors that a requirement is about.
fn meant<'m>(model: &'m Model, direction: TensorType, demand: &TensorDemand) -> impl Iterator<Item = &'m Anchor> {
    let anchors = model.metadata().anchors.iter();
    anchors.filter(move |anchor| anchor.tensor_type == direction && anchor.name == *demand.name)
}

fn absent(model: &Model, out: &mut Findings<'_>, direction: TensorType, demands: &[TensorDemand], kind: &str) {
    for demand in demands.iter().filter(|demand| meant(model, direction, demand).next().is_none()) {
        let name = Text::from(demand.name.as_str());
        out.add(Spot::model(model), [name.clone()], || format!("the model has no {kind} {}", quote(&name)));
    }
}

fn unlike(model: &Model, out: &mut Findings<'_>, direction: TensorType, demands: &[TensorDemand], kind: &str) {
    for demand in demands {
        for anchor in meant(model, direction, demand) {
            let info = &anchor.tensor_info;
            let own = model.shape_of(anchor).map_or_else(|_| info.shape.clone(), |shape| shape.own);
            let fits = demand.allows_shape(&own) && demand.data_type.is_none_or(|demanded| demanded == info.data_type);
            if !fits {
                out.add(Spot::model(model), [anchor.name.by_ref()], || {
                    let (name, found) =
                        (quote(&anchor.name), format!("{} {}", info.data_type, shape(own.iter().copied())));
                    format!("{kind} {name} is {found}, the policy requires {}", demanded(demand))
                });
            }
        }
    }
}

fn demanded(demand: &TensorDemand) -> String {
    let data_type = demand.data_type.map(|data_type| format!("type {data_type}"));
    let extent = |extent: &Extent| match extent {
        Extent::Any => "?".to_owned(),
        Extent::Exactly(extent) => extent.to_string(),
    };
    let shape = demand.shape.as_ref().map(|shape| shape.iter().map(extent).collect::<Vec<_>>().join(", "));
    let parts = [data_type, shape.map(|shape| format!("shape [{shape}]"))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}
