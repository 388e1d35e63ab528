//! `popef man`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::{Place, hold_text};

/// What a reader of manuals sees on a terminal of 80 columns. None if there is no such program.
fn rendered(page: &[u8]) -> Option<String> {
    let mut command = Command::new("man");
    command.args(["--warnings", "--no-hyphenation", "-l", "-"]).envs([
        ("MANWIDTH", "80"),
        ("MANPAGER", "cat"),
        ("LC_ALL", "C.UTF-8"),
    ]);
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
        assert!(std::env::var_os("CI").is_none(), "man is missing");
        eprintln!("skipped: man is missing");
        return None;
    };
    child.stdin.take().unwrap().write_all(page).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_overview_has_all_commands_and_each_command_has_a_page() {
    let place = Place::with(&[]);
    let Some(overview) = rendered(&place.run(&["man"]).good().out) else { return };
    let help = place.run(&["--help"]).good();
    let commands = crate::help::commands(help.text());
    for (name, about) in &commands {
        let row = overview.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
        assert!(row.is_some_and(|row| row.contains(&about[..20.min(about.len())])), "{name}: {row:?}");
        let page = rendered(&place.run(&["man", name]).good().out).unwrap();
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("popef-{name} - {about}")), "{page}");
        let examples = words.split_once("EXAMPLES").map(|(_, examples)| examples);
        assert!(examples.is_some_and(|examples| examples.contains(&format!("popef {name} "))), "{page}");
    }
    let inner = rendered(&place.run(&["man", "tiles", "exec"]).good().out).unwrap();
    let words = inner.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("popef-tiles-exec - Show how full") && words.contains("--tile-memory"), "{inner}");
    for wrong in [&["man", "nothing"][..], &["man", "tiles", "nothing"], &["man", "ls", "exec"]] {
        assert_eq!(place.run(wrong).status, 2);
    }
}

#[test]
fn a_page_stays_as_it_is() {
    let page = Place::with(&[]).run(&["man", "cat"]).good();
    hold_text("man", &page.text().replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// Also those that only the long help has.
#[test]
fn every_option_of_every_page_has_text() {
    let place = Place::with(&[]);
    let help = place.run(&["--help"]).good();
    let pages = crate::help::commands(help.text()).into_iter().map(|(name, _)| vec!["man".to_owned(), name]);
    for args in pages.chain([vec!["man".to_owned()]]) {
        let page = place.run(&args.iter().map(String::as_str).collect::<Vec<_>>()).good();
        let lines: Vec<&str> = page.text().lines().collect();
        let headers: Vec<usize> = (1..lines.len()).filter(|at| lines[at - 1].starts_with(".TP")).collect();
        assert!(headers.len() > 2, "{args:?} has no options");
        for at in headers {
            let text = lines.get(at + 1).is_some_and(|line| !line.is_empty() && !line.starts_with('.'));
            assert!(text, "{args:?}: {} has no text", lines[at]);
        }
    }
}

/// A page has all options, also those of the commands of a command, and the usage that is true.
#[test]
fn a_page_has_all_that_the_help_has() {
    let place = Place::with(&[]);
    let help = place.run(&["--help"]).good();
    for (name, _) in crate::help::commands(help.text()) {
        let Some(page) = rendered(&place.run(&["man", &name]).good().out) else { return };
        let help = place.run(&[&name, "--help"]).good();
        let inner = help.text().split_once("\nCommands:\n").map_or("", |(_, rows)| rows.split("\n\n").next().unwrap());
        let inner = inner.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let helps = inner.map(|inner| place.run(&[&name, inner, "--help"]).good()).chain([help.clone()]);
        for help in helps {
            let words =
                help.text().split([' ', '\n', '[', '(']).filter(|word| word.starts_with("--") && word.len() > 2);
            for option in words.map(|word| word.trim_end_matches(|end: char| !end.is_ascii_alphabetic())) {
                assert!(page.contains(option), "{name}: {option}");
            }
            let usage = help.text().split_once("Usage: ").unwrap().1.lines().next().unwrap();
            assert!(page.contains(usage), "{name}: {usage}");
        }
    }
}

#[test]
fn all_pages_are_written_into_a_folder() {
    let place = Place::with(&[]);
    let help = place.run(&["--help"]).good();
    for _ in 0..2 {
        place.run(&["man", "--output-dir", "share/man1"]).good();
    }
    let mut names: Vec<_> =
        crate::help::commands(help.text()).into_iter().map(|(name, _)| format!("popef-{name}.1")).collect();
    names.push("popef.1".to_owned());
    // That is the page of the tool popef-dump.
    names.retain(|name| name != "popef-dump.1");
    names.sort();
    let folder = place.path("share/man1");
    let mut written: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    assert_eq!(written, names);
    for (page, arguments) in [("popef.1", &["man"][..]), ("popef-tiles.1", &["man", "tiles"])] {
        assert_eq!(std::fs::read(folder.join(page)).unwrap(), place.run(arguments).good().out, "{page}");
    }
    assert_eq!(place.run(&["man", "ls", "--output-dir", "share"]).status, 2);
    place.write("file", "");
    assert_eq!(place.run(&["man", "--output-dir", "file/man1"]).status, 2);
    #[cfg(unix)]
    for (link, folder) in [("link", "link"), ("share/man1/popef-ls.1", "share/man1")] {
        let _ = std::fs::remove_file(place.path(link));
        std::os::unix::fs::symlink("../../file", place.path(link)).unwrap();
        let run = place.run(&["man", "--output-dir", folder]);
        assert!(run.status == 2 && run.err.contains("[in-the-way]"), "{run:?}");
    }
    assert_eq!(place.read("file"), b"");
}
