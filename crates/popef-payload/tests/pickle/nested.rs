//! Pickles inside of pickles, and data inside that may be one.

use std::fs;

use popef_payload::pickle::Pickle;

use super::{FOLDER, holding, is_dangerous};

/// The place of an import inside is that of the opcode that holds the inner pickle.
#[test]
fn pickles_in_pickles_are_followed_to_a_limited_depth() {
    let mut bytes = b"\x80\x02cos\nsystem\n.".to_vec();
    for depth in 1..8 {
        bytes = holding(&bytes);
        let pickle = Pickle::scan_bytes(&bytes).unwrap();
        let imports: Vec<_> = pickle.imports.iter().map(|import| (import.path.as_str(), import.offset)).collect();
        if depth <= 4 {
            assert_eq!((imports.as_slice(), &pickle.fault), (&[("os.system", 2)][..], &None), "{depth}");
        } else {
            assert!(imports.is_empty());
            assert_eq!(pickle.fault.unwrap().reason, "pickles in it lie too deep in one another");
        }
    }
}

/// A version in its data is that of another pickle.
#[test]
fn the_version_is_that_of_the_outermost_pickle() {
    let bytes = fs::read(format!("{FOLDER}/poptorch-4.pickle")).unwrap();
    let version = |bytes: &[u8]| Pickle::scan_bytes(bytes).unwrap().poptorch_version;
    assert!(version(&bytes).is_some());
    assert_eq!(version(&holding(&bytes)), None);
}

/// Data inside a pickle with neither a mark nor an end counts as a pickle only if it is dangerous.
#[test]
fn inner_data_that_may_be_a_pickle_is_reported_if_it_is_dangerous() {
    let inside = |module: &str, name: &str| {
        let text = format!("c{module}\n{name}\n and so on. No opcode: \u{7}");
        let bytes = [&b"\x80\x02X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes(), b"."].concat();
        let pickle = Pickle::scan_bytes(&bytes).unwrap();
        pickle.imports.into_iter().map(|import| (import.path, import.offset)).collect::<Vec<_>>()
    };
    assert_eq!(inside("os", "system"), [("os.system".to_owned(), 2)]);
    assert!(inside("model", "Net").is_empty());
    assert_eq!(inside("_io", "open"), [("_io.open".to_owned(), 2)]);
    // No module and no name has such a spelling.
    assert!(inside("os, and", "system").is_empty() && inside("os", "2").is_empty());
}

/// Inner data without a mark is scanned up to 64 KiB. With a mark, texts are scanned up to a megabyte, and bytes of any
/// length.
#[test]
fn inner_data_with_a_mark_is_scanned_further_than_data_without() {
    let holding = |opcode: u8, mark: &str, len: usize| {
        let content = [mark.as_bytes(), b"cos\nsystem\n", &vec![b'N'; len - 11 - mark.len()]].concat();
        [&[0x80, 4, opcode], &(len as u32).to_le_bytes()[..], &content, b"."].concat()
    };
    for (len, is_tried) in [(64 << 10, true), ((64 << 10) + 1, false)] {
        for opcode in [b'B', b'X'] {
            assert_eq!(is_dangerous(&holding(opcode, "", len)), is_tried, "{len} bytes of {opcode}");
        }
    }
    for (len, is_tried) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let pickle = holding(b'X', "\u{80}\u{2}", len);
        assert_eq!(is_dangerous(&pickle), is_tried, "{len}");
        let is_told = Pickle::scan_bytes(&pickle).unwrap().fault.unwrap().reason.contains("more than a megabyte");
        assert_eq!(is_told, !is_tried, "{len}");
    }
    let mut marked = holding(b'B', "  ", (1 << 20) + 1);
    marked[7..9].copy_from_slice(b"\x80\x02");
    assert!(is_dangerous(&marked));
}

#[test]
fn bytes_that_only_begin_as_a_pickle_are_no_fault() {
    let fault = |content: &[u8]| Pickle::scan_bytes(&holding(content)).unwrap().fault.map(|fault| fault.reason);
    assert_eq!(fault(b"\x80\x02\xff and so on"), None);
    assert_eq!(fault(b"\x80\x02N"), None);
    assert_eq!(fault(b"\x80\x02cm\nn\n\xff and so on"), Some("a byte is no opcode"));
    // Python may follow this where the scan does not.
    assert_eq!(fault(b"\x80\x02S'\\x1'\n."), Some("a text is not spelt as Python spells one"));
}
