//! Lists which imports are ordinary in a pickle, and which are dangerous. All others are unknown.
//!
//! Only what is listed is ordinary: names, the classes of some packages, and the few attributes that pickles use. The
//! attributes of an ordinary class are not ordinary by themselves, because a class that only builds values can have methods
//! that write files or run code.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::ImportClass;

/// Returns the class of an import. Dots in `name` are for attributes.
pub(super) fn classify(module: &str, name: &str) -> ImportClass {
    let module = present_name(module);
    if is_ordinary(module, name) {
        ImportClass::Ordinary
    } else if is_dangerous(module, name) {
        ImportClass::Dangerous
    } else if is_ordinary_class(module, name) {
        ImportClass::Ordinary
    } else {
        ImportClass::Unknown
    }
}

/// Returns the class of an attribute of an import that has this class and path.
pub(super) fn classify_attribute(of: ImportClass, path: &str, attribute: &str) -> ImportClass {
    let is_listed = || {
        let (module, class) = path.rsplit_once('.').unwrap_or_default();
        is_ordinary_attribute(present_name(module), class, attribute)
    };
    match of {
        ImportClass::Dangerous => ImportClass::Dangerous,
        ImportClass::Ordinary if is_listed() => ImportClass::Ordinary,
        _ if TABLES.methods.contains(attribute) => ImportClass::Dangerous,
        _ if path.rsplit('.').next().is_some_and(|module| TABLES.tools.contains(module)) => ImportClass::Dangerous,
        // A nested class, or a member of an enum.
        ImportClass::Ordinary if is_class_name(attribute) => ImportClass::Ordinary,
        _ => classify(path, attribute),
    }
}

/// Converts the name of a module in Python 2 to the one in Python 3.
fn present_name(module: &str) -> &str {
    match module {
        "__builtin__" | "__builtins__" | "exceptions" => "builtins",
        "copy_reg" => "copyreg",
        "cPickle" => "pickle",
        other => other,
    }
}

/// Returns whether a name is spelled like a class: capitalised, possibly after an underscore. Torch's modules have other
/// modules under the names `F` and `_VF`.
fn is_class_name(name: &str) -> bool {
    let bare = name.strip_prefix('_').unwrap_or(name);
    let is_capitals = !bare.contains(|letter: char| letter.is_ascii_lowercase());
    let is_module = bare.len() < 2 || is_capitals && name.starts_with('_');
    !is_module
        && bare.starts_with(|first: char| first.is_ascii_uppercase())
        && bare.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns whether a name is spelled like a public function.
fn is_function_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

fn is_in(module: &str, package: &str) -> bool {
    module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

const ORDINARY: &[(&str, &[&str])] = &[
    (
        "builtins",
        &[
            "set",
            "frozenset",
            "dict",
            "list",
            "tuple",
            "int",
            "float",
            "complex",
            "str",
            "bytes",
            "bytearray",
            "bool",
            "range",
            "xrange",
            "slice",
            "object",
            "Ellipsis",
            "NotImplemented",
            "unicode",
            "long",
        ],
    ),
    ("collections", &["OrderedDict", "defaultdict", "Counter", "deque", "ChainMap"]),
    ("copyreg", &["_reconstructor", "__newobj__", "__newobj_ex__"]),
    ("_codecs", &["encode"]),
    ("datetime", &["date", "datetime", "time", "timedelta", "timezone"]),
    ("decimal", &["Decimal"]),
    ("fractions", &["Fraction"]),
    ("types", &["SimpleNamespace"]),
    ("argparse", &["Namespace"]),
    ("uuid", &["UUID", "SafeUUID"]),
    ("io", &["BytesIO", "StringIO"]),
    ("_io", &["BytesIO", "StringIO"]),
    ("array", &["array", "_array_reconstructor"]),
    ("logging", &["getLogger"]),
    ("pathlib", &["Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath"]),
    (
        "typing",
        &["Any", "Callable", "Dict", "FrozenSet", "List", "Mapping", "Optional", "Sequence", "Set", "Tuple", "Union"],
    ),
    ("numpy", &["ndarray", "dtype", "bool_", "bool"]),
    ("numpy.core.multiarray", &["_reconstruct", "scalar"]),
    ("numpy._core.multiarray", &["_reconstruct", "scalar"]),
    ("numpy.core.numeric", &["_frombuffer"]),
    ("numpy._core.numeric", &["_frombuffer"]),
    ("numpy.random._pickle", &["__bit_generator_ctor", "__generator_ctor", "__randomstate_ctor"]),
    ("numpy.random._mt19937", &["MT19937"]),
    ("numpy.random._pcg64", &["PCG64", "PCG64DXSM"]),
    ("numpy.random._philox", &["Philox"]),
    ("numpy.random._sfc64", &["SFC64"]),
    ("numpy.random.bit_generator", &["SeedSequence", "__pyx_unpickle_SeedSequence"]),
    ("numpy.random.mtrand", &["RandomState"]),
    ("torch", &["Tensor", "Size", "device", "dtype", "layout", "strided", "bool"]),
    ("torch._C", &["Generator", "_VariableFunctionsClass"]),
    ("torch.functional", &["chain_matmul", "einsum", "tensordot"]),
    ("torch.nn.functional", FUNCTIONAL),
    ("torch.serialization", &["_get_layout"]),
    ("torch._tensor", &["_rebuild_from_type_v2", "Tensor"]),
    ("torch.nn.parameter", &["Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer"]),
    ("poptorch", &["Options"]),
    ("poptorch._poptorch_data", &["PoptorchData"]),
    ("poptorch._args_parser", &["ArgsParser.Args"]),
    ("poptorch._impl", &["_restoreWrapperIfNecessary", "_pickleRestoreWrapperIfPossible"]),
    ("poptorch.autocasting", &["Policy"]),
];

/// Functions that models keep as their activation or loss.
const FUNCTIONAL: &[&str] = &[
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "conv3d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "glu",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "max_pool1d",
    "max_pool2d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "upsample",
];

/// Attributes of classes, by module and class.
const ORDINARY_ATTRIBUTES: &[(&str, &str, &[&str])] =
    &[("collections", "OrderedDict", &["fromkeys"]), ("builtins", "dict", &["fromkeys"])];

fn is_ordinary_attribute(module: &str, class: &str, attribute: &str) -> bool {
    // Python pickles torch's own functions as attributes of this class, and PopTorch 2.6 and 3.0 list some in their
    // options. All of them compute on tensors, except one that maps a file.
    (module, class) == ("torch._C", "_VariableFunctionsClass")
        && is_function_name(attribute)
        && attribute != "from_file"
        || ORDINARY_ATTRIBUTES
            .iter()
            .any(|(of, in_class, names)| (*of, *in_class) == (module, class) && names.contains(&attribute))
}

fn is_ordinary(module: &str, name: &str) -> bool {
    TABLES.ordinary.get(module).is_some_and(|names| names.contains(&name))
        || matches!(module, "torch" | "numpy") && is_number_type(name)
        || module == "builtins" && is_class_name(name) && (name.ends_with("Error") || name.ends_with("Exception"))
        || module == "torch._utils" && name.starts_with("_rebuild_") && !name.contains('.')
        || matches!(module, "torch" | "torch.storage") && is_class_name(name) && name.ends_with("Storage")
        || module == "torch._C._nn" && is_function_name(name)
}

/// `float32`, `int64`, `bfloat16`, `qint8`, ...
fn is_number_type(name: &str) -> bool {
    let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let kinds = ["float", "int", "uint", "complex", "bfloat", "qint", "quint", "half", "double", "long", "short"];
    kinds.contains(&kind)
}

/// Packages whose classes only build values when they are loaded.
const OF_CLASSES: &[&str] = &[
    "poptorch.options",
    "poptorch._options_impl",
    "poptorch.enums",
    "poptorch.optim",
    "torch.nn.modules",
    "torch.nn.parameter",
    "torch.nn.intrinsic",
    "torch.nn.quantized",
    "torch.optim",
    "torch.distributions",
    "numpy.dtypes",
    "collections.abc",
];

/// Returns whether it is a class of these packages, or a nested class.
fn is_ordinary_class(module: &str, name: &str) -> bool {
    name.split('.').all(is_class_name) && OF_CLASSES.iter().any(|package| is_in(module, package))
}

/// Modules that do not belong in a pickle: they run programs or code, use files or the network, import by name, or change
/// the interpreter.
const DANGEROUS_MODULES: &[&str] = &[
    "os",
    "posix",
    "nt",
    "posixpath",
    "ntpath",
    "subprocess",
    "_posixsubprocess",
    "_winapi",
    "winreg",
    "_winreg",
    "popen2",
    "commands",
    "platform",
    "sys",
    "sysconfig",
    "site",
    "shutil",
    "socket",
    "_socket",
    "socketserver",
    "ssl",
    "_ssl",
    "select",
    "selectors",
    "pty",
    "tty",
    "termios",
    "fcntl",
    "resource",
    "signal",
    "_signal",
    "ctypes",
    "_ctypes",
    "cffi",
    "_cffi_backend",
    "mmap",
    "pickle",
    "_pickle",
    "pickletools",
    "dill",
    "cloudpickle",
    "joblib",
    "jsonpickle",
    "shelve",
    "marshal",
    "dbm",
    "sqlite3",
    "code",
    "codeop",
    "codecs",
    "py_compile",
    "compileall",
    "importlib",
    "_frozen_importlib",
    "_frozen_importlib_external",
    "imp",
    "_imp",
    "pkgutil",
    "zipimport",
    "runpy",
    "modulefinder",
    "webbrowser",
    "antigravity",
    "http",
    "httplib",
    "httplib2",
    "urllib",
    "urllib2",
    "urllib3",
    "requests",
    "httpx",
    "aiohttp",
    "ftplib",
    "smtplib",
    "telnetlib",
    "poplib",
    "imaplib",
    "nntplib",
    "xmlrpc",
    "xmlrpclib",
    "asyncio",
    "_asyncio",
    "concurrent",
    "multiprocessing",
    "_multiprocessing",
    "threading",
    "_thread",
    "thread",
    "gc",
    "inspect",
    "types",
    "weakref",
    "atexit",
    "sched",
    "pdb",
    "bdb",
    "profile",
    "cProfile",
    "trace",
    "tracemalloc",
    "timeit",
    "doctest",
    "unittest",
    "test",
    "pydoc",
    "distutils",
    "setuptools",
    "pkg_resources",
    "pip",
    "venv",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "tkinter",
    "turtle",
    "tempfile",
    "glob",
    "fileinput",
    "linecache",
    "tarfile",
    "zipfile",
    "zipapp",
    "gzip",
    "bz2",
    "lzma",
    "io",
    "_io",
    "pathlib",
    "mailcap",
    "cgi",
    "cgitb",
    "wsgiref",
    "readline",
    "rlcompleter",
    "faulthandler",
    "dis",
    "ast",
    "builtins",
    "cmd",
    "shlex",
    "getpass",
    "crypt",
    "nturl2path",
    "genericpath",
    "paramiko",
    "fabric",
    "sh",
    "pexpect",
    "psutil",
    "boto3",
    "git",
];

/// More modules that no exporter imports from: the rest of Python's library for files, code and text, and tools for
/// developers. An ordinary function may have the same name, so they count only as a module, or with an attribute.
const TOOLS: &[&str] = &[
    "Cython",
    "IPython",
    "_ast",
    "_bz2",
    "_compression",
    "_crypt",
    "_csv",
    "_curses",
    "_curses_panel",
    "_dbm",
    "_elementtree",
    "_gdbm",
    "_interpchannels",
    "_interpqueues",
    "_interpreters",
    "_lsprof",
    "_lzma",
    "_msi",
    "_opcode",
    "_overlapped",
    "_pytest",
    "_scproxy",
    "_sitebuiltins",
    "_sqlite3",
    "_symtable",
    "_testbuffer",
    "_testcapi",
    "_testinternalcapi",
    "_testmultiphase",
    "_tkinter",
    "_tokenize",
    "_tracemalloc",
    "_typing",
    "_warnings",
    "_xxinterpchannels",
    "_xxsubinterpreters",
    "_xxtestfuzz",
    "aifc",
    "audioop",
    "botocore",
    "celery",
    "chunk",
    "conda",
    "csv",
    "curses",
    "cython",
    "dask",
    "dataclasses",
    "django",
    "docker",
    "encodings",
    "execnet",
    "filecmp",
    "fire",
    "flask",
    "fnmatch",
    "fsspec",
    "gdb",
    "getopt",
    "gettext",
    "gevent",
    "grp",
    "huggingface_hub",
    "hydra",
    "imghdr",
    "importlib_metadata",
    "importlib_resources",
    "invoke",
    "ipykernel",
    "jinja2",
    "jupyter_client",
    "llvmlite",
    "mako",
    "mimetypes",
    "mlflow",
    "msilib",
    "msvcrt",
    "netrc",
    "nis",
    "nose",
    "notebook",
    "numexpr",
    "opcode",
    "optparse",
    "ossaudiodev",
    "pipes",
    "plistlib",
    "pluggy",
    "pstats",
    "pwd",
    "py",
    "pyarrow",
    "pyclbr",
    "pydoc_data",
    "pyexpat",
    "pytest",
    "pyximport",
    "quopri",
    "ray",
    "rpyc",
    "six",
    "sndhdr",
    "spwd",
    "sre_compile",
    "stringprep",
    "sunau",
    "symtable",
    "syslog",
    "tabnanny",
    "this",
    "token",
    "tokenize",
    "tomllib",
    "tornado",
    "traceback",
    "turtledemo",
    "twisted",
    "uu",
    "virtualenv",
    "wandb",
    "wave",
    "werkzeug",
    "wheel",
    "winsound",
    "wrapt",
    "xdrlib",
    "xml",
    "zmq",
];

/// Harmless names in those modules that are not ordinary either.
const UNKNOWN_IN_DANGEROUS: &[(&str, &str)] = &[
    ("builtins", "type"),
    ("builtins", "len"),
    ("builtins", "print"),
    ("builtins", "iter"),
    ("builtins", "enumerate"),
    ("builtins", "zip"),
    ("builtins", "reversed"),
    ("builtins", "property"),
    ("builtins", "super"),
    ("weakref", "WeakValueDictionary"),
    ("weakref", "WeakKeyDictionary"),
    ("types", "MappingProxyType"),
];

/// Dangerous parts of useful packages: they load files, run code or start processes.
const DANGEROUS_PARTS: &[&str] = &[
    "torch.compile",
    "torch.compiler",
    "torch.export",
    "torch.load",
    "torch.onnx",
    "torch.save",
    "torch._appdirs",
    "torch._classes",
    "torch._deploy",
    "torch._export",
    "torch._jit_internal",
    "torch._ops",
    "torch._sources",
    "torch._utils._import_dotted_name",
    "torch._utils_internal",
    "torch._weights_only_unpickler",
    "torch.utils.benchmark",
    "torch.utils.hipify",
    "torch.utils.tensorboard",
    "torch.hub",
    "torch.package",
    "torch.jit",
    "torch.fx",
    "torch.ops",
    "torch.classes",
    "torch.utils.cpp_extension",
    "torch.utils.model_zoo",
    "torch.utils.bottleneck",
    "torch.utils.collect_env",
    "torch.utils.data.datapipes",
    "torch.serialization",
    "torch.multiprocessing",
    "torch.distributed",
    "torch.testing",
    "torch._dynamo",
    "torch._inductor",
    "torch._C",
    "torch.cuda",
    "torch.library",
    "torch.storage._load_from_bytes",
    "torch.nn.modules.module.torch",
    "torchvision.datasets.utils",
    "poptorch.load",
    "poptorch.poptorch_core",
    "poptorch._poptorch_data.parse",
    "numpy.load",
    "numpy.save",
    "numpy.savez",
    "numpy.savetxt",
    "numpy.loadtxt",
    "numpy.genfromtxt",
    "numpy.fromfile",
    "numpy.tofile",
    "numpy.memmap",
    "numpy.DataSource",
    "numpy.lib",
    "numpy.f2py",
    "numpy.testing",
    "numpy.distutils",
    "numpy.ctypeslib",
    "numpy.core.memmap",
    "numpy.core.records.fromfile",
    "pandas.read_pickle",
    "pandas.io",
    "pandas.eval",
    "uuid",
    "_pyio",
    "_osx_support",
    "_aix_support",
    "_bootsubprocess",
    "asyncore",
    "asynchat",
    "smtpd",
    "mailbox",
    "_posixshmem",
    "torch.from_file",
    "argparse.ArgumentParser",
    "argparse.FileType",
    "attr._make._compile_and_eval",
    "attr._make._make_method",
    "attr._make.make_class",
    "attr.make_class",
    "collections.namedtuple",
    "contextlib.AsyncExitStack",
    "contextlib.ExitStack",
    "copy._reconstruct",
    "itertools.accumulate",
    "itertools.dropwhile",
    "itertools.filterfalse",
    "itertools.groupby",
    "itertools.starmap",
    "itertools.takewhile",
    "json.tool",
    "scipy.io",
    "string.Formatter",
    "sympy.parsing",
    "sympy.sympify",
    "sympy.core.sympify",
    "typing._eval_type",
    "typing.get_type_hints",
    "operator.attrgetter",
    "operator.call",
    "_operator.call",
    "operator.methodcaller",
    "_operator.attrgetter",
    "_operator.methodcaller",
    "functools.reduce",
    "_functools.reduce",
    "copyreg.add_extension",
    "copyreg.pickle",
    "copyreg.constructor",
    "logging.config",
    "logging.handlers",
    "logging.FileHandler",
    "logging.basicConfig",
    "yaml",
    "keras.models",
    "tensorflow.io",
    "tensorflow.py_function",
];

/// Names of attributes that give access to everything.
const REACHING: &[&str] = &[
    "system",
    "popen",
    "exec",
    "execfile",
    "eval",
    "compile",
    "open",
    "spawn",
    "Popen",
    "check_output",
    "check_call",
    "run_module",
    "import_module",
    "_load_from_bytes",
];

/// Methods that use files or run code, of classes that are ordinary otherwise.
const METHODS: &[&str] = &[
    "dump",
    "from_file",
    "fromfile",
    "hardlink_to",
    "load",
    "loadFromFile",
    "mkdir",
    "read_bytes",
    "read_text",
    "rmdir",
    "save",
    "symlink_to",
    "tofile",
    "touch",
    "unlink",
    "write_bytes",
    "write_text",
    "_evaluate",
    "_new_shared_filename_cpu",
    "_new_with_file",
    "_set_from_file",
    "_write_file",
];

/// More names of functions that use files, in large packages.
const FILE_FUNCTIONS: &[&str] = &[
    "DataSource",
    "fromregex",
    "genfromtxt",
    "loadtxt",
    "memmap",
    "open_memmap",
    "read_pickle",
    "savetxt",
    "savez",
    "savez_compressed",
];

fn is_dangerous(module: &str, name: &str) -> bool {
    if UNKNOWN_IN_DANGEROUS.contains(&(module, name)) {
        return false;
    }
    let root = module.split('.').next().unwrap_or_default();
    TABLES.dangerous.contains(root)
        || TABLES.tools.contains(root)
        || is_file_function(root, name)
        || TABLES.roots_of_parts.contains(root) && is_in_dangerous_part(&format!("{module}.{name}"))
        || reaches(name)
        || name.split('.').skip(1).any(|attribute| TABLES.methods.contains(attribute))
}

/// Returns whether it is a function for files of a large package, which has many in several modules.
fn is_file_function(package: &str, name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    matches!(package, "numpy" | "pandas" | "scipy" | "tensorflow" | "torch" | "torchaudio" | "torchvision")
        && (TABLES.methods.contains(last) || FILE_FUNCTIONS.contains(&last))
}

fn is_in_dangerous_part(path: &str) -> bool {
    DANGEROUS_PARTS.iter().any(|part| is_in(path, part))
}

/// Returns whether an attribute is a dangerous module or function that another module imported, possibly under another
/// name such as `_sys`.
fn reaches(name: &str) -> bool {
    let holders = name.rsplit_once('.').map(|(holders, _)| holders);
    name.split('.').any(|part| {
        let bare = part.trim_start_matches('_');
        part.starts_with("__") || TABLES.dangerous.contains(bare) || TABLES.reaching.contains(part)
    }) || holders.is_some_and(|holders| holders.split('.').any(|part| TABLES.tools.contains(part)))
}

/// The lists above as hash tables.
struct Tables {
    ordinary: HashMap<&'static str, &'static [&'static str]>,
    dangerous: HashSet<&'static str>,
    tools: HashSet<&'static str>,
    roots_of_parts: HashSet<&'static str>,
    reaching: HashSet<&'static str>,
    methods: HashSet<&'static str>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    ordinary: ORDINARY.iter().copied().collect(),
    dangerous: DANGEROUS_MODULES.iter().copied().collect(),
    tools: TOOLS.iter().copied().collect(),
    roots_of_parts: DANGEROUS_PARTS.iter().filter_map(|part| part.split('.').next()).collect(),
    reaching: REACHING.iter().copied().collect(),
    methods: METHODS.iter().copied().collect(),
});
