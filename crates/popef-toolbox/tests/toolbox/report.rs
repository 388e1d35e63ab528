//! `popef report`, read as a text and in Chromium.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use popef::types::{Anchor, ProgramFlow, TensorDataInfo, TensorType};
use popef::{DataType, Metadata, TensorInfo, Writer};

use crate::common::{Place, testdata};
use crate::peers::{python, skip};

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
pub(crate) fn without_scripts(page: &str) -> String {
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
    let run = place.run(&["report", "damaged.popef", "text.popef", "no-such-file.popef", "-o", "-"]);
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

/// Of a rule that finds very much, the first 100 are listed, and all are counted.
#[test]
fn very_many_findings_are_counted() {
    let place = Place::with(&[]);
    let mut writer = Writer::create(place.path("many.popef")).unwrap();
    writer.write_metadata(&Metadata { executable: "model".into(), ..Metadata::default() }).unwrap();
    writer.write_executable("model", b"its bytes").unwrap();
    for number in 0..1_300 {
        let tensor_info = TensorInfo::new(DataType::U8, [1]);
        let info = TensorDataInfo { name: format!("tensor {number}").into(), tensor_info };
        writer.write_tensor_bytes(&info, b"x").unwrap();
    }
    writer.finish().unwrap();
    let check = place.run(&["check", "many.popef"]);
    assert!(check.text().contains("1200 more findings of PE108: only the first 100"), "{}", check.text());
    let last = check.text().lines().last().unwrap();
    assert!(last.contains(" 1300 warnings,"), "{last}");
    let json = place.run(&["check", "--format", "json", "many.popef"]).json();
    assert_eq!(json["counts"]["warnings"], 1_300);
    let page = place.run(&["report", "many.popef", "-o", "-"]).good();
    let content = without_scripts(page.text());
    assert!(content.contains("1,300 warnings</a>"), "{content}");
    assert!(content.contains("<summary>1,295 more, of which 95 are listed</summary>"), "{content}");
}

/// A dry run fails as the work would, says the size, and makes nothing.
#[test]
fn a_dry_run_says_how_large_the_page_would_be() {
    let place = Place::with(&["interop/split-tensors.popef", "golden/damaged.popef"]);
    place.run(&["report", "split-tensors.popef", "-o", "there.html"]).good();
    let page = popef_show::size(place.read("there.html").len().try_into().unwrap());
    let names = place.names();
    let dry = |args: &[&str]| place.run(&[&["report", "--dry-run", "split-tensors.popef"], args].concat());
    assert_eq!(dry(&[]).good().text(), format!("would write a page of {page}\n"));
    assert_eq!(dry(&["-o", "-"]).good().text(), format!("would write a page of {page}\n"));
    assert_eq!(dry(&["-o", "new.html"]).good().text(), format!("would write a page of {page} to new.html\n"));
    dry(&["-o", "there.html", "--force"]).good();
    for (args, code) in [
        (&["-o", "there.html"][..], "file-exists"),
        (&["-o", "no-folder/new.html"], "no-folder"),
        (&["-o", "split-tensors.popef", "--force"], "output-is-input"),
    ] {
        let run = dry(args);
        assert!((run.status, run.text()) == (2, "") && run.err.contains(&format!("[{code}]")), "{run:?}");
    }
    let damaged = place.run(&["report", "--dry-run", "damaged.popef", "-o", "new.html"]);
    assert!(damaged.status == 2 && damaged.text().starts_with("would write a page of "), "{damaged:?}");
    assert_eq!(place.names(), names);
}

/// Each histogram, counted by numpy, and with the narrowest ranges that were promised.
const HISTOGRAMS: &str = r#"
import json, re, struct, sys
import numpy

page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
blobs, name = data["files"][0]["blobs"], ""
for at in range(0, len(blobs), 5):
    name = name[:blobs[at]] + blobs[at + 1]
    finite, least, most, mean, (nan, infinite, zeros), (start, width), counts = blobs[at + 4]
    stored = numpy.fromfile(sys.argv[2] + "/" + name, dtype=name.split(".")[0])
    values, number = stored.astype("f8"), stored.dtype.type
    good = values[numpy.isfinite(values)]
    assert finite == len(good) and nan == numpy.isnan(values).sum() and zeros == (values == 0).sum(), name
    assert number(least) == good.min() and number(most) == good.max(), (name, least, most)
    places = numpy.floor(good / width)
    expected = numpy.bincount((places - places.min()).astype(int), minlength=len(counts))
    assert start == places.min() * width and counts == expected.tolist(), (name, start, width, counts)
    assert struct.pack(">d", width)[2:] == bytes(6) and len(counts) <= 48, (name, width)
    assert len(counts) >= 24 or good.max() == good.min(), (name, counts)
    print(name)
"#;

#[test]
fn histograms_are_those_of_numpy() {
    let place = Place::with(&[]);
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u32 << 24) as f32 - 0.5
    };
    let mut floats: Vec<f32> = (0..300_000).map(|_| random() * random() * 0.1 + 0.01).collect();
    (floats[5], floats[100_000], floats[299_999]) = (f32::NAN, f32::INFINITY, -0.0);
    let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    let shorts: Vec<u8> = floats.iter().flat_map(|x| ((x.min(1.0) * 1e6) as i16).to_le_bytes()).collect();
    let doubles: Vec<u8> = floats.iter().flat_map(|&x| (f64::from(x) * 1e300).to_le_bytes()).collect();
    let same: Vec<u8> = (0..100).flat_map(|_| 0.1f32.to_le_bytes()).collect();
    let all = [
        ("f4.small", DataType::F32, 4, bytes),
        ("f4.same", DataType::F32, 4, same),
        ("f8.large", DataType::F64, 8, doubles),
        ("i2.short", DataType::S16, 2, shorts),
    ];
    let mut writer = Writer::create(place.path("model.popef")).unwrap();
    for (name, data_type, size, bytes) in &all {
        let tensor_info = TensorInfo::new(*data_type, [(bytes.len() / size) as i64]);
        let mut tensor = writer.tensor(&TensorDataInfo { name: (*name).into(), tensor_info }).unwrap();
        tensor.write_all(bytes).unwrap();
        tensor.finish().unwrap();
        place.write(name, bytes);
    }
    writer.finish().unwrap();
    place.run(&["report", "model.popef", "--values", "-o", "page.html"]).good();
    let Some(names) = python(HISTOGRAMS, &["numpy"], &[place.path("page.html"), place.path("")]) else { return };
    assert_eq!(names, "f4.small\nf4.same\nf8.large\ni2.short\n");
}

/// Whether each element of a page is closed where it must be, and what its data is, as Python's parser has it.
const PARSED: &str = r#"
import json, pathlib, sys
from html.parser import HTMLParser

EMPTY = {"meta", "input"}

class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.ids = [], [], set()
    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            assert not name.startswith("on") and name not in ("style", "src"), (tag, name)
            assert name != "href" or value[:1] == '#', value
            assert name != "id" or value not in self.ids, value
            if name == "id":
                self.ids.add(value)
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")
    def handle_startendtag(self, tag, attributes):
        assert self.open[-1] in ("svg", "g"), tag
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())
    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.html")):
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    data, script = page.scripts
    assert not page.open, (path, page.open)
    step = 5 if json.loads(data)["values"] else 4
    blobs = sum(len(file["blobs"]) // step for file in json.loads(data)["files"])
    print(path.stem, blobs)
"#;

#[test]
fn each_file_of_testdata_gives_a_sound_page() {
    let place = Place::with(&[]);
    let mut expected = Vec::new();
    for folder in ["broken", "checks", "compressed", "golden", "interop", "later", "opaque", "regressions"] {
        for entry in fs::read_dir(testdata().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "popef") {
                continue;
            }
            let name = format!("{folder}-{}", path.file_stem().unwrap().to_str().unwrap());
            let page = place.path(format!("{name}.html"));
            let run = place.run(&["report", path.to_str().unwrap(), "--values", "-o", page.to_str().unwrap()]);
            assert!(matches!(run.status, 0 | 2), "{name}: {run:?}");
            if run.err.contains("[not-popef]") {
                assert!(!page.exists(), "{name}: a page of nothing");
                continue;
            }
            let file = popef::OpenOptions::new().damaged(true).after_pickle(true).open(&path);
            expected.push(format!("{name} {}", file.map_or(0, |file| file.len())));
        }
    }
    let Some(found) = python(PARSED, &["html"], &[place.path("")]) else { return };
    let mut found: Vec<_> = found.lines().collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

// ---- in Chromium ---------------------------------------------------------------

/// The program, or none outside of CI.
pub(crate) fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.exists());
    let found = named.or(found);
    if found.is_none() {
        skip("Chromium is missing");
    }
    found
}

/// A page as Chromium has it after its scripts have run, and what it wrote to the console.
pub(crate) struct Shown {
    pub(crate) dom: String,
    pub(crate) console: Vec<String>,
}

impl Shown {
    pub(crate) fn of(chromium: &Path, place: &Place, page: &str, fragment: &str) -> Shown {
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

/// Each box of the treemap leads to a table of as many blobs and bytes as it says, also those of names that look like beginnings.
#[test]
fn boxes_and_the_table_count_the_same() {
    let Some(chromium) = chromium() else { return };
    let place = Place::with(&["interop/all-types.popef", "interop/two-models.popef"]);
    let names = ["a.", "a.b", "a.c", "", "x*", "x*y", "xy", "=z.", "=z.q", "p/q/r", "p/q/s", "p/t"];
    tensors(&place, "odd.popef", (50..).zip(names).map(|(size, name)| (name.to_owned(), size)));
    tensors(&place, "small.popef", (0..300).map(|nth| (format!("t{nth}"), if nth < 3 { 400_000 } else { 1 })));
    // The page's own policy allows no other script, so these are copies without it.
    let driver = "<script>
        const boxes = () => [...document.querySelectorAll('.tile:not(.rest)')];
        const all = [...document.querySelectorAll('#map .trail button')];
        const labels = boxes().map((box) => box.getAttribute('aria-label'));
        const seen = labels.map((label, nth) => {
            boxes()[nth].click();
            const count = document.querySelector('#count').textContent.replace(/ of [^,]+ blobs?/, '');
            const size = label.slice(label.lastIndexOf(':') + 2).replace(/ blobs?,/, ',');
            const rows = document.querySelectorAll('#table tbody tr').length;
            location.hash = '#sort=size&order=down&is=';
            [...document.querySelectorAll('.trail button')].find((button) => button.textContent === 'All names').click();
            return `${label.slice(0, label.lastIndexOf(':'))} ${size === count ? 'same' : size + ' and ' + count} ${rows}`;
        });
        const rest = [...document.querySelectorAll('.rest')].map((box) => box.title);
        document.title = [labels.length, ...seen, ...rest].join(';');
        </script></body>";
    let said = |file: &str| {
        place.run(&["report", file, "-o", "page.html", "--force"]).good();
        let page = String::from_utf8(place.read("page.html")).unwrap();
        let (before, policy) = page.split_once("<meta http-equiv=").unwrap();
        let (_, after) = policy.split_once('>').unwrap();
        place.write("driven.html", [before, after].concat().replace("</body>", driver));
        let shown = Shown::of(&chromium, &place, "driven.html", "");
        let (_, title) = shown.dom.split_once("<title>").unwrap();
        title.split_once("</title>").unwrap().0.replace("&amp;", "&")
    };
    for file in ["all-types.popef", "two-models.popef", "odd.popef"] {
        let said = said(file);
        let mut parts = said.split(';');
        let boxes: usize = parts.next().unwrap().parse().unwrap_or_else(|_| panic!("{file}: {said}"));
        assert!(boxes > 1, "{file}: {said}");
        for part in parts {
            assert!(part.contains(" same "), "{file}: {part}: {said}");
        }
    }
    // Those that have no box of their own are counted as blobs, as in the table.
    let said = said("small.popef");
    let (boxes, rest) = said.split_once(';').unwrap().1.rsplit_once(';').unwrap();
    let of_boxes: usize = boxes.split(';').map(|part| part.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap()).sum();
    let (of_rest, words) = rest.split_once(" more blobs, ").unwrap_or_else(|| panic!("{said}"));
    assert_eq!(of_boxes + of_rest.parse::<usize>().unwrap(), 300, "{said}");
    assert!(words.ends_with(": see the table"), "{said}");
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
    // There are no more tiles than can be told apart, and each leads on.
    assert!((50..700).contains(&shown.dom.matches("class=\"tile").count()));
    let part = Shown::of(&chromium, &place, "page.html", "#at=encoder.block42.layer77*");
    assert!(part.text_of("count").starts_with("11 of 100,000 blobs"), "{}", part.text_of("count"));
    assert!(place.read("page.html").len() < 6 << 20);
}

/// A list lets one more user read and write, and the group nothing. Its mode alone would let the group in.
#[cfg(target_os = "linux")]
#[test]
fn a_page_that_replaces_another_keeps_its_access_control_list() {
    let place = Place::with(&["interop/executable.popef"]);
    place.write("page.html", "old");
    let set = "import os, struct, sys
entries = [(1, 6, -1), (2, 6, 12345), (4, 0, -1), (16, 6, -1), (32, 0, -1)]
acl = struct.pack('<I', 2) + b''.join(struct.pack('<HHi', *entry) for entry in entries)
try:
    os.setxattr(sys.argv[1], 'system.posix_acl_access', acl)
except OSError as error:
    print(error)";
    let get = "import os, sys\nprint(os.getxattr(sys.argv[1], 'system.posix_acl_access').hex(), oct(os.stat(sys.argv[1]).st_mode))";
    let page = [place.path("page.html")];
    match python(set, &[], &page).as_deref() {
        Some("") => {}
        Some(why) => return skip(why),
        None => return,
    }
    let before = python(get, &[], &page);
    place.run(&["report", "executable.popef", "-o", "page.html", "--force"]).good();
    assert_ne!(place.read("page.html"), b"old");
    assert_eq!(python(get, &[], &page), before);
}

#[test]
fn a_page_of_nothing_is_not_written() {
    let place = Place::with(&[]);
    place.write("text", "no PopEF file at all, but a text");
    let names = place.names();
    for (files, code) in [
        (&["modle.popef"][..], "[not-found]"),
        (&["modle.popef", "wieghts.popef"], "[not-found]"),
        (&["text"], "[not-popef]"),
        (&["."], "[is-folder]"),
    ] {
        let run = place.run(&[&["report"], files, &["-o", "page.html"]].concat());
        assert!(run.status == 2 && run.err.contains(code), "{run:?}");
        assert_eq!(place.names(), names);
    }
}
