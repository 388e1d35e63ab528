//! What the other crates of this project need from this one. It is not part of the public API and may change at any
//! time.
//!
//! `popef-payload` reads messages of frameworks in the same frame and with the same limits as blobs, and its problems are
//! [`Error`](crate::Error)s. `popef-check` looks up blobs in the index of a model.

pub use crate::error::{Cause, Facts, Problem, counted, out_of_memory, push, with_room_for, word_advice};
pub use crate::len::{as_u64, as_usize, len_of};
pub use crate::model::{Links, numbers_of};
pub use crate::names::{UnknownName, by_name, errors, named, serde_as_text};
pub use crate::read::{BlobId, Key, Names, PickleArgument, is_pickle};
#[cfg(feature = "serde")]
pub use crate::types::object::{Hex, List, object, put_text, take_text};
pub use crate::wire::{Frame, FrameFault, LONGEST_TABLE, Refusal, lower_case_phrase, message_len, number};
pub use crate::{codes, problems};
