//! The report as one HTML page.

use std::path::Path;
use std::process::ExitCode;

use popef_cli::end::unwritten;
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::ProfilePage;
use popef_show::profile::{Profile, ProfileFormat};

use super::Args;
use crate::common::page::{MADE_BY, title};

impl Args {
    /// The path of the page, if one was requested.
    pub(super) fn page(&self) -> Option<&Path> {
        let path = self.output.as_deref().unwrap_or(Path::new("-"));
        (self.form() == ProfileFormat::Html).then_some(path)
    }

    pub(super) fn write_page(&self, tool: &Tool, profile: &Profile<'_>, path: &Path) -> Result<ExitCode, Error> {
        let (title, graph, execution) = (title(self.graph()), profile.graph, profile.execution);
        let page = ProfilePage { title: &title, made_by: MADE_BY, graph, execution };
        self.write_file(tool, path, "a page", |out| page.write(out).map_err(unwritten))?;
        Ok(ExitCode::SUCCESS)
    }
}
