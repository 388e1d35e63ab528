//! `popef report`, read as a text and in Chromium.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use popef::types::{Anchor, ProgramFlow, TensorDataInfo, TensorType};
use popef::{DataType, Metadata, TensorInfo, Writer};

use crate::common::{Place, testdata};

#[test]
fn a_small_page_stays_as_it_is() {
    let place = Place::with(&["interop/split-executable.popef", "interop/split-tensors.popef"]);
    place.run(&["report", "split-executable.popef", "split-tensors.popef", "--values", "-o", "report.html"]).good();
    let path = testdata().join("toolbox/report.html");
    if std::env::var_os("POPEF_RENEW").is_some() {
        fs::write(path, place.read("report.html")).unwrap();
        return;
    }
    let made = String::from_utf8(place.read("report.html")).unwrap();
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(made == kept, "If the change is wanted: POPEF_RENEW=1 cargo test -p popef-toolbox\n{made}");
}

#[test]
fn without_scripts_the_page_says_what_there_is() {
    let place = Place::with(&["interop/replicated.popef"]);
    let page = place.run(&["report", "replicated.popef", "-o", "-"]).good();
    let page = page.text();
    let metadata = popef::File::open(place.path("replicated.popef")).unwrap();
    let metadata = metadata.metadata().next().unwrap().read().unwrap();
    let content = without_scripts(page);
    for anchor in &metadata.anchors {
        assert!(content.contains(&*anchor.name.to_string_lossy()), "{}", anchor.name);
    }
    assert!(content.contains(&format!("{} IPUs", metadata.num_ipus)) || content.contains("1 IPU"));
    for part in ["<h1>replicated.popef</h1>", "You provide", "Findings of the checks", "What this page does not know"] {
        assert!(content.contains(part), "{part}");
    }
    // A page that is passed on asks for nothing.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains(" src="));
}

/// A page as it is without its scripts and their data.
fn without_scripts(page: &str) -> String {
    let mut parts = page.split("<script");
    let first = parts.next().unwrap();
    let others = parts.map(|part| part.split_once("</script>").unwrap().1);
    [first].into_iter().chain(others).collect()
}

#[test]
fn values_that_stand_out_are_named() {
    let place = Place::with(&["golden/values.popef"]);
    let page = place.run(&["report", "values.popef", "--values", "-o", "-"]).good();
    let content = without_scripts(page.text());
    // As testdata/golden/make_golden.py made them.
    for line in ["only_nan</bdi></code>: 2 NaN", "ramp</bdi></code>: 1 NaN, 1 infinite"] {
        assert!(content.contains(line), "{line} in {content}");
    }
    let none = place.run(&["report", "values.popef", "-o", "-"]).good();
    assert!(!none.text().contains("Values that stand out"));
    assert!(none.text().contains("The values of tensors and feeds were not read"));
}

#[test]
fn a_damaged_file_gets_a_page_that_says_so() {
    let place = Place::with(&["golden/damaged.popef"]);
    let run = place.run(&["report", "damaged.popef", "-o", "report.html"]);
    assert_eq!(run.status, 2);
    let page = String::from_utf8(place.read("report.html")).unwrap();
    let damage =
        popef::OpenOptions::new().damaged(true).open(place.path("damaged.popef")).unwrap().damage().unwrap().reason();
    let (before_figures, _) = page.split_once("<dl").unwrap();
    assert!(before_figures.contains("Not everything could be read"), "{before_figures}");
    assert!(before_figures.contains(&damage.replace('"', "&quot;")), "{damage} in {before_figures}");
    assert!(run.err.contains(&damage), "{}", run.err);

    place.write("text.popef", "no PopEF file at all, but a text");
    let run = place.run(&["report", "text.popef", "no-such-file.popef", "-o", "-"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.text().matches("Nothing could be read").count(), 2);
}

#[test]
fn a_page_is_replaced_only_if_asked_for_and_an_input_never() {
    let place = Place::with(&["interop/split-tensors.popef"]);
    let report = |args: &[&str]| place.run(&[&["report", "split-tensors.popef", "-o"], args].concat());
    report(&["page.html"]).good();
    let first = place.read("page.html");
    let refused = report(&["page.html", "--title", "Another"]);
    assert_eq!((refused.status, place.read("page.html")), (2, first));
    assert!(refused.err.contains("[file-exists]"), "{}", refused.err);
    report(&["page.html", "--title", "A <b> & c", "--force"]).good();
    assert!(String::from_utf8(place.read("page.html")).unwrap().contains("<title>A &lt;b&gt; &amp; c</title>"));
    let input = place.read("split-tensors.popef");
    assert!(report(&["split-tensors.popef", "--force"]).err.contains("[output-is-input]"));
    assert_eq!(place.read("split-tensors.popef"), input);
    assert_eq!(place.names(), ["page.html", "split-tensors.popef"]);
}

// ---- in Chromium ---------------------------------------------------------------

/// The program, or none outside of CI.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.exists());
    let found = named.or(found);
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "Chromium is missing");
    if found.is_none() {
        println!("left out: there is no Chromium");
    }
    found
}

/// A page as Chromium has it after its scripts have run, and what it wrote to the console.
struct Shown {
    dom: String,
    console: Vec<String>,
}

impl Shown {
    fn of(chromium: &Path, place: &Place, page: &str, fragment: &str) -> Shown {
        let profile = place.path("profile");
        let output = Command::new(chromium)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-background-networking", "--enable-logging=stderr", "--virtual-time-budget=20000"])
            .args(["--window-size=1200,900", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("file://{}{fragment}", place.path(page).display()))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let _ = fs::remove_dir_all(profile);
        let err = String::from_utf8_lossy(&output.stderr);
        let console = err.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
        let dom = String::from_utf8(output.stdout).unwrap();
        assert!(dom.contains("</html>"), "{err}");
        Shown { dom, console }
    }

    /// The names in the table, in its order.
    fn names(&self) -> Vec<&str> {
        let (_, table) = self.dom.split_once("id=\"table\"").unwrap();
        let (_, body) = table.split_once("<tbody").unwrap();
        let (body, _) = body.split_once("</tbody>").unwrap();
        body.split("<bdi>").skip(1).map(|part| part.split_once("</bdi>").unwrap().0).collect()
    }

    fn text_of(&self, id: &str) -> &str {
        let (_, after) = self.dom.split_once(&format!("id=\"{id}\"")).unwrap();
        let (_, text) = after.split_once('>').unwrap();
        text.split_once('<').unwrap().0
    }
}

/// A file of tensors with these names and sizes.
fn tensors(place: &Place, file: &str, tensors: impl IntoIterator<Item = (String, i64)>) {
    let mut writer = Writer::create(place.path(file)).unwrap();
    for (name, size) in tensors {
        let info = TensorDataInfo { name: name.into(), tensor_info: TensorInfo::new(DataType::U8, [size]) };
        writer.write_tensor(&info, &vec![7u8; size as usize]).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn names_that_are_markup_stay_text() {
    let Some(chromium) = chromium() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let hostile = [
        format!("<img src=http://127.0.0.1:{port}/ onerror=document.title='x'>"),
        "</script><script>document.title='x'</script>".to_owned(),
        "\"><svg onload=document.title='x'>".to_owned(),
        "<!--<script>".to_owned(),
        "]]>' onmouseover='document.title=1' \u{202e}\u{0}\u{1b}[31m\u{2028}".to_owned(),
        format!("</title></style><link rel=stylesheet href=http://127.0.0.1:{port}/>"),
        "javascript:document.title='x'".to_owned(),
    ];
    let place = Place::with(&[]);
    let mut writer = Writer::create(place.path("model.popef")).unwrap();
    let anchor = |name: &String| Anchor {
        name: name.clone().into(),
        handle: name.clone().into(),
        tensor_type: TensorType::Input,
        tensor_info: TensorInfo::new(DataType::U8, [4]),
        programs: vec![0],
        ..Anchor::default()
    };
    let metadata = Metadata {
        executable: hostile[1].clone().into(),
        seed_handle: hostile[0].clone().into(),
        anchors: hostile.iter().map(anchor).collect(),
        program_flow: ProgramFlow { main: vec![0], ..ProgramFlow::default() },
        ..Metadata::default()
    };
    writer.write_metadata(&metadata).unwrap();
    for name in &hostile {
        let info = TensorDataInfo { name: name.clone().into(), tensor_info: TensorInfo::new(DataType::U8, [4]) };
        writer.write_tensor(&info, &[1u8, 2, 3, 4]).unwrap();
    }
    writer.finish().unwrap();
    let title = "--title=</title><script>document.title='x'</script>";
    place.run(&["report", "model.popef", "--values", title, "-o", "page.html"]).good();

    let shown = Shown::of(&chromium, &place, "page.html", "#open=0:1&filter=img");
    assert_eq!(shown.console, [""; 0]);
    assert!(shown.dom.contains("<title>&lt;/title&gt;&lt;script&gt;document.title='x'&lt;/script&gt;</title>"));
    for tag in ["<img", "<link", "<svg onload"] {
        assert!(!shown.dom.contains(tag), "{tag}");
    }
    assert_eq!(shown.dom.matches("<script").count(), 2, "the data and the page's own");
    assert_eq!(
        shown.names().first().map(|name| name.replace("&lt;", "<").replace("&gt;", ">")),
        Some(hostile[0].clone())
    );
    let all = Shown::of(&chromium, &place, "page.html", "");
    assert_eq!(all.names().len(), hostile.len() + 1);
    assert!(all.dom.contains("\\u{202e}\\0\\u{1b}[31m\\u{2028}"));
    assert!(listener.accept().is_err(), "the page asked for something");

    // The same ways would show: here the policy stops a script that is not the page's own, and says so.
    let page = String::from_utf8(place.read("page.html")).unwrap();
    place.write("control.html", page.replace("</body>", "<script>document.title='x'</script></body>"));
    let control = Shown::of(&chromium, &place, "control.html", "");
    assert!(control.console.iter().any(|line| line.contains("Content Security Policy")), "{:?}", control.console);
    assert!(!control.dom.contains("<title>x</title>"));
}

#[test]
fn filter_order_and_place_are_in_the_address() {
    let Some(chromium) = chromium() else { return };
    let place = Place::with(&[]);
    let some = [("layer.10.bias", 40), ("layer.2.bias", 30), ("layer.2.weight", 20), ("head", 10), ("HEAD.b", 50)];
    tensors(&place, "model.popef", some.map(|(name, size)| (name.to_owned(), size)));
    place.run(&["report", "model.popef", "--values", "-o", "page.html"]).good();
    let names = |fragment: &str| {
        let shown = Shown::of(&chromium, &place, "page.html", fragment);
        assert_eq!(shown.console, [""; 0], "{fragment}");
        shown.names().join(" ")
    };
    assert_eq!(names(""), "HEAD.b layer.10.bias layer.2.bias layer.2.weight head");
    assert_eq!(names("#sort=name&order=up"), "head HEAD.b layer.2.bias layer.2.weight layer.10.bias");
    assert_eq!(names("#filter=BIAS+10"), "layer.10.bias");
    assert_eq!(names("#at=layer.2.&order=up"), "layer.2.weight layer.2.bias");
    let opened = Shown::of(&chromium, &place, "page.html", "#filter=head&open=0:3");
    assert!(opened.dom.contains("aria-expanded=\"true\""));
    assert!(opened.dom.contains("Histogram: 1 ranges of "), "{}", opened.dom);
    assert_eq!(opened.text_of("count"), "2 of 5 blobs, 284 B");
}

/// The page's own policy allows no other script, so this is a copy without it.
#[test]
fn what_a_reader_does_has_its_effect() {
    let Some(chromium) = chromium() else { return };
    let place = Place::with(&[]);
    tensors(&place, "model.popef", (0..250).map(|nth| (format!("part{}.t{nth}", nth % 3), 10 + nth)));
    place.run(&["report", "model.popef", "-o", "page.html"]).good();
    let page = String::from_utf8(place.read("page.html")).unwrap();
    let (before, policy) = page.split_once("<meta http-equiv=").unwrap();
    let (_, after) = policy.split_once('>').unwrap();
    let driver = "<script>
        const seen = [];
        const see = () => seen.push(
            document.querySelector('#table tbody tr bdi').textContent + '|' + document.querySelector('#table caption').textContent);
        const press = (words) => [...document.querySelectorAll('button')]
            .find((button) => button.textContent.startsWith(words)).click();
        see();
        press('Next'); see();
        press('Name'); see();
        press('Name'); see();
        press('Size'); see();
        document.querySelector('#filter').value = 't24';
        document.querySelector('#filter').dispatchEvent(new Event('input'));
        setTimeout(() => {
            see();
            document.querySelector('button.tile').click(); see();
            seen.push(location.hash);
            press('All names'); see();
            document.querySelector('#table tbody button').click();
            seen.push(document.activeElement.getAttribute('aria-expanded'));
            seen.push(document.querySelectorAll('tr.detail').length);
            document.title = seen.join(';');
        }, 100);
        </script></body>";
    place.write("driven.html", [before, after].concat().replace("</body>", driver));
    let shown = Shown::of(&chromium, &place, "driven.html", "");
    let (_, title) = shown.dom.split_once("<title>").unwrap();
    let title = title.split_once("</title>").unwrap().0.replace("&amp;", "&");
    let expected = [
        "part0.t249|Blobs 1 to 100 of 250",
        "part2.t149|Blobs 101 to 200 of 250",
        "part0.t0|Blobs 1 to 100 of 250",
        "part2.t248|Blobs 1 to 100 of 250",
        "part0.t249|Blobs 1 to 100 of 250",
        "part0.t249|11 blobs",
        "part0.t249|5 blobs",
        "#filter=t24&at=part0.",
        "part0.t249|11 blobs",
        "true",
        "1",
    ];
    assert_eq!(title.split(';').collect::<Vec<_>>(), expected);
}

#[test]
fn a_hundred_thousand_tensors_are_shown() {
    let Some(chromium) = chromium() else { return };
    let place = Place::with(&[]);
    let name = |nth: i64| format!("encoder.block{}.layer{}.weight", nth / 1000, nth % 1000);
    tensors(&place, "model.popef", (0..100_000).map(|nth| (name(nth), 1 + nth % 7)));
    place.run(&["report", "model.popef", "-o", "page.html"]).good();
    let shown = Shown::of(&chromium, &place, "page.html", "#filter=block42&sort=name&order=up&page=3");
    assert_eq!(shown.console, [""; 0]);
    assert!(shown.text_of("count").starts_with("1,000 of 100,000 blobs"), "{}", shown.text_of("count"));
    assert_eq!(shown.names().first(), Some(&"encoder.block42.layer200.weight"));
    assert!(shown.dom.matches("class=\"tile").count() < 700);
    assert!(place.read("page.html").len() < 6 << 20);
}
