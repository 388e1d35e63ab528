//! Models: blobs that belong together, linked by name across any number of files.
//!
//! [`Model::link`] returns all models in some files. [`Sources`] only finds the data of anchors.

#![deny(clippy::arithmetic_side_effects, reason = "counts from a file can wrap")]

mod calls;
mod links;
mod options;
mod problem;
mod profiling;
mod programs;
mod shape;
mod sources;

use std::borrow::Borrow;
use std::fmt;

pub use calls::FeedRuns;
#[doc(hidden)]
pub use calls::numbers_of;
#[doc(hidden)]
pub use links::Links;
pub use shape::{AnchorShape, Outer, ShapeMismatch};
pub use sources::{Linked, Source, Sources};

use crate::error::{Error, push, with_room_for};
use crate::names::named;
use crate::read::{
    BlobHandle, BlobId, Content, ExecutableBlob, FeedBlob, File, Key, MetadataBlob, OpaqueBlob, TensorBlob,
};
use crate::types::{Anchor, Metadata, TensorType, Text};
use programs::Programs;
use sources::{linked, resolve};

/// A model: metadata, the executable that it names, its opaque blobs, and the source of each anchor's data.
///
/// A `Model` keeps cheap clones of the files, and reads no data. Links can cross files. Each metadata blob is one
/// model. Files without metadata, for example with only weights, provide data for the models in other files.
///
/// ```
/// use popef::{File, Model};
///
/// let files = [
///     File::open("examples/data/split-executable.popef")?,
///     File::open("examples/data/split-tensors.popef")?,
///     File::open("examples/data/split-feeds.popef")?,
/// ];
/// for model in Model::link(&files)? {
///     println!("{}", model.metadata().executable);
///     for input in model.inputs_from_user() {
///         println!("feed {} {:?} by handle {}", input.name, input.tensor_info.shape, input.handle);
///     }
///     for (anchor, tensor) in model.tensors_to_upload() {
///         println!("upload {} bytes to {}", tensor.size_in_bytes()?, anchor.handle);
///     }
///     for (anchor, feed) in model.feeds_to_upload() {
///         println!("feed {} tensors to {}", feed.num_tensors(), anchor.handle);
///     }
///     for program in model.main_programs() {
///         println!("run {program}");
///     }
///     for output in model.outputs_to_user() {
///         println!("take {} from handle {}", output.name, output.handle);
///     }
/// }
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    links: Links,
    metadata_blob: Linked<BlobHandle>,
    metadata: Metadata,
    executable: Option<BlobId>,
    /// For each anchor, the tensor or feed with its data, if one was found.
    data: Vec<Option<BlobId>>,
    programs: Programs,
}

impl Model {
    /// Returns all models in these files, in the order of their metadata.
    ///
    /// Fails if a metadata blob cannot be read within the limits of its file, or if there is no memory for the links.
    pub fn link(files: impl IntoIterator<Item: Borrow<File>>) -> Result<Vec<Model>, Error> {
        let links = Links::of(sources::shared(files))?;
        let mut models = Vec::new();
        for (file, opened) in links.files().iter().enumerate() {
            for blob in opened.metadata().filter_map(|metadata| opened.handle(metadata.blob().index())) {
                let model = Model::of(&links, Linked { file, blob })?;
                push(&mut models, model)?;
            }
        }
        Ok(models)
    }

    /// Links the model of a metadata blob.
    #[doc(hidden)]
    pub fn of(links: &Links, metadata_blob: Linked<BlobHandle>) -> Result<Self, Error> {
        let metadata = MetadataBlob::of(metadata_blob.blob.blob()).read()?;
        let home = u32::try_from(metadata_blob.file).unwrap_or(u32::MAX);
        let mut data = with_room_for(metadata.anchors.len())?;
        data.extend(metadata.anchors.iter().map(|anchor| links.data_of(home, anchor.name.as_bytes())));
        Ok(Model {
            executable: links.nearest(home, Key::EXECUTABLE, metadata.executable.as_bytes()),
            programs: Programs::of(&metadata)?,
            links: links.clone(),
            metadata_blob,
            metadata,
            data,
        })
    }

    /// Returns the content of the metadata blob.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns all files that were linked together.
    pub fn files(&self) -> &[File] {
        self.links.files()
    }

    /// Returns the metadata blob.
    pub fn metadata_blob(&self) -> Linked<MetadataBlob<'_>> {
        let Linked { file, blob } = &self.metadata_blob;
        Linked { file: *file, blob: MetadataBlob::of(blob.blob()) }
    }

    /// Returns the executable that the metadata names, if any file has it. One in the metadata's own file comes before
    /// others with the same name.
    pub fn executable(&self) -> Option<Linked<ExecutableBlob<'_>>> {
        linked(&self.links, self.executable?, Content::into_executable)
    }

    /// Iterates over the opaque blobs that name the same executable.
    pub fn opaques(&self) -> impl Iterator<Item = Linked<OpaqueBlob<'_>>> {
        let ids = self.links.all(Key::OPAQUE_OF, self.metadata.executable.as_bytes());
        ids.filter_map(|id| linked(&self.links, id, Content::into_opaque))
    }

    /// Iterates over all anchors with the sources of their data, in file order.
    pub fn anchors(&self) -> impl Iterator<Item = (&Anchor, Source<'_>)> {
        let sources = self.data.iter().map(|&data| resolve(&self.links, data));
        self.metadata.anchors.iter().zip(sources)
    }

    /// Iterates over the inputs for which no file has data. The caller must provide them to run the model.
    ///
    /// If a file is damaged, its missing part is unknown. Then this gives no inputs, and [`anchors`](Self::anchors)
    /// says which sources are [unknown](Source::Unknown).
    ///
    /// ```
    /// # use popef::{File, Model};
    /// let models = Model::link([File::open("examples/data/executable.popef")?])?;
    /// let names: Vec<_> = models[0].inputs_from_user().map(|anchor| anchor.name.to_string()).collect();
    /// assert_eq!(names, ["user_input"]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn inputs_from_user(&self) -> impl Iterator<Item = &Anchor> {
        self.without_data().filter(|anchor| anchor.tensor_type == TensorType::Input)
    }

    /// Iterates over the outputs that a call gives to the user: those of the main programs for which no file has a
    /// tensor or feed. If a file is damaged, this gives none, as [`inputs_from_user`](Self::inputs_from_user) does.
    ///
    /// ```
    /// # use popef::{File, Model};
    /// let models = Model::link([File::open("examples/data/executable.popef")?])?;
    /// let handles: Vec<_> = models[0].outputs_to_user().map(|anchor| anchor.handle.to_string()).collect();
    /// assert_eq!(handles, ["anchor_d2h_Add:0"]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn outputs_to_user(&self) -> impl Iterator<Item = &Anchor> {
        self.without_data().filter(|anchor| self.is_output_of_call(anchor))
    }

    fn without_data(&self) -> impl Iterator<Item = &Anchor> {
        let anchors = self.metadata.anchors.iter().zip(&self.data).filter(|_| self.links.is_complete());
        anchors.filter(|(_, data)| data.is_none()).map(|(anchor, _)| anchor)
    }

    /// Iterates over the inputs whose data is a tensor blob, such as weights, together with that blob.
    pub fn tensors_to_upload(&self) -> impl Iterator<Item = (&Anchor, Linked<TensorBlob<'_>>)> {
        self.anchors().filter_map(|(anchor, source)| match source {
            Source::Tensor(tensor) if anchor.tensor_type == TensorType::Input => Some((anchor, tensor)),
            _ => None,
        })
    }

    /// Iterates over the inputs whose data is a feed blob, together with that blob. Successive calls take successive
    /// tensors of the feed.
    pub fn feeds_to_upload(&self) -> impl Iterator<Item = (&Anchor, Linked<FeedBlob<'_>>)> {
        self.anchors().filter_map(|(anchor, source)| match source {
            Source::Feed(feed) if anchor.tensor_type == TensorType::Input => Some((anchor, feed)),
            _ => None,
        })
    }

    /// Iterates over the outputs that a call gives: those of the main programs.
    pub fn outputs(&self) -> impl Iterator<Item = &Anchor> {
        self.metadata.anchors.iter().filter(|anchor| self.is_output_of_call(anchor))
    }

    fn is_output_of_call(&self, anchor: &Anchor) -> bool {
        anchor.tensor_type == TensorType::Output && self.runs_in(anchor, Phase::Main)
    }

    /// Iterates over all outputs, including weights that are saved.
    pub fn all_outputs(&self) -> impl Iterator<Item = &Anchor> {
        self.metadata.anchors.iter().filter(|anchor| anchor.tensor_type == TensorType::Output)
    }

    /// Returns whether a phase runs one of the programs that use the anchor.
    pub fn runs_in(&self, anchor: &Anchor, phase: Phase) -> bool {
        anchor.programs.iter().any(|&program| self.programs.runs(program, phase))
    }

    /// Iterates over the programs to run once before the first call.
    pub fn load_programs(&self) -> impl Iterator<Item = Program<'_>> {
        self.named(&self.metadata.program_flow.load)
    }

    /// Iterates over the programs to run for every call.
    pub fn main_programs(&self) -> impl Iterator<Item = Program<'_>> {
        self.named(&self.metadata.program_flow.main)
    }

    /// Iterates over the programs to run at the end, which read trained weights back.
    pub fn save_programs(&self) -> impl Iterator<Item = Program<'_>> {
        self.named(&self.metadata.program_flow.save)
    }

    /// Returns the name of a program, if the metadata has one.
    pub fn program_name(&self, index: u32) -> Option<&Text<'static>> {
        self.programs.name(index, &self.metadata.programs_map)
    }

    /// Splits the shape of an anchor, with this model's replication factor.
    pub fn shape_of(&self, anchor: &Anchor) -> Result<AnchorShape, ShapeMismatch> {
        AnchorShape::of(anchor, self.metadata.replication_factor)
    }

    fn named<'m>(&'m self, flow: &'m [u32]) -> impl Iterator<Item = Program<'m>> {
        flow.iter().map(|&index| Program { index, name: self.program_name(index) })
    }
}

named! {
    /// A phase of a model's life in which programs run.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Phase("a phase") {
        /// Once, before the first call.
        Load = "load",
        /// In every call.
        Main = "main",
        /// Once, at the end.
        Save = "save",
    }
}

/// A program of an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Program<'m> {
    /// The index by which Poplar runs the program.
    pub index: u32,
    /// The name of the program, if the metadata has one.
    pub name: Option<&'m Text<'static>>,
}

/// Displays as `5 (Program)`, or as `5` without a name.
impl fmt::Display for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.index)?;
        self.name.map_or(Ok(()), |name| write!(f, " ({name})"))
    }
}
