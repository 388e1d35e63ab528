//! What there is of a pickle that cannot be followed to its end.

use super::super::halt::Halt;
use super::super::keep::{Keep, Kind, Made, Part};
use super::super::values::Stack;
use super::{EMPTY, Id, Node, Tree};

impl Tree {
    /// Puts the values on the stack into each other as the missing opcodes would: what is above a mark into the container
    /// below it, and a dictionary above an object into its state. Leaves out values that a missing opcode may have taken: a
    /// text can be the name of a module, and what is imported can be called.
    pub(super) fn finish_all(&mut self, stack: &mut Stack<Id>) -> Result<Option<Id>, Halt> {
        loop {
            self.finish_object(stack)?;
            if !stack.is_marked() {
                return Ok(stack.nodes_from(0).next());
            }
            let start = stack.unmark()?;
            if let Some(container) = stack.below(start) {
                self.finish_container(container.node, stack, start)?;
            }
            stack.cut(start);
        }
    }

    fn finish_container(&mut self, container: Id, stack: &Stack<Id>, start: usize) -> Result<(), Halt> {
        match self.node(container) {
            Node::Container(Kind::Dict, _) | Node::Object { .. } => self.finish_pairs(container, stack, start),
            Node::Container(Kind::List | Kind::Set, _) => {
                let mut count = stack.nodes_from(start).count();
                while count > 0 && self.may_be_taken(stack, start.saturating_add(count).saturating_sub(1)) {
                    count = count.saturating_sub(1);
                }
                self.add(container, Part::Items, stack.nodes_from(start).take(count))
            }
            _ => Ok(()),
        }
    }

    /// Adds the pairs whose keys are texts, as all keys of a state are.
    fn finish_pairs(&mut self, container: Id, stack: &Stack<Id>, start: usize) -> Result<(), Halt> {
        let count = stack.nodes_from(start).count();
        let is_key =
            |place: usize| stack.nodes_from(place).next().is_some_and(|key| matches!(self.node(key), Node::Text(_)));
        let mut end = start;
        while end.saturating_sub(start) < count.saturating_sub(1) && is_key(end) {
            end = end.saturating_add(2);
        }
        let rest = start.saturating_add(count).saturating_sub(end);
        let last = end.saturating_sub(1);
        if end > start && rest > 0 && !is_key(end) {
            // The last value was not alone: what follows it are the arguments of a call.
            if let Some(of) = stack.nodes_from(last).next()
                && let Node::Import { .. } = self.node(of)
            {
                let arguments = self.make(Made::Empty(Kind::Tuple))?;
                self.add(arguments, Part::Items, stack.nodes_from(end))?;
                let call = self.make(Made::Object { of, arguments })?;
                let before = stack.nodes_from(start).take(last.saturating_sub(start));
                return self.add(container, Part::Pairs, before.chain([call]));
            }
        }
        while end > start && self.may_be_taken(stack, end.saturating_sub(1)) {
            end = end.saturating_sub(2);
        }
        self.add(container, Part::Pairs, stack.nodes_from(start).take(end.saturating_sub(start)))
    }

    /// Returns whether a missing opcode may have taken the value at a place of the stack.
    fn may_be_taken(&self, stack: &Stack<Id>, place: usize) -> bool {
        let node = stack.nodes_from(place).next().map(|id| self.node(id));
        matches!(node, Some(Node::Text(_) | Node::LongText(..) | Node::Import { .. }))
    }

    /// If an object and a dictionary are on top of the stack, the dictionary becomes the object's state.
    fn finish_object(&mut self, stack: &mut Stack<Id>) -> Result<(), Halt> {
        let Ok(start) = stack.start_of_last(2) else { return Ok(()) };
        let mut last = stack.nodes_from(start);
        let (Some(object), Some(state)) = (last.next(), last.next()) else { return Ok(()) };
        drop(last);
        if let (Node::Object { chain: EMPTY, .. }, Node::Container(Kind::Dict, _)) =
            (self.node(object), self.node(state))
        {
            self.add(object, Part::State, [state].into_iter())?;
            stack.cut(start.saturating_add(1));
        }
        Ok(())
    }
}
