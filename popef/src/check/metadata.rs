//! What metadata says by itself.

use std::collections::BTreeSet;

use super::finding::{Out, Severity};
use super::quote::{count, list, quote};
use super::rule::{Rule, When};
use super::set::{Place, Set, doubled};
use crate::model::Model;
use crate::types::{Anchor, Metadata, TensorType};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PE201",
        severity: Severity::Error,
        title: "a model of no IPUs",
        meaning: "The metadata says that the model takes 0 IPUs. A runtime cannot get hold of devices for it.",
        mend: "Export the model again with the number of IPUs that it was compiled for.",
        when: When::Always,
        run: |set, out| {
            each(set, out, |metadata| (metadata.num_ipus == 0).then(|| "the number of IPUs is 0".to_owned()));
        },
    },
    Rule {
        id: "PE202",
        severity: Severity::Error,
        title: "a replication factor of zero",
        meaning: "The metadata says that the model has 0 replicas, where one alone is 1. Data cannot be dealt out to \
                  none.",
        mend: "Export the model again with a replication factor of at least 1.",
        when: When::Always,
        run: |set, out| {
            each(set, out, |metadata| {
                (metadata.replication_factor == 0)
                    .then(|| "the replication factor is 0, one replica alone is 1".to_owned())
            });
        },
    },
    Rule {
        id: "PE203",
        severity: Severity::Error,
        title: "a model of no processes",
        meaning: "The metadata says that 0 host processes share the replicas, where one alone is 1.",
        mend: "Export the model again with at least one process.",
        when: When::Always,
        run: |set, out| {
            each(set, out, |metadata| {
                (metadata.num_processes == 0).then(|| "the number of processes is 0, one process alone is 1".to_owned())
            });
        },
    },
    Rule {
        id: "PE204",
        severity: Severity::Note,
        title: "device iterations of zero",
        meaning: "The metadata says that a call runs 0 batches. TensorFlow never sets this number, and a 0 is taken as \
                  1; but a runtime of one's own that multiplies by it gets nothing.",
        mend: "Take 0 as 1 in programs of your own. There is nothing to mend in a file of TensorFlow's.",
        when: When::Always,
        run: |set, out| {
            each(set, out, |metadata| {
                (metadata.device_iterations == 0).then(|| "the device iterations are 0, which counts as 1".to_owned())
            });
        },
    },
    Rule {
        id: "PE205",
        severity: Severity::Warning,
        title: "replicas that do not divide over the processes",
        meaning: "Neither is the replication factor a multiple of the number of processes, nor the other way round, so \
                  the processes cannot have equally many replicas. (PopART writes the replicas of one process, and for \
                  the processes those of all together: then the second is the multiple.)",
        mend: "Export the model again, with a replication factor that the number of processes divides.",
        when: When::Always,
        run: |set, out| {
            each(set, out, |metadata| {
                let (replicas, processes) = (metadata.replication_factor, metadata.num_processes);
                let uneven = |a: u32, b: u32| a.checked_rem(b).is_some_and(|rest| rest != 0);
                (uneven(replicas, processes) && uneven(processes, replicas))
                    .then(|| format!("{replicas} replicas do not divide over {processes} processes"))
            });
        },
    },
    Rule {
        id: "PE206",
        severity: Severity::Error,
        title: "an IPU version that was never made",
        meaning: "The metadata names an IPU version other than 1, 2 and 21. No device matches it.",
        mend: "Export the model again for the target that it is to run on.",
        when: When::Always,
        run: |set, out| {
            each(set, out, |metadata| {
                let version = metadata.ipu_version;
                (!matches!(version, 1 | 2 | 21)).then(|| format!("the IPU version is {version}; there are 1, 2 and 21"))
            });
        },
    },
    Rule {
        id: "PE207",
        severity: Severity::Warning,
        title: "a program in the flow without a name",
        meaning: "The program flow runs a program that the programs map does not list. The executable may have it all \
                  the same, but every exporter lists all of its programs, so the index is most likely wrong.",
        mend: "Compare the program flow with the map, and export the model again.",
        when: When::Always,
        run: |set, out| {
            for (model, place) in with_place(set) {
                let flow = &model.metadata().program_flow;
                for (phase, programs) in [("load", &flow.load), ("main", &flow.main), ("save", &flow.save)] {
                    for &program in programs.iter().filter(|&&program| model.program_name(program).is_none()) {
                        out.add(place, [], || {
                            format!("{phase} runs program {program}, which the programs map does not list")
                        });
                    }
                }
            }
        },
    },
    Rule {
        id: "PE208",
        severity: Severity::Warning,
        title: "an anchor's program without a name",
        meaning: "An anchor is used by a program that the programs map does not list, so it is most likely tied to \
                  the wrong one.",
        mend: "Compare the anchor's programs with the map, and export the model again.",
        when: When::Always,
        run: |set, out| {
            for (model, place) in with_place(set) {
                for anchor in &model.metadata().anchors {
                    for &program in anchor.programs.iter().filter(|&&program| model.program_name(program).is_none()) {
                        out.add(place, [anchor.name.clone()], || {
                            let name = quote(&anchor.name);
                            format!("anchor {name} is used by program {program}, which the programs map does not list")
                        });
                    }
                }
            }
        },
    },
    Rule {
        id: "PE209",
        severity: Severity::Warning,
        title: "two names for one program",
        meaning: "The programs map lists an index twice. The vendor's library keeps one name for an index, and which \
                  one is not known.",
        mend: "Export the model again.",
        when: When::Always,
        run: |set, out| {
            for (model, place) in with_place(set) {
                let programs = model.metadata().programs_map.iter().map(|program| (program.index, program));
                for (first, program) in doubled(programs) {
                    out.add(place, [first.name.clone(), program.name.clone()], || {
                        let (index, first, second) = (program.index, quote(&first.name), quote(&program.name));
                        format!("program {index} is listed as {first} and again as {second}")
                    });
                }
            }
        },
    },
    Rule {
        id: "PE210",
        severity: Severity::Note,
        title: "a program twice",
        meaning: "A phase of the program flow runs a program twice, or an anchor lists one twice. The first may be \
                  meant; the second says nothing more.",
        mend: "Make sure that it is meant.",
        when: When::Always,
        run: program_twice,
    },
    Rule {
        id: "PE211",
        severity: Severity::Error,
        title: "a model that runs nothing",
        meaning: "The list of the programs to run for a call is empty. Loading works, and each call gives nothing.",
        mend: "Export the model again; it is the main list of the program flow that has to name a program.",
        when: When::Always,
        run: |set, out| {
            each(set, out, |metadata| {
                metadata.program_flow.main.is_empty().then(|| "the program flow has no main program".to_owned())
            });
        },
    },
    Rule {
        id: "PE212",
        severity: Severity::Error,
        title: "an input or output without a handle",
        meaning: "A runtime connects inputs and outputs to the executable by their handles. Without one, data never \
                  reaches the model or comes out of it.",
        mend: "Export the model again. If the tensor is only kept to restore a framework's state, its type is unknown, \
               not input or output.",
        when: When::Always,
        run: |set, out| {
            anchors(set, out, |anchor| {
                anchor.handle.is_empty().then(|| format!("{} {} has no handle", direction(anchor), quote(&anchor.name)))
            });
        },
    },
    Rule {
        id: "PE213",
        severity: Severity::Warning,
        title: "an input or output that no program uses",
        meaning: "An anchor lists no programs. A runtime cannot tell when its data is needed, or has come.",
        mend: "Export the model again.",
        when: When::Always,
        run: |set, out| {
            anchors(set, out, |anchor| {
                anchor
                    .programs
                    .is_empty()
                    .then(|| format!("{} {} is used by no program", direction(anchor), quote(&anchor.name)))
            });
        },
    },
    Rule {
        id: "PE214",
        severity: Severity::Error,
        title: "one handle for two anchors",
        meaning: "Two inputs, or two outputs, have the same handle. The executable asks for data by the handle alone, \
                  so one of the two gets the other's.",
        mend: "Export the model again with a handle for each.",
        when: When::Always,
        run: |set, out| {
            for (model, place) in with_place(set) {
                let connected = connected(model.metadata()).filter(|anchor| !anchor.handle.is_empty());
                for (first, anchor) in doubled(connected.map(|anchor| ((anchor.tensor_type, &anchor.handle), anchor))) {
                    out.add(place, [first.name.clone(), anchor.name.clone(), anchor.handle.clone()], || {
                        let (first, name) = (quote(&first.name), quote(&anchor.name));
                        format!("{}s {first} and {name} share the handle {}", direction(anchor), quote(&anchor.handle))
                    });
                }
            }
        },
    },
    Rule {
        id: "PE215",
        severity: Severity::Note,
        title: "a seed's handle that no input has",
        meaning: "The metadata names a handle for the random seed, and no input anchor has it. TensorFlow always \
                  writes it so; a runtime then provides the seed itself, by the handle.",
        mend: "Nothing in a file of TensorFlow's. In one of PopART's the anchor for the seed is missing: export again.",
        when: When::Always,
        run: |set, out| {
            each(set, out, |metadata| {
                let handle = &metadata.seed_handle;
                let has_it = |anchor: &Anchor| anchor.tensor_type == TensorType::Input && anchor.handle == *handle;
                (!handle.is_empty() && !metadata.anchors.iter().any(has_it))
                    .then(|| format!("the seed's handle {} is that of no input", quote(handle)))
            });
        },
    },
    Rule {
        id: "PE216",
        severity: Severity::Note,
        title: "repeats of zero",
        meaning: "Anchors say that their remote buffer has 0 blocks. TensorFlow never sets this number, and a 0 is \
                  taken as 1; but a runtime of one's own that multiplies by it gets nothing.",
        mend: "Take 0 as 1 in programs of your own. There is nothing to mend in a file of TensorFlow's.",
        when: When::Always,
        run: |set, out| {
            together(set, out, |anchor| anchor.repeats == 0, "repeats of 0, which count as 1");
        },
    },
    Rule {
        id: "PE217",
        severity: Severity::Note,
        title: "repeats without remote buffers",
        meaning: "Anchors have more than one repeat and do not use remote buffers. The repeats then mean nothing, and \
                  add no dimension to the shape.",
        mend: "Make sure that remote buffers were not meant to be on.",
        when: When::Always,
        run: |set, out| {
            together(set, out, |a| a.repeats > 1 && !a.use_remote_buffers, "several repeats and no remote buffers");
        },
    },
    Rule {
        id: "PE218",
        severity: Severity::Warning,
        title: "an anchor without a name",
        meaning: "An input or output has no name. Data cannot be tied to it, and users cannot ask for it.",
        mend: "Export the model again with names for all inputs and outputs.",
        when: When::Always,
        run: |set, out| {
            anchors(set, out, |anchor| {
                anchor
                    .name
                    .is_empty()
                    .then(|| format!("the {} of handle {} has no name", direction(anchor), quote(&anchor.handle)))
            });
        },
    },
    Rule {
        id: "PE219",
        severity: Severity::Note,
        title: "two anchors of one name and direction",
        meaning: "Two inputs, or two outputs, have the same name and different handles. PopART writes so a weight that \
                  is also an output of each call. Data given by name goes to both.",
        mend: "Tell them apart by their handles.",
        when: When::Always,
        run: |set, out| {
            for (model, place) in with_place(set) {
                let connected = connected(model.metadata()).filter(|anchor| !anchor.name.is_empty());
                let doubled = doubled(connected.map(|anchor| ((anchor.tensor_type, &anchor.name), anchor)));
                for (first, anchor) in doubled.into_iter().filter(|(first, anchor)| first.handle != anchor.handle) {
                    out.add(place, [anchor.name.clone()], || {
                        let (first, handle) = (quote(&first.handle), quote(&anchor.handle));
                        format!("{} {} has the handles {first} and {handle}", direction(anchor), quote(&anchor.name))
                    });
                }
            }
        },
    },
    Rule {
        id: "PE220",
        severity: Severity::Warning,
        title: "an option with two values",
        meaning: "An engine or device option is there twice, with different values. Poplar takes the last, which may \
                  not be the one that was meant.",
        mend: "Export the model again with one value.",
        when: When::Always,
        run: |set, out| {
            for (model, place) in with_place(set) {
                let metadata = model.metadata();
                for (kind, options) in [("engine", &metadata.engine_options), ("device", &metadata.device_options)] {
                    let doubled = doubled(options.iter().map(|option| (&option.name, option)));
                    for (first, option) in doubled.into_iter().filter(|(first, option)| first.value != option.value) {
                        out.add(place, [option.name.clone()], || {
                            let (first, value) = (quote(&first.value), quote(&option.value));
                            format!("{kind} option {} is {first} and again {value}", quote(&option.name))
                        });
                    }
                }
            }
        },
    },
];

fn with_place<'s, 'f>(set: &'s Set<'f>) -> impl Iterator<Item = (&'s Model<'f>, Place)> {
    set.models.iter().map(|model| {
        let blob = model.metadata_blob();
        (model, Place::blob(blob.file, blob.blob.blob()))
    })
}

/// At most one finding for each metadata.
fn each(set: &Set<'_>, out: &mut Out<'_>, wrong: impl Fn(&Metadata) -> Option<String>) {
    for (model, place) in with_place(set) {
        if let Some(message) = wrong(model.metadata()) {
            out.add(place, [model.metadata().executable.clone()], || message);
        }
    }
}

/// Inputs and outputs; other anchors are connected to nothing.
fn connected(metadata: &Metadata) -> impl Iterator<Item = &Anchor> {
    metadata.anchors.iter().filter(|anchor| matches!(anchor.tensor_type, TensorType::Input | TensorType::Output))
}

/// A finding for each input and output that has the fault.
fn anchors(set: &Set<'_>, out: &mut Out<'_>, wrong: impl Fn(&Anchor) -> Option<String>) {
    for (model, place) in with_place(set) {
        for anchor in connected(model.metadata()) {
            if let Some(message) = wrong(anchor) {
                out.add(place, [anchor.name.clone()], || message);
            }
        }
    }
}

/// One finding for all anchors of a metadata that are so.
fn together(set: &Set<'_>, out: &mut Out<'_>, is_so: impl Fn(&Anchor) -> bool, what: &str) {
    for (model, place) in with_place(set) {
        let names: Vec<_> = model.metadata().anchors.iter().filter(|a| is_so(a)).map(|anchor| &anchor.name).collect();
        if !names.is_empty() {
            out.add(place, names.iter().map(|&name| name.clone()), || {
                let number = u64::try_from(names.len()).unwrap_or(u64::MAX);
                let have = if number == 1 { "has" } else { "have" };
                format!("{} {have} {what}: {}", count(number, "anchor"), list(names.iter().copied()))
            });
        }
    }
}

fn program_twice(set: &Set<'_>, out: &mut Out<'_>) {
    for (model, place) in with_place(set) {
        let flow = &model.metadata().program_flow;
        for (phase, programs) in [("load", &flow.load), ("main", &flow.main), ("save", &flow.save)] {
            for program in twice(programs) {
                out.add(place, [], || format!("{phase} runs program {program} more than once"));
            }
        }
        for anchor in &model.metadata().anchors {
            for program in twice(&anchor.programs) {
                out.add(place, [anchor.name.clone()], || {
                    format!("anchor {} lists program {program} more than once", quote(&anchor.name))
                });
            }
        }
    }
}

fn twice(programs: &[u32]) -> BTreeSet<u32> {
    doubled(programs.iter().map(|&program| (program, program))).into_iter().map(|(program, _)| program).collect()
}

fn direction(anchor: &Anchor) -> &'static str {
    if anchor.tensor_type == TensorType::Input { "input" } else { "output" }
}
