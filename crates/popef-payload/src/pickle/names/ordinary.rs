//! The names that only build values.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{is_class_name, is_function_name, is_in};

/// The pairs of a module and a name.
static NAMES: LazyLock<HashSet<(&str, &str)>> = LazyLock::new(|| {
    let mut modules = "";
    let mut names = HashSet::new();
    for line in include_str!("ordinary.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        if !line.starts_with(' ') {
            modules = words.next().unwrap_or_default();
        }
        names.extend(words.flat_map(|name| modules.split(',').map(move |module| (module, name))));
    }
    names
});

/// Attributes of classes, by module and class.
const ATTRIBUTES: &[(&str, &str, &[&str])] = &[
    ("collections", "OrderedDict", &["fromkeys"]),
    ("builtins", "dict", &["fromkeys"]),
    ("zoneinfo", "ZoneInfo", &["_unpickle"]),
    ("uuid", "SafeUUID", &["safe", "unsafe", "unknown"]),
];

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
    "torch.nn.qat",
    "torch.nn.utils",
    "torch.ao.nn",
    "torch.optim",
    "torch.distributions",
    "numpy.dtypes",
    "collections.abc",
];

pub(super) fn is_ordinary(module: &str, name: &str) -> bool {
    NAMES.contains(&(module, name))
        || matches!(module, "torch" | "numpy") && is_number_type(name)
        || module == "builtins" && is_exception(name)
        || matches!(module, "math" | "cmath") && is_function_name(name)
        || module == "torch._utils" && name.starts_with("_rebuild_") && !name.contains('.')
        || matches!(module, "torch" | "torch.storage") && is_class_name(name) && name.ends_with("Storage")
        || module == "torch.return_types" && is_function_name(name)
        || module == "torch._C._nn" && is_function_name(name)
        || is_configuration(module) && is_class_name(name) && name.ends_with("Config")
        || name.split('.').all(is_class_name) && OF_CLASSES.iter().any(|package| is_in(module, package))
}

pub(super) fn is_ordinary_attribute(module: &str, class: &str, attribute: &str) -> bool {
    // Python pickles torch's own functions as attributes of this class, and PopTorch 2.6 and 3.0 list some in their
    // options. All compute on tensors, except one that maps a file.
    (module, class) == ("torch._C", "_VariableFunctionsClass")
        && is_function_name(attribute)
        && attribute != "from_file"
        || ATTRIBUTES
            .iter()
            .any(|(of, in_class, names)| (*of, *in_class) == (module, class) && names.contains(&attribute))
}

/// Lower-case classes, and functions that return a new object, whatever they are given.
const NEW: &str = "set frozenset dict list tuple int float complex str bytes bytearray bool range slice object deque
    defaultdict date datetime time timedelta timezone struct_time array _array_reconstructor ndarray dtype bool_ str_ bytes_
    object_ void datetime64 timedelta64 matrix recarray record chararray poly1d _reconstruct _frombuffer scalar _mareconstruct
    __bit_generator_ctor __generator_ctor __randomstate_ctor device layout
    relativedelta finfo iinfo";
const NEW_STARTS: &[&str] = &["_rebuild_", "__pyx_unpickle_", "_unpickle_", "_new_"];

static NEW_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| NEW.split_whitespace().collect());

/// Classes of dictionaries.
const MAPPINGS: &[&str] = &[
    "dict",
    "OrderedDict",
    "defaultdict",
    "Counter",
    "ChainMap",
    "UserDict",
    "MappingProxyType",
    "WeakValueDictionary",
    "WeakKeyDictionary",
];

/// Packages whose classes may look up or call what they are given when they are called. Picklers do not call them: they
/// make an object with `__new__` and then set its attributes.
const OF_INSTANCES: &[&str] =
    &["torch.nn", "torch.ao.nn", "torch.optim", "torch.distributions", "torch.utils", "transformers"];

/// Whether an ordinary name is a class, or a function that returns a new object.
pub(in super::super) fn gives_new(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    is_class_name(last)
        || NEW_NAMES.contains(last)
        || is_number_type(last)
        || NEW_STARTS.iter().any(|start| last.starts_with(start))
}

pub(in super::super) fn is_mapping(name: &str) -> bool {
    MAPPINGS.contains(&name)
}

/// Modules of which picklers only name what is ordinary: type hints, and functions that models keep. They may return
/// what they are given or call its methods, as `torch.nn.functional.softmax` does.
const ONLY_NAMED: &[&str] = &[
    "collections.abc",
    "numpy.core._multiarray_umath",
    "numpy._core._multiarray_umath",
    "torch.functional",
    "torch.nn.functional",
];

/// Modules of torch whose classes keep the numbers that they are called with, and make tensors of them.
const OF_NUMBERS: &[&str] = &[
    "torch.nn.modules.activation",
    "torch.nn.modules.batchnorm",
    "torch.nn.modules.conv",
    "torch.nn.modules.dropout",
    "torch.nn.modules.instancenorm",
    "torch.nn.modules.linear",
    "torch.nn.modules.loss",
    "torch.nn.modules.normalization",
    "torch.nn.modules.pooling",
];

/// Whether an ordinary path is of a class that only keeps numbers.
pub(in super::super) fn keeps_numbers(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(module, _)| OF_NUMBERS.contains(&module))
}

/// Whether picklers name what has this ordinary name, and never call it.
pub(in super::super) fn is_only_named(module: &str, name: &str) -> bool {
    ONLY_NAMED.contains(&module)
        || module == "itertools" && !matches!(name, "count" | "repeat")
        || module == "numpy" && !gives_new(name)
        || module == "builtins" && matches!(name, "abs" | "len" | "max" | "min" | "print" | "sum")
}

/// Whether an ordinary name is a class that picklers never call.
pub(in super::super) fn is_only_instance(module: &str, name: &str) -> bool {
    is_class_name(name.rsplit('.').next().unwrap_or(name))
        && !name.starts_with("Uninitialized")
        && OF_INSTANCES.iter().any(|package| is_in(module, package))
}

/// `transformers.models.bert.configuration_bert`: such a module has a class of plain values. The modules of `auto` are
/// not included, because they import by name.
fn is_configuration(module: &str) -> bool {
    let model = module.strip_prefix("transformers.models.").and_then(|rest| rest.split_once('.'));
    model.is_some_and(|(model, file)| model != "auto" && file.starts_with("configuration_") && !file.contains('.'))
}

fn is_exception(name: &str) -> bool {
    is_class_name(name) && ["Error", "Exception", "Warning"].iter().any(|end| name.ends_with(end))
}

/// `float32`, `int64`, `bfloat16`, `qint8`, ...
fn is_number_type(name: &str) -> bool {
    let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let kinds = ["float", "int", "uint", "complex", "bfloat", "qint", "quint", "half", "double", "long", "short"];
    kinds.contains(&kind)
}
