//! `popef tiles map`.

use std::path::PathBuf;
use std::process::ExitCode;

use popef_cli::end::{unwritten, wrong};
use popef_cli::format::FormatArgs;
use popef_cli::tool::Tool;
use popef_ops::{Code, Error};
use popef_show::tiles::MapReport;
use poplar_inspect::tiles::{Target, TensorMap};

use crate::common::json_file::{Damage, open, refused};
use crate::common::values::path;

/// Show how TensorFlow spread each tensor, and what is uneven
///
/// Reads a NAME.tensor_map.json, which TensorFlow for IPUs writes if TF_POPLAR_FLAGS has --tensor_map_file_path=FOLDER. Each tensor is
/// compared with the default mapping of its type. The bytes of a tile are those of all tensors together, which is more than its
/// memory needs: not all are live at once, and some are others under another name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef tiles map model.tensor_map.json
  popef tiles map model.tensor_map.json --top 50 --ipus 4
  popef tiles map model.tensor_map.json --format ndjson | jq 'select(.balance.excessSize > 4096).instruction'")]
pub(crate) struct Args {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// The number of tiles of an IPU
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, default_value_t = 1472, help_heading = "Device")]
    tiles_per_ipu: u32,
    /// The number of IPUs; without it, as many as the file uses
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, help_heading = "Device")]
    ipus: Option<u32>,
    /// Show at most N tiles, tensors and computations
    #[arg(long, value_name = "N", value_parser = popef_cli::values::top, default_value_t = 10, help_heading = "Output")]
    top: usize,
    #[command(flatten)]
    format: super::Reported,
}

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: &FormatArgs) -> Result<ExitCode, Error> {
        let map = TensorMap::read(open(&self.file)?).map_err(|error| refused(&error, Code::BadTileFile, &self.file))?;
        let damage = Damage::of(map.damage.as_ref(), Code::BadTileFile, &self.file);
        let report = MapReport::new(&self.file, &map, self.target(&map)?, damage.report());
        let mut out = tool.out();
        report.write(&mut out, &format.top(self.top)).and_then(|()| out.send()).map_err(unwritten)?;
        Ok(damage.told(tool))
    }

    fn target(&self, map: &TensorMap) -> Result<Target, Error> {
        let used = map.last_tile().map_or(1, |last| last.saturating_add(1));
        let ipus = self.ipus.unwrap_or(used.checked_div(self.tiles_per_ipu).unwrap_or_default().saturating_add(1));
        let ipus = if self.ipus.is_none() && used.checked_rem(self.tiles_per_ipu) == Some(0) { ipus.saturating_sub(1) } else { ipus };
        let target = Target::new(self.tiles_per_ipu, ipus).map_err(|error| wrong(error).in_file(&self.file))?;
        if used > target.tiles() {
            let message = format!("the file uses tile {}, and there are {} tiles", used.saturating_sub(1), target.tiles());
            return Err(wrong(message).in_file(&self.file));
        }
        Ok(target)
    }
}
