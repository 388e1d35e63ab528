use popef::types::BlobType;

/// The types of blobs, each with its word for people.
const WORDS: [(BlobType, &str); 5] = [
    (BlobType::PoplarExecutable, "executable"),
    (BlobType::Metadata, "metadata"),
    (BlobType::DataTensor, "tensor"),
    (BlobType::DataFeed, "feed"),
    (BlobType::Opaque, "opaque"),
];

/// The word for a type of blobs, in listings and on command lines. Unknown types have none.
///
/// ```
/// use popef::types::BlobType;
///
/// assert_eq!(popef_show::type_word(BlobType::DataTensor), Some("tensor"));
/// assert_eq!(popef_show::type_word(BlobType::Other(9)), None);
/// ```
pub fn type_word(blob_type: BlobType) -> Option<&'static str> {
    WORDS.iter().find(|(known, _)| *known == blob_type).map(|&(_, word)| word)
}

/// The same, and `unknown` for a type that has no name.
pub fn type_name(blob_type: BlobType) -> &'static str {
    type_word(blob_type).unwrap_or("unknown")
}
