//! The report about a dump, and its JSON.

use std::io;
use std::path::Path;

use popef::types::Diagnostic;

use crate::output::json::{item_in, object};
use crate::output::table::brief;
use crate::{Network, Out, Shown, counted, json_document, json_item};
use popef::seam::List;
use popef_ops::{FilePath, InFile};
use poplar_graph::{DumpFacts, Graph, GraphId, IrDump, Note, NoteKind, Schedule};
use serde::Serialize;

use super::MOST_NAME;

/// The report about a dump.
#[derive(Debug)]
pub struct GraphReport<'d> {
    pub(super) path: FilePath,
    pub(super) dump: &'d IrDump,
    pub(super) facts: &'d DumpFacts<'d>,
    file: InFile,
    error: Option<Diagnostic>,
}

impl<'d> GraphReport<'d> {
    /// A report about a dump. `error` says why the rest of its file could not be read.
    pub fn new(path: &Path, facts: &'d DumpFacts<'d>, error: Option<Diagnostic>) -> Self {
        GraphReport { path: path.into(), dump: facts.dump, facts, file: path.into(), error }
    }

    /// The dump.
    pub fn dump(&self) -> &'d IrDump {
        self.dump
    }

    pub(super) fn graph(&self, id: GraphId) -> Option<&'d Graph> {
        self.dump.ir.graph(id)
    }

    /// The name of a graph, as it is shown.
    pub(super) fn name(&self, id: GraphId) -> Shown<'d> {
        self.graph(id).map_or(Shown::default(), |graph| brief(&graph.name, MOST_NAME).into())
    }

    /// Whether ops load code.
    pub(super) fn loads_code(&self) -> bool {
        self.facts.loaded().next().is_some()
    }

    /// The first steps of the program, with the code that is live.
    pub(super) fn schedule(&self, steps: usize) -> Schedule {
        Schedule::new(&self.dump.ir, steps)
    }

    /// Writes all as one document.
    pub(super) fn write_document(&self, out: &mut Out, network: Network) -> io::Result<()> {
        let document = object! {
            #[serde(flatten)]
            sums: self.sums(),
            graph_list: List(|| self.graph_rows()),
            call_tree: &self.facts.tree,
            parameter_list: List(|| self.parameter_rows()),
        };
        json_document(out, &document, network)
    }

    /// Writes a line for each graph, call and parameter, and then the sums.
    pub(super) fn write_lines(&self, out: &mut Out) -> io::Result<()> {
        let file = &self.file;
        for row in self.graph_rows() {
            item_in(out, "graph", file, &row)?;
        }
        for row in &self.facts.tree {
            item_in(out, "call", file, row)?;
        }
        for row in self.parameter_rows() {
            item_in(out, "parameter", file, &row)?;
        }
        json_item(out, "file", &self.sums())
    }

    /// The JSON about a dump as a whole.
    fn sums(&self) -> impl Serialize {
        let note = |note: &'d Note| {
            object! { note: note.kind.as_str(), count: note.count, first: &note.first, offset: note.offset }
        };
        object! {
            #[serde(flatten)]
            path: &self.path,
            order: self.dump.ir.order(),
            main: self.dump.ir.main(),
            graphs: self.dump.ir.graphs().len(),
            tensors: self.facts.tensors(),
            #[serde(flatten)]
            ops: &self.facts.ops,
            parameters: self.facts.parameters.len(),
            parameter_size: self.facts.parameter_size(),
            unused: &self.facts.calls.unused,
            recursive: &self.facts.calls.recursive,
            code: &self.facts.code,
            notes: self.dump.notes.iter().map(note).collect::<Vec<_>>(),
            error: &self.error,
        }
    }

    fn graph_rows(&self) -> impl Iterator<Item: Serialize> {
        self.dump.ir.graph_ids().map(|(id, graph)| {
            object! {
                index: id.index(),
                name: &graph.name,
                ops: graph.ops.len(),
                tensors: graph.tensors.len(),
                #[serde(flatten)]
                called: self.facts.calls.of(id),
            }
        })
    }

    fn parameter_rows(&self) -> impl Iterator<Item: Serialize> {
        self.facts.parameters.iter().filter_map(|parameter| {
            let tensor = self.facts.tensor(parameter)?;
            Some(object! {
                name: &tensor.name,
                r#type: tensor.data_type.map(|data_type| data_type.to_string()),
                shape: &tensor.shape,
                size: parameter.bytes,
                updated: parameter.updated,
            })
        })
    }

    /// Says which calls are missing, if any are.
    pub(super) fn without_branches(&self) -> Option<Shown<'static>> {
        let note = self.dump.note(NoteKind::UnknownBranches)?;
        let ops = counted(note.count, "op", "ops");
        Some(shown!("without what the branches of {} run: a dump does not name them", ops))
    }
}
