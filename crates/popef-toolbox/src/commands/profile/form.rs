//! Formats of the output.

use popef_show::FindingsFormat;

use crate::common::to_file::Forms;

/// What the output looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
    Ndjson,
    Csv,
    Sarif,
    GitHub,
    JUnit,
    Html,
}

impl Form {
    pub(super) const ALL: [Form; 8] =
        [Form::Text, Form::Json, Form::Ndjson, Form::Csv, Form::Sarif, Form::GitHub, Form::JUnit, Form::Html];

    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Json => "json",
            Form::Ndjson => "ndjson",
            Form::Csv => "csv",
            Form::Sarif => "sarif",
            Form::GitHub => "github",
            Form::JUnit => "junit",
            Form::Html => "html",
        }
    }

    /// Those of files.
    const OF_FILES: [Form; 5] = [Form::Html, Form::Text, Form::Json, Form::Ndjson, Form::Csv];

    /// What can be written, and when.
    pub(super) const FORMS: Forms<'static, Form> = Forms {
        command: "popef profile",
        all: &Form::OF_FILES,
        name: Form::name,
        of_file: Form::Html,
        of_report: Form::Text,
    };

    /// What it is for findings.
    pub(super) fn of_findings(self) -> Option<FindingsFormat> {
        FindingsFormat::ALL.into_iter().find(|format| format.name() == self.name())
    }

    /// Whether it is one of the summary and of tables too.
    pub(super) fn is_of_summary(self) -> bool {
        matches!(self, Form::Text | Form::Json | Form::Ndjson | Form::Csv | Form::Html)
    }
}
