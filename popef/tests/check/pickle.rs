//! The scan for pickles: pickles by Python's own picklers, and some that no pickler writes.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;

use popef::pickle::{ImportClass, Pickle};

const FOLDER: &str = "../testdata/pickles";

fn scan(file: &str) -> Option<Pickle> {
    Pickle::scan_bytes(&fs::read(format!("{FOLDER}/{file}")).unwrap())
}

fn verdict(pickle: &Pickle) -> String {
    let worst = pickle.worst().map_or(ImportClass::Ordinary, |import| import.class);
    match (worst, &pickle.fault) {
        (ImportClass::Ordinary, Some(_)) => "odd".to_owned(),
        (worst, Some(_)) => format!("{worst}-odd"),
        (worst, None) => worst.to_string(),
    }
}

/// A line as in expected.txt: the verdict, then each import of the worst class, or the version.
fn line(file: &str) -> String {
    let Some(pickle) = scan(file) else { return format!("{file} none") };
    let mut line = vec![file.to_owned(), verdict(&pickle)];
    let worst = pickle.worst().filter(|import| import.class > ImportClass::Ordinary);
    let decisive = worst.into_iter().flat_map(|worst| pickle.imports_of(worst.class));
    line.extend(decisive.map(|import| import.path.clone()));
    line.extend(pickle.poptorch_version.map(|version| format!("version={version}")));
    line.join(" ")
}

#[test]
fn each_pickle_of_testdata_has_the_expected_verdict() {
    let expected = fs::read_to_string(format!("{FOLDER}/expected.txt")).unwrap();
    let wrong: Vec<_> = expected
        .lines()
        .map(|expected| (expected, line(expected.split(' ').next().unwrap())))
        .filter(|(expected, found)| expected != found)
        .collect();
    assert!(wrong.is_empty(), "(expected, found): {wrong:#?}");
}

#[test]
fn every_pickle_of_testdata_has_a_line_in_the_table() {
    let expected = fs::read_to_string(format!("{FOLDER}/expected.txt")).unwrap();
    let named: BTreeSet<_> = expected.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    let there = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<_> = there.filter(|name| name.ends_with(".pickle")).collect();
    assert_eq!(named, there);
}

#[test]
fn imports_are_listed_with_their_places() {
    let pickle = scan("poptorch-4.pickle").unwrap();
    assert_eq!(pickle.protocol, 4);
    let imports: Vec<_> = pickle.imports.iter().map(|import| (import.path.as_str(), import.offset)).collect();
    // The offsets are those of python3 -m pickletools.
    assert_eq!(imports[0], ("poptorch._poptorch_data.PoptorchData", 52));
    assert_eq!(imports[1], ("poptorch.options.Options", 99));
    assert_eq!(imports[2], ("torch.nn.modules.linear.Linear", 230));
}

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

/// Each file is cut at every byte, and changed at every byte. What is dangerous before that place stays dangerous.
#[test]
fn bytes_behind_a_dangerous_import_cannot_hide_it() {
    for (file, opcode) in DANGEROUS {
        let bytes = fs::read(format!("{FOLDER}/{file}")).unwrap();
        for cut in (0..=bytes.len()).filter(|cut| !(opcode.start + 1..opcode.end).contains(cut)) {
            assert_eq!(is_dangerous(&bytes[..cut]), cut >= opcode.end, "{file}, {cut} bytes");
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

/// Whether the bytes import something dangerous. All places that the scan gives must lie within them.
fn is_dangerous(bytes: &[u8]) -> bool {
    let Some(pickle) = Pickle::scan_bytes(bytes) else { return false };
    let len = bytes.len() as u64;
    assert!(pickle.imports.iter().all(|import| import.offset < len), "{pickle:?}");
    assert!(pickle.fault.iter().all(|fault| fault.offset <= len), "{pickle:?}");
    pickle.worst().is_some_and(|worst| worst.class == ImportClass::Dangerous)
}

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

/// A harmless call in one pickle does not excuse another call in the pickle behind it.
#[test]
fn an_import_is_judged_by_all_of_its_calls() {
    let harmless = b"\x80\x02ctorch.storage\n_load_from_bytes\nC\x04\x80\x02N.\x85R.".to_vec();
    let class = |bytes: &[u8]| Pickle::scan_bytes(bytes).unwrap().worst().unwrap().class;
    assert_eq!(class(&harmless), ImportClass::Ordinary);
    for (module, name) in [("torch.storage", "_load_from_bytes"), ("torch", "storage._load_from_bytes")] {
        let other = format!("c{module}\n{name}\n(S'PK'\ntR.").into_bytes();
        assert_eq!(class(&[harmless.clone(), other].concat()), ImportClass::Dangerous, "{module}");
    }
    // A loader may read more than the scan if the scan stops early or if there is no mark.
    for content in [b"\x80\x02N\xff", b"\x80\x02NN", b"NNN."] {
        let bytes = [b"\x80\x02ctorch.storage\n_load_from_bytes\nC\x04", &content[..], b"\x85R."].concat();
        assert_eq!(class(&bytes), ImportClass::Dangerous, "{}", content.escape_ascii());
    }
}

/// `getattr` is harmless with harmless arguments, but not if it is stored where it can be called unseen.
#[test]
fn an_import_that_may_be_called_unseen_is_dangerous() {
    let class = |leak: &[u8]| {
        let harmless = b"\x80\x02cbuiltins\ngetattr\nq\0(ccollections\nOrderedDict\nS'fromkeys'\ntR0";
        class_of(&[&harmless[..], leak, b"."].concat(), "builtins.getattr")
    };
    assert_eq!(class(b"h\x000N"), ImportClass::Ordinary);
    let leaks: [&[u8]; 18] = [
        b"h\0",
        b"h\0Q",
        b"(ibuiltins\ngetattr\n",
        b"]h\0a",
        b"](h\0e",
        b"(h\0l",
        b"(h\0t",
        b"h\0\x85",
        b"(S'k'\nh\0d",
        b"}S'k'\nh\0s",
        b"}(S'k'\nh\0u",
        b"]h\0b",
        b"h\0)\x81",
        b"cmodel\nNet\nh\0\x81",
        b"cmodel\nNet\nh\0)\x92",
        b"(h\0o",
        b"(cmodel\nNet\nh\0o",
        b"(h\0imodel\nNet\n",
    ];
    for leak in leaks {
        assert_eq!(class(leak), ImportClass::Dangerous, "{}", leak.escape_ascii());
    }
}

/// No pickler changes what it imports.
#[test]
fn a_change_of_an_import_is_dangerous() {
    for change in [&b"}b"[..], b"Na", b"(Ne", b"NNs", b"(NNu"] {
        let bytes = [b"\x80\x02cmodel\nNet\n", change, b"."].concat();
        let class = class_of(&bytes, "(change of model.Net)");
        assert_eq!(class, ImportClass::Dangerous, "{}", change.escape_ascii());
    }
}

/// The class of the import whose path ends with `path`.
fn class_of(bytes: &[u8], path: &str) -> ImportClass {
    let pickle = Pickle::scan_bytes(bytes).unwrap();
    let import = pickle.imports.iter().find(|import| import.path == path);
    import.unwrap_or_else(|| panic!("{path}: {pickle:?}")).class
}

#[test]
fn imports_are_classed_by_what_they_can_do() {
    let ordinary = "builtins.set exceptions.KeyError builtins.BaseException copy_reg._reconstructor torch.float32
        torch.bfloat16 numpy.int64 torch._utils._rebuild_tensor_v2 torch.FloatStorage
        torch.storage.UntypedStorage torch.nn.modules.linear.Linear torch.nn.modules.linear._ConvNd
        poptorch.Options poptorch.options.Options typing.Any io.BytesIO pathlib.PosixPath types.SimpleNamespace
        logging.getLogger collections.OrderedDict torch.nn.modules.conv.Conv2d torch._C._nn.gelu
        torch.nn.functional.relu torch._C.Generator torch._C._VariableFunctionsClass torch.functional.tensordot
        poptorch._impl._restoreWrapperIfNecessary poptorch.autocasting.Policy poptorch.optim.AdamW
        numpy.random._pickle.__randomstate_ctor uuid.SafeUUID";
    let unknown = "model.Net model.Error model.float32 model.FloatStorage builtins.print types.MappingProxyType
        weakref.WeakKeyDictionary torch.nn.modules.linear.linear torch.nn.modules.linear.Linear-2 poptorchx.Options
        torch._utils._flatten torch.nn.modulesx.Linear torch.floaty osx.System torch.storage.Storage2 numpy.random.seed
        torch._utils._rebuild_a.b logging.Logger torchvision.models.resnet.ResNet torch.loader pickles.Load
        torch.nn.modules.activation.F torch.nn.modules.rnn._VF poptorch.DataLoader poptorch._data.DataLoader poptorch._poplar_executor.PoplarExecutor functools.partial
        torch.utils.data.dataloader.DataLoader torch.nn.functional.handle_torch_function typing.ForwardRef model.save";
    let dangerous =
        "os.system posix.system nt.open os.path.join builtins.eval __builtin__.eval builtins.getattr cPickle.loads
        subprocess.Popen torch.load torch.hub.load torch.hub torch.jit._script.Script torch.serialization.load
        torchvision.datasets.utils.download numpy.load poptorch.load yaml.unsafe_load functools.reduce pandas.io.sql.x
        model.os model._sys model.__class__ model.eval model.Net.__globals__ model.x._load_from_bytes
        types.CodeType io.open builtins.types builtins.Errors uuid._get_command_stdout torch._C.PyTorchFileWriter
        torch.from_file _pyio.FileIO torch._C._nn._parse_to
        numpy.random._pickle.__other";
    for (class, paths) in
        [(ImportClass::Ordinary, ordinary), (ImportClass::Unknown, unknown), (ImportClass::Dangerous, dangerous)]
    {
        let wrong: Vec<_> = paths
            .split_whitespace()
            .filter(|path| {
                let (module, name) = path.rsplit_once('.').unwrap();
                class_of(format!("c{module}\n{name}\n.").as_bytes(), path) != class
            })
            .collect();
        assert!(wrong.is_empty(), "not {class}: {wrong:?}");
    }
    // The dots of a name are attributes. Those of a module are not.
    assert_eq!(class_of(b"cmodel\na.os.b\n.", "model.a.os.b"), ImportClass::Dangerous);
    assert_eq!(class_of(b"cmodel.a.os\nb\n.", "model.a.os.b"), ImportClass::Unknown);
}

/// Each runs code, a file or a program by its arguments, and none is for values.
#[test]
fn functions_of_modules_for_tools_are_dangerous() {
    let paths = "dataclasses._create_fn dataclasses.make_dataclass _xxsubinterpreters.run_string
        _testcapi.run_in_subinterp six.exec_ six._import_module typing.get_type_hints pipes.Template
        torch._utils._import_dotted_name importlib_metadata.EntryPoint wrapt.resolve_path encodings.search_function
        operator.call _operator.call itertools.starmap string.Formatter tokenize._builtin_open tokenize.open uu.decode
        argparse.FileType logging.basicConfig logging.FileHandler pstats.Stats netrc.netrc mimetypes.init
        xml.etree.ElementTree.parse numpy.core.multiarray.fromfile numpy.core._multiarray_umath.fromfile
        numpy._core.multiarray.fromfile torch.utils.data.load model.x.dataclasses._create_fn";
    for path in paths.split_whitespace() {
        let (module, name) =
            if path.starts_with("model") { path.split_once('.').unwrap() } else { path.rsplit_once('.').unwrap() };
        assert_eq!(class_of(format!("c{module}\n{name}\n.").as_bytes(), path), ImportClass::Dangerous, "{path}");
    }
    assert_eq!(class_of_attribute("model\ntokenize", "open_file"), ImportClass::Dangerous);
    // A module of the model and a function of it may have such a name.
    for path in ["model.tokenize", "model.tokenize.Tokens", "model.wave"] {
        let (module, name) = path.rsplit_once('.').unwrap();
        assert_eq!(class_of(format!("c{module}\n{name}\n.").as_bytes(), path), ImportClass::Unknown, "{path}");
    }
}

/// `getattr` is as harmless as its result: a class in a class, a member of an enum, and a few listed attributes. Other
/// methods of a class that builds values may do more than build them.
#[test]
fn getattr_is_classed_by_the_attribute_and_its_class() {
    for (of, attribute, class) in [
        ("collections\nOrderedDict", "fromkeys", ImportClass::Ordinary),
        ("poptorch.enums\nConnectionType", "Always", ImportClass::Ordinary),
        ("torch._C\n_VariableFunctionsClass", "addmm", ImportClass::Ordinary),
        ("torch._C\n_VariableFunctionsClass", "select", ImportClass::Ordinary),
        ("torch._C\n_VariableFunctionsClass", "from_file", ImportClass::Dangerous),
        ("collections\nOrderedDict", "copy", ImportClass::Unknown),
        ("collections\nOrderedDict", "a.b", ImportClass::Unknown),
        ("collections\nOrderedDict", "_private", ImportClass::Unknown),
        ("collections\nOrderedDict", "", ImportClass::Unknown),
        ("collections\nOrderedDict", "system", ImportClass::Dangerous),
        ("collections\nOrderedDict", "a.__init__", ImportClass::Dangerous),
        ("model\nNet", "forward", ImportClass::Unknown),
        ("model\nNet", "Inner", ImportClass::Unknown),
        ("model\nNet", "eval", ImportClass::Dangerous),
        ("os\npath", "join", ImportClass::Dangerous),
    ] {
        assert_eq!(class_of_attribute(of, attribute), class, "{of}.{attribute}");
    }
    let of_unnamed = b"cbuiltins\ngetattr\n(\x82\x01S'name'\ntR.";
    assert_eq!(class_of(of_unnamed, "(extension-1).name"), ImportClass::Dangerous);
}

fn class_of_attribute(of: &str, attribute: &str) -> ImportClass {
    let bytes = format!("cbuiltins\ngetattr\n(c{of}\nS'{attribute}'\ntR.");
    assert_eq!(class_of(bytes.as_bytes(), "builtins.getattr"), ImportClass::Ordinary);
    class_of(bytes.as_bytes(), &format!("{}.{attribute}", of.replace('\n', ".")))
}

/// The methods write files or run code, and their classes are ordinary in a pickle. They are reached by `getattr` and
/// by a name with dots.
#[test]
fn methods_that_touch_files_are_dangerous_in_every_class() {
    for (of, method) in [
        ("numpy\nndarray", "tofile"),
        ("numpy\nndarray", "dump"),
        ("poptorch.options\nOptions", "loadFromFile"),
        ("torch.storage\nUntypedStorage", "from_file"),
        ("torch\nFloatStorage", "from_file"),
        ("poptorch._poplar_executor\nPoplarExecutor", "save"),
        ("pathlib\nPath", "write_text"),
        ("array\narray", "fromfile"),
    ] {
        assert_eq!(class_of_attribute(of, method), ImportClass::Dangerous, "{of}.{method}");
        let path = format!("{}.{method}", of.replace('\n', "."));
        assert_eq!(class_of(format!("c{of}.{method}\n.").as_bytes(), &path), ImportClass::Dangerous, "{path}");
    }
    // A function with such a name in a module of the model is unknown.
    assert_eq!(class_of(b"cmodel\nsave\n.", "model.save"), ImportClass::Unknown);
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

/// A pickle of protocol 4 that holds bytes.
fn holding(content: &[u8]) -> Vec<u8> {
    [b"\x80\x04B", &(content.len() as u32).to_le_bytes()[..], content, b"."].concat()
}

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

#[test]
fn the_version_is_that_of_poptorchs_own_data() {
    let version = |class: &str, items: &str| {
        let bytes = format!("cpoptorch._poptorch_data\n{class}\n)\u{81}}}({items}ub.");
        let bytes: Vec<_> = bytes.chars().map(|letter| letter as u8).collect();
        Pickle::scan_bytes(&bytes).unwrap().poptorch_version
    };
    let items = "S'other'\nS'1'\nK\x01S'2'\nS'version'\nS'3.3'\nS'last'\nN";
    assert_eq!(version("PoptorchData", items).as_deref(), Some("3.3"));
    assert_eq!(version("Options", items), None);
    for without in ["S'other'\nS'1'\n", "S'version'\nN", "S'1'\nS'version'\nS'2'\nS'3'\n"] {
        assert_eq!(version("PoptorchData", without), None, "{without}");
    }
    let called_by = |function: &str| {
        let bytes = format!("c{function}\n(cpoptorch\nPoptorchData\nNNtR}}S'version'\nS'3.3'\nsb.");
        Pickle::scan_bytes(bytes.as_bytes()).unwrap().poptorch_version
    };
    assert_eq!(called_by("copyreg\n_reconstructor").as_deref(), Some("3.3"));
    assert_eq!(called_by("model\nfunction"), None);
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

/// A line of random.jsonl: a pickle, and what Python found in it.
struct ByPython {
    bytes: Vec<u8>,
    /// The byte of the opcode, if it is known, and the path.
    imports: Vec<(Option<u64>, String)>,
    inside: Vec<String>,
    stop: Option<u64>,
}

impl ByPython {
    fn read(line: &str) -> Self {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let hex = line["pickle"].as_str().unwrap();
        let path = |path: &serde_json::Value| path.as_str().unwrap().to_owned();
        let list = |key: &str| line[key].as_array().unwrap().clone();
        ByPython {
            bytes: (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect(),
            imports: list("imports").iter().map(|import| (import[0].as_u64(), path(&import[1]))).collect(),
            inside: list("inside").iter().map(path).collect(),
            stop: line["stop"].as_u64(),
        }
    }
}

/// What Python imports before it stops is found at the same byte. The variable POPEF_RANDOM_PICKLES may name another
/// file of make_random.py, with more pickles.
#[test]
fn every_import_that_python_makes_is_found() {
    let file = std::env::var("POPEF_RANDOM_PICKLES").unwrap_or(format!("{FOLDER}/random.jsonl"));
    let lines = fs::read_to_string(file).unwrap();
    let wrong: Vec<_> = (1..)
        .zip(lines.lines().map(ByPython::read))
        .flat_map(|(number, by_python)| {
            missed(&by_python).into_iter().map(move |what| format!("line {number}: {what}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(lines.lines().count() > 400);
}

fn missed(by_python: &ByPython) -> Vec<String> {
    let ByPython { bytes, imports, inside, stop } = by_python;
    let len = Some(bytes.len() as u64);
    let Some(pickle) = Pickle::scan_bytes(bytes) else {
        // Without a mark, data that neither ends as a pickle nor imports a name may be anything.
        let is_name = |path: &str| path.split('.').all(|part| part.starts_with(|first: char| first.is_alphabetic()));
        let is_pickle = matches!(bytes[..], [0x80, 0..=5, ..]) || imports.iter().any(|(_, path)| is_name(path));
        return if is_pickle || *stop == len { vec!["not told to be a pickle".to_owned()] } else { Vec::new() };
    };
    let mut missed = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (offset, path) in imports {
        let place = pickle.imports.iter().find(|import| import.path == *path).map(|import| import.offset);
        let is_first = seen.insert(path) && !inside.contains(path);
        if place.is_none() || is_first && offset.is_some() && place != *offset {
            missed.push(format!("{path} at {offset:?} is found at {place:?}"));
        }
    }
    let found: BTreeSet<_> = pickle.imports.iter().map(|import| &import.path).collect();
    missed.extend(inside.iter().filter(|path| !found.contains(path)).map(|path| format!("{path} inside is not found")));
    missed.extend(pickle.fault.filter(|_| *stop == len).map(|fault| format!("Python loads it, and here {fault:?}")));
    missed
}
