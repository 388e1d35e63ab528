//! Every file of testdata/broken gives what its table says, in every way in: the code, the exact words and the exact
//! byte.

use crate::common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::everything::{everything, walk};
use common::{Pieces, popef_files, testdata};
use popef::error::ErrorCode;
use popef::read::Blobs;
use popef::{Blob, Content, DataType, Error, File, OpenOptions};

const TABLE: &str = "broken/table.txt";
/// Set this variable to write into the table what the reader says now. Then read every changed line.
const BLESS: &str = "POPEF_RENEW";

/// The lines of the table for one file, each with its name.
#[derive(Clone, Default, PartialEq)]
struct Row(Vec<(String, String)>);

impl Row {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    fn path(&self) -> PathBuf {
        testdata("broken").join(self.get("file").expect("a row names its file"))
    }

    /// The row without what the reader says.
    fn cause(&self) -> Row {
        Row(self.0.iter().filter(|(name, _)| !["code", "error", "reads"].contains(&name.as_str())).cloned().collect())
    }

    /// The row with what the reader says.
    fn told(&self, opened: &Outcome) -> Row {
        let mut row = self.cause();
        row.0.extend(opened.lines());
        row
    }

    fn text(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{:<8}{value}\n", format!("{name}:"))).collect()
    }
}

/// The error as the table words it, or what the last blob reads as.
#[derive(Debug, PartialEq)]
struct Outcome(Result<String, Fault>);

/// An error without its path.
#[derive(Debug, PartialEq)]
struct Fault {
    code: ErrorCode,
    /// Blob, byte and reason on one line.
    words: String,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let (blob, offset) = (error.blob().expect("a blob"), error.offset().expect("an offset"));
        Fault { code: error.code(), words: format!("blob {blob}, byte {offset}: {}", error.reason()) }
    }
}

impl Outcome {
    /// What happens when a file is opened and its last blob is asked for what the row says.
    fn of(row: &Row, opened: Result<File, Error>) -> Outcome {
        Outcome(opened.map_err(Fault::from).and_then(|file| {
            let last = file.len().checked_sub(1).and_then(|last| file.blob(last)).expect("a blob");
            fault_of(&last, row).map_or_else(|| Ok(reading(&last)), Err)
        }))
    }

    /// What happens when the bytes are walked instead.
    fn of_walk(row: &Row, bytes: &[u8]) -> Outcome {
        let blobs: Result<Vec<_>, _> = Blobs::new(bytes).collect();
        Outcome(blobs.map_err(Fault::from).and_then(|blobs| {
            let last = blobs.last().expect("a blob");
            fault_of(last, row).map_or_else(|| Ok(reading(last)), Err)
        }))
    }

    fn lines(&self) -> Vec<(String, String)> {
        match &self.0 {
            Ok(reads) => vec![("reads".to_owned(), reads.clone())],
            Err(Fault { code, words }) => {
                vec![("code".to_owned(), code.to_string()), ("error".to_owned(), words.clone())]
            }
        }
    }
}

/// The first error of a blob in a file that opens. Its row says what must fail.
fn fault_of(blob: &Blob<'_>, row: &Row) -> Option<Fault> {
    let (asked, result) = match blob.content() {
        Content::Executable(executable) => ("unpack", unpack(&executable)),
        Content::Metadata(metadata) => ("metadata", metadata.read().map(drop)),
        Content::Tensor(tensor) => ("elements", tensor.elements().and_then(|elements| all_values(&elements))),
        Content::Feed(feed) => {
            ("items", feed.items().take(9).try_for_each(|item| item.and_then(|elements| all_values(&elements))))
        }
        Content::Opaque(opaque) => ("payload", popef_payload::Payload::read(&opaque).map(drop)),
        _ => ("nothing", Ok(())),
    };
    // A stream skips the data, so it cannot find what is wrong there.
    let fault = result.err().map(Fault::from).filter(|fault| fault.code != ErrorCode::DataNotKept);
    let fails = row.get("fails").expect("a row says what fails");
    assert_eq!(fails, if fault.is_some() { asked } else { "nothing" }, "{}", row.text());
    fault
}

fn all_values(elements: &popef::read::Elements<'_>) -> Result<(), Error> {
    if elements.data_type() == DataType::Bool {
        elements.to_slice::<bool>()?;
    }
    elements.values()?.try_for_each(|value| value.map(drop))
}

fn unpack(executable: &popef::read::ExecutableBlob<'_>) -> Result<(), Error> {
    let size = executable.uncompressed_size();
    let mut unpacked = executable.unpack()?;
    let result = std::io::copy(&mut unpacked, &mut std::io::sink());
    let again = std::io::Read::read(&mut unpacked, &mut [0; 8]);
    result.map(|given| assert_eq!(given, size)).map_err(|error| {
        assert!(again.is_err(), "reading on after an error must not look like the end");
        error.downcast().expect("an error of the library")
    })
}

/// What a blob is, on one line.
fn reading(blob: &Blob<'_>) -> String {
    let what = match blob.content() {
        Content::Tensor(tensor) => format!("{} {}", tensor.data_type(), tensor.shape()),
        Content::Feed(feed) => format!("{} of {} {}", feed.num_tensors(), feed.data_type(), feed.shape()),
        Content::Metadata(metadata) => format!("{} anchors", metadata.read().map_or(0, |read| read.anchors.len())),
        _ => "as it is".to_owned(),
    };
    let (index, name, data) = (blob.index(), blob.name().unwrap_or_default(), blob.data().len());
    format!("blob {index}, {} {name:?}, {what}, {data} bytes of data", blob.blob_type())
}

fn table() -> (String, Vec<Row>) {
    let text = std::fs::read_to_string(testdata(TABLE)).unwrap();
    let (head, rows) = text.split_once("\n\n").unwrap();
    let line = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no name in {line:?}"));
        (name.to_owned(), value.trim_start().to_owned())
    };
    (head.to_owned(), rows.split("\n\n").map(|row| Row(row.lines().map(line).collect())).collect())
}

/// The table's row as the reader fills it in. All ways in must agree.
fn told(row: &Row) -> Row {
    let path = row.path();
    let bytes = std::fs::read(&path).unwrap();
    let opened = Outcome::of(row, File::from_bytes(bytes.clone()));
    let what = row.text();
    assert_eq!(opened, Outcome::of(row, File::open(&path)), "in parts\n{what}");
    // SAFETY: nobody changes the file while the test reads it.
    assert_eq!(opened, Outcome::of(row, unsafe { File::map(&path) }), "mapped\n{what}");
    assert_eq!(opened, Outcome::of_walk(row, &bytes), "walked\n{what}");
    assert_eq!(opened.0.is_err() && File::from_bytes(bytes.clone()).is_err(), row.get("fails") == Some("on opening"));
    // A stream skips the data, and so what is wrong there.
    if !["unpack", "elements", "items", "payload"].contains(&row.get("fails").unwrap_or_default()) {
        assert_eq!(opened, Outcome::of(row, File::from_stream(&*bytes)), "streamed\n{what}");
        assert_eq!(opened, Outcome::of(row, File::from_stream(Pieces::of(&bytes))), "in pieces\n{what}");
    }
    row.told(&opened)
}

#[test]
fn each_file_is_refused_or_read_as_the_table_says() {
    let (head, rows) = table();
    // A build without the features does not read what is broken in a payload.
    let reads_payloads = cfg!(all(feature = "popart", feature = "tensorflow"));
    let rows: Vec<Row> = rows.into_iter().filter(|row| reads_payloads || row.get("fails") != Some("payload")).collect();
    let told: Vec<Row> = rows.iter().map(told).collect();
    if reads_payloads && std::env::var_os(BLESS).is_some() {
        let rows: Vec<String> = told.iter().map(Row::text).collect();
        std::fs::write(testdata(TABLE), format!("{head}\n\n{}", rows.join("\n"))).unwrap();
        return;
    }
    for (row, told) in rows.iter().zip(&told) {
        assert!(row == told, "{TABLE} says\n{}\nthe reader\n{}\n{BLESS}=1 rewrites the table", row.text(), told.text());
    }
}

#[test]
fn the_folder_and_the_table_name_the_same_files() {
    let (_, rows) = table();
    assert!(rows.len() >= 60, "only {} rows", rows.len());
    let named: Vec<PathBuf> = rows.iter().map(Row::path).collect();
    let files = popef_files("broken");
    assert_eq!(BTreeSet::from_iter(&named), BTreeSet::from_iter(&files));
    assert_eq!(named.len(), files.len(), "a file has two rows");
    for row in &rows {
        assert!(row.get("wrong").is_some() && row.get("made").is_some(), "{}", row.text());
    }
}

/// The blob before the broken one reads as it does in a whole file.
#[test]
fn the_blobs_before_the_damage_are_still_read() {
    let mut options = OpenOptions::new();
    options.damaged(true);
    for path in popef_files("broken") {
        let bytes = std::fs::read(&path).unwrap();
        walk(&bytes);
        for (way, file) in common::ways(&path) {
            let file = file.unwrap();
            everything(&file, bytes.len() as u64);
            if path != testdata("broken/no-popef-file.popef") {
                whole_blob(&file, way, &path);
            }
        }
        everything(&options.stream(&*bytes).unwrap(), bytes.len() as u64);
    }
}

fn whole_blob(file: &File, way: &str, path: &Path) {
    let tensor = file.tensor("good-one").unwrap_or_else(|| panic!("{path:?} {way}"));
    assert_eq!(*tensor.elements().unwrap().to_slice::<f32>().unwrap(), [1.5, -2.25], "{path:?} {way}");
}
