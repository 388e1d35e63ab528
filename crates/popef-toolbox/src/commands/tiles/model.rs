//! `popef tiles model`.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use popef::types::{Anchor, Text};
use popef::{DataType, Metadata};
use popef_ops::{Error, FilePath, Name};
use popef_show::{Kind, Out, counted, size};
use poplar_inspect::executable::Generation;
use poplar_inspect::tiles::{Target, calc_linear_tile_mapping_and_new_offset};
use serde::Serialize;

use super::picture::Picture;
use crate::common::end::unwritten;
use crate::common::format::{Format, FormatArgs, json_document, json_line};
use crate::common::input::open_whole;
use crate::common::table::{Column, Table};
use crate::common::tool::Tool;
use crate::common::values::path;
use crate::common::words::{fact, heading, more, shape, wrong};

/// Estimate how the inputs, outputs and weights of a model lie on tiles
///
/// This is an estimate: a file does not say where tensors are. Each tensor of the metadata is spread by the default mapping of its
/// type, one behind the other, on the IPUs that the metadata names. Activations, code and streams are not in it, nor tensors in
/// remote buffers. An input and an output with one name and shape, as weights have them, count once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef tiles model model.popef
  popef tiles model model.popef --ipus 2 --from-zero
  popef tiles model model.popef --format json | jq '.models[].mostBytes'")]
pub(crate) struct Args {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// The number of IPUs of a replica; without it, the metadata's number of IPUs
    #[arg(long, value_name = "N", help_heading = "Device")]
    ipus: Option<u32>,
    /// The number of tiles of an IPU; without it, that of the IPU that the metadata names
    #[arg(long, value_name = "N", help_heading = "Device")]
    tiles: Option<u32>,
    /// Begin each tensor at tile 0, and not after the one before it
    #[arg(long, help_heading = "Mapping")]
    from_zero: bool,
    /// Show at most N tensors
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    top: usize,
}

/// More IPUs than any system has.
const MOST_IPUS: u32 = 1024;

/// So many parts of tensors are planned, which takes some seconds. A small file can claim many large tensors on many tiles.
const MOST_PARTS: u64 = 100_000_000;

/// A tensor that is planned.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tensor {
    #[serde(flatten)]
    name: Name,
    #[serde(rename = "type")]
    data_type: DataType,
    shape: Vec<u64>,
    size: u64,
    offset: u32,
    used_tiles: u32,
    most_size: u64,
}

/// A model that is planned.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    executable: String,
    tiles_per_ipu: u32,
    ipus: u32,
    tile_memory: Option<u64>,
    anchors: usize,
    in_remote_buffers: usize,
    repeated: usize,
    not_planned: usize,
    tensors: usize,
    size: u64,
    used_tiles: usize,
    fullest_tile: Option<u32>,
    most_bytes: u64,
}

/// A model with its tensors and tiles.
struct Planned {
    model: Model,
    tensors: Vec<Tensor>,
    /// The bytes on each tile.
    by_tile: Vec<u64>,
    /// The number of parts that were planned.
    parts: u64,
}

#[derive(Serialize)]
struct Document<'m> {
    #[serde(flatten)]
    path: FilePath,
    estimate: bool,
    models: Vec<WithTensors<'m>>,
}

#[derive(Serialize)]
struct WithTensors<'m> {
    #[serde(flatten)]
    model: &'m Model,
    mappings: &'m [Tensor],
}

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: &FormatArgs) -> Result<ExitCode, Error> {
        let file = open_whole(tool, &self.file)?;
        if file.metadata().next().is_none() && file.executables().next().is_some() {
            let message = "it has no metadata, and so no model; popef tiles exec shows the tiles of its executables";
            return Err(wrong(message).in_file(&self.file));
        }
        let mut models = Vec::new();
        for metadata in file.metadata() {
            let metadata = metadata.read().map_err(|error| Error::from(error).in_file(&self.file))?;
            models.push(self.planned(&metadata).map_err(|error| error.in_file(&self.file))?);
        }
        let mut out = tool.out();
        match format.format {
            Format::Text => self.show(&mut out, &models),
            Format::Json => json_document(&mut out, &self.document(&models)),
            Format::Ndjson => self.write_lines(&mut out, &models),
        }
        .and_then(|()| out.send())
        .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    fn target(&self, metadata: &Metadata) -> Result<(Target, Option<Generation>), Error> {
        let generation = Generation::of_ipu_version(metadata.ipu_version);
        let tiles = self.tiles.or(generation.map(Generation::tiles));
        let unknown = || wrong(format!("IPUs of version {} are unknown; give --tiles", metadata.ipu_version));
        let ipus = self.ipus.unwrap_or(metadata.num_ipus);
        if ipus > MOST_IPUS {
            return Err(wrong(format!("{ipus} IPUs are more than any system has; give --ipus")));
        }
        let target = Target::new(tiles.ok_or_else(unknown)?, ipus).map_err(wrong)?;
        Ok((target, generation.filter(|_| self.tiles.is_none())))
    }

    fn planned(&self, metadata: &Metadata) -> Result<Planned, Error> {
        let (target, generation) = self.target(metadata)?;
        let mut planned = Planned {
            model: Model {
                executable: metadata.executable.to_string_lossy().into_owned(),
                tiles_per_ipu: target.tiles_per_ipu(),
                ipus: target.ipus(),
                tile_memory: generation.map(Generation::tile_memory),
                anchors: metadata.anchors.len(),
                in_remote_buffers: 0,
                repeated: 0,
                not_planned: 0,
                tensors: 0,
                size: 0,
                used_tiles: 0,
                fullest_tile: None,
                most_bytes: 0,
            },
            tensors: Vec::new(),
            by_tile: vec![0; usize::try_from(target.tiles()).unwrap_or_default()],
            parts: 0,
        };
        let mut seen: BTreeSet<(&Text<'_>, &[i64])> = BTreeSet::new();
        let mut offset = 0;
        for anchor in &metadata.anchors {
            if anchor.use_remote_buffers {
                planned.model.in_remote_buffers += 1;
            } else if !seen.insert((&anchor.name, &anchor.tensor_info.shape)) {
                planned.model.repeated += 1;
            } else {
                let next = planned.add(&target, anchor, metadata.replication_factor, offset);
                planned.model.not_planned += usize::from(next.is_none());
                offset = next.filter(|_| !self.from_zero).unwrap_or(offset);
            }
        }
        planned.sum_up();
        Ok(planned)
    }

    fn document<'m>(&self, models: &'m [Planned]) -> Document<'m> {
        let models = models.iter().map(|it| WithTensors { model: &it.model, mappings: &it.tensors });
        Document { path: self.file.as_path().into(), estimate: true, models: models.collect() }
    }

    fn write_lines(&self, out: &mut Out, models: &[Planned]) -> io::Result<()> {
        #[derive(Serialize)]
        struct Row<'m> {
            executable: &'m str,
            #[serde(flatten)]
            tensor: &'m Tensor,
        }
        #[derive(Serialize)]
        struct ModelRow<'m> {
            #[serde(flatten)]
            file: popef_ops::InFile,
            estimate: bool,
            #[serde(flatten)]
            model: &'m Model,
        }
        for planned in models {
            for tensor in &planned.tensors {
                json_line(out, "tensor", &Row { executable: &planned.model.executable, tensor })?;
            }
            let file = self.file.as_path().into();
            json_line(out, "model", &ModelRow { file, estimate: true, model: &planned.model })?;
        }
        Ok(())
    }

    fn show(&self, out: &mut Out, models: &[Planned]) -> io::Result<()> {
        out.text(Kind::Group, FilePath::from(self.file.as_path()).text());
        out.put(&format!("  {}, estimated by the default mapping", counted(models.len(), "model", "models"))).end_line()?;
        models.iter().try_for_each(|planned| self.show_model(out, planned))
    }

    fn show_model(&self, out: &mut Out, planned: &Planned) -> io::Result<()> {
        let model = &planned.model;
        out.end_line()?;
        out.quoted(Kind::Name, &Text::from(model.executable.as_str()));
        let tiles = u64::from(model.tiles_per_ipu).saturating_mul(u64::from(model.ipus));
        let ipus = counted(model.ipus, "IPU", "IPUs");
        out.put(&format!(" on {tiles} tiles of {ipus}")).end_line()?;
        fact(out, "tensors", &format!("{}, {}", model.tensors, size(model.size)))?;
        let left_out = [
            (model.repeated, "anchors of the same tensors"),
            (model.in_remote_buffers, "in remote buffers"),
            (model.not_planned, "of unknown type or shape, or too many"),
        ];
        for (count, what) in left_out.into_iter().filter(|left_out| left_out.0 > 0) {
            fact(out, "left out", &format!("{count} {what}"))?;
        }
        let most = size(model.most_bytes);
        let of_memory = model.tile_memory.map_or(String::new(), |memory| format!(" of {}", size(memory)));
        let tile = model.fullest_tile.map_or(String::new(), |tile| format!(", tile {tile}"));
        fact(out, "fullest tile", &format!("{most}{of_memory}{tile}"))?;
        out.end_line()?;
        let amounts = planned.amounts();
        Picture { tiles_per_ipu: model.tiles_per_ipu, ipus: model.ipus, amounts: &amounts, most: &most }.write(out)?;
        self.show_tensors(out, &planned.tensors)
    }

    fn show_tensors(&self, out: &mut Out, tensors: &[Tensor]) -> io::Result<()> {
        let mut largest: Vec<_> = tensors.iter().collect();
        largest.sort_by_key(|tensor| Reverse(tensor.size));
        heading(out, "Largest tensors")?;
        let mut table = Table::new([
            Column::right("SIZE"),
            Column::right("ON A TILE"),
            Column::right("TILES"),
            Column::left("TYPE", Kind::Type),
            Column::left("NAME", Kind::Name),
        ]);
        for tensor in largest.iter().take(self.top) {
            table.row([
                &size(tensor.size),
                &size(tensor.most_size),
                &tensor.used_tiles.to_string(),
                &format!("{} {}", tensor.data_type, shape(&tensor.shape)),
                &tensor.name.to_string(),
            ]);
        }
        table.write(out)?;
        more(out, tensors.len(), self.top)
    }
}

impl Planned {
    /// The tiles that have any bytes.
    fn amounts(&self) -> Vec<(u32, u64)> {
        (0..).zip(self.by_tile.iter().copied()).filter(|tile| tile.1 > 0).collect()
    }

    /// Plans a tensor, and returns the offset for the next one. `None` if its type or shape does not allow it, or it is one too many.
    fn add(&mut self, target: &Target, anchor: &Anchor, replicas: u32, offset: u32) -> Option<u32> {
        if self.parts >= MOST_PARTS {
            return None;
        }
        let info = &anchor.tensor_info;
        let shape = shape_of_replica(anchor, replicas)?;
        let each = info.data_type.size()?;
        let linear = target.linear(info.data_type).ok()?;
        let (mapping, next) =
            calc_linear_tile_mapping_and_new_offset(target.tiles(), &shape, &linear, offset).ok()?;
        let size = mapping.elements().checked_mul(each)?;
        for (tile, count) in mapping.counts() {
            if let Some(bytes) = usize::try_from(tile).ok().and_then(|tile| self.by_tile.get_mut(tile)) {
                *bytes = bytes.saturating_add(count.saturating_mul(each));
            }
        }
        self.parts = self.parts.saturating_add(u64::from(mapping.used_tiles()));
        self.tensors.push(Tensor {
            name: anchor.name.clone().into(),
            data_type: info.data_type,
            shape,
            size,
            offset,
            used_tiles: mapping.used_tiles(),
            most_size: mapping.most().saturating_mul(each),
        });
        Some(next)
    }

    fn sum_up(&mut self) {
        let amounts = self.amounts();
        let fullest = amounts.iter().max_by_key(|&&(tile, bytes)| (bytes, Reverse(tile)));
        self.model.fullest_tile = fullest.map(|tile| tile.0);
        self.model.most_bytes = fullest.map_or(0, |tile| tile.1);
        self.model.used_tiles = amounts.len();
        self.model.tensors = self.tensors.len();
        self.model.size = self.tensors.iter().fold(0, |sum, tensor| sum.saturating_add(tensor.size));
    }
}

/// The shape of what one replica has.
fn shape_of_replica(anchor: &Anchor, replicas: u32) -> Option<Vec<u64>> {
    let shape: Option<Vec<u64>> = anchor.tensor_info.shape.iter().map(|&size| u64::try_from(size).ok()).collect();
    let mut shape = shape?;
    if anchor.is_per_replica && replicas > 1 && shape.first() == Some(&u64::from(replicas)) {
        shape.remove(0);
    }
    Some(shape)
}
