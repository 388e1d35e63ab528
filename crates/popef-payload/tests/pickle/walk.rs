//! Opcodes are followed as Python follows them, and nothing after an import hides it.

use std::fs;
use std::ops::Range;

use popef_payload::pickle::Pickle;

use super::{FOLDER, is_dangerous, scan};

#[test]
fn a_fault_names_the_byte_at_which_the_scan_stopped() {
    let fault = scan("bad-opcode.pickle").unwrap().fault.unwrap();
    assert_eq!((fault.offset, fault.reason), (6, "a byte is no opcode"));
}

/// Dangerous files, each with the bytes of the first opcode that shows the danger: an import, or bytes or a text with
/// an import inside. The bytes are those of python3 -m pickletools.
const DANGEROUS: [(&str, Range<usize>); 5] = [
    ("os-system-0.pickle", 9..23),
    ("nested-2.pickle", 35..78),
    ("nested-4.pickle", 21..65),
    ("getattr-reach.pickle", 2..20),
    ("extension-2.pickle", 11..14),
];

/// An import of Python's own library in one of them. A part of its name is another name, which is denied.
const OTHER_IMPORT: (&str, Range<usize>) = ("nested-2.pickle", 16..33);

/// Each file is cut at every byte, and changed at every byte. What is dangerous before that place stays dangerous.
#[test]
fn bytes_behind_a_dangerous_import_cannot_hide_it() {
    for (file, opcode) in DANGEROUS {
        let bytes = fs::read(format!("{FOLDER}/{file}")).unwrap();
        for cut in (0..=bytes.len()).filter(|cut| !(opcode.start + 1..opcode.end).contains(cut)) {
            let is_cut_name = file == OTHER_IMPORT.0 && OTHER_IMPORT.1.contains(&cut);
            assert!(is_dangerous(&bytes[..cut]) == (cut >= opcode.end) || is_cut_name, "{file}, {cut} bytes");
        }
        for at in 0..bytes.len() {
            for value in (0..=255).step_by(9) {
                let mut changed = bytes.clone();
                changed[at] = value;
                assert!(is_dangerous(&changed) || at < opcode.end, "{file}, byte {at} is {value}");
            }
        }
    }
}

/// Python's unpicklers differ in what they read after such a frame, so it is a fault. The scan goes on.
#[test]
fn a_frame_holds_whole_opcodes_up_to_the_stop() {
    let fault = |body: &[u8], frame: u64| {
        let bytes = [b"\x80\x04\x95", &frame.to_le_bytes()[..], body, b"cos\nsystem\n."].concat();
        assert!(is_dangerous(&bytes));
        Pickle::scan_bytes(&bytes).unwrap().fault.map(|fault| (fault.offset, fault.reason))
    };
    let (split, left) = ("a frame ends inside an opcode or another frame", "it stops before its frame ends");
    let inner_frame = b"N\x95\x01\0\0\0\0\0\0\0N";
    for (body, frame, expected) in [
        (&b"NK\x01"[..], 0, None),
        (b"NK\x01", 1, None),
        (b"NK\x01", 2, Some((14, split))),
        (b"NK\x01", 3, None),
        (b"NK\x01", 15, None),
        (b"NK\x01", 16, Some((26, left))),
        (b"NK\x01", u64::MAX, Some((26, left))),
        (inner_frame, 1, None),
        (inner_frame, 11, Some((21, split))),
    ] {
        assert_eq!(fault(body, frame), expected, "{} in {frame} bytes", body.escape_ascii());
    }
}

/// Each pickle is loaded on its own.
#[test]
fn a_pickle_starts_with_an_empty_memo_and_stack() {
    let fault = |second: &[u8]| {
        let bytes = [b"\x80\x02]q\0q\x05\x8c\x02os\x8c\x06system.", second].concat();
        Pickle::scan_bytes(&bytes).unwrap().fault.map(|fault| fault.reason)
    };
    assert_eq!(fault(b"\x80\x02cm\nn\n."), None);
    assert_eq!(fault(b"\x80\x02cm\nn\nh\0."), Some("it asks for a place in an empty memo"));
    assert_eq!(fault(b"\x80\x02cm\nn\nh\x05."), Some("it asks for a place in an empty memo"));
    assert_eq!(fault(b"\x80\x02cm\nn\n00."), Some("it takes from an empty stack"));
}

#[test]
fn an_opcode_cannot_take_from_below_a_mark() {
    for pickle in [&b"\x80\x02]N(a."[..], b"\x80\x02N(2.", b"\x80\x02N(\x85.", b"\x80\x02N(."] {
        let fault = Pickle::scan_bytes(pickle).unwrap().fault.map(|fault| fault.reason);
        assert_eq!(fault, Some("it takes from an empty stack"), "{}", pickle.escape_ascii());
    }
}

/// Python reads these lines. Without a mark they must neither stop the scan before the import nor hide it.
#[test]
fn odd_lines_hide_no_import() {
    let megabyte = "1".repeat((1 << 20) + 1);
    for line in [
        format!("I{megabyte}\n"),
        format!("F{megabyte}\n"),
        format!("S'{megabyte}'\n"),
        format!("S'\\x80{megabyte}'\n"),
        format!("V{megabyte}\n"),
        format!("V\\u0080{megabyte}\n"),
        "Np-0\n".to_owned(),
        "Np1_0\n".to_owned(),
        "Np 007 \n".to_owned(),
        "Np5\0junk\n".to_owned(),
        format!("Np{:10000}5\n", ' '),
        "Np18446744073709551615\n0g18446744073709551615\n".to_owned(),
    ] {
        let bytes = [line.as_bytes(), b"0cos\nsystem\n."].concat();
        let shown = &line[..line.len().min(30)];
        let pickle = Pickle::scan_bytes(&bytes).unwrap_or_else(|| panic!("{shown}"));
        assert_eq!(pickle.imports[0].path, "os.system", "{shown}");
        assert_eq!(pickle.fault.is_some(), line.contains("80"), "{shown}");
    }
    let negative = Pickle::scan_bytes(b"\x80\x02Np-5\n.").unwrap();
    assert_eq!(negative.fault.unwrap().reason, "a place in the memo is not a number");
    // A fault is given for any data that is not followed.
    let beyond = Pickle::scan_bytes(b"Np18446744073709551616\n0cos\nsystem\n.").unwrap();
    assert_eq!(beyond.fault.unwrap().offset, 23);
}
