//! Reads reports.

mod execution;
mod graph;
mod lists;
mod memory;
mod programs;

use std::io::Read;

use super::check;
use super::document::{Doc, Result};
use super::execution::ExecutionProfile;
use super::graph::GraphProfile;
use super::problem::{Error, ErrorKind, Remarks};
use execution::ExecutionReader;
use graph::GraphReader;

/// What is kept of a report.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Keep the cycles and bytes of each tile in each compute set and exchange, not only their sums. This takes at most 8 bytes for each
    /// one that is not 0. [`Consistency`](super::Consistency) needs all of it, and the busiest tile needs the cycles.
    pub each_tile: bool,
    /// The maximum number of bytes that the values of a list of lists take. A longer list keeps only the sums. `None`: no limit.
    pub most_bytes: Option<u64>,
}

impl ReadOptions {
    /// Options that keep all that analysers can use.
    pub fn all() -> Self {
        ReadOptions { each_tile: true, most_bytes: None }
    }
}

/// A report: a graph profile, an execution profile, or both.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// What the compiler made.
    pub graph: Option<GraphProfile>,
    /// What ran.
    pub execution: Option<ExecutionProfile>,
    /// What is odd.
    pub remarks: Remarks,
}

impl Report {
    /// Reads a document of JSON or CBOR, from the first byte to the last. Its keys say whether it is a graph profile, an execution
    /// profile, or a report with both (`graphProfile` and `executionProfile`).
    ///
    /// Unknown and missing parts are remarks. Damage and contradictions are errors.
    ///
    /// The memory that is needed grows with what is kept: names, programs (about 150 bytes each),
    /// [steps](crate::profile::Steps), 8 bytes per tile for each of the lists of `memory` and each category, 24 bytes per compute
    /// set or exchange and list, and what the options ask for.
    ///
    /// ```
    /// use poplar_inspect::profile::{ReadOptions, Report};
    ///
    /// let json = r#"{"target": {"numTiles": 2, "numIPUs": 1, "tilesPerIPU": 2, "type": "IPU"},
    ///                "memory": {"byTile": {"total": [652, 1012]}}}"#;
    /// let report = Report::read(json.as_bytes(), &ReadOptions::default())?;
    /// let memory = report.graph.unwrap().memory.unwrap();
    /// assert_eq!(memory.by_tile.unwrap().total, [652, 1012]);
    /// assert!(report.remarks.list.iter().any(|remark| remark.path == "$.programs"));
    ///
    /// let error = Report::read(&br#"{"target": {"numTiles": -2}}"#[..], &ReadOptions::default()).unwrap_err();
    /// assert_eq!(error.to_string(), "$.target.numTiles (byte 26): expected an integer from 0 on, found a negative number");
    /// # Ok::<(), poplar_inspect::profile::Error>(())
    /// ```
    pub fn read(mut reader: impl Read, options: &ReadOptions) -> std::result::Result<Report, Error> {
        read(&mut reader, options).map_err(|error| *error)
    }

    /// Joins the two halves of a report that come from two files, in any order.
    pub fn join(self, other: Report) -> std::result::Result<Report, Error> {
        let (mut report, other) = (self, other);
        let twice = |what: &str| Error {
            kind: ErrorKind::Contradiction,
            path: "$".to_owned(),
            byte: None,
            message: format!("both files have {what}"),
        };
        if let Some(graph) = other.graph
            && report.graph.replace(graph).is_some()
        {
            return Err(twice("a graph profile"));
        }
        if let Some(execution) = other.execution
            && report.execution.replace(execution).is_some()
        {
            return Err(twice("an execution profile"));
        }
        report.remarks.append(other.remarks);
        report.check().map_err(|error| *error)?;
        Ok(report)
    }

    /// Checks that the execution fits the graph.
    fn check(&self) -> Result<()> {
        match (&self.graph, &self.execution) {
            (Some(graph), Some(execution)) => check::execution(graph, execution),
            _ => Ok(()),
        }
    }
}

/// The halves of a report, as far as they were read.
#[derive(Default)]
struct Halves {
    graph: Option<GraphReader>,
    execution: Option<ExecutionReader>,
    /// Whether the document has `graphProfile` or `executionProfile`.
    is_combined: bool,
}

fn read(reader: &mut dyn Read, options: &ReadOptions) -> Result<Report> {
    let mut doc = Doc::new(reader)?;
    let mut halves = Halves::default();
    doc.object(|doc, key| halves.member(doc, key, options))?;
    doc.end()?;
    let graph = match halves.graph {
        Some(graph) => Some(graph.finish(&mut doc)?),
        None => None,
    };
    let execution = halves.execution.map(|execution| execution.finish(&mut doc));
    if halves.is_combined {
        let halves = [(graph.is_none(), "$.graphProfile"), (execution.is_none(), "$.executionProfile")];
        for (_, path) in halves.into_iter().filter(|half| half.0) {
            doc.remarks.add(path, None, "this half of the report is missing");
        }
    } else if graph.is_none() && execution.is_none() {
        return Err(doc.fail(ErrorKind::WrongForm, "this is no profile: it has none of the keys of one"));
    }
    let report = Report { graph, execution, remarks: std::mem::take(&mut doc.remarks) };
    report.check()?;
    Ok(report)
}

impl Halves {
    /// Reads a member of the document.
    fn member(&mut self, doc: &mut Doc<'_>, key: &str, options: &ReadOptions) -> Result<bool> {
        match key {
            "graphProfile" => {
                self.is_combined = true;
                // Compilation may have failed, and nothing may have run.
                if doc.null()? {
                    return Ok(true);
                }
                doc.fill(&mut self.graph, |doc| {
                    let mut graph = GraphReader::new(doc.path());
                    doc.object(|doc, key| graph.member(doc, key, options))?;
                    Ok(graph)
                })
            }
            "executionProfile" => {
                self.is_combined = true;
                if doc.null()? {
                    return Ok(true);
                }
                doc.fill(&mut self.execution, |doc| {
                    let mut execution = ExecutionReader::new(doc.path());
                    doc.object(|doc, key| execution.member(doc, key, options))?;
                    Ok(execution)
                })
            }
            _ if !self.is_combined && GraphReader::KEYS.contains(&key) => {
                self.graph.get_or_insert_with(|| GraphReader::new("$")).member(doc, key, options)
            }
            _ if !self.is_combined && ExecutionReader::KEYS.contains(&key) => {
                self.execution.get_or_insert_with(|| ExecutionReader::new("$")).member(doc, key, options)
            }
            _ => Ok(false),
        }
    }
}
