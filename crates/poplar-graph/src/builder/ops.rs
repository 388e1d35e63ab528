//! Ops that calculate.

use popef::DataType;

use super::Builder;
use crate::arithmetic::other;
use crate::array::len_of;
use crate::shape::{MatMul, broadcast, is_permutation};
use crate::{Binary, Error, Op, ReplicaGrouping, Shape, Spec, TensorRef, Unary};

/// A method for an op of two tensors.
macro_rules! binary {
    ($( $(#[$doc:meta])* $name:ident = $op:ident ),* $(,)?) => {
        impl Builder {
            $(
                $(#[$doc])*
                pub fn $name(&mut self, left: TensorRef, right: TensorRef) -> Result<TensorRef, Error> {
                    self.binary(Binary::$op, left, right)
                }
            )*
        }
    };
}

binary! {
    /// `left + right`.
    add = Add,
    /// `left - right`.
    sub = Sub,
    /// `left * right`, element by element.
    mul = Mul,
    /// `left / right`, element by element.
    div = Div,
}

impl Builder {
    /// Adds an op of any type with tensors of the current graph as inputs, and new ones as outputs. The interpreter cannot run it.
    pub fn op(&mut self, op: Op, inputs: &[TensorRef], outputs: &[Spec]) -> Result<Vec<TensorRef>, Error> {
        self.add_op(op, inputs, outputs).map(|(_, outputs)| outputs)
    }

    /// Calculates with each element of a tensor.
    pub fn unary(&mut self, op: Unary, tensor: TensorRef) -> Result<TensorRef, Error> {
        let spec = self.spec(tensor)?;
        if !op.takes(spec.data_type) {
            return Err(Error::NotForType { op: op.op_type(), data_type: spec.data_type });
        }
        self.single(Op::new(op.op_type()), &[tensor], &spec)
    }

    /// Calculates with each pair of elements of two tensors.
    pub fn binary(&mut self, op: Binary, left: TensorRef, right: TensorRef) -> Result<TensorRef, Error> {
        let specs = (self.spec(left)?, self.spec(right)?);
        let data_type = same_type(op.op_type(), &specs.0, &specs.1)?;
        if !op.takes(data_type) {
            return Err(Error::NotForType { op: op.op_type(), data_type });
        }
        let shape = broadcast(&specs.0.shape.0, &specs.1.shape.0);
        let shape = shape.ok_or_else(|| do_not_fit(op.op_type(), &specs.0, &specs.1))?;
        self.single(Op::new(op.op_type()), &[left, right], &Spec::new(&shape, op.result(data_type)))
    }

    /// The product of matrices, like NumPy's `@`.
    pub fn matmul(&mut self, left: TensorRef, right: TensorRef) -> Result<TensorRef, Error> {
        let specs = (self.spec(left)?, self.spec(right)?);
        let data_type = same_type(other::MATMUL, &specs.0, &specs.1)?;
        if data_type == DataType::Bool {
            return Err(Error::NotForType { op: other::MATMUL, data_type });
        }
        let product = MatMul::of(&specs.0.shape.0, &specs.1.shape.0);
        let product = product.ok_or_else(|| do_not_fit(other::MATMUL, &specs.0, &specs.1))?;
        self.single(Op::new(other::MATMUL), &[left, right], &Spec::new(&product.shape, data_type))
    }

    /// The tensor with its dimensions in another order, reversed if none is given: PopXL's `T`.
    pub fn transpose(&mut self, tensor: TensorRef, permutation: Option<&[usize]>) -> Result<TensorRef, Error> {
        let Spec { shape: Shape(shape), data_type } = self.spec(tensor)?;
        let reversed: Vec<usize> = (0..shape.len()).rev().collect();
        let permutation = permutation.unwrap_or(&reversed);
        if !is_permutation(permutation, shape.len()) {
            return Err(Error::NoPermutation { permutation: permutation.to_vec(), rank: shape.len() });
        }
        let transposed: Vec<u64> = permutation.iter().filter_map(|at| shape.get(*at).copied()).collect();
        let mut op = Op::new(other::TRANSPOSE);
        let texts: Vec<String> = permutation.iter().map(usize::to_string).collect();
        op.attributes.push((other::PERMUTATION.to_owned(), texts.join(" ")));
        self.single(op, &[tensor], &Spec::new(&transposed, data_type))
    }

    /// The elements in another shape. Fails if it has another number of elements.
    pub fn reshape(&mut self, tensor: TensorRef, shape: &[u64]) -> Result<TensorRef, Error> {
        let spec = self.spec(tensor)?;
        let given = len_of(&spec.shape.0)?;
        if len_of(shape)? != given {
            return Err(Error::NumberOfElements { shape: Shape(shape.to_vec()), given });
        }
        self.single(Op::new(other::RESHAPE), &[tensor], &Spec::new(shape, spec.data_type))
    }

    /// The elements converted to another type. Floats are rounded towards 0, and integers that are too large wrap
    /// around.
    pub fn cast(&mut self, tensor: TensorRef, data_type: DataType) -> Result<TensorRef, Error> {
        let spec = Spec { data_type, ..self.spec(tensor)? };
        self.single(Op::new(other::CAST), &[tensor], &spec)
    }

    /// Overwrites a tensor in place: PopXL's `var_updates.copy_var_update_`. Returns its new value.
    pub fn copy_var_update_(&mut self, tensor: TensorRef, value: TensorRef) -> Result<TensorRef, Error> {
        self.update(other::COPY_VAR_UPDATE, tensor, value)
    }

    /// Adds to a tensor in place: PopXL's `var_updates.accumulate_`. Returns its new value.
    pub fn accumulate_(&mut self, tensor: TensorRef, value: TensorRef) -> Result<TensorRef, Error> {
        self.update(other::ACCUMULATE, tensor, value)
    }

    /// The sum of a tensor over the replicas of each group, which all replicas of the group get.
    pub fn replicated_all_reduce(&mut self, tensor: TensorRef, grouping: ReplicaGrouping) -> Result<TensorRef, Error> {
        let grouping = self.replica_grouping(grouping.stride, Some(grouping.group_size))?;
        let spec = self.spec(tensor)?;
        if spec.data_type == DataType::Bool {
            return Err(Error::NotForType { op: other::ALL_REDUCE, data_type: spec.data_type });
        }
        let mut op = Op::new(other::ALL_REDUCE);
        op.attributes.push(("stride".to_owned(), grouping.stride.to_string()));
        op.attributes.push(("groupSize".to_owned(), grouping.group_size.to_string()));
        self.single(op, &[tensor], &spec)
    }

    fn update(&mut self, op_type: &str, tensor: TensorRef, value: TensorRef) -> Result<TensorRef, Error> {
        let (needed, given) = (self.spec(tensor)?, self.spec(value)?);
        if needed != given {
            return Err(Error::OtherSpec { what: self.name_of(tensor), needed, given });
        }
        self.check_can_change(tensor)?;
        let mut op = Op::new(op_type);
        op.modifies.push(0);
        self.single(op, &[tensor, value], &needed)
    }

    fn single(&mut self, op: Op, inputs: &[TensorRef], output: &Spec) -> Result<TensorRef, Error> {
        let (_, outputs) = self.add_op(op, inputs, std::slice::from_ref(output))?;
        outputs.first().copied().ok_or(Error::TooMany { what: "tensors" })
    }
}

fn same_type(op: &'static str, left: &Spec, right: &Spec) -> Result<DataType, Error> {
    let same = left.data_type == right.data_type;
    if same { Ok(left.data_type) } else { Err(do_not_fit(op, left, right)) }
}

fn do_not_fit(op: &'static str, left: &Spec, right: &Spec) -> Error {
    Error::DoNotFit { op, left: left.clone(), right: right.clone() }
}
