//! `popef tiles model`.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use popef::Metadata;
use popef::read::MetadataBlob;
use popef::types::{Anchor, Text};
use popef_cli::end::{unwritten, wrong};
use popef_cli::format::FormatArgs;
use popef_cli::input::open_whole;
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::tiles::{EstimatesRenderer, ModelEstimate, TensorEstimate};
use poplar_inspect::executable::Generation;
use poplar_inspect::tiles::{Order, Target, linear_counts, number_of_elements};

use crate::common::values::path;

/// Estimate how inputs, outputs and weights of a model are spread over tiles
///
/// This is an estimate: a file does not say where tensors are. Each tensor of the metadata is spread by the default mapping of its
/// type, one after the other, on the IPUs that the metadata names. Activations, code and streams are not in it, nor tensors in
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
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, help_heading = "Device")]
    ipus: Option<u32>,
    /// The number of tiles of an IPU; without it, that of the IPU that the metadata names
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, help_heading = "Device")]
    tiles_per_ipu: Option<u32>,
    /// Begin each tensor at tile 0, and not after the one before it
    #[arg(long, help_heading = "Mapping")]
    from_zero: bool,
    /// Show at most N tensors
    #[arg(long, value_name = "N", value_parser = popef_cli::values::top, default_value_t = 10, help_heading = "Output")]
    top: usize,
    #[command(flatten)]
    format: super::Reported,
}

/// More IPUs than any system has.
const MOST_IPUS: u32 = 1024;

/// The maximum number of parts of tensors that are planned for a file, and the further number for each byte of its metadata. A small
/// file can claim many large tensors on many tiles.
const MOST_PARTS: u64 = 10_000_000;
const MOST_PARTS_PER_BYTE: u64 = 1000;

/// A model with its tensors and tiles.
struct Planned {
    model: ModelEstimate,
    tensors: Vec<TensorEstimate>,
    /// The tiles that have any bytes, in order.
    amounts: Vec<(u32, u64)>,
}

/// The state for planning models one after the other.
struct Planner {
    /// The bytes on each tile. They are all 0 between two models.
    by_tile: Vec<u64>,
    /// The number of parts that can still be planned.
    parts: u64,
}

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: &FormatArgs) -> Result<ExitCode, Error> {
        let file = open_whole(tool, &self.file)?;
        if file.metadata().next().is_none() && file.executables().next().is_some() {
            let message = "it has no metadata, and so no model; popef tiles exec shows the tiles of its executables";
            return Err(wrong(message).in_file(&self.file));
        }
        let read = |metadata: MetadataBlob<'_>| metadata.read().map_err(|error| Error::from(error).in_file(&self.file));
        // Errors of planning come before anything is written.
        let (mut models, mut bytes) = (0, 0_u64);
        for metadata in file.metadata() {
            self.target(&read(metadata)?).map_err(|error| error.in_file(&self.file))?;
            bytes = bytes.saturating_add(metadata.blob().size());
            models += 1;
        }
        let parts = MOST_PARTS.saturating_add(bytes.saturating_mul(MOST_PARTS_PER_BYTE));
        let mut planner = Planner { by_tile: Vec::new(), parts };
        let mut out = tool.out();
        let mut renderer =
            EstimatesRenderer::begin(&mut out, &self.file, models, format.top(self.top)).map_err(unwritten)?;
        for metadata in file.metadata().take(renderer.most()) {
            let Planned { model, tensors, amounts } =
                self.planned(&read(metadata)?, &mut planner).map_err(|error| error.in_file(&self.file))?;
            renderer.model(&mut out, &model, &tensors, &amounts).map_err(unwritten)?;
        }
        renderer.end(&mut out).and_then(|()| out.send()).map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    fn target(&self, metadata: &Metadata) -> Result<(Target, Option<Generation>), Error> {
        let generation = Generation::of_ipu_version(metadata.ipu_version);
        let tiles = self.tiles_per_ipu.or(generation.map(Generation::tiles));
        let unknown = || wrong(format!("IPUs of version {} are unknown; give --tiles-per-ipu", metadata.ipu_version));
        let ipus = self.ipus.unwrap_or(metadata.num_ipus);
        if ipus > MOST_IPUS {
            return Err(wrong(format!("{ipus} IPUs are more than any system has; give --ipus")));
        }
        let target = Target::new(tiles.ok_or_else(unknown)?, ipus).map_err(wrong)?;
        Ok((target, generation.filter(|_| self.tiles_per_ipu.is_none())))
    }

    fn planned(&self, metadata: &Metadata, planner: &mut Planner) -> Result<Planned, Error> {
        let (target, generation) = self.target(metadata)?;
        let mut planned = Planned {
            model: ModelEstimate {
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
            amounts: Vec::new(),
        };
        let mut seen: BTreeSet<(&Text<'_>, &[i64])> = BTreeSet::new();
        let mut offset = 0;
        for anchor in &metadata.anchors {
            if anchor.use_remote_buffers {
                planned.model.in_remote_buffers += 1;
            } else if !seen.insert((&anchor.name, &anchor.tensor_info.shape)) {
                planned.model.repeated += 1;
            } else {
                let next = planned.add(planner, &target, anchor, metadata.replication_factor, offset);
                planned.model.not_planned += usize::from(next.is_none());
                offset = next.filter(|_| !self.from_zero).unwrap_or(offset);
            }
        }
        planned.sum_up(planner);
        Ok(planned)
    }
}

impl Planned {
    /// Plans a tensor, and returns the offset for the next one. `None` if its type or shape does not allow it, or if there are too
    /// many parts.
    fn add(
        &mut self,
        planner: &mut Planner,
        target: &Target,
        anchor: &Anchor,
        replicas: u32,
        offset: u32,
    ) -> Option<u32> {
        let info = &anchor.tensor_info;
        let shape = shape_of_replica(anchor, replicas)?;
        let elements = number_of_elements(&shape).ok()?;
        let each = info.data_type.size()?;
        let size = elements.checked_mul(each)?;
        let linear = target.linear(info.data_type).ok()?.from(offset, Order::Ascending);
        if planner.parts == 0 {
            return None;
        }
        let (mut used_tiles, mut most) = (0, 0);
        for (tile, count) in linear_counts(target.tiles(), elements, &linear).ok()? {
            used_tiles += 1;
            most = count.max(most);
            let place = usize::try_from(tile).ok()?;
            if place >= planner.by_tile.len() {
                planner.by_tile.resize(place.saturating_add(1), 0);
            }
            let Some(bytes) = planner.by_tile.get_mut(place) else { continue };
            if *bytes == 0 {
                self.amounts.push((tile, 0));
            }
            *bytes = bytes.saturating_add(count.saturating_mul(each));
        }
        planner.parts = planner.parts.saturating_sub(used_tiles.into());
        self.tensors.push(TensorEstimate {
            name: anchor.name.clone().into(),
            data_type: info.data_type,
            shape,
            size,
            offset,
            used_tiles,
            most_size: most.saturating_mul(each),
        });
        let next = u64::from(offset).saturating_add(used_tiles.into()).checked_rem(target.tiles().into())?;
        u32::try_from(next).ok()
    }

    /// Takes the bytes of the tiles from the planner, which is then ready for the next model.
    fn sum_up(&mut self, planner: &mut Planner) {
        self.amounts.sort_unstable();
        for (tile, amount) in &mut self.amounts {
            let place = usize::try_from(*tile).unwrap_or(usize::MAX);
            *amount = planner.by_tile.get_mut(place).map(std::mem::take).unwrap_or_default();
        }
        let fullest = self.amounts.iter().max_by_key(|&&(tile, bytes)| (bytes, Reverse(tile)));
        self.model.fullest_tile = fullest.map(|tile| tile.0);
        self.model.most_bytes = fullest.map_or(0, |tile| tile.1);
        self.model.used_tiles = self.amounts.len();
        self.model.tensors = self.tensors.len();
        self.model.size = self.tensors.iter().fold(0, |sum, tensor| sum.saturating_add(tensor.size));
    }
}

/// The shape of one replica's part.
fn shape_of_replica(anchor: &Anchor, replicas: u32) -> Option<Vec<u64>> {
    let shape: Option<Vec<u64>> = anchor.tensor_info.shape.iter().map(|&size| u64::try_from(size).ok()).collect();
    let mut shape = shape?;
    if anchor.is_per_replica && replicas > 1 && shape.first() == Some(&u64::from(replicas)) {
        shape.remove(0);
    }
    Some(shape)
}
