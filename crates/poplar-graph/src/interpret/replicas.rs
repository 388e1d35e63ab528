use super::compute::Why;
use crate::{Array, Elements, Error, ReplicaGrouping, Shape, Tensor};

/// A tensor's value in each replica.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replicas(
    /// One value for each replica, or a single one that all replicas have.
    Vec<Array>,
);

impl Replicas {
    /// The same value in all replicas.
    pub(super) fn same(value: Array) -> Self {
        Replicas(vec![value])
    }

    /// The value of a replica.
    pub(super) fn get(&self, replica: usize) -> Option<&Array> {
        self.0.get(replica).or(self.0.first())
    }

    /// The value that all replicas have, if it is known to be the same.
    pub(super) fn first_of_all(&self) -> Option<&Array> {
        let first = self.0.first()?;
        self.0.iter().all(|value| value == first).then_some(first)
    }

    /// The bytes of memory that the values take.
    pub(super) fn memory(&self) -> u64 {
        let sizes = self.0.iter().map(|value| u64::try_from(value.memory()).unwrap_or(u64::MAX));
        sizes.fold(0, u64::saturating_add)
    }

    /// Calculates an op in each replica.
    pub(super) fn map<const N: usize>(
        inputs: [&Replicas; N],
        compute: impl Fn([&Array; N]) -> Result<Array, Why>,
    ) -> Result<Self, Why> {
        let replicas = inputs.iter().map(|input| input.0.len()).max().unwrap_or(1);
        let values = (0..replicas).map(|replica| {
            let values = inputs.map(|input| input.get(replica));
            match values.iter().flatten().copied().collect::<Vec<_>>().try_into() {
                Ok(values) => compute(values),
                Err(_) => Err("an input has no value"),
            }
        });
        values.collect::<Result<_, _>>().map(Replicas)
    }

    /// The first value of a variable, or the value of a constant.
    pub(super) fn first_value(tensor: &Tensor, factor: u32) -> Result<Option<Self>, Error> {
        match (&tensor.value, tensor.replicas) {
            (None, _) => Ok(None),
            (Some(value), None) => Ok(Some(Replicas::same(value.clone()))),
            (Some(value), Some(grouping)) => {
                let count = factor.checked_div(grouping.group_size).unwrap_or_default();
                if value.shape().first() != Some(&u64::from(count)) {
                    return Err(Error::NoValueForEachGroup { groups: count, shape: Shape(value.shape().to_vec()) });
                }
                let groups = split(value)?;
                let of = |replica| groups.get(group_of(grouping, replica)).cloned();
                Ok((0..factor).map(of).collect::<Option<_>>().map(Replicas))
            }
        }
    }

    /// Data from the host: the same for all replicas, or with the replicas as first dimension.
    pub(super) fn from_host(value: &Array, shape: &[u64], factor: u32) -> Result<Option<Self>, Error> {
        if value.shape() == shape {
            return Ok(Some(Replicas::same(value.clone())));
        }
        match value.shape().split_first() {
            Some((first, rest)) if *first == u64::from(factor) && rest == shape => {
                split(value).map(|all| Some(Replicas(all)))
            }
            _ => Ok(None),
        }
    }

    /// Data for the host: if there are several replicas, they are the first dimension.
    pub(super) fn to_host(&self, factor: u32) -> Result<Option<Array>, Error> {
        let Some(first) = self.0.first() else { return Ok(None) };
        if factor == 1 {
            return Ok(Some(first.clone()));
        }
        let shape: Vec<u64> = std::iter::once(u64::from(factor)).chain(first.shape().iter().copied()).collect();
        let all = (0..factor).filter_map(|replica| self.get(usize::try_from(replica).ok()?));
        let elements = match first.elements() {
            Elements::Float(_) => Elements::Float(all.flat_map(|value| floats(value).iter().copied()).collect()),
            Elements::Integer(_) => Elements::Integer(all.flat_map(|value| integers(value).iter().copied()).collect()),
        };
        Array::new(&shape, first.data_type(), elements).map(Some)
    }

    /// Combines the values of each group, which all replicas of the group get.
    pub(super) fn reduce(
        &self,
        grouping: ReplicaGrouping,
        factor: u32,
        combine: impl Fn(&Array, &Array) -> Result<Array, Why>,
    ) -> Result<Self, Why> {
        let mut groups: Vec<Option<Array>> = Vec::new();
        for replica in 0..factor {
            let place = group_of(grouping, replica);
            let value =
                usize::try_from(replica).ok().and_then(|replica| self.get(replica)).ok_or("an input has no value")?;
            if place >= groups.len() {
                groups.resize(place.saturating_add(1), None);
            }
            if let Some(group) = groups.get_mut(place) {
                *group = Some(match group.take() {
                    Some(sum) => combine(&sum, value)?,
                    None => value.clone(),
                });
            }
        }
        let of = |replica| groups.get(group_of(grouping, replica)).cloned().flatten();
        (0..factor).map(of).collect::<Option<_>>().map(Replicas).ok_or("its groups do not fit the replicas")
    }
}

/// The group of a replica. Groups are numbered by their first replicas.
fn group_of(grouping: ReplicaGrouping, replica: u32) -> usize {
    let ReplicaGrouping { stride, group_size } = grouping;
    let block = stride.saturating_mul(group_size).max(1);
    let (block, within) = (replica / block, replica.checked_rem(stride).unwrap_or_default());
    usize::try_from(block.saturating_mul(stride).saturating_add(within)).unwrap_or(usize::MAX)
}

/// An array for each step of the first dimension.
fn split(value: &Array) -> Result<Vec<Array>, Error> {
    let Some((first, shape)) = value.shape().split_first() else { return Ok(vec![value.clone()]) };
    let count = usize::try_from(*first).unwrap_or(usize::MAX);
    let size = value.elements().len().checked_div(count).unwrap_or_default();
    let part = |at: usize| {
        let range = at.saturating_mul(size)..at.saturating_add(1).saturating_mul(size);
        let elements = match value.elements() {
            Elements::Float(values) => Elements::Float(values.get(range).unwrap_or_default().to_vec()),
            Elements::Integer(values) => Elements::Integer(values.get(range).unwrap_or_default().to_vec()),
        };
        Array::new(shape, value.data_type(), elements)
    };
    (0..count).map(part).collect()
}

fn floats(array: &Array) -> &[f32] {
    match array.elements() {
        Elements::Float(values) => values,
        Elements::Integer(_) => &[],
    }
}

fn integers(array: &Array) -> &[i128] {
    match array.elements() {
        Elements::Integer(values) => values,
        Elements::Float(_) => &[],
    }
}
