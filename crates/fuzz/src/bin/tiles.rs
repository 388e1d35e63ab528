//! An archive of tiles or a Poplar executable: no panic, no contradictions, the same result however the bytes come, and
//! reading costs no more than is promised.

#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use popef_fuzz::cost::{Bound, Line, SLACK, assert_within};
use popef_fuzz::heap::Counting;
use poplar_inspect::executable::{Options, Summary, Verdict, read, visit};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The promise for the bytes of an archive, which may be in LZ4 frames. An LZ4 block can unpack to 255 times its bytes.
const BOUND: Bound = Bound {
    decoder: "tiles",
    time: Line { fixed: 200_000, per_byte_in: 650, per_byte_out: 75, most: u64::MAX },
    heap: Line { fixed: 512 << 10, per_byte_in: 520, per_byte_out: 6, most: u64::MAX },
};

const ARCHIVES: [&[u8]; 3] = [
    include_bytes!("../../../../testdata/executables/kinds.a"),
    include_bytes!("../../../../testdata/executables/bsd-names.a"),
    include_bytes!("../../../../testdata/executables/sym64.a"),
];

fuzz_target!(|input: &[u8]| {
    let Some((&how, rest)) = input.split_first() else { return };
    let bytes = match usize::from(how) % 8 {
        known @ 0..3 => patched(ARCHIVES[known], rest),
        known @ 3..6 => poplar_executable(&patched(ARCHIVES[known - 3], rest), rest),
        _ => rest.to_vec(),
    };
    let mut options = Options::default();
    options.strings = 4;
    options.member_bytes = 1 << 20;
    // Keeps as much of a tile as `popef tiles exec` does.
    assert_within(&BOUND, SLACK, bytes.len() as u64, || {
        match visit(&bytes[..], &options, |tile| drop(tile.largest(10))) {
            Ok(summary) => bytes_out(&summary, bytes.len()),
            Err(_) => 0,
        }
    });
    let Ok(summary) = read(&bytes[..], &options) else { return };
    assert_agrees(&summary);
    assert_fits(&summary);
    let slowly = read(Slow(&bytes), &options).unwrap();
    assert_eq!(format!("{slowly:?}"), format!("{summary:?}"));
});

/// A lower bound of the bytes in the archive, and the bytes of the input.
fn bytes_out(summary: &Summary, input: usize) -> u64 {
    let files: u64 = summary.contents.iter().map(|it| it.file_bytes * u64::from(it.tiles)).sum();
    let others: u64 = summary.other_members.iter().map(|it| it.bytes).sum();
    let metadata = summary.metadata.as_ref().map_or(0, |metadata| metadata.read_bytes);
    // A cut member states more bytes than it has.
    files + others.min(255 * input as u64) + metadata + input as u64
}

fn assert_agrees(summary: &Summary) {
    let overview = summary.overview();
    let tiles = summary.tiles.len() as u64;
    assert_eq!(summary.contents.iter().map(|content| u64::from(content.tiles)).sum::<u64>(), tiles);
    assert_eq!(overview.count, tiles);
    assert_eq!(overview.total_bytes, summary.tiles.iter().map(|tile| summary.memory(tile)).sum::<u64>());
    assert_eq!(overview.complete, summary.damage.is_none());
    for buckets in [1, 7] {
        let histogram = summary.histogram(buckets);
        assert!(histogram.len() <= buckets);
        assert_eq!(histogram.iter().map(|bucket| bucket.tiles).sum::<u64>(), tiles);
    }
    let fullest = summary.fullest(3);
    assert!(fullest.is_sorted_by_key(|tile| std::cmp::Reverse(summary.memory(tile))));
    assert_eq!(fullest.first().map_or(0, |tile| summary.memory(tile)), overview.largest_bytes);
    let sections: u64 = summary.sections.iter().map(|section| section.bytes).sum();
    let totals = summary.totals();
    assert_eq!(sections, totals.total() + totals.tables);
}

/// A verdict requires that all was read, and the verdict of all agrees with that of each tile.
fn assert_fits(summary: &Summary) {
    for memory in [0, 300, u64::MAX] {
        let fit = summary.fit(Some(memory), Some(2));
        let over = summary.tiles.iter().filter(|tile| summary.memory(tile) > memory).count() as u64;
        assert_eq!(fit.overfull, over);
        let expected = match over {
            _ if summary.damage.is_some() || summary.tiles.is_empty() => Verdict::Unknown,
            0 => Verdict::Fits,
            _ => Verdict::DoesNotFit,
        };
        assert_eq!(fit.verdict, expected);
        let some = summary.tiles.iter().any(|tile| fit.of(summary, tile) == Verdict::DoesNotFit);
        assert_eq!(some, expected == Verdict::DoesNotFit);
    }
}

/// The archive with other bytes at some places, each patch being a place and four bytes. The first may cut it.
fn patched(archive: &[u8], patches: &[u8]) -> Vec<u8> {
    let mut bytes = archive.to_vec();
    for (index, patch) in patches.chunks_exact(6).enumerate() {
        let at = usize::from(u16::from_le_bytes([patch[0], patch[1]])) % archive.len();
        if index == 0 && patch[2] == 0 {
            bytes.truncate(at);
        } else if let Some(place) = bytes.get_mut(at..at + 4) {
            place.copy_from_slice(&patch[2..]);
        }
    }
    bytes
}

/// Both parts in one LZ4 frame each, of a stored block.
fn poplar_executable(archive: &[u8], metadata: &[u8]) -> Vec<u8> {
    let frames = [archive, metadata].map(|part| {
        let size = part.len() as u32 | 1 << 31;
        [b"\x04\x22\x4d\x18\x60\x70\x73", &size.to_le_bytes()[..], part, &[0; 4]].concat()
    });
    let sizes = [archive.len(), frames[0].len(), metadata.len(), frames[1].len()];
    let sizes = sizes.map(|size| (size as u64).to_le_bytes());
    [b"GC_EXE_3".as_slice(), &sizes.concat(), &frames.concat()].concat()
}

/// Gives one byte at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = buf.len().min(1);
        self.0.read(&mut buf[..len])
    }
}
