//! Variables, constants, streams, and the inputs and outputs of graphs.

use popef::DataType;

use super::{Builder, TensorRef};
use crate::{Array, Error, Op, ReplicaGrouping, Spec, TensorKind, op_type};

/// A stream between host and device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stream {
    /// Its name.
    pub name: String,
    /// The shape and type of each of its tensors.
    pub spec: Spec,
}

impl Builder {
    /// A variable of the main graph, with its first value, which is the same in all replicas.
    pub fn variable(&mut self, name: &str, value: Array) -> Result<TensorRef, Error> {
        self.check_main("a variable")?;
        let spec = Spec::new(value.shape(), value.data_type());
        self.valued(name, &spec, TensorKind::Variable, value)
    }

    /// A variable of the main graph with a value for each group of replicas: the first dimension of `values` has the groups.
    pub fn variable_in_groups(
        &mut self,
        name: &str,
        values: Array,
        grouping: ReplicaGrouping,
    ) -> Result<TensorRef, Error> {
        self.check_main("a variable")?;
        let grouping = self.replica_grouping(grouping.stride, Some(grouping.group_size))?;
        let groups = self.replication_factor.checked_div(grouping.group_size).unwrap_or_default();
        let shape = match values.shape().split_first() {
            Some((first, shape)) if *first == u64::from(groups) => shape,
            _ => {
                return Err(Error::NoValueForEachGroup { groups, shape: crate::Shape(values.shape().to_vec()) });
            }
        };
        let spec = Spec::new(shape, values.data_type());
        let variable = self.valued(name, &spec, TensorKind::Variable, values)?;
        if let Some(tensor) = self.tensor_mut(variable) {
            tensor.replicas = Some(grouping);
        }
        Ok(variable)
    }

    /// A constant of the current graph.
    pub fn constant(&mut self, name: &str, value: Array) -> Result<TensorRef, Error> {
        let spec = Spec::new(value.shape(), value.data_type());
        self.valued(name, &spec, TensorKind::Constant, value)
    }

    /// Another input of the current graph, after those that it has. Fails if the current graph is the main graph, or if an op calls it
    /// already.
    pub fn graph_input(&mut self, name: &str, shape: &[u64], data_type: DataType) -> Result<TensorRef, Error> {
        let graph = self.current_graph();
        if graph == Self::MAIN {
            return Err(Error::InputOfMain);
        }
        self.check_not_called()?;
        let tensor = self.add_tensor(graph, name, &Spec::new(shape, data_type), TensorKind::Activation)?;
        if let Some(graph) = self.graphs.get_mut(graph.index()) {
            graph.inputs.push(tensor.tensor);
        }
        Ok(tensor)
    }

    /// Makes a tensor another output of the current graph. Fails if an op calls the graph already.
    pub fn graph_output(&mut self, tensor: TensorRef) -> Result<(), Error> {
        self.check_here(tensor)?;
        self.check_not_called()?;
        if let Some(graph) = self.graphs.get_mut(tensor.graph.index()) {
            graph.outputs.push(tensor.tensor);
        }
        Ok(())
    }

    /// A stream from the host to the device.
    pub fn h2d_stream(&mut self, name: &str, shape: &[u64], data_type: DataType) -> Result<Stream, Error> {
        self.stream(name, shape, data_type)
    }

    /// A stream from the device to the host.
    pub fn d2h_stream(&mut self, name: &str, shape: &[u64], data_type: DataType) -> Result<Stream, Error> {
        self.stream(name, shape, data_type)
    }

    /// Reads the next tensor of a stream.
    pub fn host_load(&mut self, stream: &Stream, name: &str) -> Result<TensorRef, Error> {
        let mut op = Op::new(op_type::HOST_LOAD);
        name.clone_into(&mut op.name);
        op.attributes.push(stream_attribute(stream));
        let (_, outputs) = self.add_op(op, &[], std::slice::from_ref(&stream.spec))?;
        outputs.first().copied().ok_or(Error::TooMany { what: "tensors" })
    }

    /// Writes a tensor to a stream. Fails if its shape or type is not that of the stream.
    pub fn host_store(&mut self, stream: &Stream, tensor: TensorRef) -> Result<(), Error> {
        let given = self.spec(tensor)?;
        if given != stream.spec {
            return Err(Error::OtherSpec { what: stream.name.clone(), needed: stream.spec.clone(), given });
        }
        let mut op = Op::new(op_type::HOST_STORE);
        op.attributes.push(stream_attribute(stream));
        self.add_op(op, &[tensor], &[]).map(drop)
    }

    fn stream(&mut self, name: &str, shape: &[u64], data_type: DataType) -> Result<Stream, Error> {
        let spec = Spec::new(shape, data_type);
        let tensor = self.add_tensor(Self::MAIN, name, &spec, TensorKind::Stream)?;
        Ok(Stream { name: self.name_of(tensor), spec })
    }

    fn valued(&mut self, name: &str, spec: &Spec, kind: TensorKind, value: Array) -> Result<TensorRef, Error> {
        let tensor = self.add_tensor(self.current_graph(), name, spec, kind)?;
        if let Some(tensor) = self.tensor_mut(tensor) {
            tensor.value = Some(value);
        }
        Ok(tensor)
    }

    fn tensor_mut(&mut self, tensor: TensorRef) -> Option<&mut super::Tensor> {
        self.graphs.get_mut(tensor.graph.index())?.tensors.get_mut(tensor.tensor.index())
    }

    fn check_main(&self, what: &'static str) -> Result<(), Error> {
        if self.current_graph() == Self::MAIN { Ok(()) } else { Err(Error::OnlyInMain { what }) }
    }

    fn check_not_called(&self) -> Result<(), Error> {
        let graph = self.current_graph();
        let called = self.called.contains(&graph);
        if called { Err(Error::CalledAlready { graph: self.graph_name(graph) }) } else { Ok(()) }
    }
}

fn stream_attribute(stream: &Stream) -> (String, String) {
    ("hostStreamTensorId".to_owned(), stream.name.clone())
}
