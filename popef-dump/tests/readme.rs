//! The tool prints what README.md and docs/DUMP.md show.

mod common;

use std::path::Path;

#[test]
fn the_outputs_in_the_documents_are_real() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documents = ["README.md", "docs/DUMP.md"].map(|path| std::fs::read_to_string(root.join(path)).unwrap());
    let mut shown = 0;
    for block in documents.iter().flat_map(|text| text.split("```text\n$ popef-dump ").skip(1)) {
        let (block, _) = block.split_once("```").expect("the block ends");
        let (arguments, expected) = block.split_once('\n').expect("there is output");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        assert_eq!(common::run(&root, &arguments).out, expected, "popef-dump {arguments:?}");
        shown += 1;
    }
    assert!(shown >= 3, "only {shown} outputs were found");
}
