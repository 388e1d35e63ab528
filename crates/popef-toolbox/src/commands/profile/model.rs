//! Compares the model of a PopEF file with a profile, which may be of it or not.

use std::path::{Path, PathBuf};

use popef::{File, Metadata};
use popef_cli::end::wrong;
use popef_cli::input::open_whole;
use popef_cli::tool::Tool;
use popef_open::{StreamData, is_elsewhere, open};
use popef_ops::Error;
use popef_show::profile::{Compared, ComparedModel, ComparedModels};
use poplar_inspect::executable::{Generation, Options, read_blob};
use poplar_inspect::profile::GraphProfile;

/// The maximum number of models of a file that are compared.
const MOST: usize = 16;

const NOT_COMPARED: &str = "whether both come from one compilation: neither file says so";

/// Whether a file is PopEF. A pipe can be read only once, so the answer is no.
pub(super) fn is_popef(path: &Path) -> bool {
    let is_file = is_elsewhere(path) || std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && open(path, StreamData::Skip).file().is_some_and(|file| !file.is_empty())
}

/// Compares the models of a file with a profile.
pub(super) fn compare(tool: &Tool, graph: &GraphProfile, path: &PathBuf) -> Result<ComparedModels, Error> {
    let file = open_whole(tool, path)?;
    let in_file = |error: popef::Error| Error::from(error).in_file(path);
    let mut models = Vec::new();
    for blob in file.metadata().take(MOST) {
        models.push(model(graph, &file, &blob.read().map_err(in_file)?));
    }
    if models.is_empty() {
        return Err(wrong("it has no metadata, and so no model").in_file(path));
    }
    let more = file.metadata().skip(MOST).count() as u64;
    Ok(ComparedModels { path: path.as_path().into(), models, more, not_compared: NOT_COMPARED })
}

fn model(graph: &GraphProfile, file: &File, metadata: &Metadata) -> ComparedModel {
    let mut model = Model(ComparedModel {
        executable: metadata.executable.to_string_lossy().into_owned(),
        replication_factor: metadata.replication_factor,
        is_inference: metadata.is_inference,
        compared: Vec::new(),
        unknown: Vec::new(),
    });
    model.target(graph);
    model.ipus(graph, metadata);
    model.generation(graph, metadata);
    model.tiles(graph, file, metadata);
    model.instrumentation(graph, metadata);
    model.0
}

/// A model while it is compared.
struct Model(ComparedModel);

impl Model {
    fn add(&mut self, what: &'static str, profile: &(impl ToString + ?Sized), model: &(impl ToString + ?Sized), agree: bool) {
        self.0.compared.push(Compared { what, profile: profile.to_string(), model: model.to_string(), agree });
    }

    fn target(&mut self, graph: &GraphProfile) {
        match graph.target.kind.as_deref() {
            Some(kind) => self.add("target", kind, "IPU", kind == "IPU"),
            None => self.0.unknown.push("target: the profile has no target.type".to_owned()),
        }
    }

    /// A profile may be of all replicas, or of one.
    fn ipus(&mut self, graph: &GraphProfile, metadata: &Metadata) {
        let all = u64::from(metadata.num_ipus);
        let of_one = all.checked_div(metadata.replication_factor.into());
        match graph.target.num_ipus {
            Some(ipus) => self.add("IPUs", &ipus, &all, ipus == all || Some(ipus) == of_one),
            None => self.0.unknown.push("IPUs: the profile has no target.numIPUs".to_owned()),
        }
    }

    fn generation(&mut self, graph: &GraphProfile, metadata: &Metadata) {
        let version = metadata.ipu_version;
        let Some(generation) = Generation::of_ipu_version(version) else {
            return self.0.unknown.push(format!("tiles of an IPU: nothing is known of IPU version {version}"));
        };
        let tiles = u64::from(generation.tiles());
        match graph.target.tiles_per_ipu {
            Some(has) => self.add("tiles of an IPU", &has, &tiles, has == tiles),
            None => self.0.unknown.push("tiles of an IPU: the profile has no target.tilesPerIPU".to_owned()),
        }
    }

    /// Compares the tiles that the executable has programs for. The format of executables is not public.
    fn tiles(&mut self, graph: &GraphProfile, file: &File, metadata: &Metadata) {
        let Some(executable) = file.executable(metadata.executable.as_bytes()) else {
            return self.0.unknown.push("tiles of the executable: it is not in this file".to_owned());
        };
        match read_blob(&executable, &Options::default()) {
            Ok(summary) if summary.is_complete() && !summary.tiles.is_empty() => {
                let (tiles, profile) = (summary.tiles.len() as u64, u64::from(graph.target.num_tiles));
                self.add("tiles of the executable, unverified", &profile, &tiles, tiles == profile);
            }
            Ok(_) => self.0.unknown.push("tiles of the executable: it could not be read to its end".to_owned()),
            Err(error) => self.0.unknown.push(format!("tiles of the executable: {error}")),
        }
    }

    /// A profile of a program that measures itself has too large figures for one that does not.
    fn instrumentation(&mut self, graph: &GraphProfile, metadata: &Metadata) {
        let word = |measures: bool| if measures { "yes" } else { "no" };
        let model = !metadata.instrumentation().is_empty();
        let categories = graph.memory.as_ref().map(|memory| &memory.by_category).filter(|all| !all.is_empty());
        let Some(categories) = categories else {
            return self.0.unknown.push("measures itself: the profile has no memory.byCategory".to_owned());
        };
        let results = categories.iter().find(|category| &*category.name == "instrumentationResults");
        let profile = results.is_some_and(|category| category.total.iter().any(|bytes| *bytes > 0));
        self.add("measures itself", word(profile), word(model), profile == model);
    }
}
