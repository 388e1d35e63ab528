//! Which imports are ordinary, dangerous or unknown.

use popef_payload::pickle::{ImportClass, Pickle};

use super::class_of;

#[test]
fn imports_are_classed_by_what_they_can_do() {
    let ordinary = "builtins.set exceptions.KeyError builtins.BaseException copy_reg._reconstructor torch.float32
        torch.bfloat16 numpy.int64 torch._utils._rebuild_tensor_v2 torch.FloatStorage
        torch.storage.UntypedStorage torch.nn.modules.linear.Linear torch.nn.modules.linear._ConvNd
        poptorch.Options poptorch.options.Options typing.Any io.BytesIO pathlib.PosixPath types.SimpleNamespace
        logging.getLogger collections.OrderedDict torch.nn.modules.conv.Conv2d torch._C._nn.gelu
        torch.nn.functional.relu torch._C.Generator torch._C._VariableFunctionsClass torch.functional.tensordot
        poptorch._impl._restoreWrapperIfNecessary poptorch.autocasting.Policy poptorch.optim.AdamW
        numpy.random._pickle.__randomstate_ctor uuid.SafeUUID builtins.print types.MappingProxyType
        weakref.WeakKeyDictionary http.HTTPStatus random.Random re._compile math.sqrt cmath.phase logging.LogRecord
        transformers.models.bert.configuration_bert.BertConfig torch.return_types.max pytz._p pytz._UTC
        pandas._libs.tslibs.nattype.__nat_unpickle pandas._libs.missing.NA pandas._libs.tslibs.offsets.QuarterEnd
        numpy.core._multiarray_umath.add numpy._core._multiarray_umath.sin numpy.add numpy.chararray
        numpy.core.getlimits.MachArLike decimal.Context types.NoneType signal.Signals numpy.mean numpy.argmax
        itertools.groupby itertools.count inspect.Signature inspect._ParameterKind inspect._empty statistics.NormalDist
        numpy.polynomial.hermite_e.HermiteE urlparse.SplitResult logging.StrFormatStyle";
    let unknown = "model.Net model.Error model.float32 model.FloatStorage __main__.Net poptorchx.Options osx.System
        torchvision.models.resnet.ResNet pickles.Load poptorch.DataLoader poptorch._data.DataLoader
        poptorch._poplar_executor.PoplarExecutor model.save sklearn.linear_model._logistic.LogisticRegression
        transformers.models.bert.modeling_bert.BertModel transformers.models.auto.configuration_auto.AutoConfig
        transformers.models.bert.configuration_bert.OrderedDict torchy.Net";
    let dangerous =
        "os.system posix.system nt.open os.path.join builtins.eval __builtin__.eval builtins.getattr cPickle.loads
        subprocess.Popen torch.load torch.hub.load torch.hub torch.jit._script.Script torch.serialization.load
        torchvision.datasets.utils.download numpy.load poptorch.load yaml.unsafe_load functools.reduce pandas.io.sql.x
        model.os model._sys model.__class__ model.eval model.Net.__globals__ model.x._load_from_bytes
        types.CodeType io.open builtins.types builtins.Errors uuid._get_command_stdout torch._C.PyTorchFileWriter
        torch.from_file _pyio.FileIO torch._C._nn._parse_to
        numpy.random._pickle.__other __main__.os __main__.__builtins__
        torch.nn.modules.linear.linear torch.nn.modules.linear.Linear-2 torch._utils._flatten torch.nn.modulesx.Linear
        torch.floaty torch.storage.Storage2 numpy.random.seed torch._utils._rebuild_a.b logging.Logger torch.loader
        torch.nn.modules.activation.F torch.nn.modules.rnn._VF functools.partial torch.nn.functional.handle_torch_function
        torch.utils.data.dataloader.DataLoader typing.ForwardRef numpy.core._ufunc_reconstruct random._os math.a.b
        copyreg.__newobj_ex__ builtins.next builtins.iter builtins.map builtins.zip builtins.sorted signal.SIGINT signal.raise_signal
        torch.return_types.__dict__ torch.utils.data.dataset.Subset numpy.core._multiarray_umath.fromfile pytz.os builtins.type
        operator.itemgetter operator.attrgetter operator.methodcaller functools.update_wrapper functools.cached_property
        itertools.starmap inspect.getsource inspect.Signature.from_callable numpy.vectorize numpy.memmap
        pandas._libs.tslibs.offsets.CustomBusinessDay
        argparse.Action random.SystemRandom re._os http.server.HTTPServer pandas.DataFrame.query tensorflow.function";
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
        ("collections\nOrderedDict", "copy", ImportClass::Dangerous),
        ("collections\nOrderedDict", "a.b", ImportClass::Dangerous),
        ("collections\nOrderedDict", "_private", ImportClass::Dangerous),
        ("collections\nOrderedDict", "", ImportClass::Dangerous),
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

/// Python has the names of Python 2 up to protocol 2, as the last opcode for it says.
#[test]
fn names_of_python_2_are_converted_as_python_does() {
    let class = |mark: &[u8]| class_of(&[mark, b"ccopy_reg\n_reconstructor\n."].concat(), "copy_reg._reconstructor");
    for old in [&b""[..], b"\x80\x00", b"\x80\x02", b"\x80\x04\x80\x02"] {
        assert_eq!(class(old), ImportClass::Ordinary, "{}", old.escape_ascii());
    }
    for new in [&b"\x80\x03"[..], b"\x80\x04", b"\x80\x02\x80\x04"] {
        assert_eq!(class(new), ImportClass::Dangerous, "{}", new.escape_ascii());
    }
    // The worse of two ways counts, and one pickle says nothing of the next.
    let twice = b"\x80\x02ccopy_reg\n_reconstructor\n0\x80\x04ccopy_reg\n_reconstructor\n.";
    assert_eq!(class_of(twice, "copy_reg._reconstructor"), ImportClass::Dangerous);
    let behind = b"\x80\x04N.ccopy_reg\n_reconstructor\n.";
    assert_eq!(class_of(behind, "copy_reg._reconstructor"), ImportClass::Ordinary);
}

/// A line of renamed.txt has a module and a name of Python 2, and what Python imports for them in a pickle of protocol 2.
#[test]
fn each_name_of_python_2_has_the_class_of_what_python_imports() {
    let lines = std::fs::read_to_string(format!("{}/renamed.txt", super::FOLDER)).unwrap();
    for line in lines.lines() {
        let [old_module, old_name, module, name] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let old =
            format!("\u{80}\u{2}c{old_module}\n{old_name}\n.").chars().map(|letter| letter as u8).collect::<Vec<_>>();
        let new = format!("\u{80}\u{4}c{module}\n{name}\n.").chars().map(|letter| letter as u8).collect::<Vec<_>>();
        let class = class_of(&new, &format!("{module}.{name}"));
        assert_eq!(class_of(&old, &format!("{old_module}.{old_name}")), class, "{line}");
        assert_ne!(class, ImportClass::Unknown, "{line}");
    }
    assert_eq!(lines.lines().count(), 55 + 88);
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

/// A harmless call in one pickle does not excuse another call in the next pickle.
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
