//! Rules about the archive of tiles inside Poplar executables.
//!
//! No executable of Poplar is public, so the facts behind these rules are inferred, and each finding says so.

use super::super::findings::{Findings, Spot};
use super::super::run::{Check, data, set};
use super::super::scan::{Executable, Parts, Scanned};
use super::super::set::Set;
use super::super::words::{count, quote};
use popef::model::Linked;
use popef::read::Blob;
use popef::types::escape;
use popef_findings::Inspection;
use popef_findings::{Rule, When};

pub(super) const RULES: &[Check] = &[
    Rule::note("PE801", "a Poplar executable whose archive is damaged (unverified)")
        .meaning(
            "According to Poplar's header, an archive follows. It unpacks, but it is not a Unix archive with a program \
             for each tile, or this archive is damaged. Most likely, Poplar cannot load the executable. (PE407 reports \
             an archive that does not unpack.) This is unverified: no executable of Poplar is public, so it is \
             inferred what the archive looks like.",
        )
        .fix(
            "Compare the file with the original, and copy or export it again. If the model runs with this file, this \
             rule is wrong: turn it off with a policy, and please report it to the authors of this library.",
        )
        .when(When::Inspected)
        .run(data(|blob, scanned, out| {
            if let Some(Inspection::Damaged(why)) = inspected(scanned) {
                finding(blob, out, &escape(why));
            }
        })),
    Rule::note("PE802", "tiles that do not fit the number of IPUs (unverified)")
        .meaning(
            "An IPU has 1,216 tiles (Mk1) or 1,472 (Mk2, Bow), and an executable has a program for each tile. The \
             number of programs in this executable fits neither all IPUs that its metadata states nor those of one or \
             some replicas. The executable or the metadata is of another model, or the executable was compiled for a \
             target with fewer tiles. This is unverified: no executable of Poplar is public, and it is not known \
             whether tiles without work have a program.",
        )
        .fix(
            "Check whether the executable and the metadata are from the same export. If the model runs with these \
             files, turn this rule off with a policy.",
        )
        .when(When::Inspected)
        .run(set(other_number_of_tiles)),
    Rule::note("PE803", "a tile that needs more memory than it has (unverified)")
        .meaning(
            "A tile has 256 KiB of memory (Mk1, with 1,216 tiles) or 624 KiB (Mk2 and Bow, with 1,472). The program of \
             a tile needs more, so the model does not fit. Poplar normally refuses to compile such a model; an engine \
             option allows it. This is unverified: no executable of Poplar is public, so it is inferred what is in the \
             memory of a tile.",
        )
        .fix(
            "Compile the model for more IPUs, or so that it needs less memory. popef dump --execs --verbose shows how \
             much the fullest tile needs.",
        )
        .when(When::Inspected)
        .run(data(|blob, scanned, out| {
            let Some(&Inspection::Tiles { count: tiles, fullest, bytes }) = inspected(scanned) else { return };
            let Some(chip) = chip_of(tiles).filter(|chip| bytes > chip.tile_memory) else { return };
            let needed = count(bytes, "byte");
            finding(blob, out, &format!("tile {fullest} needs {needed} of memory, and has {}", chip.tile_memory));
        })),
];

/// What matters of a kind of IPU.
struct Chip {
    tiles: u64,
    /// The bytes of memory of a tile.
    tile_memory: u64,
}

const CHIPS: [Chip; 2] = [Chip { tiles: 1216, tile_memory: 256 << 10 }, Chip { tiles: 1472, tile_memory: 624 << 10 }];

impl Chip {
    /// Returns how many of these chips have this number of tiles.
    fn ipus(&self, tiles: u64) -> Option<u64> {
        tiles.checked_div(self.tiles).filter(|&ipus| ipus > 0 && tiles.is_multiple_of(self.tiles))
    }
}

/// Returns the kind of IPU that has this number of tiles, or several times as many, if it is the only one.
fn chip_of(tiles: u64) -> Option<&'static Chip> {
    let mut fitting = CHIPS.iter().filter(|chip| chip.ipus(tiles).is_some());
    fitting.next().filter(|_| fitting.next().is_none())
}

/// An archive may or may not have the tiles of all replicas, so each divisor of the number of IPUs fits.
fn fits(tiles: u64, ipus: u32) -> bool {
    CHIPS.iter().filter_map(|chip| chip.ipus(tiles)).any(|own| u64::from(ipus).is_multiple_of(own))
}

fn other_number_of_tiles(set: &Set, out: &mut Findings<'_>) {
    // Another rule reports metadata for 0 IPUs.
    let targets = set.tiles.targets().filter(|(target, tiles)| target.ipus > 0 && !fits(*tiles, target.ipus));
    for (target, tiles) in targets {
        let Some(Linked { file, blob, .. }) = set.linked(target.metadata) else { continue };
        let Some(name) = blob.content().into_metadata().map(|metadata| metadata.executable()) else { continue };
        out.add(Spot::blob(file, &blob), [name.clone()], || {
            let (name, ipus) = (quote(&name), count(target.ipus.into(), "IPU"));
            let tiles = count(tiles, "tile");
            format!("the metadata is for {ipus}, and executable {name} has {tiles}: IPUs have 1216 or 1472 each; {UNVERIFIED}")
        });
    }
}

fn inspected(scanned: &Scanned) -> Option<&Inspection> {
    match scanned {
        Scanned::Executable(Ok(Executable { parts: Parts::Right(found), .. })) => found.as_ref(),
        _ => None,
    }
}

const UNVERIFIED: &str = "this is unverified, as no executable of Poplar is public";

fn finding(blob: &Linked<Blob<'_>>, out: &mut Findings<'_>, wrong: &str) {
    let name = blob.name().unwrap_or_default();
    out.add(Spot::data(blob.file, blob), [name.clone()], || {
        format!("executable {}: {wrong}; {UNVERIFIED}", quote(&name))
    });
}
