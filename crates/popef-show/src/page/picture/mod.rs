//! Inputs and outputs as a picture: on the left who provides the data, in the middle the programs of the model, on the right
//! who gets the results.

mod groups;
mod svg;

use popef::Metadata;
use popef::types::TensorType;

use super::html::Html;
use crate::output::units;
use crate::report::file::FileReport;
use crate::report::metadata::{AnchorView, MetadataView, Provider};
use groups::{Groups, Side};

/// Draws the picture of a model twice: wide, and narrow for a phone. The style shows one of them.
pub(super) fn write(
    html: &mut Html<'_>,
    reports: &[FileReport<'_>],
    number: usize,
    view: &MetadataView<'_>,
    metadata: &Metadata,
) {
    let groups = Groups::of(reports, view, metadata);
    let words = words(&groups);
    html.put("<figure class=\"flow\">\n");
    svg::wide(html, &groups, metadata, &format!("wide-{number}"), &words);
    svg::narrow(html, &groups, metadata, &format!("narrow-{number}"), &words);
    html.put("<figcaption>").put(&words).put("</figcaption>\n</figure>\n");
}

/// The picture in words.
fn words(groups: &Groups<'_>) -> String {
    let of = |side| -> Vec<String> {
        let groups = groups.list.iter().filter(|group| group.side == side);
        groups.map(|group| format!("{} ({})", group.title().to_lowercase(), group.phases())).collect()
    };
    let list = |words: Vec<String>| if words.is_empty() { "none".to_owned() } else { words.join("; ") };
    format!("Inputs: {}. Outputs: {}.", list(of(Side::Input)), list(of(Side::Output)))
}

/// Whether an anchor is not an output.
pub(super) fn is_input(view: &AnchorView<'_>) -> bool {
    view.anchor.tensor_type != TensorType::Output
}

/// Whether the user provides or gets the data.
pub(super) fn is_users(view: &AnchorView<'_>) -> bool {
    view.provider == Provider::User
}

/// The type and the shape of an anchor: `F32 [1, 3, 224, 224]`.
pub(super) fn holds(view: &AnchorView<'_>) -> String {
    const MOST: usize = 8;
    let info = &view.anchor.tensor_info;
    let extents = info.shape.iter().take(MOST).map(ToString::to_string);
    let dots = (info.shape.len() > MOST).then(|| "...".to_owned());
    format!("{} [{}]", info.data_type, extents.chain(dots).collect::<Vec<_>>().join(", "))
}

/// Numbers with commas between them. There are few, unless a file lies.
pub(super) fn numbers(numbers: &[u32]) -> String {
    const MOST: usize = 16;
    let shown = numbers.iter().take(MOST).map(ToString::to_string);
    let dots = (numbers.len() > MOST).then(|| "...".to_owned());
    shown.chain(dots).collect::<Vec<_>>().join(", ")
}

/// `2 inputs, 1.5 KiB`
pub(super) fn amount(count: usize, bytes: u64, one: &str, many: &str) -> String {
    format!("{}, {}", units::many(count, one, many), units::size(bytes))
}
