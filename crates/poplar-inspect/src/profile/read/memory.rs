//! The memory of tiles.

use super::lists::{Lists, by_tile, matrix, only_list};
use crate::profile::document::{Doc, Result};
use crate::profile::lengths::Lengths;
use crate::profile::memory::{ByTile, CATEGORIES, Category, LiveNode, Liveness, Memory, Overlap, Parts};
use crate::profile::problem::ErrorKind;

/// `memory`, as it was read.
pub(super) struct MemoryReader(Memory);

impl MemoryReader {
    pub(super) fn read(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<Self> {
        let mut memory = Memory::default();
        let mut categories = None;
        doc.object(|doc, key| {
            match key {
                "byTile" => {
                    let read = tiles(doc, lengths)?;
                    doc.once(&mut memory.by_tile, read)?;
                }
                "byCategory" => {
                    let read = read_categories(doc, lengths)?;
                    doc.once(&mut categories, read)?;
                }
                "byComputeSet" => {
                    let read = parts(doc, lengths)?;
                    doc.once(&mut memory.by_compute_set, read)?;
                }
                "byVertexType" => {
                    let read = parts(doc, lengths)?;
                    doc.once(&mut memory.by_vertex_type, read)?;
                }
                "liveness" => {
                    let read = liveness(doc, lengths)?;
                    doc.once(&mut memory.liveness, read)?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        memory.by_category = categories.unwrap_or_default();
        Ok(MemoryReader(memory))
    }

    /// Remarks which sums do not agree. The document's own example has one.
    pub(super) fn finish(self, doc: &mut Doc<'_>, root: &str) -> Memory {
        if let Some(by_tile) = &self.0.by_tile {
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
        self.0
    }
}

fn tiles(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<ByTile> {
    let mut tiles = ByTile::default();
    let mut seen = [const { None }; 8];
    doc.object(|doc, key| {
        let (slot, seen) = match (key, &mut seen) {
            ("interleaved", [seen, ..]) => (&mut tiles.interleaved, seen),
            ("interleavedIncludingGaps", [_, seen, ..]) => (&mut tiles.interleaved_including_gaps, seen),
            ("nonInterleaved", [_, _, seen, ..]) => (&mut tiles.non_interleaved, seen),
            ("nonInterleavedIncludingGaps", [_, _, _, seen, ..]) => (&mut tiles.non_interleaved_including_gaps, seen),
            ("overflowed", [_, _, _, _, seen, ..]) => (&mut tiles.overflowed, seen),
            ("overflowedIncludingGaps", [.., seen, _, _]) => (&mut tiles.overflowed_including_gaps, seen),
            ("total", [.., seen, _]) => (&mut tiles.total, seen),
            ("totalIncludingGaps", [.., seen]) => (&mut tiles.total_including_gaps, seen),
            _ => return Ok(false),
        };
        *slot = by_tile(doc, lengths)?;
        doc.once(seen, ())?;
        Ok(true)
    })?;
    Ok(tiles)
}

fn read_categories(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<Vec<Category>> {
    let mut categories: Vec<Category> = Vec::new();
    let mut names = std::collections::BTreeSet::new();
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
            "total" => {
                let read = by_tile(doc, lengths)?;
                doc.once(&mut total, read)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let read = region(doc, lengths, &mut sums)?;
        doc.once(slot, read)?;
        Ok(true)
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
        doc.once(slot, sum)?;
        Ok(true)
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
        let read = matrix(doc, lengths, Lists::TileSums)?;
        doc.once(slot, read)?;
        Ok(true)
    })?;
    Ok(parts)
}

fn liveness(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<Liveness> {
    let (mut always_live, mut not_always_live) = (None, None);
    doc.object(|doc, key| {
        match key {
            "alwaysLive" => {
                let read = only_list(doc, lengths, "bytesByTile")?;
                doc.once(&mut always_live, read)?;
            }
            "notAlwaysLive" => {
                let read = not_always(doc, lengths)?;
                doc.once(&mut not_always_live, read)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let (max_not_always_live_by_tile, by_program) = not_always_live.unwrap_or_default();
    Ok(Liveness { always_live_by_tile: always_live.unwrap_or_default(), max_not_always_live_by_tile, by_program })
}

fn not_always(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<(Vec<u64>, Vec<LiveNode>)> {
    let (mut most, mut by_program) = (None, None);
    doc.object(|doc, key| {
        match key {
            "maxBytesByTile" => {
                let read = by_tile(doc, lengths)?;
                doc.once(&mut most, read)?;
            }
            "byProgram" => {
                let mut nodes = Vec::new();
                live_nodes(doc, None, &mut nodes)?;
                doc.once(&mut by_program, nodes)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
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
        doc.object(|doc, key| {
            match key {
                "bytes" => {
                    let read = doc.uint()?;
                    doc.once(&mut bytes, read)?;
                }
                "children" => {
                    live_nodes(doc, Some(number), nodes)?;
                    doc.once(&mut children, ())?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let bytes = bytes.ok_or_else(|| doc.fail(ErrorKind::WrongForm, "the key \"bytes\" is missing"))?;
        if let Some(node) = nodes.get_mut(at) {
            node.bytes = bytes;
        }
        Ok(())
    })
}
