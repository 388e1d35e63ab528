//! Files that are built from the bytes of an input, blob by blob and word by word, with lies about each.
//!
//! When the input is used up, each decision is the plainest one. So every input is a recipe.

use arbitrary::{Result, Unstructured};

/// A file: some blobs, some of them repeated, and perhaps further bytes at the end.
pub fn file(u: &mut Unstructured<'_>) -> Vec<u8> {
    let mut file = Vec::new();
    // An input that ends in the middle of a blob leaves the file without it.
    let _ = blobs(u, &mut file);
    file
}

fn blobs(u: &mut Unstructured<'_>, file: &mut Vec<u8>) -> Result<()> {
    for _ in 0..u.int_in_range(1..=6)? {
        let blob = blob(u)?;
        let times = if one_in(u, 16)? { u.int_in_range(2..=40)? } else { 1 };
        for _ in 0..times {
            file.extend_from_slice(&blob);
        }
        if u.is_empty() {
            break;
        }
    }
    if one_in(u, 8)? {
        file.truncate(u.choose_index(file.len() + 1)?);
    }
    if one_in(u, 8)? {
        file.extend_from_slice(bytes(u, 64)?);
    }
    Ok(())
}

fn blob(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let blob_type = if one_in(u, 12)? { u.arbitrary()? } else { u.int_in_range(0..=4u16)? };
    let (info, needed) = info(u, blob_type)?;
    let mut info = info.into_bytes(u)?;
    if blob_type > 4 {
        info.truncate(0);
    }
    let data = data(u, blob_type, needed)?;
    let version = if one_in(u, 8)? { text(u)? } else { Target::text(b"") };
    let header = |size| Target::Struct { data: vec![blob_type.into(), size], pointers: vec![version.clone()] };
    // The header is made twice from the same input, because its length decides the size that it states.
    let mut again = Unstructured::new(u.peek_bytes(u.len()).unwrap_or_default());
    let len = Message::of(header(0)).into_bytes(&mut again)?.len();
    let truth = (len + info.len() + data.len()) as u64;
    let size = if one_in(u, 12)? { lie_about(u, truth)? } else { truth };
    let mut blob = Message::of(header(size)).into_bytes(u)?;
    blob.extend(info);
    blob.extend(data);
    Ok(blob)
}

/// The info message of a blob, and the number of bytes of data that it needs.
fn info(u: &mut Unstructured<'_>, blob_type: u16) -> Result<(Message, u64)> {
    let mut needed = 0;
    let root = match blob_type {
        0 => {
            let size = if u.ratio(1, 2)? { u64::MAX } else { number(u)? };
            Target::Struct { data: vec![size], pointers: vec![text(u)?] }
        }
        1 => metadata(u)?,
        2 => Target::Struct { data: Vec::new(), pointers: vec![text(u)?, tensor_info(u, &mut needed)?] },
        3 => {
            let tensors = if one_in(u, 4)? { u.arbitrary()? } else { u.int_in_range(0..=4u32)? };
            let pointers = vec![text(u)?, tensor_info(u, &mut needed)?];
            needed = needed.saturating_mul(tensors.into());
            Target::Struct { data: vec![tensors.into()], pointers }
        }
        _ => Target::Struct { data: Vec::new(), pointers: vec![text(u)?, text(u)?] },
    };
    Ok((Message::of(root), needed))
}

fn tensor_info(u: &mut Unstructured<'_>, needed: &mut u64) -> Result<Target> {
    const SIZES: [u64; 15] = [1, 1, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1, 1];
    let data_type = if one_in(u, 12)? { u.arbitrary()? } else { u.int_in_range(0..=14u16)? };
    let mut shape = Vec::new();
    for _ in 0..u.int_in_range(0..=4)? {
        shape.push(if one_in(u, 6)? { number(u)? } else { u.int_in_range(0..=5u64)? });
    }
    let size = SIZES.get(usize::from(data_type)).copied().unwrap_or(1);
    *needed = shape.iter().fold(size, |product, extent| product.saturating_mul(*extent));
    Ok(Target::Struct { data: vec![data_type.into()], pointers: vec![Target::Words(shape)] })
}

fn metadata(u: &mut Unstructured<'_>) -> Result<Target> {
    let data = vec![u.arbitrary()?, u.arbitrary()?, u.arbitrary()?];
    let pointers = vec![
        text(u)?,
        structs(u, (1, 4), anchor)?,
        text(u)?,
        structs(u, (0, 2), option)?,
        structs(u, (0, 2), option)?,
        Target::Struct { data: Vec::new(), pointers: vec![indices(u)?, indices(u)?, indices(u)?] },
        structs(u, (1, 1), program)?,
    ];
    Ok(Target::Struct { data, pointers })
}

type Element = (Vec<u64>, Vec<Target>);

/// A list of structs, sometimes one that claims more elements than it has.
fn structs(
    u: &mut Unstructured<'_>,
    each: (u16, u16),
    element: fn(&mut Unstructured<'_>) -> Result<Element>,
) -> Result<Target> {
    let elements: Vec<Element> = (0..u.int_in_range(0..=3)?).map(|_| element(u)).collect::<Result<_>>()?;
    Ok(match u.int_in_range(0..=15u8)? {
        0 => Target::Claimed { count: number(u)? as u32 & 0x1fff_ffff, each: (0, 0) },
        1 => Target::Claimed { count: number(u)? as u32 & 0x1fff_ffff, each: (u.arbitrary()?, u.arbitrary()?) },
        // The structs have fewer or more words than the schema says.
        2 => Target::Structs { each: (u.int_in_range(0..=5)?, u.int_in_range(0..=5)?), elements },
        _ => Target::Structs { each, elements },
    })
}

fn anchor(u: &mut Unstructured<'_>) -> Result<Element> {
    let mut needed = 0;
    Ok((vec![u.arbitrary()?], vec![text(u)?, indices(u)?, text(u)?, tensor_info(u, &mut needed)?]))
}

fn option(u: &mut Unstructured<'_>) -> Result<Element> {
    Ok((Vec::new(), vec![text(u)?, text(u)?]))
}

fn program(u: &mut Unstructured<'_>) -> Result<Element> {
    Ok((vec![u.arbitrary()?], vec![text(u)?]))
}

fn indices(u: &mut Unstructured<'_>) -> Result<Target> {
    Ok(match u.int_in_range(0..=7u8)? {
        0 => Target::Null,
        1 => Target::Shared(u.arbitrary()?),
        len => Target::Halves((0..len - 2).map(|_| u.arbitrary()).collect::<Result<_>>()?),
    })
}

fn text(u: &mut Unstructured<'_>) -> Result<Target> {
    Ok(match u.int_in_range(0..=15u8)? {
        0 => Target::Null,
        1 => Target::Bytes(bytes(u, 40)?.to_vec()),
        2 => Target::text(bytes(u, 40)?),
        3 => Target::Shared(u.arbitrary()?),
        4 => Target::Words(vec![number(u)?]),
        n => Target::text([&b"a"[..], b"b", b"input_parameter", b"caf\xe9", b""][usize::from(n % 5)]),
    })
}

/// The data of a blob: as much as the info needs, or nearly, or something else.
fn data(u: &mut Unstructured<'_>, blob_type: u16, needed: u64) -> Result<Vec<u8>> {
    if blob_type == 0 || one_in(u, 8)? {
        return Ok(bytes(u, 200)?.to_vec());
    }
    let len = if one_in(u, 8)? { lie_about(u, needed)? } else { needed };
    let fill = if one_in(u, 8)? { 2 } else { u.int_in_range(0..=1u8)? };
    Ok(vec![fill; len.min(4096) as usize])
}

/// The target of a pointer.
#[derive(Clone)]
pub enum Target {
    Null,
    Struct {
        data: Vec<u64>,
        pointers: Vec<Target>,
    },
    Bytes(Vec<u8>),
    Words(Vec<u64>),
    Halves(Vec<u32>),
    Structs {
        each: (u16, u16),
        elements: Vec<Element>,
    },
    /// A list of structs with a tag and no elements.
    Claimed {
        count: u32,
        each: (u16, u16),
    },
    /// The target of another pointer.
    Shared(u8),
}

impl Target {
    fn text(bytes: &[u8]) -> Self {
        Target::Bytes([bytes, &[0]].concat())
    }
}

type Place = (usize, usize);

/// A message that is laid out word by word.
struct Message {
    root: Target,
    segments: Vec<Vec<u64>>,
    /// The places of targets, each with the kind and the upper half of its pointer.
    placed: Vec<(Place, u64, u64)>,
}

impl Message {
    fn of(root: Target) -> Self {
        Message { root, segments: vec![vec![0]], placed: Vec::new() }
    }

    /// The message with its segment table, and perhaps some lies.
    fn into_bytes(mut self, u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        if one_in(u, 6)? {
            self.segments.resize(u.int_in_range(2..=5)?, Vec::new());
        }
        let root = std::mem::replace(&mut self.root, Target::Null);
        self.place(u, (0, 0), root)?;
        if one_in(u, 4)? {
            for _ in 0..u.int_in_range(1..=3)? {
                self.lie(u)?;
            }
        }
        let mut table: Vec<u32> = vec![self.segments.len() as u32 - 1];
        table.extend(self.segments.iter().map(|segment| segment.len() as u32));
        if table.len() % 2 == 1 {
            table.push(0);
        }
        if one_in(u, 24)? {
            let at = u.choose_index(table.len())?;
            table[at] = lie_about(u, table[at].into())? as u32;
        }
        let words = self.segments.iter().flatten().flat_map(|word| word.to_le_bytes());
        Ok(table.iter().flat_map(|number| number.to_le_bytes()).chain(words).collect())
    }

    /// Makes room for words, in the segment of the pointer or another one.
    fn room(&mut self, u: &mut Unstructured<'_>, near: usize, words: usize) -> Result<Place> {
        let segment = if self.segments.len() > 1 { u.choose_index(self.segments.len())? } else { near };
        let start = self.segments[segment].len();
        self.segments[segment].resize(start + words, 0);
        Ok((segment, start))
    }

    fn put(&mut self, (segment, index): Place, words: impl IntoIterator<Item = u64>) {
        for (at, word) in (index..).zip(words) {
            self.segments[segment][at] = word;
        }
    }

    /// Lays out a target, and the pointer to it at `at`.
    fn place(&mut self, u: &mut Unstructured<'_>, at: Place, target: Target) -> Result<()> {
        match target {
            Target::Null => {}
            Target::Shared(which) => {
                if !self.placed.is_empty() {
                    let (to, kind, high) = self.placed[usize::from(which) % self.placed.len()];
                    self.point(u, at, to, kind, high)?;
                }
            }
            Target::Struct { data, pointers } => {
                let to = self.room(u, at.0, data.len() + pointers.len())?;
                self.link(u, at, to, 0, data.len() as u64 | (pointers.len() as u64) << 16)?;
                self.fill(u, to, data, pointers)?;
            }
            Target::Bytes(bytes) => {
                let to = self.room(u, at.0, bytes.len().div_ceil(8))?;
                self.link(u, at, to, 1, 2 | (bytes.len() as u64) << 3)?;
                self.put(to, bytes.chunks(8).map(|chunk| word_of(chunk.iter().map(|byte| u64::from(*byte)), 8)));
            }
            Target::Halves(numbers) => {
                let to = self.room(u, at.0, numbers.len().div_ceil(2))?;
                self.link(u, at, to, 1, 4 | (numbers.len() as u64) << 3)?;
                self.put(to, numbers.chunks(2).map(|pair| word_of(pair.iter().map(|half| u64::from(*half)), 32)));
            }
            Target::Words(words) => {
                let to = self.room(u, at.0, words.len())?;
                self.link(u, at, to, 1, 5 | (words.len() as u64) << 3)?;
                self.put(to, words);
            }
            Target::Claimed { count, each: (data, pointers) } => {
                let to = self.room(u, at.0, 1)?;
                let words = u64::from(count).wrapping_mul(u64::from(data) + u64::from(pointers)) & 0x1fff_ffff;
                self.link(u, at, to, 1, 7 | words << 3)?;
                self.put(to, [u64::from(count) << 2 | u64::from(data) << 32 | u64::from(pointers) << 48]);
            }
            Target::Structs { each: (data, pointers), elements } => {
                let step = usize::from(data) + usize::from(pointers);
                let to = self.room(u, at.0, 1 + elements.len() * step)?;
                self.link(u, at, to, 1, 7 | ((elements.len() * step) as u64) << 3)?;
                self.put(to, [(elements.len() as u64) << 2 | u64::from(data) << 32 | u64::from(pointers) << 48]);
                for (index, (mut words, mut targets)) in elements.into_iter().enumerate() {
                    words.resize(data.into(), 0);
                    targets.resize(pointers.into(), Target::Null);
                    self.fill(u, (to.0, to.1 + 1 + index * step), words, targets)?;
                }
            }
        }
        Ok(())
    }

    fn fill(&mut self, u: &mut Unstructured<'_>, to: Place, data: Vec<u64>, pointers: Vec<Target>) -> Result<()> {
        let first = to.1 + data.len();
        self.put(to, data);
        for (index, target) in pointers.into_iter().enumerate() {
            self.place(u, (to.0, first + index), target)?;
        }
        Ok(())
    }

    fn link(&mut self, u: &mut Unstructured<'_>, at: Place, to: Place, kind: u64, high: u64) -> Result<()> {
        self.placed.push((to, kind, high));
        self.point(u, at, to, kind, high)
    }

    /// A pointer to a place: near, far, or far by way of a third segment.
    fn point(&mut self, u: &mut Unstructured<'_>, at: Place, to: Place, kind: u64, high: u64) -> Result<()> {
        if at.0 == to.0 && (self.segments.len() == 1 || !one_in(u, 8)?) {
            self.put(at, [near(at.1, to.1, kind, high)]);
        } else if one_in(u, 4)? {
            let pad = self.room(u, to.0, 2)?;
            self.put(pad, [far(to, 0), kind | high << 32]);
            self.put(at, [far(pad, 4)]);
        } else {
            let pad = (to.0, self.segments[to.0].len());
            self.segments[to.0].push(near(pad.1, to.1, kind, high));
            self.put(at, [far(pad, 0)]);
        }
        Ok(())
    }

    /// Changes a word.
    fn lie(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let segment = u.choose_index(self.segments.len())?;
        if self.segments[segment].is_empty() {
            return Ok(());
        }
        let at = u.choose_index(self.segments[segment].len())?;
        let word = self.segments[segment][at];
        self.segments[segment][at] = match u.int_in_range(0..=6u8)? {
            0 => number(u)?,
            1 => word ^ 1 << u.int_in_range(0..=63u32)?,
            2 => word & 0xffff_ffff | number(u)? << 32,
            3 => word & !0xffff_ffff | number(u)? & 0xffff_ffff,
            // The number of elements of a list changes. The kind stays.
            4 => word & 0x7_ffff_ffff | number(u)? << 35,
            // The pointer leads back to itself, or to its parent.
            5 => word & !0xffff_fffc | (u.int_in_range(0..=8u64)?.wrapping_neg() << 2) & 0xffff_fffc,
            _ => {
                let from = u.choose_index(self.segments[segment].len())?;
                self.segments[segment][from]
            }
        };
        Ok(())
    }
}

fn near(at: usize, to: usize, kind: u64, high: u64) -> u64 {
    let offset = (to as i64 - at as i64 - 1) as u64;
    kind | (offset << 2) & 0xffff_fffc | high << 32
}

fn far(to: Place, double: u64) -> u64 {
    2 | double | (to.1 as u64) << 3 | (to.0 as u64) << 32
}

fn word_of(parts: impl Iterator<Item = u64>, bits: usize) -> u64 {
    parts.enumerate().fold(0, |word, (index, part)| word | part << (index * bits))
}

/// A number that is a limit of something, or near one, or any number.
fn number(u: &mut Unstructured<'_>) -> Result<u64> {
    const EDGES: [u64; 16] = [
        0,
        1,
        7,
        8,
        255,
        511,
        0xffff,
        0x1_0000,
        (1 << 29) - 1,
        1 << 29,
        1 << 31,
        0xffff_ffff,
        1 << 32,
        1 << 61,
        1 << 63,
        u64::MAX,
    ];
    Ok(match u.int_in_range(0..=3u8)? {
        0 => u.arbitrary()?,
        1 => u.choose(&EDGES)?.wrapping_add_signed(u.arbitrary::<i8>()?.into()),
        _ => *u.choose(&EDGES)?,
    })
}

fn lie_about(u: &mut Unstructured<'_>, truth: u64) -> Result<u64> {
    if u.arbitrary()? { Ok(truth.wrapping_add_signed(u.arbitrary::<i8>()?.into())) } else { number(u) }
}

/// `true` in one of `times` cases, and `false` when the input is used up.
fn one_in(u: &mut Unstructured<'_>, times: u8) -> Result<bool> {
    Ok(u.int_in_range(0..=times - 1)? == times - 1)
}

fn bytes<'a>(u: &mut Unstructured<'a>, most: usize) -> Result<&'a [u8]> {
    let len = u.int_in_range(0..=most)?.min(u.len());
    u.bytes(len)
}
