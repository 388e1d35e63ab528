//! Inputs and outputs as a picture: on the left who provides the data, in the middle the programs of the model, on the right
//! who gets the results.

mod groups;
mod svg;

use popef::Metadata;
use popef::types::TensorType;

use crate::output::html::Html;
use crate::output::shown::Shown;
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
    svg::wide(html, &groups, metadata, &shown!("wide-{}", number), &words);
    svg::narrow(html, &groups, metadata, &shown!("narrow-{}", number), &words);
    html.put(markup!("<figcaption>{}</figcaption>\n</figure>\n", words));
}

/// The picture in words.
fn words(groups: &Groups<'_>) -> Shown<'static> {
    let list = |side| {
        let groups = groups.list.iter().filter(|group| group.side == side);
        let words =
            groups.map(|group| shown!("{} ({})", Shown::message(&group.title().to_lowercase()), group.phases()));
        Some(Shown::joined(words, "; ")).filter(|words| !words.is_empty()).unwrap_or(Shown::own("none"))
    };
    shown!("Inputs: {}. Outputs: {}.", list(Side::Input), list(Side::Output))
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
pub(super) fn holds(view: &AnchorView<'_>) -> Shown<'static> {
    let info = &view.anchor.tensor_info;
    shown!("{} [{}]", info.data_type, first(&info.shape, 8))
}

/// Numbers with commas between them. There are few, unless a file lies.
pub(super) fn numbers(numbers: &[u32]) -> Shown<'static> {
    first(numbers, 16)
}

fn first<N: Copy + Into<Shown<'static>>>(numbers: &[N], most: usize) -> Shown<'static> {
    let dots = (numbers.len() > most).then_some(Shown::own("..."));
    Shown::joined(numbers.iter().take(most).map(|number| (*number).into()).chain(dots), ", ")
}

/// `2 inputs, 1.5 KiB`
pub(super) fn amount(count: usize, bytes: u64, one: &'static str, many: &'static str) -> Shown<'static> {
    shown!("{}, {}", units::many(count, one, many), units::size(bytes))
}
