//! The model of a PopEF file beside a profile.

use std::io;

use popef_ops::FilePath;
use serde::Serialize;

use crate::output::table::fact;
use crate::{Kind, Out, Shown, counted};

/// The models of a PopEF file, compared with a profile.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedModels {
    /// The PopEF file.
    #[serde(flatten)]
    pub path: FilePath,
    /// The models that were compared.
    pub models: Vec<ComparedModel>,
    /// The number of further models, which were not compared.
    pub more: u64,
    /// The facts that cannot be compared, and why.
    pub not_compared: &'static str,
}

/// A model, compared with a profile.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedModel {
    /// The name of its executable.
    pub executable: String,
    /// Its replicas.
    pub replication_factor: u32,
    /// Whether it is for inference.
    pub is_inference: bool,
    /// The properties that both have.
    pub compared: Vec<Compared>,
    /// The properties that could not be compared.
    pub unknown: Vec<String>,
}

/// A property that both have.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// The name of the property.
    pub what: &'static str,
    /// The value in the profile.
    pub profile: String,
    /// The value in the model.
    pub model: String,
    /// Whether both can belong to the same program.
    pub agree: bool,
}

/// Writes the models, and how they compare.
pub(super) fn write(out: &mut Out, models: &ComparedModels) -> io::Result<()> {
    for model in &models.models {
        let replicas = counted(model.replication_factor, "replica", "replicas");
        let purpose = if model.is_inference { "inference" } else { "training" };
        let name = Shown::escaped(&model.executable);
        fact(
            out,
            "model",
            shown!("\"{}\" in {}, {}, for {}", name, Shown::escaped(&models.path.to_string()), replicas, purpose),
        )?;
        for Compared { what, profile, model, agree } in &model.compared {
            let (kind, word) =
                if *agree { (Kind::Plain, "as in the profile") } else { (Kind::Warning, "the profile has") };
            let other = if *agree { Shown::default() } else { shown!(" {}", Shown::escaped(profile)) };
            out.put(shown!("  {:<14}{}: {}, ", "", what, Shown::escaped(model)));
            out.put_as(kind, word).put(other).end_line()?;
        }
        for unknown in &model.unknown {
            out.put(shown!("  {:<14}not compared: {}", "", Shown::escaped(unknown))).end_line()?;
        }
    }
    if models.more > 0 {
        fact(out, "more models", shown!("{} others were not compared", models.more))?;
    }
    fact(out, "not known", models.not_compared)
}
