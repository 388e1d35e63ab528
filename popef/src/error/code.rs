//! The table of error codes. Their kinds, their names and `docs/ERRORS.md` are made from it.

use std::io;

use super::info::codes;

codes! {
    /// A stable code that identifies an error to programs. The text of an [`Error`](crate::Error) may change between
    /// versions; its code does not.
    ///
    /// A code is shown, parsed and serialised by its name, such as `blob-cut`. A name never changes, and is never used
    /// again for another error. Later versions add codes, so a `match` needs an arm for unknown ones. The repository's
    /// `docs/ERRORS.md` lists all codes.
    ///
    /// ```
    /// use popef::error::{ErrorCode, ErrorKind};
    ///
    /// let code: ErrorCode = "blob-cut".parse()?;
    /// assert_eq!(code, ErrorCode::BlobCut);
    /// assert_eq!(code.kind(), ErrorKind::Damaged);
    /// println!("{code}: {}", code.info().meaning);
    /// # Ok::<(), popef::error::UnknownName>(())
    /// ```
    pub enum ErrorCode ("an error code");

    HeaderCut = "header-cut", Damaged as UnexpectedEof,
        "The file ends inside a blob's header.",
        "Copy or export the file again.";
    BlobCut = "blob-cut", Damaged as UnexpectedEof,
        "The file ends before the blob does: its header gives it more bytes than the file has left.",
        "Copy or export the file again.";
    BlobUnwritten = "blob-unwritten", Damaged,
        "The blob begins with zeros: a program was stopped while it wrote the blob.",
        "Export the file again.";
    PickleFirst = "pickle-first", Damaged,
        "The file begins with a Python pickle, as the `.poptorch` files of SDK 2.5 and older do.",
        Advice::AfterPickle;
    BlobTooSmall = "blob-too-small", Damaged,
        "A blob's header claims a size that is smaller than the header and info message together.",
        "Export the file again: the size was never filled in, or it was overwritten.";
    TooManySegments = "too-many-segments", Damaged,
        "A message claims more segments than readers accept.",
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
        "A shape needs more bytes than 64 bits can count.",
        "Export the file again.";
    DataTooShort = "data-too-short", Damaged,
        "A tensor or a feed has fewer bytes than its shape and type need.",
        "Export the data again.";
    NotBool = "not-bool", Damaged,
        "An element of a tensor of booleans is neither 0 nor 1.",
        "Export the data again, as booleans or with its real type.";
    CompressedDataMissing = "compressed-data-missing", Damaged,
        "An executable is marked as compressed but has no data.",
        "Export the file again.";
    CompressedDataDamaged = "compressed-data-damaged", Damaged,
        "The compressed data of an executable is damaged or ends too early.",
        "Copy or export the file again.";
    CompressedDataSurplus = "compressed-data-surplus", Damaged,
        "Bytes follow the end of an executable's compressed data.",
        "Export the file again. The executable itself was unpacked completely.";
    UnpackedTooShort = "unpacked-too-short", Damaged,
        "An executable unpacks to fewer bytes than its blob says.",
        "Copy or export the file again.";
    UnpackedTooLong = "unpacked-too-long", Damaged,
        "An executable unpacks to more bytes than its blob says.",
        "Copy or export the file again.";
    PayloadCut = "payload-cut", Damaged as UnexpectedEof,
        "The data of an opaque blob ends before the framework's message in it does.",
        "Copy or export the file again. The other blobs can still be read.";
    PayloadMalformed = "payload-malformed", Damaged,
        "The data of an opaque blob is not what the framework writes into a blob of this name.",
        "Export the file again: bytes were overwritten, or another program wrote the blob. The other blobs can still be \
         read.";

    UnknownDataType = "unknown-data-type", Unknown,
        "The data type of a tensor has a number that this version does not know, so the size of its elements is \
         unknown too.",
        "Look for a newer version. The bytes of the data can still be read.";
    UnknownCompression = "unknown-compression", Unknown,
        "The compressed data of an executable is in none of the known formats: zlib, gzip, zstd, LZ4.",
        "If it is not compressed at all, export the file again. Otherwise look for a newer version. The bytes can be \
         read as they are.";

    InfoTooLong = "info-too-long", Limit,
        "An info message is longer than `Limits::info_bytes`.",
        Advice::RaiseLimit;
    TooDeep = "too-deep", Limit,
        "The pointers of a message nest deeper than `Limits::nesting`, or form a cycle.",
        "Do not trust the file: no exporter writes such a message.";
    TooManyVisits = "too-many-visits", Limit,
        "Several pointers of a message share their targets, and reading it would cost more than `Limits::visits`.",
        "Do not trust the file: no exporter writes such a message.";
    TooManyElements = "too-many-elements", Limit,
        "The lists of Metadata claim more elements than its message has words.",
        "Do not trust the file: no exporter writes such a message.";
    MetadataTooLarge = "metadata-too-large", Limit,
        "Metadata would take far more memory than its message has bytes.",
        "Do not trust the file: no exporter writes such a message.";
    PayloadTooLarge = "payload-too-large", Limit,
        "Reading the data of an opaque blob would cost far more time or memory than its bytes account for.",
        "Do not trust the file: no framework writes such data.";
    WindowTooLarge = "window-too-large", Limit,
        "Unpacking an executable needs a larger window than `Limits::unpack_window`.",
        Advice::RaiseLimit;
    TooManyBlobs = "too-many-blobs", Limit,
        "The file has more blobs than can be numbered with 32 bits.",
        "Walk it with `Blobs`, which keeps no index.";

    OutOfMemory = "out-of-memory", OutOfMemory,
        "There is not enough memory.",
        "Read the data in parts, or read it on a machine with more memory.";
    AddressSpace = "address-space", OutOfMemory,
        "The bytes do not fit into the address space of this machine.",
        "Read the data in parts, or read it on a 64-bit machine.";

    FileChanged = "file-changed", Changed,
        "Another program changed, replaced or removed the file after it was opened, or its temporary file during \
         writing.",
        "Open the file again, or write it again.";
    FileResized = "file-resized", Changed,
        "A program that did not take the file's lock made the file shorter or longer while it was being written.",
        "Check what the file contains, and write again.";

    FileBusy = "file-busy", Busy,
        "Another program, or another writer in this program, is writing the file.",
        "Try again when the other writer has finished.";

    NotFound = "not-found", Io as NotFound,
        "The file, or a folder of its path, does not exist.",
        "Check the path.";
    NoFolder = "no-folder", Io as NotFound,
        "The folder that a new file is to be in does not exist.",
        "Make the folder, or choose another path.";
    PermissionDenied = "permission-denied", Io as PermissionDenied,
        "The system denied permission.",
        "Check the permissions of the file and of its folder.";
    StorageFull = "storage-full", Io,
        "The disk or the quota is full.",
        "Free some space, and write again.";
    Io = "io", Io,
        "The system could not read or write. The error's source is the system's own error.",
        "Look at what the system says, and remove the cause.";
    FolderNotFlushed = "folder-not-flushed", Io,
        "The new file is complete and in place, but its folder could not be flushed to disk.",
        "Nothing. If the power fails soon, the old file may come back.";
    LeftBehind = "left-behind", Io,
        "A temporary file could not be removed, or a file could not be cut back after a failed append. The text says \
         what state the file itself is in.",
        "Remove the temporary file that the text names, unless a program is writing it; or run `recover` on the file.";
    StreamBroken = "stream-broken", Io as Other,
        "A blob was left unfinished in a stream, and a stream cannot go back. What was written is not a PopEF file.",
        "Start the stream again, and finish each blob.";
    WriterFailed = "writer-failed", Io as Other,
        "A writer was used after it had failed. The error before this one says why.",
        "Write the file again from the start.";

    Stopped = "stopped", Stopped,
        "The program stopped the work, usually because its user did. What was written is discarded.",
        "Nothing. Begin again when you want to.";

    FileExists = "file-exists", Exists,
        "The file exists, and overwriting was not allowed.",
        Advice::AllowOverwriting;
    InTheWay = "in-the-way", Exists,
        "What is at the path is not replaced, whatever may be overwritten: a link that must not be followed, or the like.",
        Advice::ChooseAnotherPath;

    WrongElementType = "wrong-element-type", WrongType,
        "Elements were requested or given as a type that is not the tensor's type.",
        "Use the tensor's type.";
    WrongInfo = "wrong-info", WrongType,
        "The info given for the copy of a blob is that of another blob type, or of an executable with another \
         unpacked size.",
        "Give the info of a blob of the same type. To change the compression of an executable, unpack it and write it \
         as a new blob.";
    NotNumeric = "not-numeric", WrongType,
        "Elements of this type cannot be read as numbers, because the file does not say what their bits mean.",
        "Read the bytes of the data.";

    NoSuchItem = "no-such-item", OutOfRange,
        "The requested index is not less than the number of tensors of the feed.",
        "Use an index below the number of tensors.";
    NoSuchBytes = "no-such-bytes", OutOfRange,
        "The requested range of bytes is not within the data.",
        "Request a range that is within the data.";
    NoSuchElements = "no-such-elements", OutOfRange,
        "The requested range of elements is not within the tensor.",
        "Request a range that is within the tensor.";
    BufferTooSmall = "buffer-too-small", OutOfRange,
        "The buffer is too small for the elements to be converted.",
        "Use a larger buffer, or convert the elements in parts.";
    NoSuchFeed = "no-such-feed", OutOfRange,
        "A tensor was given for a feed number that is not in the list of feeds.",
        "Use the feed's position in the list, counted from 0.";
    FeedFull = "feed-full", OutOfRange,
        "A tensor was given for a feed that already has all its tensors.",
        "Give each feed as many tensors as its info says.";
    NoSuchLevel = "no-such-level", OutOfRange,
        "There is no such level of compression.",
        "Use a level from 0 to 9.";
    MessageTooLong = "message-too-long", OutOfRange,
        "The header or info message to be written is longer than readers accept.",
        "Shorten the version, the names or the metadata.";
    TooManyFiles = "too-many-files", OutOfRange,
        "More files were given than can be numbered with 32 bits.",
        "Give fewer files at once.";

    DuplicateExecutable = "duplicate-executable", Duplicate,
        "The file already has an executable with this name.",
        "Give each executable of a file its own name.";

    CompressionNotBuilt = "compression-not-built", Unsupported,
        "An executable is compressed in a format that this build of the library leaves out.",
        "Build the library with the feature that the text names.";
    PayloadNotBuilt = "payload-not-built", Unsupported,
        "This build of the library leaves out what reads the opaque blobs of this framework.",
        "Build the library with the feature that the text names.";
    DataNotKept = "data-not-kept", Unsupported,
        "Only the headers and infos of the file were read, from a stream or by an indexer; its data was skipped.",
        "Open the file itself, or keep all of its bytes in memory.";
    IsFolder = "is-folder", Unsupported as IsADirectory,
        "A folder was given where a file is needed.",
        Advice::NameAFile;
    NotRegularFile = "not-regular-file", Unsupported,
        "The path is not a regular file: it is a pipe, a device or the like.",
        Advice::ReadStream;
    NotReplaceable = "not-replaceable", Unsupported,
        "The path of a new file is that of a pipe, a device or the like, which cannot be replaced or appended to.",
        Advice::WriteStream;

    IndexUnfinished = "index-unfinished", Misuse,
        "A file was requested from an indexer that still wants bytes.",
        "Give the indexer the bytes that it wants, until it wants none.";
    ImpossibleShape = "impossible-shape", Misuse,
        "A shape to be written has a negative dimension, or a shape or length needs more bytes than 64 bits can count.",
        "Give a valid shape.";
    WrongDataLength = "wrong-data-length", Misuse,
        "The number of bytes given for a blob is not the number that its info needs.",
        "Give exactly as many bytes as the shape and type, or the announced length, need.";
    BlobUnfinished = "blob-unfinished", Misuse,
        "A blob was finished before all of its data was written.",
        "Write all of the data before you finish the blob.";
    FeedsUnfinished = "feeds-unfinished", Misuse,
        "Feeds were finished before all of their tensors were written.",
        "Give each feed all of its tensors before you finish the feeds.";
    ExecutableUnnamed = "executable-unnamed", Misuse,
        "An executable to be written has an empty name.",
        "Give the executable a name.";
    NoName = "no-name", Misuse,
        "A new name was given for the copy of a blob whose type has no name.",
        "To change the executable that metadata belongs to, give the copy other metadata as its info.";
    PrefixTooLate = "prefix-too-late", Misuse,
        "Bytes that come before the first blob were given after a blob was written.",
        "Write them first.";
    CopyFromTarget = "copy-from-target", Misuse,
        "The blob to be copied is in the file that is being appended to.",
        "Copy the blob from another copy of the file.";
}

/// The code of a failure of the system.
impl From<io::ErrorKind> for ErrorCode {
    fn from(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::NotFound => ErrorCode::NotFound,
            io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorCode::StorageFull,
            io::ErrorKind::OutOfMemory => ErrorCode::OutOfMemory,
            io::ErrorKind::IsADirectory => ErrorCode::IsFolder,
            _ => ErrorCode::Io,
        }
    }
}
