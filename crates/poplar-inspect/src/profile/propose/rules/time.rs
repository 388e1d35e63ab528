//! Rules about time.

use popef_findings::Rule;

use super::super::found::{Found, Missing};
use super::super::subject::Subject;
use super::super::words::percent;
use super::{Check, Half};
use crate::profile::analyse::memory::float;
use crate::profile::program::StepKind;

pub(in super::super) const RULES: &[Check] = &[
    Rule::warning("PP201", "a heavy step that is badly balanced")
        .meaning(
            "A step takes a large share of all cycles (policy: heavy-step), and on average tiles are busy for a small \
             part of it (policy: min-step-balance). The others wait for the slowest tile. Copies with the host are not \
             looked at, because few tiles have to do with them.",
        )
        .fix(
            "Spread the tensors of the step evenly over tiles (popef tiles plan), and choose sizes that tiles can \
             share evenly. PP202 tells if few tiles take part at all.",
        )
        .run((Half::Execution, badly_balanced)),
    Rule::warning("PP202", "a heavy compute step on few tiles")
        .meaning(
            "A compute step takes a large share of all cycles (policy: heavy-step), and few tiles take part (policy: \
             min-active-tiles).",
        )
        .fix(
            "Map the tensors of the step to more tiles. If they are small, merge the step with others that could run \
             at the same time, so that they are one compute set.",
        )
        .run((Half::Execution, few_tiles)),
    Rule::note("PP203", "a heavy compute step that uses few threads")
        .meaning(
            "A compute step takes a large share of all cycles (policy: heavy-step), and the six threads of the tiles \
             are used for a small part of it (policy: min-threads). With one thread, that is 16.7 %.",
        )
        .fix(
            "Divide the work of each tile into at least six vertices of about the same size, or use vertices that \
             divide it themselves (MultiVertex, supervisor vertices).",
        )
        .run((Half::Execution, few_threads)),
    Rule::warning("PP204", "tiles that mostly wait for each other")
        .meaning(
            "Synchronisation has a large share of all tiles' cycles (policy: max-sync). It is the time until the \
             slowest tile has come so far, so the work is uneven, or there are many short steps.",
        )
        .fix(
            "Balance the longest steps (PP201). If steps are short, merge them: larger batches, fewer and larger \
             operations.",
        )
        .run((Half::Execution, sync)),
    Rule::warning("PP205", "much time in copies with the host")
        .meaning("Copies with the host have a large share of all tiles' cycles (policy: max-host).")
        .fix(
            "Copy less: smaller data types for input, results only when they are needed, several batches for each \
             call. Or copy while there is compute: tiles for input and output (PP206).",
        )
        .run((Half::Execution, host)),
    Rule::note("PP206", "copies with the host that do not overlap with compute")
        .meaning(
            "Copies with the host take a large part of the execution (policy: heavy-copies), and meanwhile there is \
             hardly any compute (policy: min-overlap).",
        )
        .fix(
            "Set tiles aside for input and output, and copy the next batch while the last one is worked on (PopART: \
             numIOTiles and ExchangeStrategy; TensorFlow: io_tiles).",
        )
        .run((Half::Execution, no_overlap)),
];

fn badly_balanced(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let mut uneven = subject.heavy()?;
    uneven.retain(|work| {
        let is_uneven = work.tile_balance.is_some_and(|balance| balance < subject.policy.min_step_balance);
        is_uneven && *work.kind != StepKind::StreamCopy
    });
    uneven.sort_by(|one, other| other.lost().total_cmp(&one.lost()).then(one.first.cmp(&other.first)));
    for work in uneven {
        let (step, share) = (work.described(), percent(subject.share_of(&work)?));
        let busy = percent(work.tile_balance.unwrap_or_default());
        let active = work.active_tiles.map_or_else(String::new, |tiles| {
            let verb = if tiles == 1 { "takes" } else { "take" };
            format!("; {tiles} of {} tiles {verb} part", subject.graph.target.num_tiles)
        });
        let cycles = work.cycles;
        found.add(work.name, format!("{step}: {cycles} cycles, {share}, with a balance of {busy}{active}"));
    }
    Ok(())
}

fn few_tiles(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let all = subject.graph.target.num_tiles;
    for work in subject.heavy()?.iter().filter(|work| *work.kind == StepKind::OnTileExecute) {
        let Some(active) = work.active_tiles else { continue };
        if float(active) < subject.policy.min_active_tiles * f64::from(all) {
            let (step, share) = (work.described(), percent(subject.share_of(work)?));
            let verb = if active == 1 { "takes" } else { "take" };
            found.add(
                work.name,
                format!("{step}: {} cycles, {share}, and {active} of {all} tiles {verb} part", work.cycles),
            );
        }
    }
    Ok(())
}

fn few_threads(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let mut compute = subject.heavy()?;
    compute.retain(|work| *work.kind == StepKind::OnTileExecute);
    if !compute.is_empty() && compute.iter().all(|work| work.thread_balance.is_none()) {
        return Err(Missing::because("no compute step has a threadBalance"));
    }
    for work in compute {
        let Some(threads) = work.thread_balance.filter(|threads| *threads < subject.policy.min_threads) else {
            continue;
        };
        let (step, share, used) = (work.described(), percent(subject.share_of(&work)?), percent(threads));
        found.add(work.name, format!("{step}: {} cycles, {share}, with a use of threads of {used}", work.cycles));
    }
    Ok(())
}

fn sync(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let share = subject.share("sync")?;
    if share > subject.policy.max_sync {
        found.add([], format!("{} of all tiles' cycles are synchronisation", percent(share)));
    }
    Ok(())
}

fn host(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let share = subject.share("streamCopy")?;
    if share > subject.policy.max_host {
        found.add([], format!("{} of all tiles' cycles are copies with the host", percent(share)));
    }
    Ok(())
}

fn no_overlap(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let (whole, overlap) = (subject.cycles()?, subject.copy_overlap()?);
    let (copies, overlapped) = (float(overlap.copy_cycles), float(overlap.overlapped_cycles));
    if overlap.copy_cycles > whole {
        return Err(Missing::because("the report contradicts itself: steps last longer than the execution"));
    }
    let is_heavy = copies > 0.0 && copies >= subject.policy.heavy_copies * float(whole);
    if is_heavy && overlapped < subject.policy.min_overlap * copies {
        let share = percent(copies / float(whole.max(1)));
        let meanwhile = percent(overlapped / copies);
        let cycles = overlap.copy_cycles;
        found.add(
            [],
            format!("copies take {cycles} of {whole} cycles, {share}; there is compute in {meanwhile} of that time"),
        );
    }
    Ok(())
}
