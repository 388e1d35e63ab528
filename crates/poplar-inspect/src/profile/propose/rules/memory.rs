//! Rules about memory.

use popef::types::escape;
use popef_findings::Rule;

use super::super::found::{Found, Missing};
use super::super::subject::Subject;
use super::super::words::{bytes, first_of, percent, quote};
use super::{Check, Half};
use crate::profile::analyse::memory::{float, largest};

pub(in super::super) const RULES: &[Check] = &[
    Rule::error("PP101", "tiles that do not fit")
        .meaning(
            "Tiles need more memory than they have, so the program cannot be loaded. What a tile needs is the highest \
             address that it uses, with the gaps between its data. Data that overflowed does not fit either: it has no \
             place in the region of memory that it needs.",
        )
        .fix(
            "Look at what the tiles hold: popef profile --by tile and --by category. If few tiles do not fit, spread \
             their tensors over more tiles; if most do not fit, use more IPUs, smaller batches, recomputation, or less \
             memory for matrix multiplications and convolutions (availableMemoryProportion).",
        )
        .run((Half::Graph, does_not_fit)),
    Rule::warning("PP102", "one tile far above the median")
        .meaning(
            "Memory is short (policy: full), and the fullest tile needs many times what most tiles need (policy: \
             max-over-median). The model is not too large, but unevenly spread: a tensor lies on few tiles, or control \
             code and copies go through one.",
        )
        .fix(
            "See what is on the tile: popef profile --by tile. Map its tensors to more tiles (popef tiles plan), or \
             begin the mapping of each tensor at another tile.",
        )
        .run((Half::Graph, far_above_median)),
    Rule::warning("PP103", "much code for exchanges")
        .meaning(
            "A large share of all data is code and headers of exchanges (policy: max-exchange-code). Each exchange has \
             code of its own on each tile that takes part, and more the more scattered the data is.",
        )
        .fix(
            "Find the exchanges: popef profile --by exchange --sort code. Map tensors alike that are used together, \
             avoid rearranging, and call one function (poplar::Function, outlining) instead of repeating copies.",
        )
        .run((Half::Graph, exchange_code)),
    Rule::warning("PP104", "much control code")
        .meaning(
            "A large share of all data is code that runs programs (policy: max-control-code). It grows with the number \
             of steps of the program, not with its data.",
        )
        .fix(
            "Put what repeats into functions and loops, so that it is there once: outlining in PopART, functions in \
             Poplar. popef profile --by program shows the program.",
        )
        .run((Half::Graph, control_code)),
    Rule::note("PP105", "nearly all memory is always live")
        .meaning(
            "Memory is short (policy: full), and nearly all that is live at the peak is so all the time (policy: \
             max-always-live): weights, optimiser state, code. Recomputation and smaller parts of computations do not \
             reduce it.",
        )
        .fix(
            "Use more IPUs, keep weights or optimiser state in the host's memory (remote buffers), or use smaller data \
             types for them.",
        )
        .run((Half::Graph, always_live)),
    Rule::note("PP106", "temporary data dominates the peak")
        .meaning(
            "Memory is short (policy: full), and most of what is live at the peak is there only for a time (policy: \
             max-temporary): activations, and what computations need in between.",
        )
        .fix(
            "Look at the program at the peak. Recompute activations, use smaller batches or more gradient \
             accumulation, or give matrix multiplications and convolutions less memory (availableMemoryProportion, not \
             below 0.05).",
        )
        .run((Half::Graph, temporary)),
    Rule::warning("PP107", "large gaps between data")
        .meaning(
            "Memory is short (policy: full), and on a tile the gaps inside the regions of memory are a large share of \
             its memory (policy: max-gaps). Data that has to lie in interleaved memory or at certain addresses leaves \
             them. The space between regions is not counted.",
        )
        .fix(
            "Look at the lowered variables of the tile (popef tiles vars), and at constraints of vertices for their \
             data. Smaller or fewer constrained tensors on the tile leave smaller gaps.",
        )
        .run((Half::Graph, gaps)),
];

fn does_not_fit(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let (needs, has) = (subject.tiles()?, subject.bytes_per_tile()?);
    let over = &subject.memory_sums()?.over_memory;
    if over.fits.is_none() {
        return Err(Missing::because("the report contradicts itself: tiles have more data than they need"));
    }
    if over.with_gaps.is_empty() {
        // Each region of a tile's memory can be full for itself.
        if over.overflowed_bytes > 0 {
            let more = bytes(over.overflowed_bytes);
            found.add(
                [],
                format!("no tile needs more than it has, but {more} did not fit into their regions of memory"),
            );
        }
        return Ok(());
    }
    let (count, all) = (over.with_gaps.len(), subject.graph.target.num_tiles);
    let verb = if count == 1 { "does" } else { "do" };
    let overflowed = match over.overflowed_bytes {
        0 => String::new(),
        more => format!(", {} too much in all", bytes(more)),
    };
    // Gaps alone may be the cause.
    let is_data_known = subject.memory_sums()?.without_gaps.is_some();
    let fits = is_data_known && over.without_gaps.is_empty();
    let gaps = if fits { "; without the gaps between data, all would fit" } else { "" };
    let tile = format!("tile {} needs {} of {}", needs.max_tile, bytes(needs.max), bytes(has));
    let first = first_of(&over.with_gaps);
    let holds = holds(subject, needs.max_tile);
    found.add([], format!("{count} of {all} tiles {verb} not fit ({first}){overflowed}; {tile}{holds}{gaps}"));
    Ok(())
}

/// `: variable 345.2 KiB, vertexCode 1.8 KiB`
fn holds(subject: &Subject<'_>, tile: u32) -> String {
    let Some(memory) = &subject.graph.memory else { return String::new() };
    let largest = largest(memory, tile, 3);
    let largest: Vec<_> = largest.iter().map(|it| format!("{} {}", escape(it.category), bytes(it.size))).collect();
    if largest.is_empty() { String::new() } else { format!(": {}", largest.join(", ")) }
}

fn far_above_median(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let tiles = subject.tiles()?;
    if !subject.is_memory_short()? || float(tiles.max) <= subject.policy.max_over_median * tiles.median {
        return Ok(());
    }
    let times = if tiles.median > 0.0 {
        format!("{:.1} times", float(tiles.max) / tiles.median)
    } else {
        "more than".to_owned()
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a median of bytes is not negative")]
    let median = bytes(tiles.median as u64);
    let holds = holds(subject, tiles.max_tile);
    found.add([], format!("tile {} needs {}, {times} the median of {median}{holds}", tiles.max_tile, bytes(tiles.max)));
    Ok(())
}

/// Code and headers of exchanges.
const EXCHANGE: &[&str] = &[
    "internalExchangeCode",
    "globalExchangeCode",
    "globalExchangePacketHeader",
    "hostExchangeCode",
    "hostExchangePacketHeader",
];
/// Code and data that run programs.
const CONTROL: &[&str] = &["controlCode", "controlId", "controlTable"];

fn exchange_code(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    code(subject, found, EXCHANGE, subject.policy.max_exchange_code, "exchanges have")
}

fn control_code(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    code(subject, found, CONTROL, subject.policy.max_control_code, "control code has")
}

fn code(subject: &Subject<'_>, found: &mut Found, categories: &[&str], most: f64, what: &str) -> Result<(), Missing> {
    let (size, whole) = (subject.bytes_of(categories)?, subject.data_of_categories()?);
    let share = float(size) / float(whole);
    if share > most {
        let sizes: Vec<String> = categories
            .iter()
            .filter_map(|name| Some((name, subject.bytes_of(&[name]).ok().filter(|size| *size > 0)?)))
            .map(|(name, size)| format!("{name} {}", bytes(size)))
            .collect();
        let (share, sizes) = (percent(share), sizes.join(", "));
        found.add([], format!("{what} {} of {} on all tiles, {share}: {sizes}", bytes(size), bytes(whole)));
    }
    Ok(())
}

fn always_live(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let live = subject.peak()?;
    let share = float(live.always_live_sum) / float(live.peak_total_bytes.max(1));
    if subject.is_memory_short()? && share > subject.policy.max_always_live {
        let (always, all) = (bytes(live.always_live_sum), bytes(live.peak_total_bytes));
        found.add([], format!("{always} of {all} that are live at the peak are always live, {}", percent(share)));
    }
    Ok(())
}

fn temporary(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let live = subject.peak()?;
    let share = float(live.peak_not_always_live_bytes) / float(live.peak_total_bytes.max(1));
    if !subject.is_memory_short()? || share <= subject.policy.max_temporary {
        return Ok(());
    }
    let path = live.peak_path.as_ref();
    let program = path.and_then(|path| Some((path.steps.programs.last()?, path.types.last()?)));
    let program =
        program.map_or_else(String::new, |(number, kind)| format!("; it is in program {number}, {}", escape(kind)));
    let name = path.and_then(|path| path.names.iter().flatten().next_back());
    let within = name.map_or_else(String::new, |name| format!(" in {}", quote(name)));
    let (some, all) = (bytes(live.peak_not_always_live_bytes), bytes(live.peak_total_bytes));
    let message = format!("{some} of {all} at the peak are not always live, {}{program}{within}", percent(share));
    found.add(name.map(String::as_str), message);
    Ok(())
}

fn gaps(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let by_tile = subject.memory()?.by_tile.as_ref().ok_or_else(|| Missing::part("memory.byTile"))?;
    let regions = [
        (&by_tile.interleaved, &by_tile.interleaved_including_gaps, "interleaved"),
        (&by_tile.non_interleaved, &by_tile.non_interleaved_including_gaps, "nonInterleaved"),
        (&by_tile.overflowed, &by_tile.overflowed_including_gaps, "overflowed"),
    ];
    for (data, with_gaps, name) in regions {
        if data.is_empty() || with_gaps.is_empty() {
            return Err(Missing::part(&format!("memory.byTile.{name} or {name}IncludingGaps")));
        }
    }
    let has = subject.bytes_per_tile()?;
    if !subject.is_memory_short()? {
        return Ok(());
    }
    let mut most: Option<(u64, usize)> = None;
    let mut tiles = 0_u64;
    for tile in 0..by_tile.interleaved.len() {
        let at = |list: &[u64]| list.get(tile).copied().unwrap_or_default();
        let gaps = regions.iter().map(|(data, with_gaps, _)| at(with_gaps).saturating_sub(at(data)));
        let gaps = gaps.fold(0, u64::saturating_add);
        if float(gaps) > subject.policy.max_gaps * float(has) {
            tiles = tiles.saturating_add(1);
            if most.is_none_or(|(most, _)| gaps > most) {
                most = Some((gaps, tile));
            }
        }
    }
    if let Some((gaps, tile)) = most {
        let (gaps, share) = (bytes(gaps), percent(float(gaps) / float(has)));
        let others = if tiles > 1 { format!(", and so do {} others", tiles.saturating_sub(1)) } else { String::new() };
        found.add([], format!("gaps take {gaps} of the {} of tile {tile}, {share}{others}", bytes(has)));
    }
    Ok(())
}
