//! What an import can do, by its name.
//!
//! No list of dangerous names can cover Python's library. So a name of it, or of the packages that most models use, is
//! denied unless it is known to only build values. Names of other packages are unknown, unless they are known to be
//! harmful.

mod denied;
mod library;
mod ordinary;

use std::collections::HashSet;
use std::sync::LazyLock;

use super::ImportClass;
use denied::{METHODS, OUTSIDE, PACKAGES, REACHING, RUNNING};
use ordinary::is_ordinary_attribute;
pub(super) use ordinary::{Use, is_dict, is_mapping, keeps_numbers, keys_of, use_of};

/// Whether a pickle has the names of Python 2, as those of protocols 0 to 2 have. Python converts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    OfPython2,
    Present,
}

impl Names {
    pub(super) fn of_protocol(protocol: u8) -> Self {
        if protocol < 3 { Names::OfPython2 } else { Names::Present }
    }

    /// Returns the module and the name that Python imports.
    pub(super) fn convert<'n>(self, module: &'n str, name: &'n str) -> (&'n str, &'n str) {
        match self {
            Names::OfPython2 => library::present(module, name),
            Names::Present => (module, name),
        }
    }
}

/// Returns the class of an import, by the names that Python imports. Dots in `name` are for attributes.
pub(super) fn classify(module: &str, name: &str) -> ImportClass {
    if use_of(module, name).is_some() {
        ImportClass::Ordinary
    } else if is_denied(module, name) {
        ImportClass::Dangerous
    } else {
        ImportClass::Unknown
    }
}

/// Returns the class of an attribute of an import that has this class and path.
pub(super) fn classify_attribute(of: ImportClass, names: Names, path: &str, attribute: &str) -> ImportClass {
    let (module, class) = path.rsplit_once('.').unwrap_or_default();
    let (module, class) = names.convert(module, class);
    match of {
        ImportClass::Dangerous => ImportClass::Dangerous,
        ImportClass::Ordinary if is_ordinary_attribute(module, class, attribute) => ImportClass::Ordinary,
        _ if TABLES.methods.contains(attribute) || library::has_module(class) => ImportClass::Dangerous,
        // A nested class, or a member of an enum.
        ImportClass::Ordinary if is_class_name(attribute) => ImportClass::Ordinary,
        _ if is_denied(module, &format!("{class}.{attribute}")) => ImportClass::Dangerous,
        _ => ImportClass::Unknown,
    }
}

/// Returns what a denied import can do, as far as its path says.
pub(super) fn danger(path: &str) -> &'static str {
    if is_listed(path) {
        "which can run programs, use files or import by name"
    } else if library::has_module(path.split('.').next().unwrap_or_default()) {
        "which is of Python's own library, and not known to only build values"
    } else {
        "which is not known to only build values"
    }
}

/// Returns whether a denied import is on a list, and not only missing from the one of harmless names.
pub(super) fn is_listed(path: &str) -> bool {
    let (root, rest) = path.split_once('.').unwrap_or((path, ""));
    TABLES.running.contains(root.trim_matches('_')) || is_outside(path) || reaches(rest)
}

/// Returns whether a name is spelled like a class: capitalised, possibly after an underscore. Torch's modules have other
/// modules under the names `F` and `_VF`.
pub(super) fn is_class_name(name: &str) -> bool {
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

fn is_denied(module: &str, name: &str) -> bool {
    let root = module.split('.').next().unwrap_or_default();
    library::has_module(root)
        || PACKAGES.contains(&root)
        || TABLES.outside_roots.contains(root) && is_outside(&format!("{module}.{name}"))
        || reaches(name)
        || name.split('.').skip(1).any(|attribute| TABLES.methods.contains(attribute))
}

fn is_outside(path: &str) -> bool {
    TABLES.outside.iter().any(|part| is_in(path, part))
}

/// Returns whether an attribute is a dangerous module or function that another module imported, possibly under another
/// name such as `_sys`. A class or function of the model may be called like a module of the library, but has no such attributes.
fn reaches(name: &str) -> bool {
    let holders = name.rsplit_once('.').map_or("", |(holders, _)| holders);
    let is_dangerous = |part: &str| {
        part.starts_with("__")
            || TABLES.reaching.contains(part)
            || TABLES.running.contains(part.trim_start_matches('_'))
    };
    name.split('.').any(is_dangerous) || holders.split('.').any(library::has_module)
}

/// The lists as hash tables.
struct Tables {
    outside: Vec<&'static str>,
    outside_roots: HashSet<&'static str>,
    running: HashSet<&'static str>,
    reaching: HashSet<&'static str>,
    methods: HashSet<&'static str>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    outside: OUTSIDE.split_whitespace().collect(),
    outside_roots: OUTSIDE.split_whitespace().filter_map(|part| part.split('.').next()).collect(),
    running: RUNNING.split_whitespace().collect(),
    reaching: REACHING.split_whitespace().collect(),
    methods: METHODS.split_whitespace().collect(),
});
