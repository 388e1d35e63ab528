//! The codes of errors: the one table that their kinds, their names and `docs/ERRORS.md` are made from.

use std::io;

use super::kind::ErrorKind;
use crate::names::by_name;

/// One entry a code: its name, its kind, what happened, and what to do. With `as`, the kind of `std::io` is another one
/// than that of the code's kind.
macro_rules! codes {
    ($( $code:ident = $name:literal, $kind:ident $(as $io:ident)?, $meaning:literal, $advice:literal; )+) => {
        /// Which error it is, for programs: an [`Error`](crate::Error)'s text may get better words, its code stays.
        ///
        /// Its name is the text by which programs exchange it: it is shown, parsed and serialised as `blob-cut`. A
        /// name is never changed, and never becomes that of another error. Later versions have more of them, so a
        /// `match` needs an arm for those. The repository's `docs/ERRORS.md` is the list as a page.
        ///
        /// ```
        /// use popef::error::{ErrorCode, ErrorKind};
        ///
        /// let code: ErrorCode = "blob-cut".parse()?;
        /// assert_eq!(code, ErrorCode::BlobCut);
        /// assert_eq!(code.kind(), ErrorKind::Damaged);
        /// println!("{code}: {} {}", code.meaning(), code.advice());
        /// # Ok::<(), popef::error::UnknownName>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode { $( #[doc = $meaning] #[doc = ""] #[doc = $advice] $code, )+ }

        impl ErrorCode {
            /// All codes, those of one kind one after the other.
            pub const ALL: &'static [ErrorCode] = &[ $( ErrorCode::$code, )+ ];

            /// Its name.
            pub const fn as_str(self) -> &'static str {
                match self { $( ErrorCode::$code => $name, )+ }
            }

            /// The kind of all errors with this code.
            pub const fn kind(self) -> ErrorKind {
                match self { $( ErrorCode::$code => ErrorKind::$kind, )+ }
            }

            /// What happened.
            pub const fn meaning(self) -> &'static str {
                match self { $( ErrorCode::$code => $meaning, )+ }
            }

            /// What to do.
            pub const fn advice(self) -> &'static str {
                match self { $( ErrorCode::$code => $advice, )+ }
            }

            /// The kind of an `io::Error` that is made of an error with this code. None: that of the error of the
            /// system which is its source.
            pub fn io_kind(self) -> Option<io::ErrorKind> {
                match self {
                    $( $( ErrorCode::$code => Some(io::ErrorKind::$io), )? )+
                    _ => self.kind().io_kind(),
                }
            }
        }
    };
}

codes! {
    HeaderCut = "header-cut", Damaged as UnexpectedEof,
        "The file ends inside a blob's header.",
        "Copy or export the file again, or keep the blobs before this one.";
    BlobCut = "blob-cut", Damaged as UnexpectedEof,
        "The file ends before the blob does: its header gives it more bytes than the file has left.",
        "Copy or export the file again, or keep the blobs before this one.";
    BlobUnwritten = "blob-unwritten", Damaged,
        "The blob begins with zeros: a program was stopped while it wrote the blob.",
        "Keep the blobs before this one; `recover` cuts off the rest.";
    BlobTooSmall = "blob-too-small", Damaged,
        "A blob's header gives the blob fewer bytes than its header and info message take.",
        "Export the file again: the size was never filled in, or it was overwritten.";
    TooManySegments = "too-many-segments", Damaged,
        "A message claims more segments than any reader accepts.",
        "Make sure that this is a PopEF file. If it is, bytes were overwritten: copy or export it again.";
    HeaderTooLong = "header-too-long", Damaged,
        "A header message claims more bytes than any header has.",
        "Make sure that this is a PopEF file. If it is, bytes were overwritten: copy or export it again.";
    InfoPastEnd = "info-past-end", Damaged,
        "An info message claims more bytes than the rest of the file has.",
        "Copy or export the file again: bytes were overwritten.";
    MalformedMessage = "malformed-message", Damaged,
        "A header or an info message is not a Cap'n Proto message of PopEF's schema.",
        "Export the file again: bytes were overwritten, or a faulty program wrote them.";
    NegativeDimension = "negative-dimension", Damaged,
        "A shape has a negative dimension.",
        "Compile the model with fixed sizes and export it again.";
    ShapeTooLarge = "shape-too-large", Damaged,
        "A shape calls for more bytes than 64 bits can count.",
        "Export the file again.";
    DataTooShort = "data-too-short", Damaged,
        "A tensor or a feed has fewer bytes than its shape and type call for.",
        "Export the data again.";
    NotBool = "not-bool", Damaged,
        "An element of a tensor of booleans is neither 0 nor 1.",
        "Export the data again, as booleans or under the type that it has.";
    CompressedDataMissing = "compressed-data-missing", Damaged,
        "An executable is said to be compressed and has no data.",
        "Export the file again.";
    CompressedDataDamaged = "compressed-data-damaged", Damaged,
        "The compressed data of an executable is damaged or ends too early.",
        "Copy or export the file again.";
    CompressedDataSurplus = "compressed-data-surplus", Damaged,
        "Bytes follow the end of an executable's compressed data.",
        "Export the file again. The executable itself was unpacked whole.";
    UnpackedTooShort = "unpacked-too-short", Damaged,
        "An executable unpacks to fewer bytes than its blob says.",
        "Copy or export the file again.";
    UnpackedTooLong = "unpacked-too-long", Damaged,
        "An executable unpacks to more bytes than its blob says.",
        "Copy or export the file again.";

    UnknownDataType = "unknown-data-type", Unknown,
        "The data type of a tensor has a number that this version does not know, so the size of its elements is not \
         known either.",
        "Look for a newer version. The bytes of the data can be read all the same.";
    UnknownCompression = "unknown-compression", Unknown,
        "The compressed data of an executable begins like none of the formats that are known: zlib, gzip, zstd, LZ4.",
        "If it is not compressed at all, export the file again. Else look for a newer version. The bytes can be read \
         as they are.";

    InfoTooLong = "info-too-long", Limit,
        "An info message is longer than `Limits::info_bytes`.",
        "Raise the limit if you trust the file.";
    TooDeep = "too-deep", Limit,
        "The pointers of a message nest deeper than `Limits::nesting`, or in a circle.",
        "Do not trust the file: no exporter writes such a message.";
    TooManyVisits = "too-many-visits", Limit,
        "The pointers of a message share what they point to, and reading it would cost more than `Limits::visits`.",
        "Do not trust the file: no exporter writes such a message.";
    TooManyElements = "too-many-elements", Limit,
        "The lists of Metadata claim more elements than its message has words.",
        "Do not trust the file: no exporter writes such a message.";
    MetadataTooLarge = "metadata-too-large", Limit,
        "Metadata would take far more memory than its message has bytes.",
        "Do not trust the file: no exporter writes such a message.";
    WindowTooLarge = "window-too-large", Limit,
        "Unpacking an executable would take a larger window than `Limits::unpack_window`.",
        "Raise the limit if you trust the file.";
    TooManyBlobs = "too-many-blobs", Limit,
        "The file has more blobs than can be numbered with 32 bits.",
        "Walk it with `Blobs`, which keeps no index.";

    OutOfMemory = "out-of-memory", OutOfMemory,
        "There is not enough memory.",
        "Read the data in parts, or read it on a machine with more memory.";
    AddressSpace = "address-space", OutOfMemory,
        "The bytes do not fit into the address space of this machine.",
        "Read the data in parts, or read it on a machine of 64 bits.";

    FileChanged = "file-changed", Changed,
        "Somebody else changed, replaced or removed the file after it was opened, or its temporary file while it was \
         written.",
        "Open it again; what was being written, write again.";
    FileResized = "file-resized", Changed,
        "The file was made shorter or longer while it was written, by a program that did not ask for its lock.",
        "Look at what is there, and write again.";

    FileBusy = "file-busy", Busy,
        "Another program, or another writer of this one, is writing the file.",
        "Try again when that has ended.";

    NotFound = "not-found", Io as NotFound,
        "The file, or a folder of its path, is not there.",
        "Look at the path.";
    PermissionDenied = "permission-denied", Io as PermissionDenied,
        "The system does not permit it.",
        "Look at the rights of the file and of its folder.";
    StorageFull = "storage-full", Io,
        "The disk, or what may be used of it, is full.",
        "Make room, and write again.";
    Io = "io", Io,
        "The system could not read or write. The error's source is the system's own error.",
        "Look at the source.";
    FolderNotFlushed = "folder-not-flushed", Io,
        "The new file is whole and in its place, but its folder could not be flushed to disk.",
        "Nothing, unless the power fails: then the old file may be back.";
    LeftBehind = "left-behind", Io,
        "A temporary file could not be removed, or a file that was appended to could not be cut back. The text says what \
         became of the file itself.",
        "Remove the temporary file that the text names, unless somebody is writing it; or run `recover` on the file.";
    StreamBroken = "stream-broken", Io as Other,
        "A blob was left unfinished in a stream, which cannot take it back. What was written is no PopEF file.",
        "Begin the stream anew, and finish each blob.";
    WriterFailed = "writer-failed", Io as Other,
        "A writer was used after it had failed. The error before this one says why.",
        "Write the file anew.";

    FileExists = "file-exists", Exists,
        "The file exists, and it was not to be overwritten.",
        "Choose another path, or allow it to be overwritten.";

    WrongElementType = "wrong-element-type", WrongType,
        "Elements were asked for, or given, as another type than that of the tensor.",
        "Use the type that the tensor has.";
    WrongInfo = "wrong-info", WrongType,
        "A blob was to be copied with the info of a blob of another type, or of an executable that unpacks to another size.",
        "Give the info of a blob of the same type. To change how an executable is compressed, unpack it and write it anew.";
    NotNumeric = "not-numeric", WrongType,
        "Elements of this type cannot be read as numbers: the file does not tell what their bits mean.",
        "Read the bytes of the data.";

    NoSuchItem = "no-such-item", OutOfRange,
        "A feed has fewer tensors than the index that was asked for.",
        "Ask for an index below the number of tensors.";
    NoSuchBytes = "no-such-bytes", OutOfRange,
        "A range of bytes was asked for that does not lie within the data.",
        "Ask for bytes that are there.";
    NoSuchElements = "no-such-elements", OutOfRange,
        "A range of elements was asked for that does not lie within the tensor.",
        "Ask for elements that are there.";
    BufferTooSmall = "buffer-too-small", OutOfRange,
        "More elements were to be converted than the buffer has room for.",
        "Give a larger buffer, or convert the elements in parts.";
    NoSuchFeed = "no-such-feed", OutOfRange,
        "A tensor was given for a feed that is not in the list of feeds.",
        "Count the feeds from 0.";
    FeedFull = "feed-full", OutOfRange,
        "One more tensor was given for a feed that has all its tensors.",
        "Give each feed as many tensors as its info says.";
    NoSuchLevel = "no-such-level", OutOfRange,
        "There is no such level of compression.",
        "Use a level from 0 to 9.";
    MessageTooLong = "message-too-long", OutOfRange,
        "What is to be written makes a header or an info message that is longer than readers accept.",
        "Shorten the version, the names or the metadata.";
    TooManyFiles = "too-many-files", OutOfRange,
        "More files were given than can be numbered with 32 bits.",
        "Give fewer files at once.";

    DuplicateExecutable = "duplicate-executable", Duplicate,
        "The file has an executable with this name already.",
        "Give each executable of a file a name of its own.";

    CompressionNotBuilt = "compression-not-built", Unsupported,
        "An executable is compressed in a way that this build of the library leaves out.",
        "Build the library with the feature that the text names.";
    DataNotKept = "data-not-kept", Unsupported,
        "Only the headers and infos of the file were read, from a stream or by an indexer, and its data was passed over.",
        "Open the file itself, or hold all of its bytes in memory.";
    NotRegularFile = "not-regular-file", Unsupported,
        "The path names a folder, a pipe, a device or the like, and only a regular file will do.",
        "Read it, or write to it, as a stream.";

    IndexUnfinished = "index-unfinished", Misuse,
        "A file was asked of an indexer that still wants bytes.",
        "Give it the bytes that it wants, until it wants none.";
    ImpossibleShape = "impossible-shape", Misuse,
        "A shape to be written has a negative dimension, or it, or a length, makes more bytes than 64 bits can count.",
        "Give a shape that a tensor can have.";
    WrongDataLength = "wrong-data-length", Misuse,
        "A blob was given another number of bytes than its info calls for.",
        "Give exactly as many bytes as shape and type, or the length that was announced, call for.";
    BlobUnfinished = "blob-unfinished", Misuse,
        "A blob was finished before all of its data was written.",
        "Write all of the data before the blob is finished.";
    FeedsUnfinished = "feeds-unfinished", Misuse,
        "Feeds were finished before all of their tensors were written.",
        "Give each feed all of its tensors before they are finished.";
    ExecutableUnnamed = "executable-unnamed", Misuse,
        "An executable to be written has an empty name.",
        "Give it a name.";
    NoName = "no-name", Misuse,
        "A blob was to be copied under another name, and blobs of its type have no name.",
        "To change the executable that metadata is for, give the copy other metadata as its info.";
    CopyFromTarget = "copy-from-target", Misuse,
        "A blob was to be copied out of the file that is being appended to.",
        "Copy it out of another copy of the file.";
}

by_name!(ErrorCode, "an error code");

/// The code of a failure of the system.
impl From<io::ErrorKind> for ErrorCode {
    fn from(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::NotFound => ErrorCode::NotFound,
            io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorCode::StorageFull,
            io::ErrorKind::OutOfMemory => ErrorCode::OutOfMemory,
            _ => ErrorCode::Io,
        }
    }
}
