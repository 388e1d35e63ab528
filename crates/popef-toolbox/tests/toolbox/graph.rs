//! `popef graph`.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Place, Run, hold_golden, testdata};
use crate::peers::skip;

const FILES: [&str; 8] = [
    "graph/train.json",
    "graph/train-by-id.json",
    "graph/train-changed.json",
    "graph/code-loading.json",
    "graph/hostile.json",
    "tiles/vars.json",
    "profile/model.graph.json",
    "profile/model.execution.json",
];

#[test]
fn dumps_are_shown() {
    let commands = [
        "graph train.json",
        "graph train.json --calls --top 2",
        "graph train.json --parameters --top 3",
        "graph train.json --graph layer_fn_subgraph(0) --scheduled",
        "graph train.json --code",
        "graph train.json --code --scheduled",
        "graph code-loading.json --scheduled",
        "graph hostile.json --top 3",
        "graph code-loading.json --scheduled --format json",
        "graph code-loading.json --format ndjson",
        "graph model.graph.json --profile",
        "graph model.graph.json --profile --calls --format mermaid",
        "graph train.json --format dot",
        "graph train.json --format mermaid",
        "graph code-loading.json --graph expensive_id_subgraph(0) --format dot",
    ];
    hold_golden("graph", &FILES, &commands);
}

#[test]
fn what_cannot_be_shown_is_said() {
    let commands = [
        "graph no.json",
        "graph vars.json",
        "graph train.json --graph nothing",
        "graph train.json --graph layer_fn",
        "graph train.json --graph maingraph --format json",
        "graph train-by-id.json --scheduled",
        "graph train.json diff train.json train.json",
        "graph diff train.json",
        "graph diff train.json train-by-id.json --scheduled",
        "graph diff - -",
        "graph diff train.json vars.json",
        "graph diff train.json train.json --format dot",
        "graph --format dot diff train.json train.json",
        "graph --format json diff train.json vars.json",
        "graph train.json --format svg",
        "graph train.json --profile",
        "graph model.execution.json --profile",
        "graph model.graph.json",
    ];
    hold_golden("graph-mistakes", &FILES, &commands);
}

#[test]
fn dumps_are_compared() {
    let commands = [
        "graph diff train.json train-changed.json",
        "graph diff train.json train-changed.json --top 1",
        "graph diff train.json train-by-id.json",
        "graph diff train.json train.json --format json",
        "graph diff hostile.json code-loading.json --format json",
        "graph diff train.json train-changed.json --format ndjson",
        "graph diff --help",
    ];
    hold_golden("graph-diff", &FILES, &commands);
}

/// What is read before the damage is shown, and the exit status says that it is not all.
#[test]
fn damaged_dumps_are_shown_as_far_as_they_go() {
    let place = Place::with(&FILES);
    let bytes = place.read("train.json");
    place.write("cut.json", &bytes[..bytes.len() / 2]);
    for format in ["text", "json", "ndjson", "dot", "mermaid", "html"] {
        let run = place.run(&["graph", "cut.json", "--format", format]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.err.contains("cut.json: line 1, byte ") && run.err.contains("[bad-graph-file]"), "{run:?}");
        assert!(run.text().contains("accumulate_step"), "{run:?}");
    }
    let json = place.run(&["graph", "cut.json", "--format", "json"]).json();
    assert_eq!(json["error"]["code"], "bad-graph-file");
    assert_eq!(place.run(&["graph", "diff", "cut.json", "train.json"]).status, 2);
    let piped = place.run_with_input(&["graph", "-"], &bytes).good();
    assert_eq!(piped.text().replacen('-', "train.json", 1), place.run(&["graph", "train.json"]).text());
}

/// All pictures that the tool can draw of the files, with the names that must be in them as they are.
fn pictures(format: &str) -> Vec<(Run, Vec<&'static str>)> {
    let place = Place::with(&FILES);
    let run = |args: &[&str]| place.run(&[&["graph"], args, &["--format", format]].concat()).good();
    vec![
        (run(&["train.json"]), vec!["maingraph", "accumulate_step_subgraph(0)", "layer_fn_grad_subgraph(0)", "8 ×"]),
        (run(&["train.json", "--graph", "maingraph"]), vec!["RemoteCodeLoad", "layers.3.weight", "F16 256x256"]),
        (run(&["hostile.json"]), vec![r#"a "quoted" model"#, "deep_subgraph(11)", "over 10^19 ×"]),
        (
            run(&["hostile.json", "--graph", r#"a "quoted" model"#]),
            vec![
                r#"the "best", x"#,
                r#"C:\\model\\"add""#,
                r"\u{202e}gpj.exe",
                "calls deep_subgraph(0), 2147483647 times",
            ],
        ),
    ]
}

/// A text of XML without its entities.
fn plain(xml: &str) -> String {
    let text = xml.replace("&#45;", "-").replace("&#39;", "'").replace("&quot;", "\"").replace("&#160;", " ");
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[test]
fn graphviz_draws_the_pictures() {
    if Command::new("dot").arg("-V").stderr(Stdio::null()).status().is_err() {
        skip("Graphviz is missing");
        return;
    }
    for (run, names) in pictures("dot") {
        let place = Place::with(&[]);
        place.write("picture.dot", &run.out);
        let drawn = Command::new("dot").args(["-Tsvg", "picture.dot"]).current_dir(place.path("")).output().unwrap();
        let words = String::from_utf8(drawn.stderr).unwrap();
        assert!(drawn.status.success() && !words.contains("Error"), "{words}\n{}", run.text());
        let svg = String::from_utf8(drawn.stdout).unwrap();
        let boxes = run.text().lines().filter(|line| line.contains("[label=") && !line.contains("->")).count();
        assert_eq!(svg.matches("class=\"node\"").count(), boxes);
        for name in names {
            assert!(plain(&svg).contains(name), "{name}\n{svg}");
        }
        assert!(!svg.contains("<script"), "{svg}");
    }
}

/// Nothing from a file is markup, and nothing is loaded or run.
#[test]
fn pages_and_mermaid_have_names_as_text() {
    for (run, _) in pictures("mermaid") {
        for (number, line) in run.text().lines().enumerate() {
            assert_eq!(line.matches('"').count() % 2, 0, "{number}: {line}");
            assert!(!line.replace("<br/>", "").contains('<') && !line.contains('\\'), "{number}: {line}");
        }
    }
    let place = Place::with(&FILES);
    let json = br#"{"<script>alert(1)</script>" :[{"type":"<b>'&amp;","name":"","inputs":[{"name":"</table><img src=x onerror=alert(1)>"}]}]}"#;
    place.write("names.json", json);
    for file in ["names.json", "hostile.json", "train.json"] {
        let page = place.run(&["graph", file, "--format", "html"]).good();
        let page = page.text();
        for markup in ["<script", "<img", "onerror=a\"", "http:", "https:", "url(", "src=\"", "<b>", "href"] {
            assert!(!page.contains(markup), "{markup} in {page}");
        }
        assert!(page.contains("default-src 'none'"), "{page}");
    }
    let page = place.run(&["graph", "names.json", "--format", "html"]).good();
    for name in ["<script>alert(1)</script>", "<b>'&amp;", "</table><img src=x onerror=alert(1)>"] {
        assert!(plain(page.text()).contains(name), "{name}");
    }
}

/// The page has the cards, the colours and the tables of the other pages.
#[test]
fn a_page_looks_like_the_others() {
    let place = Place::with(&FILES);
    place.run(&["graph", "train.json", "-o", "page.html"]).good();
    let page = String::from_utf8(place.read("page.html")).unwrap();
    for part in [
        "<title>train.json</title>",
        "<p class=\"kind\">IR dump of PopART</p>\n<h1>train.json</h1>",
        "<dl class=\"figures\">\n<div><dt>Graphs</dt>",
        "@media (prefers-color-scheme: dark)",
        "@media print",
        "<th scope=\"col\" class=\"number\">Runs</th>",
        "<footer>Made by popef ",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let style = |page: &str| page.split("</style>").next().unwrap().split("<style>").nth(1).unwrap().to_owned();
    let other = place.run(&["profile", "model.graph.json", "-o", "-"]).good();
    assert_eq!(style(&page), style(other.text()));
    // A picture in the page has no style of its own, which the page's policy would not allow.
    let code = place.run(&["graph", "code-loading.json", "--scheduled", "--format", "html"]).good();
    assert_eq!(code.text().matches("<style>").count(), 2);
    assert!(code.text().contains("<svg class=\"schedule\"") && code.text().contains("class=\"load\""));
}

#[test]
fn numbers_of_pages_have_commas() {
    let place = Place::with(&[]);
    let ops = vec![r#"{"type":"Add","name":"","inputs":[],"outputs":[]}"#; 1234].join(",");
    place.write("many.json", format!(r#"{{"main":[{ops}]}}"#));
    let page = place.run(&["graph", "many.json", "-o", "-"]).good();
    assert!(page.text().contains("<td class=\"number\" data-v=\"1234\">1,234</td>"), "{}", page.text());
    assert!(page.text().contains("<dt>Ops</dt><dd>1,234 "), "{}", page.text());
    assert!(!page.text().replace("data-v=\"1234\"", "").contains("1234"), "{}", page.text());
}

/// The pictures of the document are what the tool prints.
#[test]
fn the_document_shows_what_the_tool_does() {
    let document = fs::read_to_string(testdata().join("../docs/GRAPHS.md")).unwrap();
    let place = Place::with(&FILES);
    let mut shown = 0;
    for fence in ["```text\n$ popef ", "```mermaid\n%% popef "] {
        for block in document.split(fence).skip(1) {
            let (line, rest) = block.split_once('\n').unwrap();
            let run = place.run(&line.replace('\'', "").split(' ').collect::<Vec<_>>());
            assert!(run.status < 2, "{run:?}");
            assert_eq!(Some(run.text()), rest.split_once("```").map(|(output, _)| output), "popef {line}");
            shown += 1;
        }
    }
    assert_eq!(shown, 8);
}
