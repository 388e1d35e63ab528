//! When the code of graphs must be on the tiles.

mod analysis;
mod findings;
mod flow;
mod order;
mod schedule;

pub use findings::{Finding, FindingId};
pub use schedule::{Cell, Schedule, ScheduleRow};

use self::analysis::Analysis;
use crate::{CallGraph, GraphId, Ir, OpId, Order};

/// When the code of each graph must be in the executable memory of the tiles.
///
/// Code of a graph is on the tiles all the time, unless ops load it from Streaming Memory. Then the rules of PopXL's user guide
/// hold: a call of the graph needs the code since the last load, or since the start of the program if there is none. A load says
/// that the code was not needed since the last call, or since the start if there is none. So code is *live* where, on some path
/// through the program, a call of the graph comes before the next load. Which branch of an `if` is taken is not known before the
/// program runs, and a loop whose number of times is not known may run 0 times: all paths count.
///
/// A graph that is live at the start is *always live*: its code is part of what is put on the tiles before the program runs.
///
/// All paths are followed together, so that time and memory grow with the ops and not with the paths.
///
/// ```
/// use popef::DataType;
/// use poplar_graph::{Array, Builder, CodeLiveness, CodeState, Destination, Sequence};
///
/// let mut ir = Builder::new();
/// let x = ir.variable("x", Array::full(&[], DataType::F32, 1.0)?)?;
/// let g = ir.create_graph("expensive_id", &[x], |ir, inputs| {
///     let turned = ir.transpose(inputs[0], None)?;
///     ir.transpose(turned, None)
/// })?;
/// ir.in_sequence(Sequence::Enforced, |ir| {
///     ir.transpose(x, None)?;
///     ir.remote_code_load(g, Destination::Executable)?;
///     ir.call(g, [x])?;
///     ir.call(g, [x])
/// })?;
/// let ir = ir.build()?;
///
/// let liveness = CodeLiveness::new(&ir);
/// let code = &liveness.graphs[0];
/// assert_eq!((code.graph, code.state), (g, CodeState::Loaded));
/// assert_eq!(code.spans[0].to_string(), "from the load at op 1 to the call at op 3");
/// # Ok::<(), poplar_graph::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CodeLiveness {
    /// Why the liveness of loaded graphs is unknown.
    pub unknown: Option<Unknown>,
    /// Each graph that the program calls or loads.
    pub graphs: Vec<GraphCode>,
    /// Probable mistakes, and code that could be better.
    pub findings: Vec<Finding>,
    /// The number of findings that are left out, because there are too many.
    pub findings_left_out: u64,
}

/// Why the liveness of loaded code is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Unknown {
    /// The main graph is not known.
    Main,
    /// The order in which ops run is not known.
    Order,
    /// Graphs call themselves.
    Recursion,
}

/// The code of a graph.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct GraphCode {
    /// The graph.
    pub graph: GraphId,
    /// When its code is live.
    pub state: CodeState,
    /// The number of ops that load it to executable memory.
    pub loads: u64,
    /// The number of ops that call it.
    pub calls: u64,
    /// Where it is live, in the main graph and in each graph that itself calls or loads it, by graph and op. In a graph that is called in
    /// several places, the code counts as live if it is live for one of them. Empty for a graph that is never loaded.
    pub spans: Vec<Span>,
    /// The number of spans that are left out, because there are too many.
    pub spans_left_out: u64,
}

/// When the code of a graph is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum CodeState {
    /// It is live only from loads to calls.
    Loaded,
    /// It is never loaded, so it is always live.
    NeverLoaded,
    /// Some path calls it before it is loaded, so it is always live.
    CallWithoutLoad,
    /// Nothing orders a load and a call, so the result is unknown. Spans assume that the ops run in the order in which they were created.
    OrderUndefined,
    /// It is loaded, but never called.
    NeverCalled,
    /// Unknown: see [`CodeLiveness::unknown`], or there are too many graphs and calls to follow the code.
    Unknown,
}

impl CodeState {
    /// Whether the code takes memory all the time.
    #[must_use]
    pub fn is_always_live(self) -> bool {
        matches!(self, CodeState::NeverLoaded | CodeState::CallWithoutLoad)
    }
}

/// A part of a graph's ops in which code is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Span {
    /// The graph with the ops.
    pub within: GraphId,
    /// Where it begins.
    pub from: Border,
    /// Where it ends.
    pub to: Border,
}

/// Where code begins or ends to be live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum Border {
    /// Before the first op, or after the last one.
    Edge,
    /// At the op that loads it.
    Load(OpId),
    /// At the op that calls it.
    Call(OpId),
    /// In a graph that this op calls.
    Inside(OpId),
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let border = |border, edge: &str| match border {
            Border::Edge => edge.to_owned(),
            Border::Load(op) => format!("the load at op {}", op.0),
            Border::Call(op) => format!("the call at op {}", op.0),
            Border::Inside(op) => format!("inside op {}", op.0),
        };
        write!(f, "from {} to {}", border(self.from, "the start"), border(self.to, "the end"))
    }
}

impl CodeLiveness {
    /// Follows the code of all graphs.
    #[must_use]
    pub fn new(ir: &Ir) -> Self {
        let calls = CallGraph::new(ir);
        Analysis::new(ir, &calls).run(unknown(ir, &calls))
    }

    /// Returns the code of a graph that is called or loaded.
    #[must_use]
    pub fn code(&self, graph: GraphId) -> Option<&GraphCode> {
        let at = self.graphs.binary_search_by_key(&graph, |code| code.graph).ok()?;
        self.graphs.get(at)
    }
}

fn unknown(ir: &Ir, calls: &CallGraph) -> Option<Unknown> {
    let runs = |graph: &GraphId| calls.unused.binary_search(graph).is_err();
    if ir.main().is_none() {
        Some(Unknown::Main)
    } else if ir.order() == Order::Unknown {
        Some(Unknown::Order)
    } else if calls.recursive.iter().flatten().any(runs) {
        Some(Unknown::Recursion)
    } else {
        None
    }
}
