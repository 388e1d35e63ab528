use std::fmt;

/// One line per kind: its name in JSON, and its words in the singular and the plural.
macro_rules! notes {
    ($( $kind:ident = $name:literal, $one:literal, $many:literal; )+) => {
        /// An oddity of a dump, which can be read all the same.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum NoteKind { $( #[doc = $many] $kind, )+ }

        impl NoteKind {
            const ALL: &'static [NoteKind] = &[ $( NoteKind::$kind, )+ ];

            /// The name of the kind, which never changes.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( NoteKind::$kind => $name, )+ }
            }

            /// The words for this kind that follow the number.
            #[must_use]
            pub const fn words(self, count: u64) -> &'static str {
                match (self, count) { $( (NoteKind::$kind, 1) => $one, (NoteKind::$kind, _) => $many, )+ }
            }
        }
    };
}

notes! {
    UnescapedText = "unescaped-text",
        "text has quotes or backslashes as they are, so that its end had to be guessed",
        "texts have quotes or backslashes as they are, so that their ends had to be guessed";
    UnknownBranches = "unknown-branches",
        "op runs one of several graphs, and the dump does not say which",
        "ops run one of several graphs, and the dump does not say which";
    MissingGraph = "missing-graph",
        "op names a graph that is not in the file",
        "ops name graphs that are not in the file";
    GraphTwice = "graph-twice",
        "graph has the name of another one, which is the one that is called",
        "graphs have the names of others, which are those that are called";
    UnknownKey = "unknown-key",
        "key is not known; it is kept as an attribute of the op",
        "keys are not known; they are kept as attributes of the ops";
    WrongNumber = "wrong-number",
        "value is no number, or none that is possible; it is kept as an attribute",
        "values are no numbers, or none that are possible; they are kept as attributes";
    WrongShape = "wrong-shape",
        "shape cannot be read; the size of the tensor is unknown",
        "shapes cannot be read; the sizes of the tensors are unknown";
    UnknownType = "unknown-type",
        "tensor has an element type that is not known, and so no known size",
        "tensors have an element type that is not known, and so no known size";
    UnknownDestination = "unknown-destination",
        "op loads code to a place that is not known",
        "ops load code to places that are not known";
    Contradiction = "contradiction",
        "use of a tensor has another shape or type than the first one",
        "uses of tensors have other shapes or types than the first one";
    MadeTwice = "made-twice",
        "tensor is the output of several ops",
        "tensors are outputs of several ops";
    NoSchedule = "no-schedule",
        "op comes before another one that makes its input: the ops are not in the order in which they run",
        "ops come before others that make their inputs: the ops are not in the order in which they run";
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An oddity, and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The kind of oddity.
    pub kind: NoteKind,
    /// How often.
    pub count: u64,
    /// The subject of the first one: the name of a graph, an op, a tensor or a key.
    pub first: String,
    /// The byte of the file where the first one is, from 0 on.
    pub offset: u64,
}

/// The notes of a dump: one of each kind at most.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

/// The maximum length of a note's subject, in characters.
const LONGEST: usize = 200;

impl Notes {
    pub(super) fn add(&mut self, kind: NoteKind, about: &str, at: usize) {
        self.add_several(kind, about, at, 1);
    }

    /// Adds several of a kind, the first with this subject and place.
    pub(super) fn add_several(&mut self, kind: NoteKind, about: &str, at: usize, count: u64) {
        match self.0.iter_mut().find(|note| note.kind == kind) {
            Some(note) => note.count = note.count.saturating_add(count),
            None => {
                let first = about.chars().take(LONGEST).collect();
                self.0.push(Note { kind, count, first, offset: u64::try_from(at).unwrap_or(u64::MAX) });
            }
        }
    }

    pub(super) fn has(&self, kind: NoteKind) -> bool {
        self.0.iter().any(|note| note.kind == kind)
    }

    /// All notes, in the order of their kinds.
    pub(super) fn sorted(mut self) -> Vec<Note> {
        self.0.sort_by_key(|note| NoteKind::ALL.iter().position(|kind| *kind == note.kind));
        self.0
    }
}
