//! What is Python's own, and what Python imports for the names of Python 2.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The first parts of the modules of Python's library, from 2.7 on.
static LIBRARY: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("library.txt").lines().collect());

/// The tables of Python's `_compat_pickle`.
struct Renamed {
    modules: HashMap<&'static str, &'static str>,
    names: HashMap<(&'static str, &'static str), (&'static str, &'static str)>,
}

static RENAMED: LazyLock<Renamed> = LazyLock::new(|| {
    let (mut modules, mut names) = (HashMap::new(), HashMap::new());
    for line in include_str!("renamed.txt").lines() {
        let words: Vec<_> = line.split(' ').collect();
        if let [old, new] = *words {
            modules.insert(old, new);
        } else if let [module, name, present_module, present_name] = *words {
            names.insert((module, name), (present_module, present_name));
        }
    }
    Renamed { modules, names }
});

/// Returns whether Python's library has a module of this name.
pub(super) fn has_module(name: &str) -> bool {
    LIBRARY.contains(name)
}

/// Returns the module and the name that Python imports in protocols 0 to 2, which have the names of Python 2.
pub(super) fn present<'n>(module: &'n str, name: &'n str) -> (&'n str, &'n str) {
    let renamed = RENAMED.names.get(&(module, name)).copied();
    renamed.unwrap_or_else(|| (RENAMED.modules.get(module).copied().unwrap_or(module), name))
}
