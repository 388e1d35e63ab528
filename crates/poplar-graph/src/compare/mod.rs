mod ops;

use std::collections::BTreeMap;

use crate::{Graph, Ir, Op, Order, Tensor};
use ops::{Described, unequal};

/// How two programs differ. Graphs, ops and tensors are paired by name and type, not by their place.
///
/// ```
/// use poplar_graph::{Graph, Ir, IrDiff, Op, Order};
///
/// let program = |types: &[&str]| {
///     let mut main = Graph::new("main");
///     main.ops = types.iter().map(|op_type| Op::new(*op_type)).collect();
///     Ir::new(vec![main], None, Order::Unknown)
/// };
/// let diff = IrDiff::new(&program(&["Add", "MatMul"])?, &program(&["MatMul", "Add"])?);
/// assert!(diff.is_same(), "the order of ops does not count if it is not known");
/// let diff = IrDiff::new(&program(&["Add", "MatMul"])?, &program(&["MatMul"])?);
/// assert_eq!((diff.ops[0].op_type.as_str(), diff.ops[0].before, diff.ops[0].after), ("Add", 1, 0));
/// # Ok::<(), poplar_graph::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct IrDiff {
    /// Graphs that only one program has, or that differ, by name.
    pub graphs: Vec<GraphDiff>,
    /// Types of ops whose numbers in all graphs together differ, by name.
    pub ops: Vec<OpTypeDiff>,
    /// The number of graphs that are the same.
    pub same_graphs: u64,
}

/// A graph that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct GraphDiff {
    /// Its name. If several graphs of a program have that name, it ends with the number of the graph among them.
    pub name: String,
    /// The number of its ops in the first program, if it is there.
    pub ops_before: Option<u64>,
    /// The number of its ops in the second program.
    pub ops_after: Option<u64>,
    /// Types of ops whose numbers differ.
    pub ops: Vec<OpTypeDiff>,
    /// The number of ops that differ in their names, inputs, outputs, calls or settings, of types whose numbers are the same.
    pub changed_ops: u64,
    /// The first [`MOST_OP_DIFFS`](Self::MOST_OP_DIFFS) ops that have no equal in the other program, by type and name.
    pub op_diffs: Vec<OpDiff>,
    /// Tensors that only one program has, or whose shape or type differs, by name.
    pub tensors: Vec<TensorDiff>,
    /// Whether the ops are the same in another order. `false` unless both orders are known.
    pub reordered: bool,
}

/// Ops of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct OpTypeDiff {
    /// The type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub op_type: String,
    /// How many there are in the first program.
    pub before: u64,
    /// How many there are in the second program.
    pub after: u64,
}

impl GraphDiff {
    /// The maximum number of ops that are listed for each graph.
    pub const MOST_OP_DIFFS: usize = 1000;
}

/// An op that has no equal in the other program. Ops of one type are paired if they have the same name or make the same tensors, and
/// otherwise in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct OpDiff {
    /// Its type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub op_type: String,
    /// The op of the first program, if it is there.
    pub before: Option<OpName>,
    /// The op of the second program.
    pub after: Option<OpName>,
    /// What differs, if both programs have the op: the first few inputs, outputs, calls and settings.
    pub changes: Vec<OpChange>,
}

/// How an op is named in a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct OpName {
    /// Its name, of which the middle may be left out.
    pub name: String,
    /// The first tensor that it makes.
    pub output: Option<String>,
}

/// A field in which two ops differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct OpChange {
    /// The field: `inputs[0]`, `outputs[0]`, `calls[0]`, `loads`, `name`, `ipu`, `stage`, `phase`, or the name of a setting.
    pub field: String,
    /// Its value in the first program, of which the middle may be left out.
    pub before: Option<String>,
    /// Its value in the second program.
    pub after: Option<String>,
}

/// A tensor that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct TensorDiff {
    /// Its name.
    pub name: String,
    /// The tensor in the first program, if it is there.
    pub before: Option<TensorInfo>,
    /// The tensor in the second program.
    pub after: Option<TensorInfo>,
}

/// The shape and type of a tensor, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct TensorInfo {
    /// The size of each dimension.
    pub shape: Option<Vec<u64>>,
    /// The type of its elements.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub data_type: Option<popef::DataType>,
}

impl IrDiff {
    /// Compares two programs.
    #[must_use]
    pub fn new(before: &Ir, after: &Ir) -> Self {
        let mut diff = IrDiff { ops: op_types(all_ops(before), all_ops(after)), ..IrDiff::default() };
        let ordered = [before, after].iter().all(|ir| ir.order() == Order::Schedule);
        let mut pairs: BTreeMap<String, [Option<&Graph>; 2]> = BTreeMap::new();
        for (side, ir) in [before, after].into_iter().enumerate() {
            for (name, graph) in named(ir) {
                if let Some(place) = pairs.entry(name).or_default().get_mut(side) {
                    *place = Some(graph);
                }
            }
        }
        for (name, pair) in pairs {
            match compare(name, pair, [before, after], ordered) {
                Some(graph) => diff.graphs.push(graph),
                None => diff.same_graphs = diff.same_graphs.saturating_add(1),
            }
        }
        diff
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.graphs.is_empty() && self.ops.is_empty()
    }
}

/// The graphs of a program, each with a unique name.
fn named(ir: &Ir) -> Vec<(String, &Graph)> {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut graphs = Vec::with_capacity(ir.graphs().len());
    for graph in ir.graphs() {
        let nth = seen.entry(&graph.name).or_default();
        *nth = nth.saturating_add(1);
        let name = if *nth == 1 { graph.name.clone() } else { format!("{} #{nth}", graph.name) };
        graphs.push((name, graph));
    }
    graphs
}

fn compare(name: String, pair: [Option<&Graph>; 2], irs: [&Ir; 2], ordered: bool) -> Option<GraphDiff> {
    let ([before, after], [ir_before, ir_after]) = (pair, irs);
    let number = |graph: Option<&Graph>| graph.map(|graph| count(graph.ops.len()));
    let mut diff = GraphDiff { name, ops_before: number(before), ops_after: number(after), ..GraphDiff::default() };
    let (Some(before), Some(after)) = (before, after) else { return Some(diff) };
    diff.ops = op_types(before.ops.iter(), after.ops.iter());
    diff.tensors = tensors(before, after);
    let (old, new) = (Described::all(ir_before, before), Described::all(ir_after, after));
    let unequal = unequal(&old, &new);
    diff.reordered = ordered && unequal.is_empty() && old != new;
    diff.changed_ops = count(unequal.iter().filter(|pair| matches!(pair, (Some(_), Some(_)))).count());
    diff.op_diffs = unequal.into_iter().take(GraphDiff::MOST_OP_DIFFS).map(ops::diff).collect();
    let is_same = diff.ops.is_empty() && diff.tensors.is_empty() && diff.changed_ops == 0 && !diff.reordered;
    (!is_same).then_some(diff)
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn all_ops(ir: &Ir) -> impl Iterator<Item = &Op> {
    ir.graphs().iter().flat_map(|graph| &graph.ops)
}

fn op_types<'i>(before: impl Iterator<Item = &'i Op>, after: impl Iterator<Item = &'i Op>) -> Vec<OpTypeDiff> {
    let mut types: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    before.for_each(|op| {
        let count = types.entry(&op.op_type).or_default();
        count.0 = count.0.saturating_add(1);
    });
    after.for_each(|op| {
        let count = types.entry(&op.op_type).or_default();
        count.1 = count.1.saturating_add(1);
    });
    let differ = types.into_iter().filter(|(_, (before, after))| before != after);
    differ.map(|(op_type, (before, after))| OpTypeDiff { op_type: op_type.to_owned(), before, after }).collect()
}

fn tensors(before: &Graph, after: &Graph) -> Vec<TensorDiff> {
    let mut pairs: BTreeMap<&str, [Option<&Tensor>; 2]> = BTreeMap::new();
    for (side, graph) in [before, after].into_iter().enumerate() {
        for tensor in &graph.tensors {
            if let Some(place) = pairs.entry(&tensor.name).or_default().get_mut(side) {
                *place = Some(tensor);
            }
        }
    }
    let info = |tensor: &Tensor| TensorInfo { shape: tensor.shape.clone(), data_type: tensor.data_type };
    let diff = |(name, [before, after]): (&str, [Option<&Tensor>; 2])| {
        let (before, after) = (before.map(info), after.map(info));
        (before != after).then(|| TensorDiff { name: name.to_owned(), before, after })
    };
    pairs.into_iter().filter_map(diff).collect()
}
