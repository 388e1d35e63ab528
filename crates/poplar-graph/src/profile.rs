//! The programs of a profiling report as graphs that call each other.

use std::collections::HashMap;

use poplar_inspect::profile::{GraphProfile, Program, ProgramKind};

use crate::{Calls, Error, Graph, GraphId, Ir, Op, Order};

impl Ir {
    /// The programs of a profiling report as graphs that call each other.
    ///
    /// The first graph runs the control programs. These programs are graphs of their own: functions, the bodies of loops, `If` and
    /// `Switch`, and programs that are in several others. All other programs are ops of the graph that they are in, in their order.
    /// Programs that only contain others are left out. Reports do not say how often a loop runs.
    ///
    /// It fails if the number of places of programs is more than 100,000 plus four for each program, or if their names there have more
    /// bytes than 4 MiB plus eight times all names: a small report can have the same program at very many places.
    ///
    /// ```
    /// use poplar_graph::{CallGraph, Ir};
    /// use poplar_inspect::profile::{ReadOptions, Report};
    ///
    /// let json = r#"{"target":{"numIPUs":1,"numTiles":1,"tilesPerIPU":1},"controlPrograms":[0],"functionPrograms":[2],"programs":[
    ///     {"type":"Repeat","children":[1]},{"type":"Call","target":0},{"type":"OnTileExecute","computeSet":0}]}"#;
    /// let report = Report::read(json.as_bytes(), &ReadOptions::default())?;
    /// let ir = Ir::from_profile(&report.graph.expect("it has programs"))?;
    /// let names: Vec<_> = ir.graphs().iter().map(|graph| graph.name.as_str()).collect();
    /// assert_eq!(names, ["control programs", "function 0", "Repeat 0"]);
    /// assert_eq!(CallGraph::new(&ir).tree().len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_profile(profile: &GraphProfile) -> Result<Self, Error> {
        let mut graphs = Graphs::new(profile);
        let main = graphs.add("control programs".to_owned())?;
        for (number, &program) in profile.function_programs.iter().enumerate() {
            let name = profile.programs.get(program as usize).and_then(|program| program.name.as_deref());
            let name = name.map_or_else(String::new, |name| format!(": {name}"));
            graphs.graph_of(program, || format!("function {number}{name}"))?;
        }
        graphs.fill(main, &profile.control_programs, Graphs::is_graph)?;
        // Filling a graph may add further graphs.
        let mut filled = 0_usize;
        while let Some(&program) = graphs.roots.get(filled) {
            filled = filled.saturating_add(1);
            if let Some(&graph) = graphs.known.get(&program) {
                graphs.fill(graph, &[program], |graphs, child| child != program && graphs.is_graph(child))?;
            }
        }
        Ir::new(graphs.graphs, Some(main), Order::Schedule)
    }
}

/// The graphs that were made so far.
struct Graphs<'p> {
    profile: &'p GraphProfile,
    /// For each program, the number of programs that have it as a child.
    parents: Vec<u32>,
    graphs: Vec<Graph>,
    /// The programs that are graphs.
    known: HashMap<u32, GraphId>,
    /// The same programs, in the order of their graphs.
    roots: Vec<u32>,
    /// The number of ops that may still be added, and of bytes of names.
    ops_left: u64,
    names_left: u64,
}

impl<'p> Graphs<'p> {
    fn new(profile: &'p GraphProfile) -> Self {
        let mut parents = vec![0_u32; profile.programs.len()];
        for child in profile.programs.iter().flat_map(|program| &program.children) {
            if let Some(count) = parents.get_mut(*child as usize) {
                *count = count.saturating_add(1);
            }
        }
        let count = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        let name = |program: &Program| count(program.name.as_ref().map_or(0, |name| name.len()));
        let names = profile.programs.iter().map(name).fold(0, u64::saturating_add);
        Graphs {
            profile,
            parents,
            graphs: Vec::new(),
            known: HashMap::new(),
            roots: Vec::new(),
            ops_left: count(profile.programs.len()).saturating_mul(4).saturating_add(100_000),
            names_left: names.saturating_mul(8).saturating_add(4 << 20),
        }
    }

    fn program(&self, program: u32) -> Option<&'p Program> {
        self.profile.programs.get(program as usize)
    }

    fn add(&mut self, name: String) -> Result<GraphId, Error> {
        let id = u32::try_from(self.graphs.len()).map_err(|_| Error::TooMany { what: "graphs" })?;
        self.graphs.push(Graph::new(name));
        Ok(GraphId(id))
    }

    /// The graph of a program, a new one if it has none yet.
    fn graph_of(&mut self, program: u32, name: impl FnOnce() -> String) -> Result<GraphId, Error> {
        if let Some(&graph) = self.known.get(&program) {
            return Ok(graph);
        }
        let graph = self.add(name())?;
        self.known.insert(program, graph);
        self.roots.push(program);
        Ok(graph)
    }

    /// Whether a program is always a graph of its own: a function, or a program with several parents, whose content would otherwise be
    /// repeated for each of them.
    fn is_graph(&self, program: u32) -> bool {
        let is_shared = self.parents.get(program as usize).is_some_and(|parents| *parents > 1);
        self.known.contains_key(&program)
            || is_shared && self.program(program).is_some_and(|it| !it.children.is_empty())
    }

    /// Adds the ops of programs, one after the other. `is_called` says which of the programs in them are graphs.
    fn fill(&mut self, graph: GraphId, start: &[u32], is_called: impl Fn(&Self, u32) -> bool) -> Result<(), Error> {
        let mut open = vec![start.iter()];
        while let Some(last) = open.last_mut() {
            let Some(&number) = last.next() else {
                open.pop();
                continue;
            };
            let Some(program) = self.program(number) else { continue };
            if is_called(self, number) {
                let called = self.graph_of(number, || format!("{} {number}", program.kind))?;
                self.push(graph, program, Calls::Once(called))?;
                continue;
            }
            match program.kind {
                ProgramKind::Call => {
                    let called = program.target.and_then(|target| self.profile.called(target));
                    let called = called.map(|called| self.graph_of(called, String::new)).transpose()?;
                    self.push(graph, program, called.map_or(Calls::None, Calls::Once))?;
                }
                ProgramKind::Repeat | ProgramKind::RepeatWhileTrue | ProgramKind::RepeatWhileFalse => {
                    for body in self.bodies(number, program)? {
                        self.push(graph, program, Calls::Repeat(body, None))?;
                    }
                }
                ProgramKind::If | ProgramKind::Switch => {
                    let bodies = self.bodies(number, program)?;
                    self.push(graph, program, Calls::OneOf(bodies))?;
                }
                _ if program.children.is_empty() => self.push(graph, program, Calls::None)?,
                _ => open.push(program.children.iter()),
            }
        }
        Ok(())
    }

    /// The graphs of the bodies of a loop or a choice.
    fn bodies(&mut self, number: u32, program: &Program) -> Result<Vec<GraphId>, Error> {
        let several = program.children.len() > 1;
        let bodies = program.children.iter().enumerate().map(|(nth, &child)| {
            let which = if several { format!(", child {nth}") } else { String::new() };
            self.graph_of(child, || format!("{} {number}{which}", program.kind))
        });
        bodies.collect()
    }

    fn push(&mut self, graph: GraphId, program: &Program, calls: Calls) -> Result<(), Error> {
        let name = program.name.as_ref().map_or(0, |name| u64::try_from(name.len()).unwrap_or(u64::MAX));
        let (Some(ops), Some(names)) = (self.ops_left.checked_sub(1), self.names_left.checked_sub(name)) else {
            return Err(Error::TooManyPlaces);
        };
        (self.ops_left, self.names_left) = (ops, names);
        let mut op = Op::new(program.kind.as_str());
        op.name = program.name.as_deref().unwrap_or_default().to_owned();
        op.calls = calls;
        if let Some(graph) = self.graphs.get_mut(graph.index()) {
            graph.ops.push(op);
        }
        Ok(())
    }
}
