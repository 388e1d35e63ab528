//! The timeline.

use std::path::Path;
use std::process::ExitCode;

use popef_cli::end::{unwritten, wrong};
use popef_cli::signals::is_stopped;
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::profile::{Profile, Timeline};
use popef_show::{Kind, counted};

use super::Args;
use crate::common::page::MADE_BY;

impl Args {
    /// Writes the timeline, and says how much is on it.
    pub(super) fn write_trace(&self, tool: &Tool, profile: &Profile<'_>, path: &Path) -> Result<ExitCode, Error> {
        let execution = profile.execution.ok_or_else(|| wrong("--trace needs an execution profile"))?;
        let Some(simulation) = &execution.simulation else {
            return Err(wrong("the execution profile has no simulation, and so no steps to show"));
        };
        let range = self.steps.clone().unwrap_or(0..u32::MAX);
        if range.start as usize >= simulation.steps.len() {
            let steps = counted(simulation.steps.len(), "step", "steps");
            return Err(wrong(format!("there are {steps}, so none from {} on", range.start)));
        }
        // A step without a time has no place on a timeline.
        let mut chosen = simulation.steps.iter().skip(range.start as usize).take(range.len());
        if !chosen.any(|step| step.cycles_from.is_some() && step.cycles_to.is_some()) {
            return Err(wrong("the report does not say when these steps are: their cycles were neither measured nor estimated"));
        }
        let timeline = Timeline { graph: profile.graph, execution, steps: range, made_by: MADE_BY, is_stopped };
        let sums = self.write_file(tool, path, "a timeline", |out| timeline.write(out).map_err(unwritten))?;
        if path.as_os_str() != "-" {
            let mut out = tool.out();
            out.text(Kind::Plain, &path.as_os_str().as_encoded_bytes().into()).put("  ");
            out.put(counted(sums.steps, "step", "steps"));
            if sums.without_time > 0 {
                out.put(", and ").put(sums.without_time).put(" that the report has no times for");
            }
            out.end_line().and_then(|()| out.send()).map_err(unwritten)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
