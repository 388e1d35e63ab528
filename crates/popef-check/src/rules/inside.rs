//! Rules about the archive of tiles inside Poplar executables.
//!
//! No executable of Poplar is public, so the facts behind these rules are inferred, and each finding says so.

use super::super::findings::{Findings, Spot};
use super::super::run::{Check, data, set};
use super::super::scan::{Executable, Parts, Scanned};
use super::super::set::Set;
use super::super::tiles::Target;
use super::super::words::{count, quote};
use popef::model::Linked;
use popef::read::Blob;
use popef::types::escape;
use popef_findings::{Generation, Inspection, Rule, When, chips, tile_memory};

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
             number of programs in this executable fits neither all IPUs that its metadata states (numIpus, of \
             ipuVersion) nor those of one or some replicas (numIpus divided by replicationFactor, or several times as \
             many). The executable or the metadata is of another model, or the executable was compiled for a \
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
            "A tile has 256 KiB of memory (Mk1, with 1,216 tiles) or 624 KiB (Mk2 and Bow, with 1,472). The metadata's \
             ipuVersion says which, or if that is unknown, the number of tiles. The program of a tile needs more, so \
             the model does not fit. Poplar normally refuses to compile such a model; an engine \
             option allows it. This is unverified: no executable of Poplar is public, so it is inferred what is in the \
             memory of a tile.",
        )
        .fix(
            "Compile the model for more IPUs, or so that it needs less memory. popef dump --execs --verbose shows how \
             much the fullest tile needs.",
        )
        .when(When::Inspected)
        .run(set(too_full_tile)),
];

/// An archive may or may not have the tiles of all replicas, so those of any number of replicas fit.
fn fits(tiles: u64, target: &Target) -> bool {
    let (all, stated) = (u64::from(target.ipus), Generation::of_ipu_version(target.version));
    let replicas = u64::from(target.replicas.max(1));
    let of_one = all.checked_div(replicas).filter(|_| all.is_multiple_of(replicas)).unwrap_or(all);
    let mut own = chips(tiles).into_iter().filter(|chips| stated.is_none_or(|stated| chips.generation == stated));
    own.any(|chips| chips.ipus <= all && chips.ipus.is_multiple_of(of_one))
}

fn other_number_of_tiles(set: &Set, out: &mut Findings<'_>) {
    // Another rule reports metadata for 0 IPUs.
    let targets = set.tiles.targets().filter(|(target, own)| target.ipus > 0 && !fits(own.tiles, target));
    for (target, own) in targets {
        let Some(Linked { file, blob, .. }) = set.linked(target.metadata) else { continue };
        let Some(name) = blob.content().into_metadata().map(|metadata| metadata.executable()) else { continue };
        out.add(Spot::blob(file, &blob), [name.clone()], || {
            let (name, ipus, tiles) = (quote(&name), count(target.ipus.into(), "IPU"), count(own.tiles, "tile"));
            let replicas = match target.replicas {
                0 | 1 => String::new(),
                replicas => format!(" in {replicas} replicas"),
            };
            let each = match Generation::of_ipu_version(target.version) {
                Some(stated) => format!("IPUs of version {} have {} each", target.version, stated.tiles()),
                None => "IPUs have 1216 or 1472 each".to_owned(),
            };
            format!("the metadata is for {ipus}{replicas}, and executable {name} has {tiles}: {each}; {UNVERIFIED}")
        });
    }
}

/// The first metadata that names an executable says for which IPUs it is.
fn too_full_tile(set: &Set, out: &mut Findings<'_>) {
    let stated = set.tiles.targets().map(|(target, own)| (target.executable, own, Some(target.version)));
    let counted = set.tiles.executables().map(|(executable, own)| (executable, own, None));
    for (executable, own, version) in stated.chain(counted) {
        if !out.is_first_of(set.files(), executable) {
            continue;
        }
        let memory = version.and_then(Generation::of_ipu_version).map(Generation::tile_memory);
        let memory = memory.or_else(|| tile_memory(own.tiles)).filter(|memory| own.bytes > *memory);
        if let Some((memory, blob)) = memory.zip(set.linked(executable)) {
            let needed = count(own.bytes, "byte");
            finding(&blob, out, &format!("tile {} needs {needed} of memory, and has {memory}", own.fullest));
        }
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
