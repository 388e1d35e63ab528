//! The order of programs.

use super::graph::GraphProfile;
use super::program::ProgramKind;

/// A program that contains itself, or calls itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    /// The program that refers back.
    pub(super) program: u32,
    /// Which of its children does, or `None` if it is a call.
    pub(super) child: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// The walk is beneath it.
    Open,
    Done,
}

/// The `nth` program that a program refers to: its children, and then the function that it calls.
fn referred(graph: &GraphProfile, program: u32, nth: usize) -> Option<u32> {
    let program = graph.programs.get(program as usize)?;
    match program.children.get(nth) {
        Some(child) => Some(*child),
        None if nth == program.children.len() => {
            graph.called(program.target.filter(|_| program.kind == ProgramKind::Call)?)
        }
        None => None,
    }
}

impl GraphProfile {
    /// The program that a call of a function runs.
    pub fn called(&self, function: u32) -> Option<u32> {
        self.function_programs.get(function as usize).copied()
    }

    /// The program that is a child of another in the tree with calls resolved: the child itself, or the function of a call.
    pub fn resolved_child(&self, program: u32, child: u32) -> Option<u32> {
        referred(self, program, child as usize)
    }

    /// All children of a program in the tree with calls resolved, in their order.
    pub(super) fn resolved_children(&self, program: u32) -> impl Iterator<Item = u32> {
        (0..).map_while(move |nth| referred(self, program, nth))
    }
}

/// All programs, each before those that it refers to. The control programs come first of all.
pub(super) fn order(graph: &GraphProfile) -> Result<Vec<u32>, Cycle> {
    let mut states = vec![State::New; graph.programs.len()];
    let mut done = Vec::with_capacity(graph.programs.len());
    let count = u32::try_from(graph.programs.len()).unwrap_or(u32::MAX);
    let roots = graph.control_programs.iter().chain(&graph.function_programs).copied().chain(0..count);
    for root in roots {
        let mut open: Vec<(u32, usize)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(program) = next.take()
                && let Some(state) = states.get_mut(program as usize)
            {
                match state {
                    State::New => {
                        *state = State::Open;
                        open.push((program, 0));
                    }
                    State::Open => {
                        // The program is one that is open, so something refers to it.
                        let (program, nth) = open.last().copied().unwrap_or_default();
                        let nth = nth.saturating_sub(1);
                        let children = graph.programs.get(program as usize).map_or(0, |program| program.children.len());
                        return Err(Cycle { program, child: Some(nth).filter(|nth| *nth < children) });
                    }
                    State::Done => {}
                }
            }
            let Some((program, nth)) = open.last_mut() else { break };
            match referred(graph, *program, *nth) {
                Some(child) => {
                    *nth = nth.saturating_add(1);
                    next = Some(child);
                }
                None => {
                    if let Some(state) = states.get_mut(*program as usize) {
                        *state = State::Done;
                    }
                    done.push(*program);
                    open.pop();
                }
            }
        }
    }
    done.reverse();
    Ok(done)
}
