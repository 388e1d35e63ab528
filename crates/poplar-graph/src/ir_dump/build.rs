//! Builds graphs from a dump.

use std::collections::HashMap;
use std::str::FromStr;

use popef::DataType;

use super::json::{Odd, text_of};
use super::notes::{Note, NoteKind, Notes};
use super::{DumpedOp, DumpedTensor};
use crate::{Calls, CodeLoad, CodeLocation, Error, Graph, GraphId, Ir, Op, Order, Slot, Tensor, TensorId, op_type};

/// Collects the graphs of a file.
#[derive(Default)]
pub(super) struct Builder {
    graphs: Vec<Graph>,
    /// The first graph of each name.
    names: HashMap<String, GraphId>,
    /// References of ops to graphs, which may come later in the file.
    references: Vec<Reference>,
    notes: Notes,
    /// Whether a graph has been read to its end.
    has_graph: bool,
}

/// An op that calls a graph, or loads its code.
struct Reference {
    graph: usize,
    op: usize,
    at: usize,
    what: What,
    name: String,
}

#[derive(Clone, Copy)]
enum What {
    Call,
    Repeat(Option<u64>),
    Load(CodeLocation),
}

/// Collects the ops of a graph.
pub(super) struct GraphBuilder<'b> {
    builder: &'b mut Builder,
    graph: Graph,
    tensors: HashMap<String, TensorId>,
    /// How the ops so far have used each tensor.
    seen: Vec<Seen>,
    /// The number of the graph.
    number: usize,
}

/// How ops have used a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Used,
    Made,
}

impl Builder {
    /// Begins a graph whose list is at the byte `at`.
    pub(super) fn graph(&mut self, name: &str, at: usize) -> GraphBuilder<'_> {
        let number = self.graphs.len();
        if self.names.contains_key(name) {
            self.notes.add(NoteKind::GraphTwice, name, at);
        } else {
            self.names.insert(name.to_owned(), GraphId::of(number).unwrap_or_default());
        }
        GraphBuilder { builder: self, graph: Graph::new(name), number, tensors: HashMap::new(), seen: Vec::new() }
    }

    /// Whether nothing complete was read.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_graph && self.graphs.iter().all(|graph| graph.ops.is_empty())
    }

    pub(super) fn texts_were_guessed(&mut self, odd: Odd<'_>) {
        self.notes.add_several(NoteKind::UnescapedText, &text_of(odd.first), odd.at, odd.count);
    }

    /// The graphs, of which the first is the main graph, and what is odd.
    pub(super) fn finish(mut self, order: Order) -> Result<(Ir, Vec<Note>), Error> {
        for reference in std::mem::take(&mut self.references) {
            self.resolve(&reference);
        }
        let order = if self.notes.has(NoteKind::NoSchedule) { Order::Unknown } else { order };
        let main = (!self.graphs.is_empty()).then(GraphId::default);
        Ok((Ir::new(self.graphs, main, order)?, self.notes.sorted()))
    }

    /// Puts a graph that an op names into the op.
    fn resolve(&mut self, reference: &Reference) {
        let graph = self.names.get(&reference.name).copied();
        let Some(op) = self.graphs.get_mut(reference.graph).and_then(|graph| graph.ops.get_mut(reference.op)) else {
            return;
        };
        match (graph, reference.what) {
            (Some(graph), What::Call) => op.calls = Calls::Once(graph),
            (Some(graph), What::Repeat(times)) => op.calls = Calls::Repeat(graph, times),
            (Some(graph), What::Load(destination)) => op.loads = Some(CodeLoad { graph, destination }),
            (None, what) => {
                let key = if matches!(what, What::Load(_)) { "gid" } else { "callee" };
                op.attributes.push((key.to_owned(), reference.name.clone()));
                self.notes.add(NoteKind::MissingGraph, &reference.name, reference.at);
            }
        }
    }
}

impl GraphBuilder<'_> {
    pub(super) fn notes(&mut self) -> &mut Notes {
        &mut self.builder.notes
    }

    /// Ends the graph, which may be cut.
    pub(super) fn finish(mut self, is_whole: bool) {
        self.builder.has_graph |= is_whole;
        self.graph.tensors.shrink_to_fit();
        self.graph.ops.shrink_to_fit();
        self.builder.graphs.push(self.graph);
    }

    pub(super) fn add(&mut self, dumped: &DumpedOp<'_>) {
        let mut op = Op::new(dumped.op_type.clone().unwrap_or_default());
        op.name = dumped.name.clone().into_owned();
        op.inputs = self.slots(&dumped.inputs, false);
        op.outputs = self.slots(&dumped.outputs, true);
        self.add_attributes(&mut op, dumped);
        self.graph.ops.push(op);
    }

    fn slots(&mut self, dumped: &[DumpedTensor<'_>], is_output: bool) -> Vec<Slot> {
        let mut slots = Vec::with_capacity(dumped.len());
        for (nth, tensor) in dumped.iter().enumerate() {
            let index = tensor.index.as_deref().map(str::parse);
            if matches!(index, Some(Err(_))) {
                self.notes().add(NoteKind::WrongNumber, tensor.index.as_deref().unwrap_or_default(), tensor.at);
            }
            let index = index.and_then(Result::ok).or(u32::try_from(nth).ok()).unwrap_or(u32::MAX);
            if let Some(id) = self.tensor(tensor, is_output) {
                slots.push(Slot { index, tensor: id });
            }
        }
        slots
    }

    /// The tensor with this name, which is new or gets the shape and type that are given here.
    fn tensor(&mut self, dumped: &DumpedTensor<'_>, is_output: bool) -> Option<TensorId> {
        let name = dumped.name.as_deref().unwrap_or_default();
        let id = match self.tensors.get(name) {
            Some(known) => *known,
            None => {
                let id = TensorId::of(self.graph.tensors.len())?;
                self.graph.tensors.push(Tensor { name: name.to_owned(), ..Tensor::default() });
                self.tensors.insert(name.to_owned(), id);
                self.seen.push(if is_output { Seen::Made } else { Seen::Used });
                self.describe(id, dumped);
                return Some(id);
            }
        };
        self.describe(id, dumped);
        if is_output {
            self.made(id, dumped);
        }
        Some(id)
    }

    fn describe(&mut self, id: TensorId, dumped: &DumpedTensor<'_>) {
        let name = dumped.name.as_deref().unwrap_or_default();
        let shape = dumped.shape.as_deref().map(parse_shape);
        let data_type = dumped.data_type.as_deref().map(data_type_of_popart);
        let Some(tensor) = self.graph.tensors.get_mut(id.index()) else { return };
        let notes = &mut self.builder.notes;
        match shape {
            Some(None) => notes.add(NoteKind::WrongShape, name, dumped.at),
            Some(shape) if tensor.shape.is_none() => tensor.shape = shape,
            Some(shape) if tensor.shape != shape => notes.add(NoteKind::Contradiction, name, dumped.at),
            _ => {}
        }
        match data_type {
            Some(None) => notes.add(NoteKind::UnknownType, dumped.data_type.as_deref().unwrap_or_default(), dumped.at),
            Some(data_type) if tensor.data_type.is_none() => tensor.data_type = data_type,
            Some(data_type) if tensor.data_type != data_type => notes.add(NoteKind::Contradiction, name, dumped.at),
            _ => {}
        }
    }

    /// Notes that an op makes a tensor.
    fn made(&mut self, id: TensorId, dumped: &DumpedTensor<'_>) {
        let name = dumped.name.as_deref().unwrap_or_default();
        let notes = &mut self.builder.notes;
        match self.seen.get(id.index()) {
            Some(Seen::Made) => notes.add(NoteKind::MadeTwice, name, dumped.at),
            Some(Seen::Used) => notes.add(NoteKind::NoSchedule, name, dumped.at),
            _ => {}
        }
        if let Some(seen) = self.seen.get_mut(id.index()) {
            *seen = Seen::Made;
        }
    }

    /// Sets the fields of an op from its attributes. Those without a field of their own stay attributes.
    fn add_attributes(&mut self, op: &mut Op, dumped: &DumpedOp<'_>) {
        let mut callee = None;
        let mut load = None;
        let mut destination = None;
        let mut times = None;
        for (key, value) in &dumped.attributes {
            match key.as_ref() {
                "__ipu_number" if self.number(&mut op.ipu, value, dumped.at) => {}
                "__pipeline_stage" if self.number(&mut op.stage, value, dumped.at) => {}
                "__execution_phase" | "__pingpong_phase" if self.number(&mut op.phase, value, dumped.at) => {}
                "tripCountValue" | "getTripCountValue" if self.number(&mut times, value, dumped.at) => {}
                "callee" if callee.is_none() => callee = Some(value),
                "gid" if load.is_none() => load = Some(value),
                "destinationType" if destination.is_none() && location(value).is_some() => {
                    destination = location(value);
                }
                _ => op.attributes.push((key.clone().into_owned(), value.clone().into_owned())),
            }
        }
        if let Some(name) = callee {
            // PopART writes an unknown number of runs as 0.
            let is_loop = times.is_some() || [op_type::LOOP, "Scan"].contains(&op.op_type.as_str());
            let what = if is_loop { What::Repeat(times.filter(|times| *times > 0)) } else { What::Call };
            self.refer(what, name, dumped);
        } else if [op_type::IF, "IfGrad"].contains(&op.op_type.as_str()) {
            self.notes().add(NoteKind::UnknownBranches, about(dumped), dumped.at);
        }
        match (load, destination) {
            (Some(name), Some(destination)) => self.refer(What::Load(destination), name, dumped),
            (Some(name), None) => {
                op.attributes.push(("gid".to_owned(), name.clone().into_owned()));
                self.notes().add(NoteKind::UnknownDestination, about(dumped), dumped.at);
            }
            (None, _) => {}
        }
    }

    /// Reads a number that is not known yet. A value that is not a number is noted.
    fn number<N: FromStr>(&mut self, number: &mut Option<N>, value: &str, at: usize) -> bool {
        if number.is_some() {
            return false;
        }
        *number = value.trim().parse().ok();
        if number.is_none() {
            self.notes().add(NoteKind::WrongNumber, value, at);
        }
        number.is_some()
    }

    /// Remembers the graph that an op names.
    fn refer(&mut self, what: What, name: &str, dumped: &DumpedOp<'_>) {
        let (graph, op, at) = (self.number, self.graph.ops.len(), dumped.at);
        self.builder.references.push(Reference { graph, op, at, what, name: name.to_owned() });
    }
}

/// The name of an op in notes.
fn about<'o>(dumped: &'o DumpedOp<'_>) -> &'o str {
    if dumped.name.is_empty() { dumped.op_type.as_deref().unwrap_or_default() } else { &dumped.name }
}

/// A shape as PopART writes it: `[1 768 1024]`.
fn parse_shape(text: &str) -> Option<Vec<u64>> {
    let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let sizes = inside.split([' ', ',']).filter(|size| !size.is_empty());
    sizes.map(|size| size.parse().ok()).collect()
}

/// The destination of code. The public source does not show how PopART writes it, so several spellings are recognised.
fn location(text: &str) -> Option<CodeLocation> {
    let name = text.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
    match name.as_str() {
        "executable" | "executablememory" | "1" => Some(CodeLocation::Executable),
        "buffer" | "0" => Some(CodeLocation::Buffer),
        _ => None,
    }
}

/// The element type with a name of PopART's.
fn data_type_of_popart(name: &str) -> Option<DataType> {
    Some(match name.to_ascii_uppercase().as_str() {
        "BOOL" => DataType::Bool,
        "FLOAT8_143" => DataType::F8143,
        "FLOAT8_152" => DataType::F8152,
        "FLOAT16" => DataType::F16,
        "FLOAT" | "FLOAT32" => DataType::F32,
        "DOUBLE" | "FLOAT64" => DataType::F64,
        "INT8" => DataType::S8,
        "UINT8" => DataType::U8,
        "INT16" => DataType::S16,
        "UINT16" => DataType::U16,
        "INT32" => DataType::S32,
        "UINT32" => DataType::U32,
        "INT64" => DataType::S64,
        "UINT64" => DataType::U64,
        _ => return None,
    })
}
