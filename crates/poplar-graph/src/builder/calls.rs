//! Ops that call graphs or load their code.

use std::str::FromStr;

use popef::DataType;

use super::{Builder, CallSiteInfo, Destination};
use crate::{Calls, CodeLoad, CodeLocation, Error, GraphId, Op, Spec, TensorRef, op_type};

/// The tensors that a call gives to a graph: some in the order of the graph's inputs, others by the graph's own tensors.
///
/// ```
/// # use popef::DataType;
/// # use poplar_graph::{Array, Builder, Inputs};
/// # let mut builder = Builder::new();
/// # let x = builder.variable("x", Array::full(&[], DataType::F32, 1.0)?)?;
/// let mut value = None;
/// let graph = builder.create_graph("increment_fn", &[x], |builder, inputs| {
///     let input = builder.graph_input("value", &[], DataType::F32)?;
///     value = Some(input);
///     builder.add(inputs[0], input)
/// })?;
/// builder.call(graph, [x, x])?;
/// builder.call(graph, Inputs::from([x]).and(value.unwrap(), x))?;
/// # Ok::<(), poplar_graph::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    by_position: Vec<TensorRef>,
    by_tensor: Vec<(TensorRef, TensorRef)>,
}

impl Inputs {
    /// No inputs.
    #[must_use]
    pub fn none() -> Self {
        Inputs::default()
    }

    /// Gives a tensor of the caller to an input of the called graph: PopXL's `inputs_dict`.
    #[must_use]
    pub fn and(mut self, graph: TensorRef, parent: TensorRef) -> Self {
        self.by_tensor.push((graph, parent));
        self
    }
}

impl<const N: usize> From<[TensorRef; N]> for Inputs {
    fn from(inputs: [TensorRef; N]) -> Self {
        Inputs::from(inputs.to_vec())
    }
}

impl From<Vec<TensorRef>> for Inputs {
    fn from(by_position: Vec<TensorRef>) -> Self {
        Inputs { by_position, by_tensor: Vec::new() }
    }
}

impl FromStr for Destination {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let all = [Destination::Executable, Destination::ComputeBuffer, Destination::IoBuffer];
        all.into_iter().find(|known| known.name() == name).ok_or_else(|| Error::NoDestination { name: name.to_owned() })
    }
}

impl Builder {
    /// Calls a graph. Returns its outputs.
    pub fn call(&mut self, graph: GraphId, inputs: impl Into<Inputs>) -> Result<Vec<TensorRef>, Error> {
        self.call_with_info(graph, inputs).map(|site| site.outputs)
    }

    /// Calls a graph. Returns the place of the call.
    pub fn call_with_info(&mut self, graph: GraphId, inputs: impl Into<Inputs>) -> Result<CallSiteInfo, Error> {
        self.add_call(op_type::CALL, Calls::Once(graph), graph, &inputs.into())
    }

    /// Calls a graph several times. The inputs are copied into it once, before the first call. After each call, its outputs become its
    /// first inputs, and it keeps its other inputs. Returns the outputs of the last call.
    ///
    /// Fails if the number of times is 0, if the graph has more outputs than inputs, or if an output has another shape or type
    /// than the input that it becomes.
    pub fn repeat(&mut self, graph: GraphId, times: u64, inputs: impl Into<Inputs>) -> Result<Vec<TensorRef>, Error> {
        self.repeat_with_info(graph, times, inputs).map(|site| site.outputs)
    }

    /// Like [`repeat`](Self::repeat). Returns the place of the call.
    pub fn repeat_with_info(
        &mut self,
        graph: GraphId,
        times: u64,
        inputs: impl Into<Inputs>,
    ) -> Result<CallSiteInfo, Error> {
        if times == 0 {
            return Err(Error::RepeatsNever);
        }
        let (graph_inputs, graph_outputs) = self.interface(graph)?;
        if graph_outputs.len() > graph_inputs.len() {
            let (inputs, outputs) = (graph_inputs.len(), graph_outputs.len());
            return Err(Error::TooFewLoopInputs { graph: self.graph_name(graph), inputs, outputs });
        }
        for (output, input) in graph_outputs.iter().zip(&graph_inputs) {
            self.check_spec(*input, self.spec(*output)?)?;
        }
        self.add_call(op_type::LOOP, Calls::Repeat(graph, Some(times)), graph, &inputs.into())
    }

    /// Calls one of two graphs: the first if the condition, a `BOOL` with one element, is true. Fails if they do not make tensors
    /// of the same shapes and types.
    pub fn conditional(
        &mut self,
        condition: TensorRef,
        then_branch: (GraphId, impl Into<Inputs>),
        else_branch: (GraphId, impl Into<Inputs>),
    ) -> Result<Vec<TensorRef>, Error> {
        let given = self.spec(condition)?;
        if given.data_type != DataType::Bool || given.shape.0.iter().any(|size| *size != 1) {
            return Err(Error::NoCondition { given });
        }
        let then_outputs = self.output_specs(then_branch.0)?;
        let else_outputs = self.output_specs(else_branch.0)?;
        if then_outputs != else_outputs {
            let (left, right) = (self.graph_name(then_branch.0), self.graph_name(else_branch.0));
            return Err(Error::BranchesDiffer { left, right });
        }
        let mut inputs = vec![condition];
        inputs.extend(self.resolve(then_branch.0, &then_branch.1.into())?);
        inputs.extend(self.resolve(else_branch.0, &else_branch.1.into())?);
        let mut op = Op::new(op_type::IF);
        op.calls = Calls::OneOf(vec![then_branch.0, else_branch.0]);
        let (_, outputs) = self.add_op(op, &inputs, &then_outputs)?;
        self.called.extend([then_branch.0, else_branch.0]);
        Ok(outputs)
    }

    /// Loads the code of a graph from Streaming Memory. Only [`in_sequence`](Self::in_sequence) orders it before a call
    /// of the graph.
    ///
    /// Fails if it would load the graph that it is in, or if PopXL does not support the destination.
    pub fn remote_code_load(&mut self, graph: GraphId, destination: Destination) -> Result<(), Error> {
        self.known(graph)?;
        if graph == self.current_graph() {
            return Err(Error::LoadsItself { graph: self.graph_name(graph) });
        }
        if destination != Destination::Executable {
            return Err(Error::DestinationNotSupported { destination });
        }
        let mut op = Op::new(op_type::REMOTE_CODE_LOAD);
        op.loads = Some(CodeLoad { graph, destination: CodeLocation::Executable });
        self.add_op(op, &[], &[]).map(drop)
    }

    fn add_call(
        &mut self,
        op_type: &str,
        calls: Calls,
        called_graph: GraphId,
        inputs: &Inputs,
    ) -> Result<CallSiteInfo, Error> {
        let (graph_inputs, graph_outputs) = self.interface(called_graph)?;
        let inputs = self.resolve(called_graph, inputs)?;
        let mut op = Op::new(op_type);
        op.calls = calls;
        let (op, outputs) = self.add_op(op, &inputs, &self.output_specs(called_graph)?)?;
        self.called.insert(called_graph);
        let caller = self.current_graph();
        Ok(CallSiteInfo { caller, op, called_graph, inputs, outputs, graph_inputs, graph_outputs })
    }

    /// The inputs and outputs of a graph that can be called.
    fn interface(&self, graph: GraphId) -> Result<(Vec<TensorRef>, Vec<TensorRef>), Error> {
        let value = self.known(graph)?;
        if graph == self.current_graph() || graph == Self::MAIN {
            return Err(Error::CallsItself { graph: value.name.clone() });
        }
        let here = |tensors: &[_]| tensors.iter().map(|&tensor| TensorRef { graph, tensor }).collect();
        Ok((here(&value.inputs), here(&value.outputs)))
    }

    fn output_specs(&self, graph: GraphId) -> Result<Vec<Spec>, Error> {
        self.interface(graph)?.1.into_iter().map(|output| self.spec(output)).collect()
    }

    /// The caller's tensor for each input of a graph.
    fn resolve(&self, graph: GraphId, given: &Inputs) -> Result<Vec<TensorRef>, Error> {
        let (inputs, _) = self.interface(graph)?;
        let wrong_number = |given| Error::NumberOfInputs { graph: self.graph_name(graph), needed: inputs.len(), given };
        if given.by_position.len() > inputs.len() {
            return Err(wrong_number(given.by_position.len()));
        }
        let mut found: Vec<Option<TensorRef>> = given.by_position.iter().copied().map(Some).collect();
        found.resize(inputs.len(), None);
        for (input, parent) in &given.by_tensor {
            let place = inputs.iter().position(|known| known == input).and_then(|at| found.get_mut(at));
            let names = || (self.name_of(*input), self.graph_name(graph));
            match place {
                Some(place @ None) => *place = Some(*parent),
                Some(Some(_)) => return Err(Error::InputTwice { tensor: names().0, graph: names().1 }),
                None => return Err(Error::NotAnInput { tensor: names().0, graph: names().1 }),
            }
        }
        let found: Vec<_> = found.into_iter().flatten().collect();
        if found.len() != inputs.len() {
            return Err(wrong_number(found.len()));
        }
        for (input, parent) in inputs.iter().zip(&found) {
            self.check_here(*parent)?;
            self.check_spec(*input, self.spec(*parent)?)?;
        }
        Ok(found)
    }

    /// Fails if a tensor cannot be copied into an input of a graph.
    fn check_spec(&self, input: TensorRef, given: Spec) -> Result<(), Error> {
        let needed = self.spec(input)?;
        if needed == given { Ok(()) } else { Err(Error::OtherSpec { what: self.name_of(input), needed, given }) }
    }
}
