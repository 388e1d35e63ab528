use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::types::Metadata;

/// Says from which elements of old [`Metadata`] those of new metadata were made.
///
/// Elements of a later version of the format may have fields that this version does not know. An element keeps them from
/// the old element that it was made from: see [`BlobCopy::info`](crate::write::BlobCopy::info).
///
/// Each list has, for each new element, the index of the old one, and `None` for an element that was added. Elements
/// after the end of the list were added too.
///
/// ```
/// use popef::types::{Anchor, ElementSources, Metadata};
///
/// let named = |name: &str| Anchor { name: name.to_owned().into(), ..Anchor::default() };
/// let old = Metadata { anchors: vec![named("a"), named("b")], ..Metadata::default() };
/// let new = Metadata { anchors: vec![named("new"), named("b")], ..Metadata::default() };
/// assert_eq!(ElementSources::by_name(&old, &new).anchors, [None, Some(1)]);
/// assert_eq!(ElementSources::unchanged(&old).anchors, [Some(0), Some(1)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementSources {
    /// For the elements of [`Metadata::anchors`].
    pub anchors: Vec<Option<usize>>,
    /// For the elements of [`Metadata::engine_options`].
    pub engine_options: Vec<Option<usize>>,
    /// For the elements of [`Metadata::device_options`].
    pub device_options: Vec<Option<usize>>,
    /// For the elements of [`Metadata::programs_map`].
    pub programs_map: Vec<Option<usize>>,
}

impl ElementSources {
    /// Each element is itself.
    pub fn unchanged(metadata: &Metadata) -> Self {
        fn all<T>(list: &[T]) -> Vec<Option<usize>> {
            (0..list.len()).map(Some).collect()
        }

        ElementSources {
            anchors: all(&metadata.anchors),
            engine_options: all(&metadata.engine_options),
            device_options: all(&metadata.device_options),
            programs_map: all(&metadata.programs_map),
        }
    }

    /// Each element was made from the old one of the same name: an anchor from that of the same name and direction, a
    /// program from that of the same index. If several have the same name, they keep their order.
    pub fn by_name(old: &Metadata, new: &Metadata) -> Self {
        ElementSources {
            anchors: matched(&old.anchors, &new.anchors, |anchor| (anchor.name.by_ref(), anchor.tensor_type)),
            engine_options: matched(&old.engine_options, &new.engine_options, |option| option.name.by_ref()),
            device_options: matched(&old.device_options, &new.device_options, |option| option.name.by_ref()),
            programs_map: matched(&old.programs_map, &new.programs_map, |program| program.index),
        }
    }
}

/// The index of the old element with the same key, for each new one.
fn matched<'t, T, K: Hash + Eq>(old: &'t [T], new: &'t [T], key: impl Fn(&'t T) -> K) -> Vec<Option<usize>> {
    let mut places = HashMap::<K, VecDeque<usize>>::new();
    for (index, element) in old.iter().enumerate() {
        places.entry(key(element)).or_default().push_back(index);
    }
    new.iter().map(|element| places.get_mut(&key(element))?.pop_front()).collect()
}
