//! Formats of the output.

use popef_cli::to_file::Forms;
use popef_show::profile::ProfileFormat;

/// The formats of the output, and when each is the default.
pub(super) const FORMS: Forms<'static, ProfileFormat> = Forms {
    command: "popef profile",
    all: &ProfileFormat::OF_FILES,
    name: ProfileFormat::as_str,
    of_file: ProfileFormat::Html,
    of_report: ProfileFormat::Text,
};
