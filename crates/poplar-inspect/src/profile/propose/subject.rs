//! The input of rules: the results of analysers, and why some of them are missing.

use std::collections::BTreeMap;

use popef::types::escape;

use super::found::Missing;
use super::policy::Policy;
use super::words::quote;
use crate::profile::analyse::consistency::{Compared, Consistency};
use crate::profile::analyse::facts::Facts;
use crate::profile::analyse::liveness::LivenessSums;
use crate::profile::analyse::memory::{MemorySums, TileStatistics, float};
use crate::profile::analyse::overlap::CopyOverlap;
use crate::profile::analyse::steps::SimulationSums;
use crate::profile::execution::{ExecutionProfile, Simulation};
use crate::profile::graph::GraphProfile;
use crate::profile::memory::Memory;
use crate::profile::program::StepKind;

/// A report, and what is required of it.
pub(super) struct Subject<'r> {
    pub(super) graph: &'r GraphProfile,
    pub(super) execution: Option<&'r ExecutionProfile>,
    pub(super) facts: &'r Facts<'r>,
    pub(super) consistency: Option<&'r Consistency>,
    pub(super) policy: &'r Policy,
}

/// The work of a step, together with all other steps that do the same.
pub(super) struct Work<'r> {
    pub(super) kind: &'r StepKind,
    pub(super) name: Option<&'r str>,
    /// The first step that does it.
    pub(super) first: u32,
    pub(super) runs: u64,
    /// The cycles of all runs.
    pub(super) cycles: u64,
    pub(super) tile_balance: Option<f64>,
    pub(super) active_tiles: Option<u64>,
    pub(super) thread_balance: Option<f64>,
}

impl Work<'_> {
    /// `step 14, OnTileExecute "update0/AddTo"`, with its runs if it has several.
    pub(super) fn described(&self) -> String {
        let kind = escape(self.kind.as_str());
        let name = self.name.map_or_else(String::new, |name| format!(" {}", quote(name)));
        let runs = if self.runs == 1 { String::new() } else { format!(" and {} like it", self.runs.saturating_sub(1)) };
        format!("step {}{runs}, {kind}{name}", self.first)
    }

    /// The cycles that would be saved if all tiles were as busy.
    pub(super) fn lost(&self) -> f64 {
        float(self.cycles) * (1.0 - self.tile_balance.unwrap_or(1.0))
    }
}

impl<'r> Subject<'r> {
    pub(super) fn memory(&self) -> Result<&'r Memory, Missing> {
        self.graph.memory.as_ref().ok_or_else(|| Missing::part("memory"))
    }

    pub(super) fn memory_sums(&self) -> Result<&MemorySums, Missing> {
        self.facts.memory.as_ref().map(|memory| &memory.sums).ok_or_else(|| Missing::part("memory"))
    }

    /// What tiles need, with gaps.
    pub(super) fn tiles(&self) -> Result<&TileStatistics, Missing> {
        self.memory_sums()?.with_gaps.as_ref().ok_or_else(|| Missing::part("memory.byTile.totalIncludingGaps"))
    }

    pub(super) fn bytes_per_tile(&self) -> Result<u64, Missing> {
        self.graph.target.bytes_per_tile.ok_or_else(|| Missing::part("target.bytesPerTile"))
    }

    /// Whether the fullest tile is about full. Otherwise it does not matter much what memory is used for.
    pub(super) fn is_memory_short(&self) -> Result<bool, Missing> {
        Ok(float(self.tiles()?.max) >= self.policy.full * float(self.bytes_per_tile()?))
    }

    /// The bytes of all categories on all tiles, which are not 0.
    pub(super) fn data_of_categories(&self) -> Result<u64, Missing> {
        let sums = &self.memory_sums()?.by_category;
        let whole = sums.values().fold(0_u64, |whole, sums| whole.saturating_add(sums.total));
        if whole == 0 { Err(Missing::part("memory.byCategory")) } else { Ok(whole) }
    }

    /// The bytes of some categories on all tiles.
    pub(super) fn bytes_of(&self, categories: &[&str]) -> Result<u64, Missing> {
        let sums = &self.memory_sums()?.by_category;
        let bytes = categories.iter().filter_map(|name| sums.get(*name)).map(|sums| sums.total);
        Ok(bytes.fold(0, u64::saturating_add))
    }

    /// Liveness, if the report has both lists by tile.
    pub(super) fn liveness(&self) -> Result<&LivenessSums, Missing> {
        let sums = self.facts.memory.as_ref().and_then(|memory| memory.liveness.as_ref());
        let (sums, lists) =
            sums.zip(self.memory()?.liveness.as_ref()).ok_or_else(|| Missing::part("memory.liveness"))?;
        match lists {
            _ if lists.always_live_by_tile.is_empty() => Err(Missing::part("memory.liveness.alwaysLive")),
            _ if lists.max_not_always_live_by_tile.is_empty() => Err(Missing::part("memory.liveness.notAlwaysLive")),
            _ => Ok(sums),
        }
    }

    /// Liveness, if the report has the tree with the peak.
    pub(super) fn peak(&self) -> Result<&LivenessSums, Missing> {
        let live = self.liveness()?;
        let peak = live.peak_path.as_ref().map(|_| live);
        peak.ok_or_else(|| Missing::part("memory.liveness.notAlwaysLive.byProgram"))
    }

    pub(super) fn execution(&self) -> Result<&'r ExecutionProfile, Missing> {
        self.execution.ok_or_else(|| Missing::because("there is no execution profile"))
    }

    pub(super) fn simulation(&self) -> Result<&'r Simulation, Missing> {
        self.execution()?.simulation.as_ref().ok_or_else(|| Missing::part("simulation"))
    }

    /// The recomputed values of steps, at least one, without those that depend on undocumented behaviour.
    pub(super) fn recomputed(&self) -> Result<Compared, Missing> {
        self.simulation()?;
        let compared = self.consistency.map(Consistency::without_clocks).filter(|compared| compared.values > 0);
        compared.ok_or_else(|| Missing::because("nothing of the steps could be recomputed from the graph"))
    }

    fn simulation_sums(&self) -> Result<&SimulationSums<'r>, Missing> {
        self.execution()?;
        let sums = self.facts.execution.as_ref().and_then(|execution| execution.simulation.as_ref());
        sums.ok_or_else(|| Missing::part("simulation"))
    }

    /// Compute steps without cycles.
    pub(super) fn unknown_compute_steps(&self) -> Result<u64, Missing> {
        Ok(self.simulation_sums()?.unknown_compute_steps)
    }

    /// The steps, if the cycles of all of them are known. Otherwise it is unknown which of them are heavy.
    fn known_simulation_sums(&self) -> Result<&SimulationSums<'r>, Missing> {
        let sums = self.simulation_sums()?;
        match sums.unknown_compute_steps {
            0 => Ok(sums),
            unknown => Err(Missing::because(format!("the cycles of {unknown} compute steps are not known"))),
        }
    }

    /// The cycles from the start to the end.
    pub(super) fn cycles(&self) -> Result<u64, Missing> {
        self.simulation_sums()?.cycles.ok_or_else(|| Missing::part("simulation.cycles"))
    }

    /// How long copies with the host take, and for how much of that time there is compute.
    pub(super) fn copy_overlap(&self) -> Result<CopyOverlap, Missing> {
        let overlap = self.simulation_sums()?.copy_overlap;
        overlap.ok_or_else(|| Missing::because("steps have no cyclesFrom and cyclesTo"))
    }

    /// The share of all tiles' cycles that an activity has.
    pub(super) fn share(&self, activity: &str) -> Result<f64, Missing> {
        let sums = self.known_simulation_sums()?;
        let has = |key: &str| sums.tile_cycles.contains_key(key);
        // Without compute, the rest is not a whole.
        match sums.tile_cycles_share.get(activity) {
            Some(share) if has("compute") => Ok(*share),
            Some(_) => Err(Missing::part("simulation.tileCycles.compute")),
            None => Err(Missing::part(&format!("simulation.tileCycles.{activity}"))),
        }
    }

    /// Fails if cycles were measured without tiles: then all tiles count as equally busy, which says nothing.
    fn by_tile(&self) -> Result<(), Missing> {
        let execution = self.execution()?;
        if execution.compute_set_cycles.is_some() && execution.compute_set_cycles_by_tile.is_none() {
            return Err(Missing::because("the cycles of compute sets were measured without tiles"));
        }
        Ok(())
    }

    /// The work of heavy steps, by tile. The work that takes the most cycles comes first.
    pub(super) fn heavy(&self) -> Result<Vec<Work<'r>>, Missing> {
        self.by_tile()?;
        let sums = self.known_simulation_sums()?;
        let mut works: BTreeMap<_, Work<'r>> = BTreeMap::new();
        for (number, step) in self.simulation()?.steps.numbered() {
            let Some(cycles) = step.cycles else { continue };
            let key = (step.kind, step.compute_set, step.exchange, step.name);
            let work = works.entry(key).or_insert_with(|| Work {
                kind: step.kind,
                name: step.name,
                first: number,
                runs: 0,
                cycles: 0,
                tile_balance: sums.balance.balance(number, &step).map(|it| it.tile_balance),
                active_tiles: step.active_tiles,
                thread_balance: step.thread_balance,
            });
            work.runs = work.runs.saturating_add(1);
            work.cycles = work.cycles.saturating_add(cycles);
        }
        let least = self.policy.heavy_step * float(sums.sum_of_step_cycles);
        let mut heavy: Vec<_> =
            works.into_values().filter(|work| work.cycles > 0 && float(work.cycles) >= least).collect();
        heavy.sort_by_key(|work| (std::cmp::Reverse(work.cycles), work.first));
        Ok(heavy)
    }

    /// The share of a step in the cycles of all steps.
    pub(super) fn share_of(&self, work: &Work<'_>) -> Result<f64, Missing> {
        Ok(float(work.cycles) / float(self.simulation_sums()?.sum_of_step_cycles.max(1)))
    }
}
