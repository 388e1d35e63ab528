//! The report as one HTML page.

use std::path::Path;
use std::process::ExitCode;

use popef_ops::Error;
use popef_show::ProfilePage;

use super::form::Form;
use super::{Args, Profile};
use crate::common::tool::Tool;

impl Args {
    /// Where a page is written, if one is asked for.
    pub(super) fn page(&self) -> Option<&Path> {
        let to_stdout = (self.format == Form::Html).then_some(Path::new("-"));
        self.output.as_deref().or(to_stdout)
    }

    pub(super) fn write_page(&self, tool: &Tool, profile: &Profile<'_>, path: &Path) -> Result<ExitCode, Error> {
        let title = match self.graph().file_name() {
            Some(name) if self.graph().as_os_str() != "-" => popef_show::escape(&name.to_string_lossy()).into_owned(),
            _ => "Standard input".to_owned(),
        };
        let made_by = concat!("popef ", env!("CARGO_PKG_VERSION"));
        let page = ProfilePage { title: &title, made_by, graph: profile.graph, execution: profile.execution };
        self.write_file(tool, path, "a page", |to| page.write(to))?;
        Ok(ExitCode::SUCCESS)
    }
}
