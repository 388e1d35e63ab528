//! Collects tiles into a summary.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::Options;
use super::archive::{Member, Wanted, shown};
use super::input::len_of;
use super::number::number_in;
use super::sizes::SectionKind;
use super::summary::{Container, Content, NotATile, Numbering, OtherMember, SectionTotal, Summary, Tile};
use super::tile::{self, TileFile};
use crate::error::{Error, Part, Problem};

/// The maximum number of members that are not tiles and are kept.
const OTHER_MEMBERS: usize = 1000;

pub(super) struct Tally {
    options: Options,
    summary: Summary,
    seen: Seen,
    names: Names,
    sections: HashMap<(Vec<u8>, SectionKind), SectionTotal>,
    /// The number of ELF files of tiles so far, also damaged ones.
    files: usize,
}

impl Tally {
    pub(super) fn new(container: Container, options: &Options) -> Self {
        let summary = Summary {
            container,
            verified: container == Container::Archive,
            tiles: Vec::new(),
            numbering: Numbering::Names,
            contents: Vec::new(),
            sections: Vec::new(),
            sections_left_out: 0,
            other_members: Vec::new(),
            other_members_count: 0,
            metadata: None,
            bytes_after: 0,
            damage: None,
        };
        let (seen, names) = (Seen::default(), Names::default());
        Tally { options: *options, summary, seen, names, sections: HashMap::new(), files: 0 }
    }

    pub(super) fn summary(&mut self) -> &mut Summary {
        &mut self.summary
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// The members whose bytes [`add`](Self::add) needs.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted { by_start: tile::is_tile, most: self.options.member_bytes }
    }

    /// Keeps the first damage.
    pub(super) fn damaged(&mut self, error: Error) {
        self.summary.damage.get_or_insert(error);
    }

    /// Adds a member of any kind. Fails if no more can be added.
    pub(super) fn add(
        &mut self,
        member: &Member,
        bytes: &[u8],
        part: Part,
        each: &mut dyn FnMut(&TileFile<'_>),
    ) -> Result<(), Error> {
        let problem = |problem: Problem, at| problem.at(part, at).in_member(&shown(&member.name));
        if !tile::is_tile(bytes) {
            let is_elf = tile::is_elf(bytes);
            self.add_other(member, if is_elf { NotATile::OtherElf } else { NotATile::NotElf });
            return Ok(());
        }
        if !member.is_read {
            let [needed, limit] = [member.size, self.options.member_bytes];
            self.damaged(problem(Problem::MemberTooLong { needed, limit }, member.offset));
            self.add_other(member, NotATile::TooLong);
            return Ok(());
        }
        if self.files >= self.options.tiles {
            let limit = len_of(self.options.tiles);
            return Err(problem(Problem::TooManyTiles { limit }, member.offset));
        }
        let position = self.files;
        self.files = position.saturating_add(1);
        match TileFile::parse(&member.name, position, bytes) {
            Ok(file) => {
                each(&file);
                self.add_tile(member, &file);
            }
            Err(fault) => {
                let at = member.offset.saturating_add(fault.offset);
                self.damaged(problem(Problem::TileDamaged { fault: fault.what }, at));
                self.add_other(member, NotATile::Damaged);
            }
        }
        Ok(())
    }

    fn add_other(&mut self, member: &Member, reason: NotATile) {
        let summary = &mut self.summary;
        summary.other_members_count = summary.other_members_count.saturating_add(1);
        if summary.other_members.len() < OTHER_MEMBERS {
            summary.other_members.push(OtherMember { name: shown(&member.name), bytes: member.size, reason });
        }
    }

    fn add_tile(&mut self, member: &Member, file: &TileFile<'_>) {
        let content = self.seen.number(file.bytes());
        match self.summary.contents.get_mut(usize::try_from(content).unwrap_or(usize::MAX)) {
            Some(known) => known.tiles = known.tiles.saturating_add(1),
            None => self.summary.contents.push(content_of(file)),
        }
        self.names.add(&member.name);
        let number = u32::try_from(file.position()).unwrap_or(u32::MAX);
        self.summary.tiles.push(Tile { number, name: shown(&member.name), content });
        self.add_sections(file);
    }

    fn add_sections(&mut self, file: &TileFile<'_>) {
        for section in file.sections() {
            let key = (section.name.as_bytes().to_vec(), section.kind);
            let is_known = self.sections.contains_key(&key);
            if !is_known && self.sections.len() >= self.options.section_names {
                self.summary.sections_left_out = self.summary.sections_left_out.saturating_add(1);
                continue;
            }
            let empty = || SectionTotal {
                name: section.name.clone().into_owned(),
                kind: section.kind,
                count: 0,
                bytes: 0,
                largest: 0,
            };
            let total = self.sections.entry(key).or_insert_with(empty);
            total.count = total.count.saturating_add(1);
            total.bytes = total.bytes.saturating_add(section.size.into());
            total.largest = total.largest.max(section.size.into());
        }
    }

    pub(super) fn finish(mut self) -> Summary {
        match self.names.numbers() {
            Some(numbers) => {
                for (tile, number) in self.summary.tiles.iter_mut().zip(numbers) {
                    tile.number = number;
                }
            }
            None => self.summary.numbering = Numbering::Positions,
        }
        let sections = &mut self.summary.sections;
        sections.extend(self.sections.into_values());
        sections.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)).then(a.kind.cmp(&b.kind)));
        self.summary
    }
}

fn content_of(file: &TileFile<'_>) -> Content {
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    Content {
        tiles: 1,
        file_bytes: len_of(file.bytes().len()),
        sizes: file.sizes(),
        stack: file.stack(),
        sections: count(file.sections().len()),
        symbols: count(file.symbols().len()),
        functions: count(file.functions()),
    }
}

/// The contents that were seen before, each as its length and two hashes of 128 bits together. The keys of the hashes
/// are random, so nobody can make two different files that count as equal.
#[derive(Default)]
struct Seen {
    keys: [RandomState; 2],
    numbers: HashMap<(usize, [u64; 2]), u32>,
}

impl Seen {
    fn number(&mut self, bytes: &[u8]) -> u32 {
        let hashes = self.keys.each_ref().map(|key| key.hash_one(bytes));
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry((bytes.len(), hashes)).or_insert(next)
    }
}

/// The numbers in the names of tiles.
#[derive(Default)]
struct Names {
    /// What is before and after the number in each name.
    around: Option<[Vec<u8>; 2]>,
    numbers: Vec<u32>,
    differ: bool,
}

impl Names {
    fn add(&mut self, name: &[u8]) {
        if self.differ {
            return;
        }
        let Some((before, number, after)) = number_in(name) else {
            self.differ = true;
            return;
        };
        let around = self.around.get_or_insert_with(|| [before.to_vec(), after.to_vec()]);
        self.differ = *around != [before, after];
        self.numbers.push(number);
    }

    fn numbers(self) -> Option<Vec<u32>> {
        let mut sorted = self.numbers.clone();
        sorted.sort_unstable();
        sorted.dedup();
        (!self.differ && sorted.len() == self.numbers.len()).then_some(self.numbers)
    }
}
