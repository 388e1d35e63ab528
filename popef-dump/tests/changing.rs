//! A file that is shortened, overwritten and replaced again and again while the tool shows it: every run ends by
//! itself with a status of its own, never by a signal, and what it shows of the data is what was in the file.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

#[test]
fn a_file_that_changes_while_it_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let whole = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/interop/executable.popef")).unwrap();
    fs::write(&path, &whole).unwrap();
    let mut statuses = Vec::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..600).for_each(|round| change(&path, &whole, round)));
        let ways = [&["--all", "--values"][..], &[], &["--format=json", "--values=100", "--verbose"]];
        for options in ways.into_iter().cycle() {
            let output = Command::new(env!("CARGO_BIN_EXE_popef-dump")).args(options).arg(&path).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            let status =
                output.status.code().unwrap_or_else(|| panic!("ended by a signal: {}\n{errors}", output.status));
            assert!(matches!(status, 0 | 2), "status {status}: {errors}");
            assert!(status == 0 || !errors.is_empty(), "it failed without a word");
            // What it saw was all of it, or nothing: a file of no bytes is one of no blobs. Wrong weights never.
            let shown = String::from_utf8_lossy(&output.stdout);
            let (all, any) = (shown.contains("-2.25"), shown.contains("input_parameter"));
            assert!(status != 0 || options.is_empty() || all == any, "{shown}");
            statuses.push(status);
            if writer.is_finished() {
                break;
            }
        }
    });
    assert!(statuses.len() > 3, "only {} runs", statuses.len());
}

fn change(path: &Path, whole: &[u8], round: usize) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    match round % 3 {
        0 => file.set_len((round * 401 % whole.len()) as u64).unwrap(),
        1 => (&file).write_all(&vec![0xaa; whole.len()]).unwrap(),
        _ => {
            let other = path.with_extension("new");
            fs::write(&other, whole).unwrap();
            fs::rename(&other, path).unwrap();
        }
    }
    fs::write(path, whole).unwrap();
}
