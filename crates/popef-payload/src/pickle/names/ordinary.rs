//! The names that only build values.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{is_class_name, is_function_name, is_in};

/// How a pickle may use a name that only builds values; ordinary.txt says what each means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Use {
    /// It is only named.
    Named,
    /// Objects of the class are made without calling it.
    Made,
    /// It is only called in the forms of `forms`.
    Formed,
    /// Each call gives an object of the pickle's own.
    Own,
    /// Calls give values that can be keys and states.
    Plain,
    /// The same, with values that may never end.
    Series,
    /// Calls give anything.
    Value,
}

impl Use {
    /// Whether a call does no harm, whatever its arguments.
    pub(in super::super) fn is_callable(self) -> bool {
        !matches!(self, Use::Named | Use::Made | Use::Formed)
    }

    /// Whether calls give values that can be keys and states.
    pub(in super::super) fn is_plain(self) -> bool {
        matches!(self, Use::Plain | Use::Series)
    }
}

/// The use of each pair of a module and a name.
static NAMES: LazyLock<HashMap<(&str, &str), Use>> = LazyLock::new(|| {
    let mut modules = "";
    let mut mark = Use::Value;
    let mut names = HashMap::new();
    for line in include_str!("ordinary.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        if !line.starts_with(' ') {
            mark = match words.next() {
                Some("-") => Use::Named,
                Some("*") => Use::Made,
                Some("!") => Use::Formed,
                Some("+") => Use::Own,
                Some("=") => Use::Plain,
                Some("~") => Use::Series,
                _ => Use::Value,
            };
            modules = words.next().unwrap_or_default();
        }
        names.extend(words.flat_map(|name| modules.split(',').map(move |module| ((module, name), mark))));
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

/// Packages whose classes may look up or call what they are given when they are called. Picklers do not call them: they
/// make an object with `__new__` and then set its attributes.
const OF_MADE: &[&str] = &[
    "torch.nn.modules",
    "torch.nn.parameter",
    "torch.nn.intrinsic",
    "torch.nn.quantized",
    "torch.nn.qat",
    "torch.nn.utils",
    "torch.ao.nn",
    "torch.optim",
    "torch.distributions",
];

/// PopTorch's packages, whose objects PopTorch makes in either way.
const OF_OWN: &[&str] = &["poptorch.options", "poptorch._options_impl", "poptorch.optim"];

/// Members of enums, and types of numbers.
const OF_VALUES: &[&str] = &["poptorch.enums", "numpy.dtypes"];

/// Returns how a name may be used, if it only builds values.
pub(in super::super) fn use_of(module: &str, name: &str) -> Option<Use> {
    let is_of =
        |packages: &[&str]| name.split('.').all(is_class_name) && packages.iter().any(|package| is_in(module, package));
    let is_functions = matches!(module, "math" | "cmath" | "torch._C._nn");
    let rules = [
        (Use::Named, is_functions && is_function_name(name) || is_of(&["collections.abc"])),
        (Use::Made, is_of(OF_MADE) || is_configuration(module) && is_class_name(name) && name.ends_with("Config")),
        (Use::Own, is_of(OF_OWN) || module == "builtins" && is_exception(name)),
        (Use::Plain, matches!(module, "torch" | "numpy") && is_number_type(name)),
        (Use::Plain, module == "torch._utils" && name.starts_with("_rebuild_") && !name.contains('.')),
        (Use::Named, matches!(module, "torch" | "torch.storage") && is_class_name(name) && name.ends_with("Storage")),
        (Use::Value, is_of(OF_VALUES) || module == "torch.return_types" && is_function_name(name)),
    ];
    let ruled = || rules.into_iter().find_map(|(ruled, holds)| holds.then_some(ruled));
    NAMES.get(&(module, name)).copied().or_else(ruled)
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

/// What picklers put into the states of NumPy's classes that are written in Python. Another key could stand before a method.
const KEYS: &[(&str, &str)] = &[
    ("Polynomial Chebyshev Legendre Laguerre Hermite HermiteE", "coef domain window symbol _symbol"),
    ("poly1d", "coeffs _coeffs _variable"),
    ("ndindex", "_it _iter"),
    ("iinfo", "bits dtype key kind"),
    (
        "finfo MachArLike",
        "_fmt _machar _radix _repr _smallest_subnormal _str_eps _str_epsneg _str_max _str_resolution _str_smallest_normal
        _str_smallest_subnormal _str_tiny _str_xmax _str_xmin bits dtype eps epsilon epsneg ftype huge ibeta iexp irnd it machar
        machep max maxexp min minexp negep nexp ngrd nmant params precision resolution smallest_normal smallest_subnormal tiny
        title xmax xmin",
    ),
];

/// Returns the keys of the states of one of these classes.
pub(in super::super) fn keys_of(class: &str) -> Option<impl Iterator<Item = &'static str>> {
    let keys = KEYS.iter().find(|(classes, _)| classes.split(' ').any(|of| of == class));
    keys.map(|(_, keys)| keys.split_whitespace())
}

/// Whether a path is of a dictionary that keeps its items itself, whatever its state.
pub(in super::super) fn is_dict(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, name)| ["dict", "OrderedDict", "defaultdict", "Counter"].contains(&name))
}

pub(in super::super) fn is_mapping(name: &str) -> bool {
    MAPPINGS.contains(&name)
}

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
