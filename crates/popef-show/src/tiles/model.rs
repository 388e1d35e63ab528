//! Estimates how the inputs, outputs and weights of models are spread over tiles.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use popef::DataType;
use popef::types::Text;
use popef_ops::{FilePath, InFile, Name};
use serde::Serialize;

use super::MOST_NAME;
use super::picture::Picture;
use crate::output::json::{LongObject, item_in, object};
use crate::output::table::{Table, brief, fact, heading, more, shape};
use crate::{Kind, Out, ReportFormat, ReportOptions, Shown, counted, json_item, size};

/// The maximum number of models in text.
const MAX_MODELS: usize = 100;

/// A tensor that is planned.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TensorEstimate {
    /// Its name.
    #[serde(flatten)]
    pub name: Name,
    /// The type of its elements.
    #[serde(rename = "type")]
    pub data_type: DataType,
    /// The shape of one replica's part.
    pub shape: Vec<u64>,
    /// The bytes of all its elements.
    pub size: u64,
    /// The tile that it begins at.
    pub offset: u32,
    /// The number of tiles that have some of it.
    pub used_tiles: u32,
    /// The bytes of it on the tile that has the most.
    pub most_size: u64,
}

/// A model that is planned.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelEstimate {
    /// The name of its executable.
    pub executable: String,
    /// The tiles of an IPU.
    pub tiles_per_ipu: u32,
    /// The IPUs of a replica.
    pub ipus: u32,
    /// The bytes of a tile, if known.
    pub tile_memory: Option<u64>,
    /// The anchors of its metadata.
    pub anchors: usize,
    /// Anchors in remote buffers, which are not planned.
    pub in_remote_buffers: usize,
    /// Anchors of tensors that were planned already.
    pub repeated: usize,
    /// Anchors that cannot be planned.
    pub not_planned: usize,
    /// How many tensors are planned.
    pub tensors: usize,
    /// The bytes of all planned tensors.
    pub size: u64,
    /// The number of tiles that have any tensor.
    pub used_tiles: usize,
    /// The tile with the most bytes.
    pub fullest_tile: Option<u32>,
    /// The bytes of that tile.
    pub most_bytes: u64,
}

/// Shows the models of a file, one after the other.
#[derive(Debug)]
pub struct EstimatesRenderer {
    file: InFile,
    options: ReportOptions,
    /// How many models the file has.
    models: usize,
    document: Option<LongObject>,
}

impl EstimatesRenderer {
    /// Writes the part before the models.
    pub fn begin(out: &mut Out, path: &Path, models: usize, options: ReportOptions) -> io::Result<Self> {
        let file = InFile::from(path);
        let path = FilePath::from(path);
        let document = match options.format {
            ReportFormat::Text => {
                out.text(Kind::Group, path.text());
                let models = counted(models, "model", "models");
                out.put(shown!("  {}, estimated by the default mapping", models)).end_line()?;
                None
            }
            ReportFormat::Json => {
                let head = object! { schema_version: 1, #[serde(flatten)] path, estimate: true };
                Some(LongObject::begin(out, &head, "models")?)
            }
            ReportFormat::Ndjson => None,
        };
        Ok(EstimatesRenderer { file, options, models, document })
    }

    /// How many models are shown.
    pub fn most(&self) -> usize {
        if self.options.format == ReportFormat::Text { MAX_MODELS } else { usize::MAX }
    }

    /// Writes a model. `amounts` are the tiles that have any bytes, in order, and how many.
    pub fn model(
        &mut self,
        out: &mut Out,
        model: &ModelEstimate,
        tensors: &[TensorEstimate],
        amounts: &[(u32, u64)],
    ) -> io::Result<()> {
        match (&mut self.document, self.options.format) {
            (Some(document), _) => document.element(out, &object! { #[serde(flatten)] model, mappings: tensors }),
            (None, ReportFormat::Ndjson) => self.write_lines(out, model, tensors),
            (None, _) => self.show_model(out, model, tensors, amounts),
        }
    }

    /// Writes the part after the models.
    pub fn end(self, out: &mut Out) -> io::Result<()> {
        let most = self.most();
        match self.document {
            Some(document) => document.end(out, &self.options.network),
            None => more(out, self.models, most),
        }
    }

    fn write_lines(&self, out: &mut Out, model: &ModelEstimate, tensors: &[TensorEstimate]) -> io::Result<()> {
        let executable = &*brief(&model.executable, MOST_NAME);
        for tensor in tensors {
            json_item(out, "tensor", &object! { executable, #[serde(flatten)] tensor })?;
        }
        item_in(out, "model", &self.file, &object! { estimate: true, #[serde(flatten)] model })
    }

    fn show_model(
        &self,
        out: &mut Out,
        model: &ModelEstimate,
        tensors: &[TensorEstimate],
        amounts: &[(u32, u64)],
    ) -> io::Result<()> {
        out.end_line()?;
        out.quoted(Kind::Name, &Text::from(model.executable.as_str()));
        let tiles = u64::from(model.tiles_per_ipu).saturating_mul(u64::from(model.ipus));
        let ipus = counted(model.ipus, "IPU", "IPUs");
        out.put(shown!(" on {} tiles of {}", tiles, ipus)).end_line()?;
        fact(out, "tensors", shown!("{}, {}", model.tensors, size(model.size)))?;
        let left_out = [
            (model.repeated, "anchors of the same tensors"),
            (model.in_remote_buffers, "in remote buffers"),
            (model.not_planned, "of unknown type or shape, or too many"),
        ];
        for (count, what) in left_out.into_iter().filter(|left_out| left_out.0 > 0) {
            fact(out, "left out", shown!("{} {}", count, what))?;
        }
        let most = size(model.most_bytes);
        let of_memory = model.tile_memory.map_or(Shown::default(), |memory| shown!(" of {}", size(memory)));
        let tile = model.fullest_tile.map_or(Shown::default(), |tile| shown!(", tile {}", tile));
        fact(out, "fullest tile", shown!("{}{}{}", most, of_memory, tile))?;
        out.end_line()?;
        Picture { tiles_per_ipu: model.tiles_per_ipu, ipus: model.ipus, amounts, most: &most }.write(out)?;
        show_tensors(out, tensors, self.options.top)
    }
}

fn show_tensors(out: &mut Out, tensors: &[TensorEstimate], top: usize) -> io::Result<()> {
    let mut largest: Vec<_> = tensors.iter().collect();
    largest.sort_by_key(|tensor| Reverse(tensor.size));
    heading(out, "Largest tensors")?;
    Table::of(largest)
        .number("Size", |tensor| size(tensor.size))
        .number("On a tile", |tensor| size(tensor.most_size))
        .number("Tiles", |tensor| tensor.used_tiles)
        .column("Type", Kind::Type, |tensor| shown!("{} {}", tensor.data_type, shape(&tensor.shape)))
        .column("Name", Kind::Name, |tensor| &tensor.name)
        .write_first(out, top)
}
