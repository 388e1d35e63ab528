//! Which imports are ordinary in a pickle, and which are dangerous. All others are unknown.
//!
//! Only what is listed is ordinary: names, the classes of some packages, and the few attributes that pickles use. The
//! attributes of an ordinary class are not ordinary by themselves, because a class that only builds values can have methods
//! that write files or run code.

mod dangerous;
mod ordinary;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::ImportClass;
use dangerous::{DANGEROUS_MODULES, DANGEROUS_PARTS, FILE_FUNCTIONS, METHODS, REACHING, TOOLS, UNKNOWN_IN_DANGEROUS};
use ordinary::{OF_CLASSES, ORDINARY, ORDINARY_ATTRIBUTES};

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

/// Returns whether it is a class of these packages, or a nested class.
fn is_ordinary_class(module: &str, name: &str) -> bool {
    name.split('.').all(is_class_name) && OF_CLASSES.iter().any(|package| is_in(module, package))
}

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

/// The lists as hash tables.
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
