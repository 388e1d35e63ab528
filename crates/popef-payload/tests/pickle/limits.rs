//! What the scan bounds, so that no pickle costs much time or memory.

use popef_payload::pickle::Pickle;

/// heap/pickles.rs checks how much memory that takes.
#[test]
fn a_pickle_of_one_repeated_opcode_is_followed_to_its_end() {
    for opcode in [b"\x85", b"2", b"(", b"\x94", b")"] {
        let mut bytes = b"\x80\x04)".to_vec();
        bytes.extend(opcode.repeat((1 << 20) + 10));
        bytes.extend(b"0cos\nsystem\n");
        let pickle = Pickle::scan_bytes(&bytes).unwrap();
        let (import, fault) = (pickle.worst().unwrap(), pickle.fault.as_ref().unwrap());
        assert_eq!((import.path.as_str(), import.offset), ("os.system", bytes.len() as u64 - 11));
        assert_eq!((fault.offset, fault.reason), (bytes.len() as u64, "it ends in the middle"));
    }
}

/// The imports are in one pickle or in several.
#[test]
fn more_imports_than_are_kept_are_a_fault() {
    let imports = |count: usize| (0..count).flat_map(|number| format!("cm\na{number}\n").into_bytes());
    let pickle = |count| [b"\x80\x02".as_slice(), &imports(count).collect::<Vec<_>>(), b"."].concat();
    let most = 4096;
    let scan = |bytes: &[u8]| Pickle::scan_bytes(bytes).unwrap();
    assert_eq!(scan(&pickle(most)).fault, None);
    assert_eq!(scan(&[pickle(most), pickle(most)].concat()).fault, None);
    for more in [pickle(most + 1), [pickle(most), b"cos\nsystem\n.".to_vec()].concat()] {
        let scanned = scan(&more);
        assert_eq!(scanned.imports.len(), most);
        assert_eq!(scanned.fault.unwrap().reason, "it imports more than any model needs");
    }
}

/// A text of more than 256 letters is no name in any spelling.
#[test]
fn texts_of_more_than_256_letters_are_no_names() {
    for (len, path) in [(256, format!("m.{:a>256}", "")), (257, "(computed)".to_owned())] {
        let name = "a".repeat(len);
        let counted = [b"X", &(len as u32).to_le_bytes()[..], name.as_bytes()].concat();
        for text in [counted, format!("V{name}\n").into(), format!("S'{name}'\n").into()] {
            let pickle = Pickle::scan_bytes(&[b"\x80\x04\x8c\x01m", &text[..], b"\x93."].concat()).unwrap();
            assert_eq!(pickle.imports[0].path, path, "{}", text.escape_ascii());
        }
    }
}

/// Python follows attributes through any number of dots. The scan does not, and says so, also without a mark.
#[test]
fn a_path_that_is_too_long_is_a_fault() {
    let fault = |path: &str| {
        let pickle = Pickle::scan_bytes(format!("c{path}\n.").as_bytes());
        pickle.map(|pickle| pickle.fault.map(|fault| fault.reason))
    };
    let path = |len: usize| format!("os\n{}", "path.os.".repeat(len).split_at(len - "os.".len()).0);
    assert_eq!(fault(&path(2048)), Some(None));
    assert_eq!(fault(&path(2049)), Some(Some("it imports more than any model needs")));
    assert_eq!(fault(&path(9000)), Some(Some("a name is longer than any model needs")));
    // Lines of other text are no imports.
    for len in [2049, 9000] {
        assert_eq!(fault(&path(len).replace('.', ", ")), None, "{len}");
    }
}

#[test]
fn the_paths_of_growing_imports_are_bounded() {
    let mut bytes = b"\x80\x04cbuiltins\ngetattr\nq\0ccollections\nCounter\nq\x01".to_vec();
    for _ in 0..10_000 {
        bytes.extend(b"h\0h\x01\x8c\x02ab\x86Rq\x01");
    }
    let pickle = Pickle::scan_bytes(&bytes).unwrap();
    assert_eq!(pickle.fault.unwrap().reason, "it imports more than any model needs");
    assert!((100..1000).contains(&pickle.imports.len()), "{}", pickle.imports.len());
    assert!(pickle.imports.iter().map(|import| import.path.len()).sum::<usize>() < 10 * bytes.len());
}
