//! Engine options that have to do with profiling.

use std::collections::BTreeMap;

use crate::types::{EngineOption, Metadata};

/// Options that public programs use, and what each does. A name that ends with `*` matches all names with that prefix.
/// It comes after the names that it would also match.
const OPTIONS: &[(&str, &str)] = &[
    ("autoReport.all", "Poplar writes all its reports when the model is compiled and run"),
    ("autoReport.directory", "where Poplar writes its reports"),
    ("autoReport.executionProfileProgramRunCount", "how many runs of the program the execution profile has"),
    ("autoReport.outputDebugInfo", "Poplar writes where in the model things come from"),
    ("autoReport.outputExecutionProfile", "Poplar writes an execution profile, so the program measures its cycles"),
    ("autoReport.outputGraphProfile", "Poplar writes a graph profile: the memory of tiles, and the program"),
    ("autoReport.outputLoweredVars", "Poplar writes where each variable is on the tiles"),
    ("autoReport.outputSerializedGraph", "Poplar writes the graph itself"),
    ("autoReport.*", "about the reports that Poplar writes by itself; what this option does is not known here"),
    ("debug.allowOutOfMemory", "a program that does not fit is compiled all the same, so that it can be profiled"),
    ("debug.computeInstrumentationLevel", "how finely compute is measured: by vertex, tile, IPU or device"),
    ("debug.instrument", "the program measures itself, which takes memory and cycles"),
    ("debug.instrumentCompute", "the program measures the cycles of its compute sets, which takes memory and cycles"),
    (
        "debug.instrumentExternalExchange",
        "the program measures the cycles of exchanges between IPUs, which takes memory and cycles",
    ),
    ("debug.instrument*", "the program measures a part of itself, which takes memory and cycles"),
    ("debug.loweredVarDumpFile", "where Poplar writes where each variable is on the tiles"),
    ("debug.retainDebugInformation", "Poplar keeps names and other things that reports and error messages show"),
    ("profiler.blocks.bufferSize", "how much memory each tile has for measurements of blocks of a program"),
    ("profiler.blocks.filter", "which blocks of a program are measured"),
    ("profiler.blocks.tile", "the tile on which blocks of a program are measured"),
    ("profiler.includeCycleEstimates", "the profile has estimates of cycles"),
    ("profiler.includeFlopEstimates", "the profile has estimates of floating-point operations"),
    ("profiler.programs.filter", "which programs are measured"),
    ("profiler.*", "about profiles; what this option does is not known here"),
    ("target.saveArchive", "where Poplar writes the programs of all tiles"),
];

impl EngineOption {
    /// Returns a few words about what the option does if it concerns profiling. Graphcore publishes no list of these
    /// options, so the words follow public programs that set them.
    ///
    /// ```
    /// let option = popef::types::EngineOption { name: "debug.instrument".into(), value: "true".into() };
    /// assert_eq!(option.profiling(), Some("the program measures itself, which takes memory and cycles"));
    /// ```
    pub fn profiling(&self) -> Option<&'static str> {
        let name = self.name.to_str().ok()?;
        let is = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        OPTIONS.iter().find(|(pattern, _)| is(pattern)).map(|(_, meaning)| *meaning)
    }
}

impl Metadata {
    /// Returns the engine options that make the program measure itself, in their order. Measuring takes memory and
    /// cycles, so models are normally shipped without these options.
    pub fn instrumentation(&self) -> Vec<&EngineOption> {
        // A later option overrides an earlier one.
        let mut last: BTreeMap<&str, (usize, &EngineOption)> = BTreeMap::new();
        for (place, option) in self.engine_options.iter().enumerate() {
            if let Some(name) = option.name.to_str().ok().filter(|name| measures(name)) {
                last.insert(name, (place, option));
            }
        }
        let is = |option: &EngineOption, value: &str| {
            option.value.to_str().is_ok_and(|text| text.eq_ignore_ascii_case(value))
        };
        // All reports but those that are turned off.
        if last.get(EXECUTION_PROFILE).is_some_and(|(_, option)| is(option, "false")) {
            last.remove(ALL_REPORTS);
        }
        let mut on: Vec<_> = last.into_values().filter(|(_, option)| is(option, "true")).collect();
        on.sort_unstable_by_key(|(place, _)| *place);
        on.into_iter().map(|(_, option)| option).collect()
    }
}

const ALL_REPORTS: &str = "autoReport.all";
const EXECUTION_PROFILE: &str = "autoReport.outputExecutionProfile";

fn measures(name: &str) -> bool {
    [ALL_REPORTS, EXECUTION_PROFILE].contains(&name) || name.starts_with("debug.instrument")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts_and_reports_can_be_turned_off() {
        let names = |options: &[(&str, &str)]| {
            let option = |(name, value): &(&str, &str)| EngineOption {
                name: (*name).to_owned().into(),
                value: (*value).to_owned().into(),
            };
            let metadata = Metadata { engine_options: options.iter().map(option).collect(), ..Metadata::default() };
            metadata
                .instrumentation()
                .iter()
                .map(|option| option.name.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&[("debug.instrumentCompute", "true"), ("debug.trace", "true")]), ["debug.instrumentCompute"]);
        assert_eq!(names(&[("debug.instrumentControlFlow", "True")]), ["debug.instrumentControlFlow"]);
        assert!(names(&[("debug.instrument", "false"), ("autoReport.outputGraphProfile", "true")]).is_empty());
        assert!(names(&[("debug.instrument", "true"), ("debug.instrument", "false")]).is_empty());
        assert_eq!(names(&[("autoReport.all", "true")]), ["autoReport.all"]);
        assert!(names(&[("autoReport.all", "true"), ("autoReport.outputExecutionProfile", "false")]).is_empty());
        assert!(names(&[("debug.computeInstrumentationLevel", "true")]).is_empty());
    }

    #[test]
    fn options_come_before_those_that_stand_for_many() {
        for (name, meaning) in OPTIONS {
            let option = EngineOption { name: (*name).into(), value: "".into() };
            assert_eq!(option.profiling(), Some(*meaning), "{name}");
        }
        assert!(EngineOption { name: "debug.trace".into(), value: "true".into() }.profiling().is_none());
    }
}
