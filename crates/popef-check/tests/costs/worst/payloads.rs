//! Payloads of opaque blobs that cost much time or memory for few bytes. Each input is a blob of its own.

use popef::read::Blobs;

use super::super::cost::{PAYLOAD, Worst};
use super::{message, sized, to_list, to_struct};

type Make = Box<dyn Fn(usize) -> Vec<u8>>;
type Inputs = Vec<(&'static str, Make)>;

pub fn worst_payloads() -> Vec<Worst> {
    let worst = |(name, make)| Worst { bound: PAYLOAD, name, make, work: read };
    [popart(), tensorflow()].into_iter().flatten().map(worst).collect()
}

/// Reads the payload, and returns the length of its JSON.
fn read(blob: &[u8]) -> u64 {
    let blob = Blobs::new(blob).next().unwrap().unwrap();
    let Ok(payload) = popef_payload::Payload::read(&blob.as_opaque().unwrap()) else { return 0 };
    let mut out = Counted(0);
    serde_json::to_writer(&mut out, &payload).unwrap();
    out.0
}

struct Counted(u64);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn opaque(name: &str, data: &[u8]) -> Vec<u8> {
    let mut text = [0; 16];
    text[..name.len()].copy_from_slice(name.as_bytes());
    let [low, high] = [0, 8].map(|at| u64::from_le_bytes(text[at..at + 8].try_into().unwrap()));
    sized(4, &message(&[to_struct(0, 0, 2), to_list(1, 2, name.len() as u64 + 1), 0, low, high]), data)
}

/// The words before a list of tensors: the pointer to the root, and the root.
const ROOT: [u64; 3] = [to_struct(0, 0, 4), 0, to_list(2, 7, 0)];

/// Messages of PopART with this many words in each tensor, which `tensor` makes from how many tensors are before it and
/// after it.
fn tensors(data: u64, pointers: u64, tensor: impl Fn(usize, usize) -> Vec<u64> + 'static, after: Vec<u64>) -> Make {
    Box::new(move |size| {
        let each = (data + pointers) as usize;
        let count = (size / 8).saturating_sub(after.len()).max(each) / each;
        let mut words = ROOT.to_vec();
        words[2] |= ((count * each) as u64) << 35;
        words.extend([0, 0, (count as u64) << 2 | data << 32 | pointers << 48]);
        (0..count).for_each(|index| words.extend(tensor(index, count - 1 - index)));
        words.extend(&after);
        opaque("popart", &message(&words))
    })
}

fn popart() -> Inputs {
    // Each tensor has the one info that follows all of them, with a type, a shape and two names of 8 bytes.
    let shared = vec![
        to_struct(1, 1, 2),
        to_list(6, 5, 2),
        9,
        to_list(1, 2, 8),
        to_list(1, 2, 8),
        0x0041_4141_4141_4141,
        0x0041_4141_4141_4141,
        0,
        2,
        3,
    ];
    let each = |_, after: usize| vec![4, 0, to_struct(2 + 5 * after as i32, 0, 2), 0, 0];
    vec![
        ("tensors without anything", tensors(1, 4, |_, _| vec![0; 5], Vec::new())),
        ("tensors of one word", tensors(1, 0, |_, _| vec![4], Vec::new())),
        ("tensors that share an info", tensors(1, 4, each, shared)),
        (
            "bytes as tensors",
            Box::new(|size| {
                let mut words = vec![ROOT[0], 0, to_list(2, 2, size as u64), 0, 0];
                words.extend(vec![0; size / 8 + 1]);
                opaque("popart", &message(&words))
            }),
        ),
    ]
}

/// Messages of TensorFlow that consist of one repeated piece.
fn repeated(piece: &[u8]) -> Make {
    let piece = piece.to_vec();
    Box::new(move |size| opaque("tensorflow", &piece.repeat(size / piece.len() + 1)))
}

fn tensorflow() -> Inputs {
    let every: Vec<u8> =
        (1..18).flat_map(|number: u8| if number < 16 { vec![number << 3 | 2, 0] } else { vec![0x82, 1, 0] }).collect();
    let numbers: Vec<u8> = [8, 1, 88, 1, 104, 1, 112, 1].into();
    vec![
        ("empty feeds", repeated(&[0x12, 0])),
        ("empty messages of every field", repeated(&every)),
        ("numbers", repeated(&numbers)),
        ("unknown numbers", repeated(&[0x90, 1, 0])),
        ("empty configs that are merged", repeated(&[0x62, 0])),
        ("configs of every field that are merged", {
            let inside = [0x0a, 0, 0x10, 1, 0x1a, 0, 0x22, 0, 0x28, 1, 0x30, 1, 0x38, 1, 0x40, 1];
            repeated(&[&[0x62, inside.len() as u8][..], &inside].concat())
        }),
        ("signatures that are merged twice", repeated(&[0x62, 10, 0x0a, 8, 0x0a, 0, 0x12, 0, 0x1a, 0, 0x22, 0])),
        ("a map of elements", {
            let inside = [0x2a, 100].into_iter().chain([1; 100]).collect::<Vec<u8>>();
            repeated(&[&[0x82, 1, inside.len() as u8][..], &inside].concat())
        }),
        ("groups in groups", {
            let inside = [[0x93, 1].repeat(90), [0x94, 1].repeat(90)].concat();
            repeated(&inside)
        }),
        ("shapes of shapes", {
            let mut shape = Vec::new();
            for _ in 0..60 {
                shape = [vec![0x22, shape.len() as u8], shape].concat();
            }
            repeated(&[&[0x12, shape.len() as u8 + 2, 0x12, shape.len() as u8][..], &shape].concat())
        }),
    ]
}
