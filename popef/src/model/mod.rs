//! From typed blobs to models: what belongs together, linked by name over any number of files.

#![deny(clippy::arithmetic_side_effects, reason = "counts from a file can wrap")]

mod calls;
mod link;
mod options;
mod shape;
mod sources;

use std::fmt;
use std::sync::Arc;

pub use calls::FeedRuns;
pub(crate) use calls::numbers_of;
pub(crate) use link::Linker;
pub use shape::{AnchorShape, Outer, ShapeMismatch};
pub use sources::{Linked, Source, Sources};

use crate::error::Error;
use crate::read::{ExecutableBlob, File, MetadataBlob, OpaqueBlob, TensorBlob};
use crate::types::{Anchor, Metadata, TensorType, Text};
use link::Programs;
use sources::Provided;

/// A model: metadata, the executable that it names, its opaque blobs, and for each anchor where the data comes from.
///
/// It borrows the files and reads no data. Links cross files; several metadata blobs are several models, and files
/// without metadata, such as those of weights alone, are where the others' data comes from.
///
/// ```
/// use popef::{File, Model};
///
/// let files = [
///     File::open("../testdata/interop/split-executable.popef")?,
///     File::open("../testdata/interop/split-tensors.popef")?,
///     File::open("../testdata/interop/split-feeds.popef")?,
/// ];
/// for model in Model::link(&files)? {
///     println!("{}", model.metadata().executable);
///     for input in model.inputs_from_user() {
///         println!("feed {} {:?} by handle {}", input.name, input.tensor_info.shape, input.handle);
///     }
///     for (anchor, tensor) in model.tensors_to_upload() {
///         println!("upload {} bytes to {}", tensor.size_in_bytes()?, anchor.handle);
///     }
///     for program in model.main_programs() {
///         println!("run {program}");
///     }
/// }
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model<'f> {
    files: Arc<[&'f File]>,
    metadata: Metadata,
    metadata_blob: Linked<MetadataBlob<'f>>,
    executable: Option<Linked<ExecutableBlob<'f>>>,
    opaques: Arc<[Linked<OpaqueBlob<'f>>]>,
    /// One for each anchor.
    provided: Vec<Provided>,
    programs: Programs,
}

impl<'f> Model<'f> {
    /// All models in these files together, in the order of their metadata.
    ///
    /// An error if a metadata blob cannot be read within the limits that its file was opened with.
    pub fn link(files: impl IntoIterator<Item = &'f File>) -> Result<Vec<Model<'f>>, Error> {
        let linker = Linker::of(files.into_iter().collect());
        linker.metadata().map(|blob| linker.model(blob)).collect()
    }

    /// Everything that the metadata blob says.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The metadata blob.
    pub fn metadata_blob(&self) -> Linked<MetadataBlob<'f>> {
        self.metadata_blob
    }

    /// The executable that the metadata names; none if it is in none of the files. One in the metadata's own file
    /// comes before others of the same name.
    pub fn executable(&self) -> Option<Linked<ExecutableBlob<'f>>> {
        self.executable
    }

    /// The opaque blobs that name the same executable.
    pub fn opaques(&self) -> &[Linked<OpaqueBlob<'f>>] {
        &self.opaques
    }

    /// All anchors with their sources, in the file's order.
    pub fn anchors(&self) -> impl Iterator<Item = (&Anchor, Source<'f>)> {
        let provided = self.provided.iter().map(|&provided| sources::resolve(&self.files, provided));
        self.metadata.anchors.iter().zip(provided)
    }

    /// The inputs for which the files have no data: whoever runs the model must feed them, or nothing runs.
    pub fn inputs_from_user(&self) -> impl Iterator<Item = &Anchor> {
        let anchors = self.metadata.anchors.iter().zip(&self.provided);
        let missing = anchors.filter(|(_, provided)| matches!(provided, Provided::User));
        missing.map(|(anchor, _)| anchor).filter(|anchor| anchor.tensor_type == TensorType::Input)
    }

    /// The inputs whose data is a tensor blob, such as weights, with it.
    pub fn tensors_to_upload(&self) -> impl Iterator<Item = (&Anchor, Linked<TensorBlob<'f>>)> {
        self.anchors().filter_map(|(anchor, source)| match source {
            Source::Tensor(tensor) if anchor.tensor_type == TensorType::Input => Some((anchor, tensor)),
            _ => None,
        })
    }

    /// The outputs that a call gives: those of the main programs.
    pub fn outputs(&self) -> impl Iterator<Item = &Anchor> {
        self.all_outputs().filter(|anchor| self.runs_in(anchor, Phase::Main))
    }

    /// All outputs, those of weights that are saved included.
    pub fn all_outputs(&self) -> impl Iterator<Item = &Anchor> {
        self.metadata.anchors.iter().filter(|anchor| anchor.tensor_type == TensorType::Output)
    }

    /// Whether a phase runs one of the programs that use the anchor.
    pub fn runs_in(&self, anchor: &Anchor, phase: Phase) -> bool {
        anchor.programs.iter().any(|&program| self.programs.runs(program, phase))
    }

    /// The programs to run once before the first call.
    pub fn load_programs(&self) -> impl Iterator<Item = Program<'_>> {
        self.named(&self.metadata.program_flow.load)
    }

    /// The programs to run for every call.
    pub fn main_programs(&self) -> impl Iterator<Item = Program<'_>> {
        self.named(&self.metadata.program_flow.main)
    }

    /// The programs to run at the end, which read trained weights back.
    pub fn save_programs(&self) -> impl Iterator<Item = Program<'_>> {
        self.named(&self.metadata.program_flow.save)
    }

    /// The name of a program, if the metadata has one for it.
    pub fn program_name(&self, index: u32) -> Option<&Text<'static>> {
        self.programs.name(index, &self.metadata.programs_map)
    }

    /// The shape of an anchor taken apart, by this model's replication factor.
    pub fn shape_of(&self, anchor: &Anchor) -> Result<AnchorShape, ShapeMismatch> {
        AnchorShape::of(anchor, self.metadata.replication_factor)
    }

    fn named<'m>(&'m self, flow: &'m [u32]) -> impl Iterator<Item = Program<'m>> {
        flow.iter().map(|&index| Program { index, name: self.program_name(index) })
    }
}

/// A time in a model's life in which programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Once, before the first call.
    Load,
    /// In every call.
    Main,
    /// Once, at the end.
    Save,
}

/// A program of an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Program<'m> {
    /// Its index, by which Poplar runs it.
    pub index: u32,
    /// Its name, if the metadata has one.
    pub name: Option<&'m Text<'static>>,
}

/// `5 (Program)`, or `5` without a name.
impl fmt::Display for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.index)?;
        self.name.map_or(Ok(()), |name| write!(f, " ({name})"))
    }
}
