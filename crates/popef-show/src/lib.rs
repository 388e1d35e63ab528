//! Shows what is in PopEF files and around them, what checks found, and what operations did: as text, JSON, CSV, SARIF, annotations of
//! GitHub, JUnit XML, HTML and SVG.
//!
//! The crate writes into an [`Out`], which a program makes from any writer. It opens no files, starts no threads and knows
//! no command line. So it serves the command-line tools, and any other program that shows the same.
//!
//! ```text
//! FileToShow ──► FileReport ──► ListRenderer ─────┐
//! and Options    what there     one per format    │
//!                is to show                       ├──► Out ──► writer
//! Report ──────► Group ───────► FindingsRenderer ─┘    colours
//! of a check     with paths     one per format
//! ```
//!
//! Nothing from a file reaches a terminal unescaped: names and messages may hold control characters.
//!
//! # Listing a file
//!
//! ```
//! use std::path::Path;
//!
//! use popef_show::{Failures, FileReport, FileToShow, ListFormat, Options, Out, Provider};
//!
//! # use popef::types::TensorDataInfo;
//! # use popef::{DataType, TensorInfo, Writer};
//! # let mut bytes = Vec::new();
//! # let mut writer = Writer::stream(&mut bytes);
//! # let info = TensorDataInfo { name: "weights".into(), tensor_info: TensorInfo::new(DataType::F32, [2]) };
//! # writer.write_tensor(&info, &[1.5f32, -2.25])?;
//! # writer.finish()?;
//! let file = popef::File::from_bytes(bytes)?;
//! let input = FileToShow {
//!     index: 0,
//!     path: Path::new("model.popef"),
//!     file: Some(&file),
//!     failure: None,
//!     provider: &|name| if file.tensor(name).is_some() { Provider::Popef } else { Provider::User },
//! };
//! let options = Options::default();
//!
//! let mut out = Out::in_memory(false);
//! let mut failures = Failures::default();
//! let renderer = ListFormat::Text.renderer(&options, None);
//! renderer.begin(&mut out)?;
//! renderer.file(&mut out, &FileReport::new(input, &options), &mut failures)?;
//! renderer.end(1, &mut out)?;
//! let text = String::from_utf8(out.into_bytes())?;
//! assert!(text.contains("tensor  weights  F32 [2]"), "{text}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Findings
//!
//! A [`Group`] is the files of one check and the library's report. [`FindingsFormat`] has the renderers, [`Totals`] and
//! [`Verdict`] have the result, and [`rules`] explains the rules.
//!
//! # Reports
//!
//! The feature `reports` adds the modules `tiles`, `profile` and `operations`, and the feature `graphs` adds `graph`. Each report takes
//! values that were read, and writes them in a format: a [`ReportFormat`], or that of its module.

#![forbid(unsafe_code, reason = "nothing here needs it")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "no input may panic, and a length from a file is a claim"
    )
)]

#[macro_use]
mod output;

mod failure;
mod findings;
#[cfg(feature = "graphs")]
pub mod graph;
mod list;
#[cfg(feature = "reports")]
pub mod operations;
mod page;
#[cfg(feature = "reports")]
pub mod profile;
mod report;
pub mod rules;
#[cfg(feature = "reports")]
pub mod tiles;

pub use failure::Failures;
pub use findings::group::{CheckedFile, Group, Mend, Totals, Verdict};
pub use findings::{FindingsFormat, FindingsOptions, FindingsRenderer};
pub use list::{ListFormat, ListRenderer};
pub use output::code::{Code, CodeIn, Csv, Dot, GitHubData, GitHubProperty, Language, Markup, Mermaid, Xml};
pub use output::color::{Kind, When};
pub use output::escape::{escape, escape_rest};
pub use output::hex::HexView;
pub use output::json::{
    JsonRows, Network, document as json_document, end_of_files, item as json_item, item_in as json_item_in,
    line as json_line, lines as json_lines,
};
pub use output::out::{Out, UntilClosed};
pub use output::progress::ProgressLine;
pub use output::shown::{Show, Shown};
pub use output::units::{counted, size};
pub use output::width::{shorten, width};
pub use output::{ReportFormat, ReportOptions, Screen};
#[doc(hidden)]
pub use output::{code::InCode, shown::Checked};
pub use page::Page;
#[cfg(feature = "reports")]
pub use page::profile::ProfilePage;
pub use report::file::{FileReport, FileToShow, blob_name, type_name, type_word};
pub use report::glob::Glob;
pub use report::metadata::Provider;
pub use report::options::{OneThread, Options, Select, Sort, Workers};
