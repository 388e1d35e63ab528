//! The calculations of ops on arrays.

use std::cmp::Ordering;

use popef::DataType;
use popef::types::NumberKind;

use crate::arithmetic::other;
use crate::shape::{MatMul, broadcast};
use crate::{Array, Binary, Elements, Unary};

/// Why an op cannot be calculated.
pub(super) type Why = &'static str;

const MIXED: Why = "its inputs have different types";
const UNFIT: Why = "its inputs do not fit each other";
const FORM: Why = "the interpreter cannot hold its result";

fn array(shape: &[u64], data_type: DataType, elements: Elements) -> Result<Array, Why> {
    Array::new(shape, data_type, elements).map_err(|_| FORM)
}

/// An integer as a type holds it: without the bits that the type has no room for.
pub(super) fn wrapped(value: i128, data_type: DataType) -> i128 {
    let bits = data_type.size().and_then(|bytes| u32::try_from(bytes.saturating_mul(8)).ok()).unwrap_or(64);
    let values = 1_i128.checked_shl(bits).unwrap_or(i128::MAX);
    let value = value.rem_euclid(values);
    match data_type.kind() {
        Some(NumberKind::Bool) => i128::from(value != 0),
        Some(NumberKind::Signed) if value >= values / 2 => value.saturating_sub(values),
        _ => value,
    }
}

pub(super) fn unary(op: Unary, input: &Array) -> Result<Array, Why> {
    let data_type = input.data_type();
    let elements = match input.elements() {
        Elements::Float(values) => {
            let float = |value: f32| match op {
                Unary::Neg => -value,
                Unary::Abs => value.abs(),
                Unary::Relu => value.max(0.0),
                Unary::Identity | Unary::Not => value,
            };
            Elements::Float(values.iter().map(|value| float(*value)).collect())
        }
        Elements::Integer(values) => {
            let integer = |value: i128| match op {
                Unary::Neg => value.wrapping_neg(),
                Unary::Abs => value.wrapping_abs(),
                Unary::Relu => value.max(0),
                Unary::Identity => value,
                Unary::Not => i128::from(value == 0),
            };
            Elements::Integer(values.iter().map(|value| wrapped(integer(*value), data_type)).collect())
        }
    };
    array(input.shape(), data_type, elements)
}

pub(super) fn binary(op: Binary, left: &Array, right: &Array) -> Result<Array, Why> {
    let data_type = left.data_type();
    if data_type != right.data_type() || !op.takes(data_type) {
        return Err(MIXED);
    }
    let shape = broadcast(left.shape(), right.shape()).ok_or(UNFIT)?;
    let at = (indices(&shape, &strides(left.shape(), &shape)), indices(&shape, &strides(right.shape(), &shape)));
    let pairs = at.0.into_iter().zip(at.1);
    let result = op.result(data_type);
    let elements = match (left.elements(), right.elements()) {
        (Elements::Float(left), Elements::Float(right)) => {
            let pairs = pairs.filter_map(|(one, other)| Some((*left.get(one)?, *right.get(other)?)));
            match result {
                DataType::Bool => {
                    Elements::Integer(pairs.map(|(one, other)| compared(op, one.partial_cmp(&other))).collect())
                }
                _ => Elements::Float(pairs.map(|(one, other)| float(op, one, other)).collect()),
            }
        }
        (Elements::Integer(left), Elements::Integer(right)) => {
            let pairs = pairs.filter_map(|(one, other)| Some((*left.get(one)?, *right.get(other)?)));
            let values = pairs.map(|(one, other)| Ok(wrapped(integer(op, one, other)?, result)));
            Elements::Integer(values.collect::<Result<_, Why>>()?)
        }
        _ => return Err(MIXED),
    };
    array(&shape, result, elements)
}

fn compared(op: Binary, order: Option<Ordering>) -> i128 {
    i128::from(match op {
        Binary::Greater => order == Some(Ordering::Greater),
        Binary::Less => order == Some(Ordering::Less),
        _ => order == Some(Ordering::Equal),
    })
}

fn float(op: Binary, left: f32, right: f32) -> f32 {
    match op {
        Binary::Sub => left - right,
        Binary::Mul => left * right,
        Binary::Div => left / right,
        Binary::Max => left.max(right),
        Binary::Min => left.min(right),
        _ => left + right,
    }
}

fn integer(op: Binary, left: i128, right: i128) -> Result<i128, Why> {
    Ok(match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Sub => left.wrapping_sub(right),
        Binary::Mul => left.wrapping_mul(right),
        Binary::Div => left.checked_div(right).ok_or("it divides an integer by 0")?,
        Binary::Max | Binary::Or => left.max(right),
        Binary::Min | Binary::And => left.min(right),
        Binary::Equal | Binary::Greater | Binary::Less => compared(op, Some(left.cmp(&right))),
    })
}

/// The number of products and sums in a matrix product.
pub(super) fn matmul_work(left: &Array, right: &Array) -> u64 {
    let product = MatMul::of(left.shape(), right.shape());
    let sizes = product.map(|it| it.batch.into_iter().chain([it.rows, it.inner, it.columns]).collect::<Vec<_>>());
    sizes.unwrap_or_default().into_iter().fold(1, u64::saturating_mul)
}

/// The shape of the result of an op on two arrays.
pub(super) fn shape_of_two(op_type: &str, left: &Array, right: &Array) -> Option<Vec<u64>> {
    match op_type {
        other::MATMUL => MatMul::of(left.shape(), right.shape()).map(|product| product.shape),
        _ => broadcast(left.shape(), right.shape()),
    }
}

pub(super) fn matmul(left: &Array, right: &Array) -> Result<Array, Why> {
    let product = MatMul::of(left.shape(), right.shape()).ok_or(UNFIT)?;
    let elements = match (left.elements(), right.elements()) {
        (Elements::Float(one), Elements::Float(other)) => {
            let sum =
                |pairs: &mut dyn Iterator<Item = (f32, f32)>| pairs.fold(0.0, |sum, (one, other)| sum + one * other);
            Elements::Float(products(&product, left.shape(), right.shape(), one, other, sum))
        }
        (Elements::Integer(one), Elements::Integer(other)) => {
            let data_type = left.data_type();
            let add =
                |sum: i128, (one, other): (i128, i128)| wrapped(sum.wrapping_add(one.wrapping_mul(other)), data_type);
            let sum = |pairs: &mut dyn Iterator<Item = (i128, i128)>| pairs.fold(0, add);
            Elements::Integer(products(&product, left.shape(), right.shape(), one, other, sum))
        }
        _ => return Err(MIXED),
    };
    if left.data_type() != right.data_type() {
        return Err(MIXED);
    }
    array(&product.shape, left.data_type(), elements)
}

fn products<T: Copy>(
    product: &MatMul,
    left_shape: &[u64],
    right_shape: &[u64],
    left: &[T],
    right: &[T],
    sum: impl Fn(&mut dyn Iterator<Item = (T, T)>) -> T,
) -> Vec<T> {
    let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    let (rows, inner, columns) = (size(product.rows), size(product.inner), size(product.columns));
    let batch_of = |shape: &[u64]| shape.get(..shape.len().saturating_sub(2)).unwrap_or_default().to_vec();
    let starts = |shape: &[u64], matrix: usize| -> Vec<usize> {
        let strides = strides(&batch_of(shape), &product.batch);
        indices(&product.batch, &strides).into_iter().map(|at| at.saturating_mul(matrix)).collect()
    };
    let mut results = Vec::new();
    let (left_size, right_size) = (rows.saturating_mul(inner), inner.saturating_mul(columns));
    for (one, other) in starts(left_shape, left_size).into_iter().zip(starts(right_shape, right_size)) {
        for row in 0..rows {
            let begin = one.saturating_add(row.saturating_mul(inner));
            let row = left.get(begin..begin.saturating_add(inner)).unwrap_or_default();
            results.extend((0..columns).map(|column| {
                let column = right.iter().skip(other.saturating_add(column)).step_by(columns.max(1));
                sum(&mut row.iter().copied().zip(column.copied()))
            }));
        }
    }
    results
}

/// The tensor with its dimensions in another order.
pub(super) fn transpose(input: &Array, permutation: &[usize]) -> Result<Array, Why> {
    let own = strides(input.shape(), input.shape());
    let of = |at: &usize| Some((*input.shape().get(*at)?, *own.get(*at)?));
    let dimensions: Option<Vec<(u64, usize)>> = permutation.iter().map(of).collect();
    let (shape, strides): (Vec<u64>, Vec<usize>) = dimensions.ok_or(UNFIT)?.into_iter().unzip();
    let at = indices(&shape, &strides).into_iter();
    let elements = match input.elements() {
        Elements::Float(values) => Elements::Float(at.filter_map(|at| values.get(at).copied()).collect()),
        Elements::Integer(values) => Elements::Integer(at.filter_map(|at| values.get(at).copied()).collect()),
    };
    array(&shape, input.data_type(), elements)
}

pub(super) fn reshape(input: &Array, shape: &[u64]) -> Result<Array, Why> {
    array(shape, input.data_type(), input.elements().clone())
}

#[expect(clippy::cast_possible_truncation, reason = "floats beyond all integers become the nearest")]
#[expect(clippy::cast_precision_loss, reason = "that is what a cast to F32 does")]
pub(super) fn cast(input: &Array, data_type: DataType) -> Result<Array, Why> {
    let truth = data_type == DataType::Bool;
    let elements = match (input.elements(), data_type) {
        (Elements::Float(values), DataType::F32) => Elements::Float(values.clone()),
        (Elements::Integer(values), DataType::F32) => {
            Elements::Float(values.iter().map(|value| *value as f32).collect())
        }
        (Elements::Float(values), _) => {
            let integer = |value: f32| if truth { i128::from(value != 0.0) } else { wrapped(value as i128, data_type) };
            Elements::Integer(values.iter().map(|value| integer(*value)).collect())
        }
        (Elements::Integer(values), _) => {
            let integer = |value: i128| if truth { i128::from(value != 0) } else { wrapped(value, data_type) };
            Elements::Integer(values.iter().map(|value| integer(*value)).collect())
        }
    };
    array(input.shape(), data_type, elements)
}

/// How far apart the elements of a tensor are in each dimension of a shape that it is broadcast to.
fn strides(shape: &[u64], to: &[u64]) -> Vec<usize> {
    let mut strides = Vec::with_capacity(to.len());
    let mut stride = 1_usize;
    for at in 0..to.len() {
        let size = shape.len().checked_sub(at.saturating_add(1)).and_then(|at| shape.get(at)).copied().unwrap_or(1);
        strides.push(if size == 1 { 0 } else { stride });
        stride = stride.saturating_mul(usize::try_from(size).unwrap_or(usize::MAX));
    }
    strides.reverse();
    strides
}

/// The place of each element of a shape, in row-major order.
fn indices(shape: &[u64], strides: &[usize]) -> Vec<usize> {
    if shape.contains(&0) {
        return Vec::new();
    }
    let mut places = vec![0_usize];
    for (size, stride) in shape.iter().zip(strides) {
        let size = usize::try_from(*size).unwrap_or(usize::MAX);
        let steps = |place: usize| (0..size).map(move |at| place.saturating_add(at.saturating_mul(*stride)));
        places = places.into_iter().flat_map(steps).collect();
    }
    places
}
