//! Arrays of bytes that are packed as 8-bit floats, which `.npy` and `.npz` files do not have.

use std::collections::HashMap;

use popef::types::{TensorType, Text};
use popef::{Metadata, TensorInfo};

use super::part::{Bytes, Part, array_of};
use super::report::State;
use crate::error::Error;
use crate::extract::Kind;
use crate::formats::is_float8;

/// The input anchors of the packed metadata that are 8-bit floats. Others are not kept.
#[derive(Debug, Default)]
pub(super) struct Float8s {
    /// `None` if anchors of one name differ.
    anchors: HashMap<Text<'static>, Option<TensorInfo>>,
}

impl Float8s {
    pub(super) fn add(&mut self, metadata: &Metadata) {
        for anchor in &metadata.anchors {
            let info = &anchor.tensor_info;
            if anchor.tensor_type != TensorType::Input || !is_float8(info.data_type) {
                continue;
            }
            let kept = self.anchors.entry(anchor.name.clone()).or_insert_with(|| Some(info.clone()));
            kept.take_if(|kept| kept != info);
        }
    }

    /// Gives a new array of bytes the type of its anchor.
    pub(super) fn give_type(&self, part: &mut Part) -> Result<(), Error> {
        let ([Bytes::Array(array)], State::New) = (&*part.data, part.state) else { return Ok(()) };
        let Some(Some(anchor)) = self.anchors.get(&part.name()) else { return Ok(()) };
        let own = match &part.kind {
            Kind::Tensor(tensor) if tensor.tensor_info.shape == anchor.shape => &tensor.tensor_info,
            Kind::Feed(feed) if is_run_of(&feed.tensor_info.shape, &anchor.shape) => &feed.tensor_info,
            _ => return Ok(()),
        };
        let wanted = anchor.data_type;
        let is_needed = own.data_type != wanted && array.as_type(wanted).is_some();
        let Some(info) = array_of(&part.kind).filter(|_| is_needed) else { return Ok(()) };
        part.set_shape(TensorInfo::new(wanted, info.shape))?;
        part.taken_as = Some(wanted);
        Ok(())
    }
}

/// Whether a tensor of a feed may have this shape: that of the anchor, or one with another batch or fewer leading
/// dimensions. The checks are stricter.
fn is_run_of(shape: &[i64], anchor: &[i64]) -> bool {
    anchor.ends_with(shape) || (shape.len() <= anchor.len() && anchor.ends_with(shape.get(1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use popef::DataType;
    use popef::types::Anchor;

    use super::*;

    #[test]
    fn only_anchors_of_8_bit_floats_that_agree_are_kept() {
        let anchor = |name: &'static str, tensor_type, data_type| Anchor {
            name: name.into(),
            tensor_type,
            tensor_info: TensorInfo::new(data_type, [2]),
            ..Anchor::default()
        };
        let anchors = vec![
            anchor("float8", TensorType::Input, DataType::F8143),
            anchor("float8", TensorType::Input, DataType::F8143),
            anchor("differ", TensorType::Input, DataType::F8143),
            anchor("differ", TensorType::Input, DataType::F8152),
            anchor("output", TensorType::Output, DataType::F8143),
            anchor("bytes", TensorType::Input, DataType::U8),
        ];
        let mut floats = Float8s::default();
        floats.add(&Metadata { anchors, ..Metadata::default() });
        let mut kept: Vec<_> = floats.anchors.iter().map(|(name, info)| (name.to_string(), info.is_some())).collect();
        kept.sort();
        assert_eq!(kept, [("differ".to_owned(), false), ("float8".to_owned(), true)]);
    }

    #[test]
    fn a_run_has_the_shape_of_its_anchor_or_another_batch() {
        let anchor = &[2, 8, 3];
        for shape in [&[2, 8, 3][..], &[8, 3], &[7, 3], &[3], &[1, 8, 3]] {
            assert!(is_run_of(shape, anchor), "{shape:?}");
        }
        for shape in [&[8, 4][..], &[1, 2, 8, 3], &[2, 8, 4]] {
            assert!(!is_run_of(shape, anchor), "{shape:?}");
        }
    }
}
