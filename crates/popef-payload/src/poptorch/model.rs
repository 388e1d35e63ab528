//! The parameters of a model.

use super::reader::Reader;
use super::tensor::{PickledTensor, tensor_of};
use crate::pickle::tree::{Ref, View};
use popef::error::Error;
use popef::seam::{Problem, push, with_room_for};

/// A tensor of a model, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamedTensor {
    /// Its name: the names of the modules around it and its own, with dots between them.
    pub name: String,
    /// What it is.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub tensor: PickledTensor,
}

/// Returns what a value is when PopTorch's own wrapper for objects of a model in training is taken off.
pub(super) fn unwrapped(mut value: Ref<'_>) -> Ref<'_> {
    const MOST: usize = 4;
    for _ in 0..MOST {
        let path = value.path().unwrap_or_default();
        let is_wrapper = path.starts_with("poptorch.")
            && (path.ends_with("._restoreWrapperIfNecessary") || path.ends_with("._pickleRestoreWrapperIfPossible"));
        match value.arguments().next() {
            Some(inner) if is_wrapper => value = inner,
            _ => break,
        }
    }
    value
}

/// The tensors of a model and of the modules inside it.
#[derive(Default)]
pub(super) struct Tensors {
    pub(super) parameters: Vec<NamedTensor>,
    pub(super) buffers: Vec<NamedTensor>,
}

impl Tensors {
    pub(super) fn of(model: Ref<'_>, reader: &Reader<'_>) -> Result<Tensors, Error> {
        let mut tensors = Tensors::default();
        let mut seen = Seen::new(model)?;
        let mut modules = vec![(unwrapped(model), String::new())];
        while let Some((module, path)) = modules.pop() {
            if !seen.is_new(module) {
                continue;
            }
            named_tensors(module, "_parameters", &path, reader, &mut tensors.parameters)?;
            named_tensors(module, "_buffers", &path, reader, &mut tensors.buffers)?;
            let first_inner = modules.len();
            for (name, value) in module.get("_modules").into_iter().flat_map(Ref::pairs) {
                let inner = unwrapped(value);
                if !matches!(inner.view(), View::Object) {
                    continue;
                }
                let Some(path) = joined(&path, name, reader)? else { return Ok(tensors) };
                push(&mut modules, (inner, path))?;
            }
            // The first one is popped first.
            modules.get_mut(first_inner..).unwrap_or_default().reverse();
        }
        Ok(tensors)
    }
}

/// Adds the tensors of one group of a module to a list.
fn named_tensors(
    module: Ref<'_>,
    group: &str,
    path: &str,
    reader: &Reader<'_>,
    list: &mut Vec<NamedTensor>,
) -> Result<(), Error> {
    for (name, value) in module.get(group).into_iter().flat_map(Ref::pairs) {
        let Some(tensor) = tensor_of(unwrapped(value))? else { continue };
        let Some(name) = joined(path, name, reader)? else { return Ok(()) };
        push(list, NamedTensor { name, tensor })?;
    }
    Ok(())
}

/// Appends a name to a path. `None` if it is too long.
fn joined(path: &str, name: Ref<'_>, reader: &Reader<'_>) -> Result<Option<String>, Error> {
    let Some(name) = reader.text(name)? else { return Ok(None) };
    if path.is_empty() {
        return Ok(Some(name));
    }
    if !reader.pay(path.len()) {
        return Ok(None);
    }
    let mut whole = String::new();
    let needed = path.len().saturating_add(1).saturating_add(name.len());
    Problem::in_memory(needed, whole.try_reserve_exact(needed))?;
    for part in [path, ".", &name] {
        whole.push_str(part);
    }
    Ok(Some(whole))
}

/// The values that were looked at.
struct Seen(Vec<u64>);

impl Seen {
    fn new(any: Ref<'_>) -> Result<Seen, Error> {
        let (_, count) = any.number();
        let words = count.div_ceil(64);
        let mut seen = with_room_for(words)?;
        seen.resize(words, 0);
        Ok(Seen(seen))
    }

    /// Returns whether a value is looked at for the first time.
    fn is_new(&mut self, value: Ref<'_>) -> bool {
        let (number, _) = value.number();
        let Some(word) = self.0.get_mut(number / 64) else { return false };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}
