use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::interval::joined;
use super::{
    Error, Graph, Interval, Mapping, Order, Split, inv_transform_tile_index, split_regions, transform_tile_index,
};

/// What is done with elements that several tiles use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// They are spread over the tiles that use them, a grain at a time.
    #[default]
    None,
    /// Like `None`, but elements that are used by exactly the tiles of both neighbouring regions count as used by those of the region
    /// before.
    OptimizeHaloRegions,
    /// Elements are only on tiles that use them or a neighbouring region. Regions are not widened to whole grains, so that a tile
    /// may have less than a grain.
    ConstrainMappingToUsedTiles,
}

/// How [`TensorUseTracker`] decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The number of elements on a tile is a multiple of this.
    pub grain: u64,
    /// The minimum number of elements on a tile, if the same tiles use them.
    pub min_elements: u64,
    /// Whether elements that no tile uses are mapped like their neighbours.
    pub extend_partial_use: bool,
    /// What is done with elements that several tiles use.
    pub method: Method,
}

impl Resolve {
    /// Options with a grain and a minimum.
    pub fn new(grain: u64, min_elements: u64) -> Self {
        Resolve { grain, min_elements, extend_partial_use: false, method: Method::None }
    }
}

/// Gathers which tiles use which elements, and maps each element onto one of the tiles that use it: poplibs'
/// `TensorUseTracker`.
///
/// The work grows with the number of regions that have different users, times their users.
///
/// ```
/// use poplar_inspect::tiles::{Graph, Interval, Resolve, Target, TensorUseTracker};
/// use popef::DataType;
///
/// let mut graph = Graph::new(Target::new(4, 1)?);
/// let bias = graph.add_variable(DataType::F32, &[16])?;
/// let mut tracker = TensorUseTracker::new(4)?;
/// tracker.add(1, bias, Interval::new(0, 16)?)?;
/// tracker.add(3, bias, Interval::new(8, 16)?)?;
/// tracker.map_tensors_by_use(&mut graph, &Resolve::new(4, 0))?;
/// let mapping = graph.variable(bias)?.mapping().unwrap();
/// assert_eq!(format!("{mapping:?}"), "4 tiles {1: [0, 12), 3: [12, 16)}");
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorUseTracker {
    tiles: u32,
    start: u32,
    order: Order,
    /// The uses of each variable, in the order in which they were added.
    uses: BTreeMap<usize, Vec<(u32, Interval)>>,
}

impl TensorUseTracker {
    /// A tracker for `tiles` tiles, which are filled from tile 0 upwards.
    pub fn new(tiles: u32) -> Result<Self, Error> {
        TensorUseTracker::starting_at(tiles, 0, Order::Ascending)
    }

    /// A tracker with another first tile and direction. If the order is descending, the first tile is `tiles - start`, as poplibs' code has
    /// it, and not `tiles - 1 - start`, as its documentation says.
    pub fn starting_at(tiles: u32, start: u32, order: Order) -> Result<Self, Error> {
        if tiles == 0 {
            return Err(Error::Zero { what: "tiles" });
        }
        Ok(TensorUseTracker { tiles, start, order, uses: BTreeMap::new() })
    }

    /// Whether nothing is used.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// The uses of a variable: tiles with the elements that they use, in no particular order.
    pub fn uses(&self, variable: usize) -> &[(u32, Interval)] {
        self.uses.get(&variable).map_or(&[], Vec::as_slice)
    }

    /// Adds that a tile uses elements of a variable.
    pub fn add(&mut self, tile: u32, variable: usize, elements: Interval) -> Result<(), Error> {
        if tile >= self.tiles {
            return Err(Error::NoSuchTile { tile, tiles: self.tiles });
        }
        if !elements.is_empty() {
            self.uses.entry(variable).or_default().push((tile, elements));
        }
        Ok(())
    }

    /// Adds everything that another tracker has. Both must have the same number of tiles.
    pub fn merge(&mut self, other: TensorUseTracker) -> Result<(), Error> {
        if self.tiles != other.tiles {
            return Err(Error::DifferentTiles { left: self.tiles, right: other.tiles });
        }
        for (variable, uses) in other.uses {
            self.uses.entry(variable).or_default().extend(uses);
        }
        Ok(())
    }

    /// Decides for each element that is used which one of its tiles uses it from now on. Uses that are added later are
    /// independent of this.
    pub fn resolve(&mut self, graph: &Graph, how: &Resolve) -> Result<(), Error> {
        let mut resolved = BTreeMap::new();
        for (&variable, uses) in &self.uses {
            let elements = graph.variable(variable)?.elements();
            resolved.insert(variable, self.resolved(graph, elements, uses, how)?);
        }
        self.uses = resolved;
        Ok(())
    }

    /// Resolves, and maps the variables of the graph by the result.
    pub fn map_tensors_by_use(&mut self, graph: &mut Graph, how: &Resolve) -> Result<(), Error> {
        self.resolve(graph, how)?;
        for (&variable, uses) in &self.uses {
            graph.set_tile_mapping(variable, Mapping::of_disjoint(self.tiles, uses.clone()))?;
        }
        Ok(())
    }

    fn resolved(
        &self,
        graph: &Graph,
        elements: u64,
        uses: &[(u32, Interval)],
        how: &Resolve,
    ) -> Result<Vec<(u32, Interval)>, Error> {
        if graph.target().tiles() != self.tiles {
            return Err(Error::DifferentTiles { left: self.tiles, right: graph.target().tiles() });
        }
        if let Some(&(_, interval)) = uses.iter().find(|(_, interval)| interval.end() > elements) {
            return Err(Error::OutOfRange { interval, elements });
        }
        if how.grain == 0 {
            return Err(Error::ZeroGrain);
        }
        let indexed = uses
            .iter()
            .map(|&(tile, interval)| Ok((transform_tile_index(tile, self.tiles, self.start, self.order)?, interval)));
        let regions = Regions::of_uses(indexed.collect::<Result<_, Error>>()?);
        let mut pieces = spread(regions, elements, how)?;
        for piece in &mut pieces {
            piece.0 = inv_transform_tile_index(piece.0, self.tiles, self.start, self.order)?;
        }
        Ok(pieces)
    }
}

/// Gives each element that is used to one tile.
fn spread(regions: Regions, elements: u64, how: &Resolve) -> Result<Vec<(u32, Interval)>, Error> {
    // With the constraint, regions keep their bounds, and only their parts are whole grains. Otherwise, whole grains are given away.
    let (cell, grain) = match how.method {
        Method::ConstrainMappingToUsedTiles => (1, how.grain),
        Method::None | Method::OptimizeHaloRegions => (how.grain, 1),
    };
    let mut cells = regions.in_cells(cell);
    if how.extend_partial_use {
        cells = cells.extended(elements.div_ceil(cell));
    }
    let cells = match how.method {
        Method::None => cells,
        Method::OptimizeHaloRegions => cells.without_halos(),
        Method::ConstrainMappingToUsedTiles => cells.without_intersections(),
    };
    let mut pieces = Vec::new();
    for (tiles, regions) in cells.by_users() {
        let parts = u64::try_from(tiles.len()).map_err(|_| Error::TooLarge { what: "number of tiles" })?;
        let split = Split { min_per_part: how.min_elements.div_ceil(cell), ..Split::new(grain, parts) };
        for (&tile, part) in tiles.iter().zip(split_regions(&regions, &split)?) {
            let scaled = |at: u64| at.saturating_mul(cell).min(elements);
            pieces.extend(part.iter().map(|at| (tile, Interval::between(scaled(at.begin()), scaled(at.end())))));
        }
    }
    Ok(pieces)
}

/// The tiles that use a region, in ascending order.
type Users = Rc<[u32]>;

/// Regions in order, which are disjoint, each with its users. Regions that touch have different users.
#[derive(Default)]
struct Regions(Vec<(Interval, Users)>);

impl Regions {
    /// The regions with different users.
    fn of_uses(mut uses: Vec<(u32, Interval)>) -> Self {
        uses.sort_unstable();
        let by_tile = uses.chunk_by(|left, right| left.0 == right.0);
        let mut ends: Vec<(u64, bool, u32)> = Vec::new();
        for uses in by_tile {
            let intervals = joined(uses.iter().map(|at| at.1).collect());
            let tile = uses.first().map_or(0, |at| at.0);
            ends.extend(intervals.iter().flat_map(|at| [(at.begin(), true, tile), (at.end(), false, tile)]));
        }
        ends.sort_unstable();
        let mut regions = Regions::default();
        let mut users = BTreeSet::new();
        let mut begin = 0;
        for (element, begins, tile) in ends {
            if element > begin && !users.is_empty() {
                regions.push(Interval::between(begin, element), users.iter().copied().collect());
            }
            begin = element;
            if begins {
                users.insert(tile)
            } else {
                users.remove(&tile)
            };
        }
        regions
    }

    /// Adds a region at the end. Elements in common with the last region stay with that.
    fn push(&mut self, region: Interval, users: Users) {
        let end = self.0.last().map_or(0, |last| last.0.end());
        let region = Interval::between(region.begin().max(end), region.end());
        if region.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.0.end() == region.begin() && last.1 == users => {
                last.0 = Interval::between(last.0.begin(), region.end());
            }
            _ => self.0.push((region, users)),
        }
    }

    fn collect(regions: impl IntoIterator<Item = (Interval, Users)>) -> Self {
        let mut all = Regions::default();
        regions.into_iter().for_each(|(region, users)| all.push(region, users));
        all
    }

    /// The same regions, counted in cells of `cell` elements. A cell that several regions touch belongs to the first one.
    fn in_cells(self, cell: u64) -> Self {
        let in_cells = |at: Interval| Interval::between(at.begin() / cell, at.end().div_ceil(cell));
        Regions::collect(self.0.into_iter().map(|(region, users)| (in_cells(region), users)))
    }

    /// Each region is extended to the next one, the first one to the begin and the last one to `end`.
    fn extended(self, end: u64) -> Self {
        let begins = self.0.iter().map(|region| region.0.begin());
        let ends: Vec<u64> = begins.skip(1).chain([end]).collect();
        let mut begin = 0;
        let regions = self.0.into_iter().zip(ends).map(|((_, users), end)| {
            let region = Interval::between(begin, end);
            begin = end;
            (region, users)
        });
        Regions::collect(regions)
    }

    /// Regions between two others whose users are exactly the users of both get the users of the region before.
    fn without_halos(self) -> Self {
        let users = |index: Option<usize>| index.and_then(|index| self.0.get(index)).map(|region| &region.1);
        Regions::collect(self.0.iter().enumerate().map(|(index, (region, own))| {
            let before = users(index.checked_sub(1));
            match (before, users(index.checked_add(1))) {
                (Some(before), Some(after)) if is_halo(before, own, after) => (*region, before.clone()),
                _ => (*region, own.clone()),
            }
        }))
    }

    /// Regions that follow each other and have a common user become one, with all their users and what lies between them.
    fn without_intersections(self) -> Self {
        let mut merged = Regions::default();
        let mut last: Option<(Interval, BTreeSet<u32>)> = None;
        for (region, users) in self.0 {
            match &mut last {
                Some((before, all)) if users.iter().any(|user| all.contains(user)) => {
                    *before = Interval::between(before.begin(), region.end());
                    all.extend(users.iter());
                }
                _ => {
                    if let Some((before, all)) = last.take() {
                        merged.push(before, all.into_iter().collect());
                    }
                    last = Some((region, users.iter().copied().collect()));
                }
            }
        }
        if let Some((before, all)) = last {
            merged.push(before, all.into_iter().collect());
        }
        merged
    }

    /// All regions of the same users, in order.
    fn by_users(self) -> BTreeMap<Users, Vec<Interval>> {
        let mut by_users: BTreeMap<Users, Vec<Interval>> = BTreeMap::new();
        for (region, users) in self.0 {
            by_users.entry(users).or_default().push(region);
        }
        by_users
    }
}

/// Whether `own` has the users of both neighbours, and as many as they have together. Like poplibs, this does not ask whether the
/// neighbours have users in common.
fn is_halo(before: &[u32], own: &[u32], after: &[u32]) -> bool {
    let has_all = |of: &[u32]| of.iter().all(|user| own.binary_search(user).is_ok());
    before.len().checked_add(after.len()) == Some(own.len()) && has_all(before) && has_all(after)
}
