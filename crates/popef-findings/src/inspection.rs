use std::io::Read;

/// A function that reads the archive of a Poplar executable, which is already unpacked, and says what is in it.
///
/// It need not read to the end. If the archive cannot be unpacked, its reader fails, and the function's result is
/// ignored.
///
/// ```
/// use std::io::Read;
///
/// use popef_findings::Inspection;
///
/// fn inspect(archive: &mut dyn Read) -> Inspection {
///     let mut mark = [0; 8];
///     match archive.read_exact(&mut mark) {
///         Ok(()) if mark == *b"!<arch>\n" => Inspection::NotRead("this program only knows how archives begin".to_owned()),
///         _ => Inspection::Damaged("it does not begin like a Unix archive".to_owned()),
///     }
/// }
/// assert_eq!(inspect(&mut &b"other"[..]), Inspection::Damaged("it does not begin like a Unix archive".to_owned()));
/// ```
pub type InspectArchive = fn(&mut dyn Read) -> Inspection;

/// What is in the archive of a Poplar executable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inspection {
    /// The whole archive was read.
    Tiles {
        /// The number of tiles.
        count: u64,
        /// The number of the tile that needs the most memory.
        fullest: u64,
        /// The bytes of memory that it needs.
        bytes: u64,
    },
    /// This is not an archive of tiles, or it is damaged. The text says where and how.
    Damaged(String),
    /// It was not read completely for another reason, such as a limit or missing memory.
    NotRead(String),
}
