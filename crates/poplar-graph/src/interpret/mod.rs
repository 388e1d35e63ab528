//! Runs programs on the host.

mod compute;
mod replicas;

use std::collections::{BTreeMap, VecDeque};

use self::compute::Why;
use self::replicas::Replicas;
use crate::arithmetic::other;
use crate::{
    Array, Binary, Calls, Elements, Error, Graph, GraphId, Ir, Op, Order, ReplicaGrouping, Shape, Spec, TensorId,
    TensorKind, TensorRef, Unary, op_type,
};

/// Runs a program on the host, as a reference: slowly, and with plain arithmetic.
///
/// It knows the ops that [`Builder`](crate::Builder) makes, for `F32`, integers and `BOOL`. Ops run in the order of the graph, which their
/// data always allow. If nothing orders two ops and one changes a tensor that the other uses, a device may have another result.
///
/// All replicas run at the same time. If there are several, they are the first dimension of data for the host, and may be the first
/// dimension of data from the host.
///
/// ```
/// use popef::DataType;
/// use poplar_graph::{Array, Builder, Interpreter};
///
/// let mut builder = Builder::new();
/// let input = builder.h2d_stream("input", &[2], DataType::S32)?;
/// let output = builder.d2h_stream("output", &[2], DataType::S32)?;
/// let x = builder.host_load(&input, "x")?;
/// let doubled = builder.add(x, x)?;
/// builder.host_store(&output, doubled)?;
/// let ir = builder.build()?;
///
/// let mut run = Interpreter::new(&ir)?;
/// run.feed(&input.name, Array::integers(&[2], DataType::S32, [3, -4])?);
/// run.run()?;
/// assert_eq!(run.stored(&output.name), [Array::integers(&[2], DataType::S32, [6, -8])?]);
/// # Ok::<(), poplar_graph::Error>(())
/// ```
#[derive(Debug)]
pub struct Interpreter<'i> {
    ir: &'i Ir,
    limits: RunLimits,
    feeds: BTreeMap<String, VecDeque<Array>>,
    stored: BTreeMap<String, Vec<Array>>,
    /// The graphs that run, the main graph first. The main graph stays between runs, with the values of variables.
    frames: Vec<Frame>,
    steps: u64,
    memory: u64,
}

/// Limits of what a run may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunLimits {
    /// The maximum number of ops and calculated elements of all runs together. 10⁹ by default.
    pub steps: u64,
    /// The maximum number of bytes of all values at any moment. 1 GiB by default. An op takes up to four times its result for a moment.
    pub memory: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        RunLimits { steps: 1_000_000_000, memory: 1 << 30 }
    }
}

/// The highest replication factor of a program that is run.
const MAX_REPLICAS: u32 = 1 << 16;

/// A graph that runs.
#[derive(Debug)]
struct Frame {
    graph: GraphId,
    values: Vec<Option<Replicas>>,
    next: usize,
    /// The number of runs after this one.
    again: u64,
    /// The caller's input for the first input of the graph.
    first_input: u32,
}

impl<'i> Interpreter<'i> {
    /// Prepares a program. Fails if its main graph or the order of its ops is not known.
    pub fn new(ir: &'i Ir) -> Result<Self, Error> {
        Self::with_limits(ir, RunLimits::default())
    }

    /// Like [`new`](Self::new), with other limits.
    pub fn with_limits(ir: &'i Ir, limits: RunLimits) -> Result<Self, Error> {
        let main = ir.main().ok_or(Error::NoMain)?;
        if ir.order() == Order::Unknown {
            return Err(Error::NoOrder);
        }
        if ir.replication_factor() > MAX_REPLICAS {
            return Err(Error::TooMuch { what: "replicas", limit: MAX_REPLICAS.into() });
        }
        let (feeds, stored) = (BTreeMap::new(), BTreeMap::new());
        let mut run = Interpreter { ir, limits, feeds, stored, frames: Vec::new(), steps: 0, memory: 0 };
        run.push_frame(main, 1, 0)?;
        Ok(run)
    }

    /// Adds a tensor to the data of a stream from the host.
    pub fn feed(&mut self, stream: &str, value: Array) {
        self.feeds.entry(stream.to_owned()).or_default().push_back(value);
    }

    /// The data that the device has written to a stream, in all runs.
    #[must_use]
    pub fn stored(&self, stream: &str) -> &[Array] {
        self.stored.get(stream).map_or(&[], Vec::as_slice)
    }

    /// The value of a tensor of the main graph, in the first replica. `None` if it has none yet.
    #[must_use]
    pub fn value(&self, tensor: TensorRef) -> Option<&Array> {
        self.value_of_replica(tensor, 0)
    }

    /// The value of a tensor of the main graph in a replica.
    #[must_use]
    pub fn value_of_replica(&self, tensor: TensorRef, replica: u32) -> Option<&Array> {
        let main = self.frames.first().filter(|main| main.graph == tensor.graph)?;
        main.values.get(tensor.tensor.index())?.as_ref()?.get(usize::try_from(replica).ok()?)
    }

    /// Runs the main graph once. Variables keep their values for the next run. An error ends the run, and variables keep the values of that
    /// moment.
    pub fn run(&mut self) -> Result<(), Error> {
        let result = self.run_ops();
        while self.frames.len() > 1 {
            self.pop_frame();
        }
        if let Some(main) = self.frames.first_mut() {
            main.next = 0;
        }
        result
    }

    fn run_ops(&mut self) -> Result<(), Error> {
        loop {
            let ir = self.ir;
            let Some(frame) = self.frames.last_mut() else { return Ok(()) };
            let Some(graph) = ir.graph(frame.graph) else { return Ok(()) };
            let Some(op) = graph.ops.get(frame.next) else {
                if self.finish_graph(graph)? {
                    return Ok(());
                }
                continue;
            };
            frame.next = frame.next.saturating_add(1);
            self.spend(1)?;
            match op.calls {
                Calls::None => self.run_op(op)?,
                _ => self.enter(op)?,
            }
        }
    }

    /// Begins a call.
    fn enter(&mut self, op: &Op) -> Result<(), Error> {
        let (graph, times, first_input) = match &op.calls {
            Calls::Once(graph) => (*graph, 1, 0),
            Calls::Repeat(graph, Some(times)) if *times > 0 => (*graph, *times, 0),
            Calls::OneOf(branches) => self.branch(op, branches)?,
            _ => return Err(not_runnable(op, "the number of times is not known, or 0")),
        };
        let called = self.ir.graph(graph).ok_or_else(|| not_runnable(op, "its graph is missing"))?;
        let mut inputs = Vec::with_capacity(called.inputs.len());
        for index in (first_input..).take(called.inputs.len()) {
            inputs.push(self.input(op, index)?.clone());
        }
        self.push_frame(graph, times, first_input)?;
        for (tensor, value) in called.inputs.iter().zip(inputs) {
            self.set(*tensor, value)?;
        }
        Ok(())
    }

    /// The branch that is taken, and its first input. The inputs of an `if` are the condition, those of the first branch, and those
    /// of the second one.
    fn branch(&self, op: &Op, branches: &[GraphId]) -> Result<(GraphId, u64, u32), Error> {
        let (&[then_branch, else_branch], op_type::IF) = (branches, op.op_type.as_str()) else {
            return Err(not_runnable(op, "the interpreter knows no such choice of graphs"));
        };
        let condition = self.input(op, 0)?.first_of_all();
        let condition = condition.ok_or_else(|| not_runnable(op, "replicas take different branches"))?;
        let Elements::Integer(values) = condition.elements() else {
            return Err(not_runnable(op, "its condition is not BOOL"));
        };
        if values.first().is_some_and(|value| *value != 0) {
            return Ok((then_branch, 1, 1));
        }
        let then_inputs = self.ir.graph(then_branch).map_or(0, |graph| graph.inputs.len());
        let first = u32::try_from(then_inputs).ok().and_then(|inputs| inputs.checked_add(1));
        Ok((else_branch, 1, first.ok_or_else(|| not_runnable(op, "it has too many inputs"))?))
    }

    /// Ends one run of a graph. Returns whether it was the main graph.
    fn finish_graph(&mut self, graph: &Graph) -> Result<bool, Error> {
        if self.frames.len() == 1 {
            return Ok(true);
        }
        let Some(again) = self.frames.last().map(|frame| frame.again) else { return Ok(true) };
        let mut outputs = Vec::with_capacity(graph.outputs.len());
        for tensor in &graph.outputs {
            outputs.push(self.get(*tensor).ok_or_else(|| Error::NoValue { graph: graph.name.clone() })?.clone());
        }
        match again.checked_sub(1) {
            Some(again) => self.repeat(graph, again, outputs).map(|()| false),
            None => self.leave(graph, outputs).map(|()| false),
        }
    }

    /// Begins the next run of a loop: outputs become the first inputs.
    fn repeat(&mut self, graph: &Graph, again: u64, outputs: Vec<Replicas>) -> Result<(), Error> {
        self.spend(1)?;
        for (input, value) in graph.inputs.iter().zip(outputs) {
            self.set(*input, value)?;
        }
        if let Some(frame) = self.frames.last_mut() {
            (frame.again, frame.next) = (again, 0);
        }
        Ok(())
    }

    /// Ends a call: the caller gets the outputs, and the inputs that the call changes.
    fn leave(&mut self, graph: &Graph, outputs: Vec<Replicas>) -> Result<(), Error> {
        let Some(op) = self.calling_op() else { return Ok(()) };
        let first_input = self.frames.last().map_or(0, |frame| frame.first_input);
        let mut changed = Vec::new();
        for index in &op.modifies {
            let inner = index.checked_sub(first_input).and_then(|at| graph.inputs.get(usize::try_from(at).ok()?));
            let value = inner.and_then(|tensor| self.get(*tensor)).cloned();
            changed
                .push(op.input(*index).zip(value).ok_or_else(|| not_runnable(op, "it changes what it does not use"))?);
        }
        self.pop_frame();
        let made = (0..).zip(outputs).filter_map(|(index, value)| Some((op.output(index)?, value)));
        made.chain(changed).try_for_each(|(tensor, value)| self.set(tensor, value))
    }

    /// The op that called the graph that runs.
    fn calling_op(&self) -> Option<&'i Op> {
        let caller = self.frames.get(self.frames.len().checked_sub(2)?)?;
        self.ir.graph(caller.graph)?.ops.get(caller.next.checked_sub(1)?)
    }

    fn run_op(&mut self, op: &Op) -> Result<(), Error> {
        match op.op_type.as_str() {
            op_type::REMOTE_CODE_LOAD => Ok(()),
            op_type::HOST_LOAD => self.host_load(op),
            op_type::HOST_STORE => self.host_store(op),
            _ => {
                let value = self.compute(op)?;
                if matches!(op.op_type.as_str(), other::COPY_VAR_UPDATE | other::ACCUMULATE) {
                    let changed = op.input(0).ok_or_else(|| not_runnable(op, "it has no input"))?;
                    self.set(changed, value.clone())?;
                }
                let output = op.output(0).ok_or_else(|| not_runnable(op, "it has no output"))?;
                self.set(output, value)
            }
        }
    }

    /// The result of an op that calculates.
    fn compute(&mut self, op: &Op) -> Result<Replicas, Error> {
        let name = op.op_type.as_str();
        let work = self.work(op);
        self.spend(work)?;
        self.reserve(self.result_memory(op))?;
        let why = |why: Why| not_runnable(op, why);
        let first = self.input(op, 0)?;
        if let Some(unary) = Unary::of(name) {
            return Replicas::map([first], |[input]| compute::unary(unary, input)).map_err(why);
        }
        let second = || self.input(op, 1);
        if let Some(binary) = Binary::of(name) {
            return Replicas::map([first, second()?], |[a, b]| compute::binary(binary, a, b)).map_err(why);
        }
        let add = |left: &Array, right: &Array| compute::binary(Binary::Add, left, right);
        let result = match name {
            other::MATMUL => Replicas::map([first, second()?], |[a, b]| compute::matmul(a, b)),
            other::COPY_VAR_UPDATE => Replicas::map([second()?], |[value]| Ok(value.clone())),
            other::ACCUMULATE => Replicas::map([first, second()?], |[a, b]| add(a, b)),
            other::TRANSPOSE => {
                let permutation = permutation(op).ok_or_else(|| why("its order of dimensions is missing"))?;
                Replicas::map([first], |[input]| compute::transpose(input, &permutation))
            }
            other::RESHAPE => {
                let shape = self.output_spec(op)?.shape;
                Replicas::map([first], |[input]| compute::reshape(input, &shape.0))
            }
            other::CAST => {
                let data_type = self.output_spec(op)?.data_type;
                Replicas::map([first], |[input]| compute::cast(input, data_type))
            }
            other::ALL_REDUCE => {
                let grouping = grouping(op).ok_or_else(|| why("its groups of replicas are missing"))?;
                first.reduce(grouping, self.ir.replication_factor(), add)
            }
            _ => Err("the interpreter does not know this type"),
        };
        result.map_err(why)
    }

    fn host_load(&mut self, op: &Op) -> Result<(), Error> {
        let stream = stream_of(op)?;
        let no_data = || Error::NoData { stream: stream.to_owned() };
        let value = self.feeds.get_mut(stream).and_then(VecDeque::pop_front).ok_or_else(no_data)?;
        let needed = self.output_spec(op)?;
        let given = Spec { shape: Shape(value.shape().to_vec()), data_type: value.data_type() };
        let loaded = if given.data_type == needed.data_type {
            Replicas::from_host(&value, &needed.shape.0, self.ir.replication_factor())?
        } else {
            None
        };
        let loaded = loaded.ok_or_else(|| Error::OtherSpec { what: stream.to_owned(), needed, given })?;
        let output = op.output(0).ok_or_else(|| not_runnable(op, "it has no output"))?;
        self.set(output, loaded)
    }

    fn host_store(&mut self, op: &Op) -> Result<(), Error> {
        let stream = stream_of(op)?.to_owned();
        let value = self.input(op, 0)?.to_host(self.ir.replication_factor())?;
        let value = value.ok_or_else(|| not_runnable(op, "an input has no value"))?;
        self.reserve(u64::try_from(value.memory()).unwrap_or(u64::MAX))?;
        self.memory = self.memory.saturating_add(u64::try_from(value.memory()).unwrap_or(u64::MAX));
        self.stored.entry(stream).or_default().push(value);
        Ok(())
    }

    fn push_frame(&mut self, graph: GraphId, times: u64, first_input: u32) -> Result<(), Error> {
        let Some(value) = self.ir.graph(graph) else { return Ok(()) };
        let slots = u64::try_from(value.tensors.len()).unwrap_or(u64::MAX);
        self.spend(slots)?;
        self.reserve(frame_memory(value))?;
        self.memory = self.memory.saturating_add(frame_memory(value));
        let again = times.saturating_sub(1);
        self.frames.push(Frame { graph, values: vec![None; value.tensors.len()], next: 0, again, first_input });
        for (at, tensor) in value.tensors.iter().enumerate() {
            if matches!(tensor.kind, TensorKind::Constant | TensorKind::Variable)
                && let (Some(id), Some(first)) =
                    (TensorId::of(at), Replicas::first_value(tensor, self.ir.replication_factor())?)
            {
                self.set(id, first)?;
            }
        }
        Ok(())
    }

    fn pop_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let values = frame.values.iter().flatten().map(Replicas::memory).fold(0, u64::saturating_add);
        let own = self.ir.graph(frame.graph).map_or(0, frame_memory);
        self.memory = self.memory.saturating_sub(values).saturating_sub(own);
    }

    /// The value of a tensor of the graph that runs.
    fn get(&self, tensor: TensorId) -> Option<&Replicas> {
        self.frames.last()?.values.get(tensor.index())?.as_ref()
    }

    fn set(&mut self, tensor: TensorId, value: Replicas) -> Result<(), Error> {
        self.spend(value.memory() / 4)?;
        self.reserve(value.memory())?;
        let new = value.memory();
        let place = self.frames.last_mut().and_then(|frame| frame.values.get_mut(tensor.index()));
        let old = place.and_then(|place| place.replace(value)).map_or(0, |old| old.memory());
        self.memory = self.memory.saturating_add(new).saturating_sub(old);
        Ok(())
    }

    fn input(&self, op: &Op, index: u32) -> Result<&Replicas, Error> {
        let value = op.input(index).and_then(|tensor| self.get(tensor));
        value.ok_or_else(|| not_runnable(op, "an input has no value"))
    }

    fn output_spec(&self, op: &Op) -> Result<Spec, Error> {
        let graph = self.frames.last().and_then(|frame| self.ir.graph(frame.graph));
        let tensor = op.output(0).and_then(|output| graph?.tensor(output));
        match tensor.and_then(|tensor| tensor.shape.as_ref().zip(tensor.data_type)) {
            Some((shape, data_type)) => Ok(Spec::new(shape, data_type)),
            None => Err(not_runnable(op, "the shape and type of its output are not known")),
        }
    }

    /// The number of elements that an op calculates besides those that it writes.
    fn work(&self, op: &Op) -> u64 {
        if op.op_type != other::MATMUL {
            return 0;
        }
        let inputs = (self.input(op, 0), self.input(op, 1));
        let (Ok(left), Ok(right)) = inputs else { return 0 };
        let work = left.get(0).zip(right.get(0)).map_or(0, |(left, right)| compute::matmul_work(left, right));
        work.saturating_mul(self.ir.replication_factor().into())
    }

    /// The bytes of memory that the result of an op can take.
    fn result_memory(&self, op: &Op) -> u64 {
        let shape = match (self.input(op, 0), self.input(op, 1)) {
            (Ok(left), Ok(right)) => {
                let arrays = left.get(0).zip(right.get(0));
                arrays.and_then(|(left, right)| compute::shape_of_two(&op.op_type, left, right))
            }
            // It has the elements of its only input.
            (Ok(input), Err(_)) => input.get(0).map(|input| input.shape().to_vec()),
            (Err(_), _) => None,
        };
        // An integer takes 16 bytes.
        let elements = shape.unwrap_or_default().into_iter().fold(16, u64::saturating_mul);
        elements.saturating_mul(self.ir.replication_factor().into())
    }

    fn spend(&mut self, steps: u64) -> Result<(), Error> {
        self.steps = self.steps.saturating_add(steps);
        let limit = self.limits.steps;
        if self.steps > limit { Err(Error::TooMuch { what: "steps", limit }) } else { Ok(()) }
    }

    fn reserve(&self, bytes: u64) -> Result<(), Error> {
        let limit = self.limits.memory;
        let fits = self.memory.checked_add(bytes).is_some_and(|sum| sum <= limit);
        if fits { Ok(()) } else { Err(Error::TooMuch { what: "bytes of memory", limit }) }
    }
}

/// The bytes of memory that a running graph takes without its values.
fn frame_memory(graph: &Graph) -> u64 {
    let slots = graph.tensors.len().saturating_mul(size_of::<Option<Replicas>>());
    u64::try_from(slots.saturating_add(size_of::<Frame>())).unwrap_or(u64::MAX)
}

fn stream_of(op: &Op) -> Result<&str, Error> {
    op.attribute("hostStreamTensorId").ok_or_else(|| not_runnable(op, "its stream is missing"))
}

fn permutation(op: &Op) -> Option<Vec<usize>> {
    op.attribute(other::PERMUTATION)?.split_whitespace().map(|at| at.parse().ok()).collect()
}

fn grouping(op: &Op) -> Option<ReplicaGrouping> {
    let number = |name| op.attribute(name)?.parse().ok();
    Some(ReplicaGrouping { stride: number("stride")?, group_size: number("groupSize")? })
}

fn not_runnable(op: &Op, why: Why) -> Error {
    let name = if op.name.is_empty() { "an op".to_owned() } else { format!("{:?}", op.name) };
    Error::NotRunnable { op: name, op_type: op.op_type.clone(), why }
}
