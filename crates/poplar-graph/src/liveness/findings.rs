use std::fmt;

use crate::{GraphId, OpId};

/// Something about the code of graphs that is probably a mistake, or could be better.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Finding {
    /// What kind of finding it is.
    pub id: FindingId,
    /// The graph whose code it is about.
    pub graph: GraphId,
    /// The graph with the op.
    pub within: GraphId,
    /// The op.
    pub op: OpId,
    /// Another op of the same graph that it is about.
    pub other: Option<OpId>,
}

macro_rules! finding_ids {
    ($( $(#[$doc:meta])* $variant:ident = $id:literal, $warning:literal, $words:literal; )*) => {
        /// What a [`Finding`] says. Shown as its name, which never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingId {
            $( $(#[$doc])* $variant, )*
        }

        impl FindingId {
            /// All kinds of findings.
            pub const ALL: &[FindingId] = &[$( FindingId::$variant ),*];

            /// Its name.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $( FindingId::$variant => $id, )*
                }
            }

            /// Whether it is probably a mistake. The others are hints.
            #[must_use]
            pub const fn is_warning(self) -> bool {
                match self {
                    $( FindingId::$variant => $warning, )*
                }
            }

            /// What it means.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self {
                    $( FindingId::$variant => $words, )*
                }
            }
        }
    };
}

finding_ids! {
    /// The op calls a graph that other ops load, and on some path no load comes before.
    CallWithoutLoad = "call-without-load", true,
        "the call can come before any load, so the code is always live and loading it saves no memory";
    /// The op loads code that nothing calls afterwards.
    LoadWithoutCall = "load-without-call", true, "no call follows the load";
    /// The op loads code that is always loaded again before it is called.
    LoadSuperseded = "load-superseded", true, "the code is always loaded again before a call";
    /// The op loads code of a graph while the graph runs.
    LoadWhileRunning = "load-while-running", true, "the graph loads its own code while it runs, through another graph";
    /// Only some branches of the op load code that is called after it.
    LoadInSomeBranches = "load-in-some-branches", true,
        "only some branches load the code, so it must be live before them";
    /// Nothing orders the op and `other`, of which one loads code and the other calls the graph.
    OrderUndefined = "order-undefined", true,
        "nothing orders the load and the call, so when the code is live is not defined; put both into in_sequence";
    /// There are too many loads and calls in the graph to find out whether they are ordered.
    OrderNotChecked = "order-not-checked", true,
        "there are too many loads and calls in any order to find out whether they are ordered";
    /// The op loads code to a place from which it cannot run.
    NotExecutable = "not-executable", false, "the code is loaded to a buffer, from which it cannot run";
    /// The op loads code directly after `other`, which loads other code.
    LoadsMerged = "loads-merged", false, "Poplar can merge the load with the load before it";
    /// The op loads code after `other`, which loads other code. Nothing in between needs the op to be where it is.
    LoadsMergeable = "loads-mergeable", false,
        "the load could follow the load before it, so that Poplar can merge them; the code would be live for longer";
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for FindingId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
