//! Rules about metadata.

use std::hash::{BuildHasher, RandomState};

use super::super::alike::{difference, is_plain, looks};
use super::super::findings::{Findings, Spot};
use super::super::run::{Check, model};
use super::super::words::{count, list, quote, shape};
use super::safety::is_credential;
use popef::model::Model;
use popef::types::{Anchor, Metadata, TensorType, Text};
use popef_findings::Rule;

pub(super) const RULES: &[Check] = &[
    Rule::error("PE201", "a model for zero IPUs")
        .meaning("The metadata says that the model uses 0 IPUs. A runtime cannot acquire devices for it.")
        .fix(
            "Set numIpus with popef set to the number of IPUs that the model was compiled for, or export the model \
             again.",
        )
        .run(model(|_, model, out| {
            each(model, out, |metadata| (metadata.num_ipus == 0).then(|| "the number of IPUs is 0".to_owned()));
        })),
    Rule::error("PE202", "a replication factor of zero")
        .meaning("The metadata says that the model has 0 replicas. A model without replication has 1.")
        .fix("Set replicationFactor with popef set, to 1 for a model without replication, or export the model again.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                (metadata.replication_factor == 0)
                    .then(|| "the replication factor is 0; a model without replication has 1".to_owned())
            });
        })),
    Rule::error("PE203", "zero processes")
        .meaning("The metadata says that the replicas run in 0 host processes. A model in one process has 1.")
        .fix("Set numProcesses with popef set, to 1 for a model in one process, or export the model again.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                (metadata.num_processes == 0)
                    .then(|| "the number of processes is 0; a model in one process has 1".to_owned())
            });
        })),
    Rule::note("PE204", "device iterations of zero")
        .meaning(
            "The metadata says that a call runs 0 batches. TensorFlow never sets this number, and 0 counts as 1. But a \
             program of your own that multiplies by it gets 0.",
        )
        .fix("Count 0 as 1 in your own programs. A file from TensorFlow needs no change.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                (metadata.device_iterations == 0)
                    .then(|| "the number of device iterations is 0, which counts as 1".to_owned())
            });
        })),
    Rule::warning("PE205", "replicas that cannot be divided among the processes")
        .meaning(
            "The replication factor is not a multiple of the number of processes, so the processes cannot have equally \
             many replicas. (PopART writes the replicas of one process as the replication factor, and the replicas of \
             all processes as the number of processes. Such a file is not reported.)",
        )
        .fix("Export the model again, with a replication factor that is a multiple of the number of processes.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                let (replicas, processes) = (metadata.replication_factor, metadata.num_processes);
                let uneven = |a: u32, b: u32| a.checked_rem(b).is_some_and(|rest| rest != 0);
                (uneven(replicas, processes) && uneven(processes, replicas))
                    .then(|| format!("{replicas} replicas cannot be divided among {processes} processes"))
            });
        })),
    Rule::error("PE206", "an IPU version that does not exist")
        .meaning("The metadata names an IPU version other than 1, 2 and 21. No device has it.")
        .fix("Export the model again for the target on which it will run.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                let version = metadata.ipu_version;
                (!matches!(version, 1 | 2 | 21))
                    .then(|| format!("the IPU version is {version}; only 1, 2 and 21 exist"))
            });
        })),
    Rule::warning("PE207", "a program in the flow that is not listed")
        .meaning(
            "The program flow runs a program that is not in the programs map. The executable may have it. But \
             exporters list all programs, so the index is most likely wrong.",
        )
        .fix("Compare the program flow with the programs map, and export the model again.")
        .run(model(|_, model, out| {
            for (phase, programs) in flow(model) {
                for &program in programs.iter().filter(|&&program| model.program_name(program).is_none()) {
                    out.add(Spot::model(model), [], || {
                        format!("the {phase} phase runs program {program}, which the programs map does not list")
                    });
                }
            }
        })),
    Rule::warning("PE208", "an anchor with a program that is not listed")
        .meaning(
            "An anchor is used by a program that is not in the programs map, so the anchor most likely has the wrong \
             program.",
        )
        .fix("Compare the anchor's programs with the programs map, and export the model again.")
        .run(model(|_, model, out| {
            for anchor in &model.metadata().anchors {
                for &program in anchor.programs.iter().filter(|&&program| model.program_name(program).is_none()) {
                    out.add(Spot::model(model), [anchor.name.by_ref()], || {
                        let name = quote(&anchor.name);
                        format!("anchor {name} is used by program {program}, which the programs map does not list")
                    });
                }
            }
        })),
    Rule::warning("PE209", "two names for one program")
        .meaning(
            "The programs map lists an index twice. The vendor's library keeps one of the two names, and which one is \
             not known.",
        )
        .fix("Export the model again.")
        .run(model(|_, model, out| {
            for (first, program) in out.doubled(&model.metadata().programs_map, |program| Some(program.index)) {
                out.add(Spot::model(model), [first.name.by_ref(), program.name.by_ref()], || {
                    let (index, first, second) = (program.index, quote(&first.name), quote(&program.name));
                    format!("program {index} is listed twice, as {first} and as {second}")
                });
            }
        })),
    Rule::note("PE210", "a repeated program")
        .meaning(
            "A phase of the program flow runs a program more than once, which may be intended, or an anchor lists a \
             program more than once, which has no effect.",
        )
        .fix("If that is not intended, export the model again.")
        .run(model(|_, model, out| program_twice(model, out))),
    Rule::error("PE211", "a model without a main program")
        .meaning("The main phase of the program flow has no program. The model loads, but a call does nothing.")
        .fix("Export the model again with a program in the main phase of its program flow.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                metadata.program_flow.main.is_empty().then(|| "the program flow has no main program".to_owned())
            });
        })),
    Rule::error("PE212", "an input or output without a handle")
        .meaning(
            "A runtime connects inputs and outputs to the executable by their handles. Without a handle, data never \
             reaches the model or leaves it.",
        )
        .fix(
            "Export the model again. A tensor that is only kept to restore a framework's state has the type unknown, \
             not input or output.",
        )
        .run(model(|_, model, out| {
            anchors(model, out, |anchor| {
                anchor.handle.is_empty().then(|| format!("{} {} has no handle", direction(anchor), quote(&anchor.name)))
            });
        })),
    Rule::warning("PE213", "an input or output that no program uses")
        .meaning("An anchor lists no programs. A runtime cannot tell when its data is needed or ready.")
        .fix("Export the model again.")
        .run(model(|_, model, out| {
            anchors(model, out, |anchor| {
                let unused = anchor.programs.is_empty();
                unused.then(|| format!("{} {} is used by no program", direction(anchor), quote(&anchor.name)))
            });
        })),
    Rule::error("PE214", "two anchors with one handle")
        .meaning(
            "Two inputs, or two outputs, have the same handle. The executable asks for data only by the handle, so one \
             of the two gets the data of the other.",
        )
        .fix("Export the model again with a unique handle for each.")
        .run(model(|_, model, out| {
            for (first, anchor) in out.doubled(&model.metadata().anchors, connected_handle) {
                out.add(Spot::model(model), [&first.name, &anchor.name, &anchor.handle].map(Text::by_ref), || {
                    let (first, name) = (quote(&first.name), quote(&anchor.name));
                    format!("{}s {first} and {name} share the handle {}", direction(anchor), quote(&anchor.handle))
                });
            }
        })),
    Rule::note("PE215", "a seed handle without an input")
        .meaning(
            "The metadata names a handle for the random seed, and no input has this handle. That is normal in files \
             from TensorFlow: a runtime then provides the seed itself, by the handle. PopART always writes an input \
             for it.",
        )
        .fix("If the file is from PopART, export the model again. A file from TensorFlow needs no change.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                lacks_seed(model).then(|| format!("no input has the seed's handle {}", quote(&metadata.seed_handle)))
            });
        })),
    Rule::note("PE216", "repeats of zero")
        .meaning(
            "Anchors state that their remote buffer has 0 blocks. TensorFlow never sets this number, and 0 counts as \
             1. But a program of your own that multiplies by it gets 0.",
        )
        .fix("Count 0 as 1 in your own programs. A file from TensorFlow needs no change.")
        .run(model(|_, model, out| {
            together(model, out, |anchor| anchor.repeats == 0, "repeats of 0, which count as 1");
        })),
    Rule::note("PE217", "repeats without remote buffers")
        .meaning(
            "Anchors have more than one repeat and do not use remote buffers. The repeats then have no meaning, and \
             add no dimension to the shape.",
        )
        .fix("If remote buffers were intended, export the model again with them.")
        .run(model(|_, model, out| {
            let what = "several repeats and no remote buffers";
            together(model, out, |anchor| anchor.repeats > 1 && !anchor.use_remote_buffers, what);
        })),
    Rule::warning("PE218", "an anchor without a name")
        .meaning("An input or output has no name. It cannot have data, and users cannot ask for it.")
        .fix("Export the model again with names for all inputs and outputs.")
        .run(model(|_, model, out| {
            anchors(model, out, |anchor| {
                let unnamed = anchor.name.is_empty();
                unnamed.then(|| format!("the {} with handle {} has no name", direction(anchor), quote(&anchor.handle)))
            });
        })),
    Rule::note("PE219", "two anchors with one name and direction")
        .meaning(
            "Two inputs, or two outputs, have the same name and different handles. PopART writes this for a weight \
             that is also an output of each call. Data under that name is used for both.",
        )
        .fix("If you use the two in a program of your own, distinguish them by their handles.")
        .run(model(|_, model, out| {
            let doubled = out.doubled(&model.metadata().anchors, connected_name);
            for (first, anchor) in doubled.filter(|(first, anchor)| first.handle != anchor.handle) {
                out.add(Spot::model(model), [anchor.name.by_ref()], || {
                    let (first, handle) = (quote(&first.handle), quote(&anchor.handle));
                    format!(
                        "two {}s are named {}, with the handles {first} and {handle}",
                        direction(anchor),
                        quote(&anchor.name)
                    )
                });
            }
        })),
    Rule::warning("PE220", "an option with two values")
        .meaning(
            "An engine or device option is listed twice with different values. Poplar takes the last, which may not be \
             the intended one.",
        )
        .fix("Set the option with popef set, which leaves one value, or export the model again.")
        .run(model(|_, model, out| {
            let metadata = model.metadata();
            for (kind, options) in [("engine", &metadata.engine_options), ("device", &metadata.device_options)] {
                let doubled = out.doubled(options, |option| Some(&option.name));
                for (first, option) in doubled.filter(|(first, option)| first.value != option.value) {
                    out.add(Spot::model(model), [option.name.by_ref()], || {
                        let name = quote(&option.name);
                        if is_credential(first) || is_credential(option) {
                            return format!(
                                "{kind} option {name} is listed with two values, which look like credentials"
                            );
                        }
                        let (first, value) = (quote(&first.value), quote(&option.value));
                        format!("{kind} option {name} is listed with the values {first} and {value}")
                    });
                }
            }
        })),
    Rule::warning("PE221", "IPUs that cannot be divided among the replicas")
        .meaning(
            "The number of IPUs is not a multiple of the replication factor, so the replicas cannot have equally many \
             IPUs. (PE226 reports fewer IPUs than replicas.)",
        )
        .fix("Export the model again, with a number of IPUs that is a multiple of the replication factor.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                let (ipus, replicas) = (metadata.num_ipus, metadata.replication_factor);
                let is_uneven = ipus.checked_rem(replicas).is_some_and(|rest| ipus > 0 && rest != 0);
                (is_uneven && !lacks_ipus(metadata))
                    .then(|| format!("{} cannot be divided among {replicas} replicas", count(ipus.into(), "IPU")))
            });
        })),
    Rule::error("PE222", "two inputs with one name and different types or shapes")
        .meaning(
            "Two inputs have the same name but different types or shapes. Data is given by name, so it can fit only \
             one of the two.",
        )
        .fix("Export the model again with a unique name for each input.")
        .run(model(|_, model, out| {
            let input = |anchor: &'_ Anchor| anchor.tensor_type == TensorType::Input && !anchor.name.is_empty();
            let doubled = out.doubled(&model.metadata().anchors, |anchor| input(anchor).then_some(&anchor.name));
            for (first, anchor) in doubled.filter(|(first, anchor)| first.tensor_info != anchor.tensor_info) {
                out.add(Spot::model(model), [anchor.name.by_ref()], || {
                    let [first, second] = [first, anchor].map(|anchor| {
                        let info = &anchor.tensor_info;
                        format!("{} {}", info.data_type, shape(info.shape.iter().copied()))
                    });
                    format!("two inputs are named {}: one is {first}, the other {second}", quote(&anchor.name))
                });
            }
        })),
    Rule::warning("PE223", "a model without outputs")
        .meaning(
            "No output is used by a main program, so a call gives no results. (A model for training is not reported if \
             it has any outputs, for example its weights.)",
        )
        .fix("Export the model again with its outputs.")
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                let trains = !metadata.is_inference && model.all_outputs().next().is_some();
                let is_unknown = |anchor: &Anchor| matches!(anchor.tensor_type, TensorType::Other(_));
                let is_told = metadata.program_flow.main.is_empty() || metadata.anchors.iter().any(is_unknown);
                (model.outputs().next().is_none() && !trains && !is_told)
                    .then(|| "no output is used by a main program".to_owned())
            });
        })),
    Rule::warning("PE224", "two names that look alike")
        .meaning(
            "The names of two inputs or outputs differ only in what is not visible: in blanks, in invisible \
             characters, or in how an accented letter is encoded. Data under one of the names does not reach the \
             other.",
        )
        .fix("Rename one of them in the model, or give both the same name, and export the model again.")
        .run(model(|_, model, out| look_alike(model, out))),
    Rule::warning("PE225", "instrumentation left on")
        .meaning(
            "Engine options say that the program measures itself, for example to profile it. That takes memory on the \
             tiles and cycles in each run, so without them the model fits better and is faster. If Poplar was also \
             told to write reports, it does so wherever the model is run.",
        )
        .fix("Export the model again without these options. If it was made to be profiled, nothing needs to be done.")
        .run(model(|_, model, out| {
            let options = model.metadata().instrumentation();
            if !options.is_empty() {
                let names = || options.iter().map(|option| &option.name);
                out.add(Spot::model(model), names().map(Text::by_ref), || {
                    let verb = if options.len() == 1 { "is" } else { "are" };
                    let names = list(names(), u64::try_from(options.len()).unwrap_or(u64::MAX));
                    format!("engine options with which the program measures itself {verb} on: {names}")
                });
            }
        })),
    Rule::error("PE226", "fewer IPUs than replicas")
        .meaning(
            "The metadata states fewer IPUs than replicas, in all processes together. Each replica needs at least one \
             IPU of its own, so a runtime cannot load the model.",
        )
        .fix(
            "Export the model again, with a number of IPUs that is a multiple of the replication factor. If only the \
             metadata is wrong, set numIpus.",
        )
        .run(model(|_, model, out| {
            each(model, out, |metadata| {
                let (ipus, replicas) = (metadata.num_ipus, metadata.replication_factor);
                lacks_ipus(metadata).then(|| format!("{replicas} replicas have only {}", count(ipus.into(), "IPU")))
            });
        })),
];

/// Returns whether some replicas have no IPU. Metadata of several processes may state the IPUs of one process or of
/// all, so this counts those of all. Other rules report numbers of 0.
fn lacks_ipus(metadata: &Metadata) -> bool {
    let ipus = u64::from(metadata.num_ipus).saturating_mul(metadata.num_processes.max(1).into());
    ipus > 0 && ipus < metadata.replication_factor.into()
}

fn look_alike(model: &Model, out: &mut Findings<'_>) {
    let anchors = || model.metadata().anchors.iter().filter(|anchor| is_connected(anchor) && !anchor.name.is_empty());
    if anchors().all(|anchor| is_plain(&anchor.name)) {
        return;
    }
    let (hasher, mut by_looks) = (RandomState::new(), Vec::new());
    if by_looks.try_reserve_exact(anchors().count()).is_err() {
        return out.no_memory();
    }
    by_looks.extend(anchors().filter_map(|anchor| Some((hasher.hash_one(looks(&anchor.name)?), &anchor.name))));
    by_looks.sort();
    for alike in by_looks.chunk_by(|one, other| one.0 == other.0) {
        let Some((_, first)) = alike.first() else { continue };
        let mut names: Vec<_> = alike.iter().map(|(_, name)| *name).filter(|name| *name != *first).collect();
        names.dedup();
        for name in names.into_iter().filter(|name| looks(name) == looks(first)) {
            out.add(Spot::model(model), [first, name].map(|name: &Text<'_>| name.by_ref()), || {
                format!("{} looks like {}, but {}", quote(name), quote(first), difference(name, first))
            });
        }
    }
}

/// Returns whether the metadata has a seed handle that does not belong to any input.
pub(super) fn lacks_seed(model: &Model) -> bool {
    let Metadata { seed_handle, anchors, .. } = model.metadata();
    let has_it = |anchor: &Anchor| anchor.tensor_type == TensorType::Input && anchor.handle == *seed_handle;
    !seed_handle.is_empty() && !anchors.iter().any(has_it)
}

/// Reports at most one finding for a metadata blob.
fn each(model: &Model, out: &mut Findings<'_>, wrong: impl Fn(&Metadata) -> Option<String>) {
    if let Some(message) = wrong(model.metadata()) {
        out.add(Spot::model(model), [model.metadata().executable.by_ref()], || message);
    }
}

/// Returns whether an anchor is an input or output. Other anchors are not connected to anything.
fn is_connected(anchor: &Anchor) -> bool {
    matches!(anchor.tensor_type, TensorType::Input | TensorType::Output)
}

/// The direction and handle of an input or output that has a handle.
fn connected_handle(anchor: &Anchor) -> Option<(TensorType, &Text<'static>)> {
    (is_connected(anchor) && !anchor.handle.is_empty()).then_some((anchor.tensor_type, &anchor.handle))
}

/// The direction and name of an input or output that has a name.
fn connected_name(anchor: &Anchor) -> Option<(TensorType, &Text<'static>)> {
    (is_connected(anchor) && !anchor.name.is_empty()).then_some((anchor.tensor_type, &anchor.name))
}

/// Reports a finding for each input and output with the fault.
fn anchors(model: &Model, out: &mut Findings<'_>, wrong: impl Fn(&Anchor) -> Option<String>) {
    for anchor in model.metadata().anchors.iter().filter(|anchor| is_connected(anchor)) {
        if let Some(message) = wrong(anchor) {
            out.add(Spot::model(model), [anchor.name.by_ref()], || message);
        }
    }
}

/// Reports one finding for all anchors with a property.
fn together(model: &Model, out: &mut Findings<'_>, is_so: impl Fn(&Anchor) -> bool, what: &str) {
    let names = || model.metadata().anchors.iter().filter(|anchor| is_so(anchor)).map(|anchor| &anchor.name);
    let number = u64::try_from(names().count()).unwrap_or(u64::MAX);
    if number > 0 {
        out.add(Spot::model(model), names().map(Text::by_ref), || {
            let have = if number == 1 { "has" } else { "have" };
            format!("{} {have} {what}: {}", count(number, "anchor"), list(names(), number))
        });
    }
}

/// The programs of each phase.
fn flow(model: &Model) -> [(&'static str, &[u32]); 3] {
    let flow = &model.metadata().program_flow;
    [("load", &flow.load), ("main", &flow.main), ("save", &flow.save)]
}

fn program_twice(model: &Model, out: &mut Findings<'_>) {
    for (phase, programs) in flow(model) {
        for program in twice(&sorted(programs, out)) {
            out.add(Spot::model(model), [], || format!("the {phase} phase runs program {program} more than once"));
        }
    }
    for anchor in &model.metadata().anchors {
        for program in twice(&sorted(&anchor.programs, out)) {
            out.add(Spot::model(model), [anchor.name.by_ref()], || {
                format!("anchor {} lists program {program} more than once", quote(&anchor.name))
            });
        }
    }
}

fn sorted(programs: &[u32], out: &mut Findings<'_>) -> Vec<u32> {
    let mut sorted = Vec::new();
    if sorted.try_reserve_exact(programs.len()).is_err() {
        out.no_memory();
        return sorted;
    }
    sorted.extend_from_slice(programs);
    sorted.sort_unstable();
    sorted
}

/// Iterates over the numbers that occur more than once.
fn twice(sorted: &[u32]) -> impl Iterator<Item = u32> {
    let runs = sorted.chunk_by(|one, other| one == other).filter(|run| run.len() > 1);
    runs.filter_map(|run| run.first().copied())
}

fn direction(anchor: &Anchor) -> &'static str {
    if anchor.tensor_type == TensorType::Input { "input" } else { "output" }
}
