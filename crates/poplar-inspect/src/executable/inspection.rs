//! Looks inside executables for deep checks.

use std::io::Read;

use super::{Options, read_archive_part};
use popef::error::ErrorKind;
use popef_findings::Inspection;

/// Says which tiles the archive of a Poplar executable has, for `CheckOptions::inspect_archives` of `popef-check`.
///
/// ```
/// use popef_findings::{InspectArchive, Inspection};
/// use poplar_inspect::executable::inspect_archive;
///
/// let inspect: InspectArchive = inspect_archive;
/// assert!(matches!(inspect(&mut &b"no archive"[..]), Inspection::Damaged(_)));
/// ```
pub fn inspect_archive(archive: &mut dyn Read) -> Inspection {
    let summary = read_archive_part(archive, &Options::default());
    if let Some(damage) = &summary.damage {
        // Rules have advice of their own.
        let why = format!("{}: {}", damage.place(), damage.reason());
        return match damage.kind() {
            ErrorKind::Damaged | ErrorKind::Unknown => Inspection::Damaged(why),
            _ => Inspection::NotRead(why),
        };
    }
    let tiles = summary.overview();
    if tiles.count == 0 {
        return Inspection::Damaged(format!(
            "none of its {} members is the program of a tile",
            summary.other_members_count
        ));
    }
    Inspection::Tiles {
        count: tiles.count,
        fullest: tiles.largest_tile.unwrap_or_default().into(),
        bytes: tiles.largest_bytes,
    }
}
