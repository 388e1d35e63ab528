/// A value for each graph, tensor or op, by its number. Any other number reads as the default.
#[derive(Clone, Debug)]
pub(super) struct Table<T>(Vec<T>);

impl<T: Clone + Default> Table<T> {
    pub(super) fn new(len: usize) -> Self {
        Table(vec![T::default(); len])
    }

    pub(super) fn set(&mut self, at: usize, value: T) {
        if let Some(place) = self.0.get_mut(at) {
            *place = value;
        }
    }

    pub(super) fn change(&mut self, at: usize, change: impl FnOnce(&mut T)) {
        if let Some(place) = self.0.get_mut(at) {
            change(place);
        }
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T: Copy + Default> Table<T> {
    pub(super) fn get(&self, at: usize) -> T {
        self.0.get(at).copied().unwrap_or_default()
    }
}

/// The edges of a graph of numbered nodes, by node.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    /// Where the edges of each node begin in `to`, and at last where all end.
    starts: Vec<usize>,
    to: Vec<usize>,
}

impl Edges {
    /// Edges in any order. Both ends must be below `nodes`; others are left out.
    pub(super) fn new(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut edges: Vec<_> = edges.filter(|(from, to)| *from < nodes && *to < nodes).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut starts = Vec::with_capacity(nodes.saturating_add(1));
        starts.extend((0..=nodes).map(|node| edges.partition_point(|(from, _)| *from < node)));
        Edges { starts, to: edges.into_iter().map(|(_, to)| to).collect() }
    }

    pub(super) fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The nodes that a node has an edge to, sorted.
    pub(super) fn from(&self, node: usize) -> &[usize] {
        let starts = (self.starts.get(node), self.starts.get(node.saturating_add(1)));
        let (Some(&begin), Some(&end)) = starts else { return &[] };
        self.to.get(begin..end).unwrap_or_default()
    }

    fn reversed(&self) -> Self {
        let edges = (0..self.nodes()).flat_map(|from| self.from(from).iter().map(move |to| (*to, from)));
        Edges::new(self.nodes(), edges)
    }

    /// The nodes reached from some nodes, each after all that it reaches if there is no cycle.
    pub(super) fn postorder(&self, roots: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut walk = Walk { edges: self, seen: Table::new(self.nodes()), found: Vec::new() };
        roots.for_each(|root| walk.from(root));
        walk.found
    }

    /// The nodes in groups that reach each other. A group comes before those that it reaches.
    pub(super) fn components(&self) -> Vec<Vec<usize>> {
        let forward = self.postorder(0..self.nodes());
        let reversed = self.reversed();
        let mut walk = Walk { edges: &reversed, seen: Table::new(self.nodes()), found: Vec::new() };
        let mut groups = Vec::new();
        for &root in forward.iter().rev() {
            walk.from(root);
            if !walk.found.is_empty() {
                groups.push(std::mem::take(&mut walk.found));
            }
        }
        groups
    }
}

/// A depth-first walk without recursion.
struct Walk<'e> {
    edges: &'e Edges,
    seen: Table<bool>,
    found: Vec<usize>,
}

impl Walk<'_> {
    fn from(&mut self, root: usize) {
        let mut stack = Vec::new();
        self.enter(root, &mut stack);
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            match self.edges.from(node).get(*next) {
                Some(&to) => {
                    *next = next.saturating_add(1);
                    self.enter(to, &mut stack);
                }
                None => {
                    stack.pop();
                    self.found.push(node);
                }
            }
        }
    }

    fn enter(&mut self, node: usize, stack: &mut Vec<(usize, usize)>) {
        if node < self.edges.nodes() && !self.seen.get(node) {
            self.seen.set(node, true);
            stack.push((node, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Edges;

    #[test]
    fn components_come_before_what_they_reach() {
        let edges = Edges::new(6, [(4, 3), (3, 1), (1, 3), (1, 0), (0, 0), (2, 2), (9, 0)].into_iter());
        let mut components = edges.components();
        components.iter_mut().for_each(|group| group.sort_unstable());
        let place = |nodes: &[usize]| components.iter().position(|group| group == nodes).unwrap();
        assert_eq!(components.len(), 5);
        assert!(place(&[4]) < place(&[1, 3]) && place(&[1, 3]) < place(&[0]));
        assert!(place(&[2]) < 5 && place(&[5]) < 5);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges = Edges::new(1_000_000, (0..999_999).map(|at| (at, at + 1)));
        assert_eq!(edges.components().len(), 1_000_000);
    }
}
