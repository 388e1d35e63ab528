use std::collections::HashMap;
use std::sync::Arc;

use super::sources::{Linked, Sources};
use super::{Model, Phase};
use crate::error::Error;
use crate::read::{ExecutableBlob, File, MetadataBlob, OpaqueBlob};
use crate::types::{Metadata, ProgramInfo, Text};

/// What files have, by the names that link it.
pub(crate) struct Linker<'f> {
    pub(crate) files: Arc<[&'f File]>,
    pub(crate) sources: Sources<'f>,
    executables: HashMap<Text<'f>, Linked<ExecutableBlob<'f>>>,
    /// Shared, so that many metadata blobs for one executable do not each have a copy.
    opaques: HashMap<Text<'f>, Arc<[Linked<OpaqueBlob<'f>>]>>,
}

impl<'f> Linker<'f> {
    pub(crate) fn of(files: Arc<[&'f File]>) -> Self {
        let sources = Sources::of_files(Arc::clone(&files));
        let mut executables = HashMap::new();
        let mut opaques: HashMap<_, Vec<_>> = HashMap::new();
        for (file, opened) in files.iter().enumerate() {
            for blob in opened.executables() {
                executables.entry(blob.name()).or_insert(Linked { file, blob });
            }
            for blob in opened.opaques() {
                opaques.entry(blob.executable()).or_default().push(Linked { file, blob });
            }
        }
        let opaques = opaques.into_iter().map(|(name, blobs)| (name, blobs.into())).collect();
        Linker { files, sources, executables, opaques }
    }

    /// The metadata blobs of all files.
    pub(crate) fn metadata(&self) -> impl Iterator<Item = Linked<MetadataBlob<'f>>> {
        let numbered = self.files.iter().enumerate();
        numbered.flat_map(|(file, opened)| opened.metadata().map(move |blob| Linked { file, blob }))
    }

    pub(crate) fn model(&self, metadata_blob: Linked<MetadataBlob<'f>>) -> Result<Model<'f>, Error> {
        let metadata = metadata_blob.read()?;
        let home = metadata_blob.file;
        let provided = metadata.anchors.iter().map(|anchor| self.sources.find(&anchor.name, home)).collect();
        Ok(Model {
            files: Arc::clone(&self.files),
            executable: self.executable(&metadata.executable, home),
            opaques: self.opaques.get(&metadata.executable).cloned().unwrap_or_default(),
            programs: Programs::of(&metadata),
            metadata,
            metadata_blob,
            provided,
        })
    }

    /// The executable of a name: one in the file `home` before the first of all.
    pub(crate) fn executable(&self, name: &Text<'_>, home: usize) -> Option<Linked<ExecutableBlob<'f>>> {
        let first = self.executables.get(name).copied()?;
        let at_home = self.files.get(home).and_then(|file| file.executable(name.as_bytes()));
        Some(at_home.map_or(first, |blob| Linked { file: home, blob }))
    }
}

/// Program indices, sorted so that each look-up is quick however many there are.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    /// Index of a program, and its place in the programs map; of several, the first.
    names: Vec<(u32, usize)>,
    load: Vec<u32>,
    main: Vec<u32>,
    save: Vec<u32>,
}

impl Programs {
    fn of(metadata: &Metadata) -> Self {
        let mut names: Vec<_> = metadata.programs_map.iter().zip(0..).map(|(info, at)| (info.index, at)).collect();
        names.sort_unstable();
        let sorted = |flow: &[u32]| {
            let mut flow = flow.to_vec();
            flow.sort_unstable();
            flow
        };
        let flow = &metadata.program_flow;
        Programs { names, load: sorted(&flow.load), main: sorted(&flow.main), save: sorted(&flow.save) }
    }

    pub(super) fn name<'m>(&self, index: u32, map: &'m [ProgramInfo]) -> Option<&'m Text<'static>> {
        let at = self.names.partition_point(|&(other, _)| other < index);
        let &(_, place) = self.names.get(at).filter(|&&(other, _)| other == index)?;
        map.get(place).map(|info| &info.name)
    }

    pub(super) fn runs(&self, index: u32, phase: Phase) -> bool {
        let flow = match phase {
            Phase::Load => &self.load,
            Phase::Main => &self.main,
            Phase::Save => &self.save,
        };
        flow.binary_search(&index).is_ok()
    }
}
