//! Rules for what PopTorch puts into its opaque blob. PopTorch's public source defines the options. Only what the policy
//! demands is an error.

use super::super::findings::Spot;
use super::super::run::{Check, opaque_pickle_and_set, payload};
use super::super::words::quote;
use popef::types::Text;
use popef_findings::{Rule, When};
use popef_payload::Framework;

pub(super) const RULES: &[Check] = &[
    Rule::error("PE731", "policy: another version of PopTorch")
        .meaning(
            "PopTorch's pickle states another version of PopTorch than the policy requires, or none. PopTorch loads \
             only files that the same version wrote.",
        )
        .fix("Export the model with the required version, or change poptorch-version in the policy.")
        .when(When::Policy)
        .run(opaque_pickle_and_set(
            |set, opaque, pickle, out| {
                let is_poptorch = Framework::of_blob(opaque) == Some(Framework::Poptorch);
                if set.policy.poptorch_version.is_some() && is_poptorch && pickle.is_none() {
                    out.add(Spot::data(opaque.file, opaque.blob.blob()), [opaque.name()], || {
                        "PopTorch's blob is not a pickle, and states no version of PopTorch".to_owned()
                    });
                }
            },
            |set, pickled, out| {
                let Some(demanded) = &set.policy.poptorch_version else { return };
                let version = pickled.pickle.poptorch_version.as_deref();
                if !pickled.is_poptorch() || version == Some(demanded) {
                    return;
                }
                out.add(pickled.start, version.map(Text::from), || {
                    let found = version.map_or("no version".to_owned(), |version| quote(&version.into()));
                    let demanded = quote(&demanded.as_str().into());
                    format!("{} states {found} of PopTorch, the policy requires {demanded}", pickled.named())
                });
            },
            |set, out| {
                if set.policy.poptorch_version.is_some() && !set.has_poptorch() {
                    out.skip("poptorch-version of the policy", "the files have no data of PopTorch's");
                }
            },
        )),
    Rule::warning("PE732", "PopTorch's blob: other replicas or device iterations than the metadata")
        .meaning(
            "The options in PopTorch's opaque blob and the metadata of the same executable disagree about the number \
             of replicas or of device iterations. They probably come from different models.",
        )
        .fix("Export the model again, so that both come from one run of PopTorch.")
        .run(payload(Framework::Poptorch, compared::numbers)),
    Rule::warning("PE733", "PopTorch's blob: another mode than the metadata")
        .meaning(
            "PopTorch's opaque blob has a model for training, and the metadata of the same executable is for \
             inference, or the reverse. They probably come from different models.",
        )
        .fix("Export the model again, so that both come from one run of PopTorch.")
        .run(payload(Framework::Poptorch, compared::mode)),
];

#[cfg(not(feature = "poptorch"))]
mod compared {
    pub(super) use super::super::payloads::{not_built as mode, not_built as numbers};
}

#[cfg(feature = "poptorch")]
mod compared {
    use super::super::super::findings::Findings;
    use super::super::super::run::Said;
    use super::super::super::words::count;
    use super::Spot;
    use popef_payload::Payload;

    pub(super) fn numbers(said: &Said<'_>, out: &mut Findings<'_>) {
        let Said { model, opaque, payload: Payload::Poptorch(data) } = said else { return };
        let metadata = model.metadata();
        // The options count the replicas of one process. What the metadata counts if there are several is not known.
        let replicas = data.replication_factor.filter(|_| data.processes.is_none_or(|processes| processes == 1));
        let pairs = [
            ("replica", replicas, metadata.replication_factor),
            ("device iteration", data.device_iterations, metadata.device_iterations),
        ];
        for (what, found, expected) in pairs {
            let Some(found) = found.and_then(|found| u64::try_from(found).ok()) else { continue };
            // A field of 0 was not set.
            if expected != 0 && found != u64::from(expected) {
                out.add(Spot::data(opaque.file, opaque.blob.blob()), [metadata.executable.by_ref()], || {
                    let (found, expected) = (count(found, what), count(expected.into(), what));
                    format!("PopTorch's options are for {found}, the metadata is for {expected}")
                });
            }
        }
    }

    pub(super) fn mode(said: &Said<'_>, out: &mut Findings<'_>) {
        let Said { model, opaque, payload: Payload::Poptorch(data) } = said else { return };
        let metadata = model.metadata();
        let name = |is_training| if is_training { "training" } else { "inference" };
        if let Some(training) = data.training.filter(|&training| training == metadata.is_inference) {
            out.add(Spot::data(opaque.file, opaque.blob.blob()), [metadata.executable.by_ref()], || {
                let (found, expected) = (name(training), name(!metadata.is_inference));
                format!("PopTorch's blob has a model for {found}, the metadata is for {expected}")
            });
        }
    }
}
