//! Formats of the output.

use popef_show::profile::ProfileFormat;

use crate::common::to_file::Forms;

/// What can be written, and when.
pub(super) const FORMS: Forms<'static, ProfileFormat> = Forms {
    command: "popef profile",
    all: &ProfileFormat::OF_FILES,
    name: ProfileFormat::name,
    of_file: ProfileFormat::Html,
    of_report: ProfileFormat::Text,
};
