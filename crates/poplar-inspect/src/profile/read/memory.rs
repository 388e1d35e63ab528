//! The memory of tiles.

use std::collections::BTreeSet;

use super::lists::{Lists, by_tile, matrix, only_list};
use crate::profile::document::{Doc, Result};
use crate::profile::lengths::Lengths;
use crate::profile::memory::{ByTile, CATEGORIES, Category, LiveNode, Liveness, Memory, Overlap, Parts};
use crate::profile::problem::ErrorKind;

pub(super) fn memory(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<Memory> {
    let mut memory = Memory::default();
    let mut categories = None;
    doc.object(|doc, key| match key {
        "byTile" => doc.fill(&mut memory.by_tile, |doc| tiles(doc, lengths)),
        "byCategory" => doc.fill(&mut categories, |doc| read_categories(doc, lengths)),
        "byComputeSet" => doc.fill(&mut memory.by_compute_set, |doc| parts(doc, lengths)),
        "byVertexType" => doc.fill(&mut memory.by_vertex_type, |doc| parts(doc, lengths)),
        "liveness" => doc.fill(&mut memory.liveness, |doc| liveness(doc, lengths)),
        _ => Ok(false),
    })?;
    memory.by_category = categories.unwrap_or_default();
    Ok(memory)
}

/// Remarks which sums do not agree. The document's own example has one.
pub(super) fn remark_sums(memory: &Memory, doc: &mut Doc<'_>, root: &str) {
    let Some(by_tile) = &memory.by_tile else { return };
    let regions = by_tile.interleaved.iter().zip(&by_tile.non_interleaved).zip(&by_tile.overflowed);
    let sums = regions.map(|((a, b), c)| a.saturating_add(*b).saturating_add(*c));
    for (tile, (total, sum)) in by_tile.total.iter().zip(sums).enumerate().filter(|(_, it)| *it.0 != it.1) {
        let message = format!("the total is {total}, and the regions add up to {sum}");
        doc.remarks.add(&format!("{root}.memory.byTile.total[{tile}]"), None, message);
    }
    let sizes = by_tile.total_including_gaps.iter().zip(&by_tile.total);
    for (tile, (with_gaps, data)) in sizes.enumerate().filter(|(_, it)| it.0 < it.1) {
        let message = format!("with gaps, the tile has {with_gaps} bytes, and without them {data}");
        doc.remarks.add(&format!("{root}.memory.byTile.totalIncludingGaps[{tile}]"), None, message);
    }
}

fn tiles(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<ByTile> {
    let mut tiles = ByTile::default();
    let mut seen = BTreeSet::new();
    doc.object(|doc, key| {
        let slot = match key {
            "interleaved" => &mut tiles.interleaved,
            "interleavedIncludingGaps" => &mut tiles.interleaved_including_gaps,
            "nonInterleaved" => &mut tiles.non_interleaved,
            "nonInterleavedIncludingGaps" => &mut tiles.non_interleaved_including_gaps,
            "overflowed" => &mut tiles.overflowed,
            "overflowedIncludingGaps" => &mut tiles.overflowed_including_gaps,
            "total" => &mut tiles.total,
            "totalIncludingGaps" => &mut tiles.total_including_gaps,
            _ => return Ok(false),
        };
        *slot = by_tile(doc, lengths)?;
        doc.first(seen.insert(key.to_owned()))
    })?;
    Ok(tiles)
}

fn read_categories(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<Vec<Category>> {
    let mut categories: Vec<Category> = Vec::new();
    let mut names = BTreeSet::new();
    doc.object(|doc, key| {
        if !names.insert(Box::<str>::from(key)) {
            return Err(doc.fail(ErrorKind::Contradiction, "the category is there twice"));
        }
        if !CATEGORIES.iter().any(|(name, _)| *name == key) {
            doc.remark("the category is not in the document of the format");
        }
        categories.push(category(doc, lengths, key)?);
        Ok(true)
    })?;
    Ok(categories)
}

fn category(doc: &mut Doc<'_>, lengths: &mut Lengths, name: &str) -> Result<Category> {
    let mut sums = Vec::new();
    let (mut interleaved, mut non_interleaved, mut overflowed, mut total) = (None, None, None, None);
    doc.object(|doc, key| {
        let slot = match key {
            "interleaved" => &mut interleaved,
            "nonInterleaved" => &mut non_interleaved,
            "overflowed" => &mut overflowed,
            "total" => return doc.fill(&mut total, |doc| by_tile(doc, lengths)),
            _ => return Ok(false),
        };
        doc.fill(slot, |doc| region(doc, lengths, &mut sums))
    })?;
    if total.as_ref().is_some_and(|total| !sums.is_empty() && *total != sums) {
        doc.remark("the totals are not the sums of the regions");
    }
    Ok(Category {
        name: name.into(),
        interleaved: interleaved.unwrap_or_default(),
        non_interleaved: non_interleaved.unwrap_or_default(),
        overflowed: overflowed.unwrap_or_default(),
        total: total.unwrap_or(sums),
    })
}

/// Reads a region of a category, and adds the bytes of each tile to `sums`.
fn region(doc: &mut Doc<'_>, lengths: &mut Lengths, sums: &mut Vec<u64>) -> Result<Overlap> {
    let (mut non_overlapped, mut overlapped) = (None, None);
    doc.object(|doc, key| {
        let slot = match key {
            "nonOverlapped" => &mut non_overlapped,
            "overlapped" => &mut overlapped,
            _ => return Ok(false),
        };
        let mut sum = 0_u64;
        let len = doc.uints(|tile, value| {
            sum = sum.saturating_add(value);
            match sums.get_mut(tile) {
                Some(of_tile) => *of_tile = of_tile.saturating_add(value),
                None => sums.push(value),
            }
        })?;
        lengths.note(len, doc.path(), doc.position());
        doc.first(slot.replace(sum).is_none())
    })?;
    Ok(Overlap { non_overlapped: non_overlapped.unwrap_or_default(), overlapped: overlapped.unwrap_or_default() })
}

fn parts(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<Parts> {
    let mut parts = Parts::default();
    doc.object(|doc, key| {
        let slot = match key {
            "codeBytes" => &mut parts.code_bytes,
            "copyPtrBytes" => &mut parts.copy_ptr_bytes,
            "descriptorBytes" => &mut parts.descriptor_bytes,
            "edgePtrBytes" => &mut parts.edge_ptr_bytes,
            "paddingBytes" => &mut parts.padding_bytes,
            "vertexDataBytes" => &mut parts.vertex_data_bytes,
            "totalBytes" => &mut parts.total_bytes,
            _ => return Ok(false),
        };
        doc.fill(slot, |doc| matrix(doc, lengths, Lists::TileSums))
    })?;
    Ok(parts)
}

fn liveness(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<Liveness> {
    let (mut always_live, mut not_always_live) = (None, None);
    doc.object(|doc, key| match key {
        "alwaysLive" => doc.fill(&mut always_live, |doc| only_list(doc, lengths, "bytesByTile")),
        "notAlwaysLive" => doc.fill(&mut not_always_live, |doc| not_always(doc, lengths)),
        _ => Ok(false),
    })?;
    let (max_not_always_live_by_tile, by_program) = not_always_live.unwrap_or_default();
    Ok(Liveness { always_live_by_tile: always_live.unwrap_or_default(), max_not_always_live_by_tile, by_program })
}

fn not_always(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<(Vec<u64>, Vec<LiveNode>)> {
    let (mut most, mut by_program) = (None, None);
    doc.object(|doc, key| match key {
        "maxBytesByTile" => doc.fill(&mut most, |doc| by_tile(doc, lengths)),
        "byProgram" => doc.fill(&mut by_program, |doc| {
            let mut nodes = Vec::new();
            live_nodes(doc, None, &mut nodes)?;
            Ok(nodes)
        }),
        _ => Ok(false),
    })?;
    Ok((most.unwrap_or_default(), by_program.unwrap_or_default()))
}

/// Reads nodes of the tree of liveness. The document is not nested without bound, so neither is this.
fn live_nodes(doc: &mut Doc<'_>, parent: Option<u32>, nodes: &mut Vec<LiveNode>) -> Result<()> {
    doc.array(|doc, child| {
        let (Ok(number), Ok(child)) = (u32::try_from(nodes.len()), u32::try_from(child)) else {
            return Err(doc.fail(ErrorKind::WrongForm, "the tree of liveness is too large"));
        };
        let at = nodes.len();
        nodes.push(LiveNode { bytes: 0, parent, child });
        let (mut bytes, mut children) = (None, None);
        doc.object(|doc, key| match key {
            "bytes" => doc.fill(&mut bytes, Doc::uint),
            "children" => doc.fill(&mut children, |doc| live_nodes(doc, Some(number), nodes)),
            _ => Ok(false),
        })?;
        let bytes = bytes.ok_or_else(|| doc.fail(ErrorKind::WrongForm, "the key \"bytes\" is missing"))?;
        if let Some(node) = nodes.get_mut(at) {
            node.bytes = bytes;
        }
        Ok(())
    })
}
