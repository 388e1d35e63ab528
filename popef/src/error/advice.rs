//! What to do about an error, as a value that each program words for its users.

use std::fmt;
use std::sync::{PoisonError, RwLock};

/// One line per advice: its words for a programmer.
macro_rules! advice {
    ($( $advice:ident = $words:literal; )+) => {
        /// What to do about an error.
        ///
        /// Advice that needs the name of an option or of an argument is a value without words of its own, because a tool,
        /// a module and a library have different names for it. It displays as words for a programmer:
        ///
        /// ```
        /// use popef::error::{Advice, ErrorCode};
        ///
        /// assert_eq!(ErrorCode::FileExists.info().advice, Advice::AllowOverwriting);
        /// assert_eq!(Advice::AllowOverwriting.to_string(), "Choose another path, or allow overwriting.");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Advice {
            /// The same words for everybody.
            Say(&'static str),
            $( #[doc = $words] $advice, )+
        }

        impl Advice {
            /// All advice without words of its own.
            #[doc(hidden)]
            pub const ALL: &'static [Advice] = &[ $( Advice::$advice, )+ ];

            /// The words: those of the program that runs, or else those for a programmer.
            pub fn words(self) -> &'static str {
                let of_program = *WORDING.read().unwrap_or_else(PoisonError::into_inner);
                of_program(self).unwrap_or(match self {
                    Advice::Say(words) => words,
                    $( Advice::$advice => $words, )+
                })
            }
        }
    };
}

advice! {
    AfterPickle = "Open it with `OpenOptions::after_pickle`. Do not load the pickle.";
    AllowFindings = "Make another change, or allow the findings.";
    AllowHttp = "Use https, or allow http.";
    AllowOverwriting = "Choose another path, or allow overwriting.";
    ChooseAnotherPath = "Choose another path.";
    ChooseKept = "Choose which one is kept, or leave one of the files out.";
    ChooseMeant = "Say which one is meant.";
    DropPrefix = "Put that file first, or ask for what comes before PopEF to be dropped.";
    GiveCredentials = "Give credentials in the environment (docs/REMOTE.md has the variables of each store), or a header for https.";
    GiveHeader = "Look at the address in a browser; if that asks who you are, give a header, such as \"Authorization: Bearer ...\".";
    GiveRegion = "Give its region, or set AWS_REGION.";
    KeepBlobsBefore = "Copy or export the file again, or keep the blobs before this one.";
    KeepWholeBlobs = "Export the file again, or keep the blobs that are whole.";
    ListBlobs = "List the blobs of the file, and choose one of them.";
    NameAFile = "Name a file in it.";
    RaiseLimit = "Raise the limit if you trust the file.";
    ReadStream = "Read it as a stream, or copy it to a regular file first.";
    ReplaceInput = "Choose another output, or ask for the input to be replaced.";
    SeeHelp = "See the documentation of the operation.";
    WriteElsewhere = "Write to another name, and compare before you replace it.";
    WriteStream = "Write to it as to a stream.";
    WriteUnchecked = "Give data of the shape and type that the anchor has, or write it unchecked.";
}

/// The words of one program for some advice.
type Wording = fn(Advice) -> Option<&'static str>;

static WORDING: RwLock<Wording> = RwLock::new(|_| None);

/// Sets the words of the program that runs, as for a language: all advice of the process has them.
#[doc(hidden)]
pub fn word_advice(wording: Wording) {
    *WORDING.write().unwrap_or_else(PoisonError::into_inner) = wording;
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}
