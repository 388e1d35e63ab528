//! A file that is shortened, overwritten or replaced while the tool shows it: every run ends by itself with an exit
//! status, never by a signal, and shows only data that was in the file.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use popef::types::TensorDataInfo;
use popef::{DataType, TensorInfo, Writer};

fn tool() -> Command {
    Command::new(env!("CARGO_BIN_EXE_popef-dump"))
}

/// The exit status. A run that a signal ended has none.
fn status(output: &Output) -> i32 {
    let errors = String::from_utf8_lossy(&output.stderr);
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {}\n{errors}", output.status))
}

type Change = fn(&Path);

/// Three ways to change a file: the last one leaves the opened file as it is.
const CHANGES: [(&str, Change); 3] = [
    ("shortened", |path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1000).unwrap()),
    ("overwritten", |path| {
        let len = usize::try_from(fs::metadata(path).unwrap().len()).unwrap();
        (&fs::OpenOptions::new().write(true).open(path).unwrap()).write_all(&vec![0xaa; len]).unwrap();
    }),
    ("replaced", |path| {
        let other = path.with_extension("new");
        fs::write(&other, "something else").unwrap();
        fs::rename(&other, path).unwrap();
    }),
];

const NUMBERS: u16 = 60_000;

/// A tensor of the numbers from 0 on, too many for a pipe.
fn large(folder: &Path) -> PathBuf {
    let path = folder.join("large.popef");
    let numbers: Vec<f32> = (0..NUMBERS).cycle().take(10 * usize::from(NUMBERS)).map(f32::from).collect();
    let shape = [10, i64::from(NUMBERS)];
    let info = TensorDataInfo { name: "large".into(), tensor_info: TensorInfo::new(DataType::F32, shape) };
    let mut writer = Writer::create(&path).unwrap();
    let mut blob = writer.tensor(&info).unwrap();
    blob.write_elements(&numbers).unwrap();
    blob.finish().unwrap();
    writer.finish().unwrap();
    path
}

/// The file is changed while the tool waits for a reader of the tensor that it shows.
#[test]
fn a_file_that_changes_in_the_middle_of_a_tensor() {
    let folder = tempfile::tempdir().unwrap();
    for options in [&["--tensors", "--values=600000"][..], &["--values=600000", "--format=json"]] {
        for (what, change) in CHANGES {
            let path = large(folder.path());
            let mut run = tool();
            run.args(options).arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut run = run.spawn().unwrap();
            let mut shown = vec![0; 1000];
            run.stdout.as_mut().unwrap().read_exact(&mut shown).unwrap();
            change(&path);
            let output = run.wait_with_output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            shown.extend(&output.stdout);
            let whole = String::from_utf8_lossy(&shown).matches("59999").count() >= 10;
            let expected = if what == "replaced" { (0, true) } else { (2, false) };
            assert_eq!((status(&output), whole), expected, "{what} {options:?}: {errors}");
            assert_eq!(errors.contains("was changed by somebody else"), what != "replaced", "{errors}");
        }
    }
}

/// Changes at any moment, again and again, for all kinds of work.
#[test]
fn files_that_never_rest() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["interop/executable", "compressed/zlib-poplar"].map(|name| {
        let path = folder.path().join(name.replace('/', "-"));
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../testdata/{name}.popef")), &path).unwrap();
        path
    });
    let ways = [
        &["--all", "--values"][..],
        &[],
        &["--format=json", "--values=100", "--verbose"],
        &["--format=ndjson"],
        &["--execs", "--verbose"],
        &["--validate", "--deep"],
        &["--validate", "--deep", "--each", "--format=sarif"],
    ];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| never_rest(path, &done));
        }
        let _end = Done(&done);
        for options in ways.iter().cycle().take(20 * ways.len()) {
            run(options, &paths);
        }
        for options in [&["--all"][..], &["--validate"], &["--validate", "--deep"]].iter().cycle().take(30) {
            let file = fs::File::open(&paths[0]).unwrap();
            let output = tool().args(*options).arg("-").stdin(file).output().unwrap();
            assert!(matches!(status(&output), 0..=2), "{}", output.status);
        }
    });
}

/// Ends the writers, also when the test fails.
struct Done<'d>(&'d AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run(options: &[&str], paths: &[PathBuf]) {
    let output = tool().args(options).args(paths).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let validates = options.contains(&"--validate");
    let status = status(&output);
    assert!(matches!(status, 0 | 2) || validates && status == 1, "status {status}: {errors}");
    assert!(status != 2 || validates || !errors.is_empty(), "it failed without a word");
    // The tool saw all of the file or nothing, because an empty file has no blobs. It never shows wrong weights.
    let shown = String::from_utf8_lossy(&output.stdout);
    let (all, any) = (shown.contains("-2.25"), shown.contains("input_parameter"));
    let has_values = options.iter().any(|option| option.starts_with("--values"));
    assert!(status != 0 || !has_values || all == any, "{shown}");
}

fn never_rest(path: &Path, done: &AtomicBool) {
    let whole = fs::read(path).unwrap();
    let other = path.with_extension("new");
    for round in 0.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        match round % 3 {
            0 => file.set_len((round * 401 % whole.len()) as u64).unwrap(),
            1 => (&file).write_all(&vec![0xaa; whole.len()]).unwrap(),
            _ => {
                fs::write(&other, &whole).unwrap();
                fs::rename(&other, path).unwrap();
            }
        }
        fs::write(path, &whole).unwrap();
    }
}
