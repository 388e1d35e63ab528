//! Pickles that cost much time or memory for few bytes.

use popef_payload::pickle::Pickle;

use super::super::cost::{ARCHIVE, PICKLE, Worst};

pub(super) type Make = Box<dyn Fn(usize) -> Vec<u8>>;
pub(super) type Inputs = Vec<(&'static str, Make)>;

pub fn worst_pickles() -> Vec<Worst> {
    let worst = |(name, make)| Worst { bound: PICKLE, name, make, work: scan };
    let of_archive = |(name, make)| Worst { bound: ARCHIVE, name, make, work: scan };
    inputs().into_iter().map(worst).chain(archives().into_iter().map(of_archive)).collect()
}

fn archives() -> Inputs {
    let many = |member: &'static [u8], method: u16, len: u32| -> Make {
        Box::new(move |size| archive(&vec![(member.to_vec(), method, len); size / (member.len() + 80)]))
    };
    let packed = |pickle: Vec<u8>| {
        use std::io::Write;
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&pickle).unwrap();
        (encoder.finish().unwrap(), 8, pickle.len() as u32)
    };
    let bomb = move |size: usize| archive(&[packed(repeated("N", "q\0r\x01\0\x01\0")(size.max(65_000)))]);
    vec![
        ("an archive of pickles", many(b"\x80\x02cm\nn\n.", 0, 9)),
        ("an archive of empty members", many(b"", 0, 0)),
        ("an archive of members that are no pickles", many(b"\xff", 0, 1)),
        ("an archive of deflated pickles", many(b"\x73\xf3\xd3\x03\0", 8, 3)),
        ("an archive of damaged members", many(b"\xff", 8, 3)),
        ("an archive of a long deflated pickle", Box::new(bomb)),
        (
            "an archive of archives",
            Box::new(|size| {
                let inner = archive(&vec![(b"N.".to_vec(), 0, 2); 4]);
                archive(&vec![(inner.clone(), 0, inner.len() as u32); size / (inner.len() + 80)])
            }),
        ),
    ]
}

/// A zip archive of members that each are their bytes, how these are packed, and how many they unpack to.
fn archive(members: &[(Vec<u8>, u16, u32)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (data, method, len) in members {
        let place = bytes.len() as u32;
        let [packed, len] = [data.len() as u32, *len].map(u32::to_le_bytes);
        let common = [&[20, 0, 0, 0][..], &method.to_le_bytes(), &[0; 8], &packed, &len, &[1, 0, 0, 0]].concat();
        bytes.extend([b"PK\x03\x04", &common[..], b"a", data].concat());
        directory.extend([b"PK\x01\x02\x14\0", &common[..], &[0; 10], &place.to_le_bytes(), b"a"].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let [start, len] = [bytes.len() as u32, directory.len() as u32].map(u32::to_le_bytes);
    [&bytes[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &len, &start, b"\0\0"].concat()
}

pub(super) fn inputs() -> Inputs {
    let all = [opcodes(), places(), texts(), imports(), trials(), one_behind_the_other(), nested()];
    all.into_iter().flatten().collect()
}

/// Nothing comes out of a pickle.
fn scan(bytes: &[u8]) -> u64 {
    drop(std::hint::black_box(Pickle::scan_bytes(bytes)));
    0
}

const MARK: &[u8] = b"\x80\x04";

/// Pickles with a start and one repeated piece.
fn repeated(start: impl AsRef<[u8]>, piece: impl AsRef<[u8]> + 'static) -> Make {
    numbered(start, move |_| piece.as_ref().to_vec())
}

/// Pickles with a start and pieces that differ.
fn numbered<P: AsRef<[u8]>>(start: impl AsRef<[u8]>, piece: impl Fn(u32) -> P + 'static) -> Make {
    let start = [MARK, start.as_ref()].concat();
    Box::new(move |size| {
        let mut pickle = start.clone();
        for number in 0.. {
            if pickle.len() >= size {
                break;
            }
            pickle.extend_from_slice(piece(number).as_ref());
        }
        pickle.push(b'.');
        pickle
    })
}

fn opcodes() -> Inputs {
    let pair = b"cm\nn\nq\0\x8c\x01aq\x01\x86q\x02";
    vec![
        ("NONE", repeated("", "N")),
        ("MARK", repeated("", "(")),
        ("DUP", repeated("N", "2")),
        ("DUP and POP", repeated("N", "20")),
        ("MARK and POP_MARK", repeated("", "(1")),
        ("EMPTY_TUPLE", repeated("", ")")),
        ("TUPLE1 of TUPLE1", repeated("N", b"\x85")),
        ("tuples of an import and a text", repeated(pair, b"h\0h\x01\x86")),
        ("DUP of such a tuple", repeated(pair, "2")),
        ("calls with such a tuple", repeated(pair, b"h\0h\x02R")),
        ("APPENDS of nothing", repeated("]", "(e")),
        ("SETITEMS of a version", repeated(b"}\x8c\x07versionq\0", b"(h\0h\0u")),
        ("empty lines", repeated("", "I\n")),
        ("long lines", repeated("", format!("I{:4000}\n", 1))),
    ]
}

fn places() -> Inputs {
    vec![
        ("MEMOIZE", repeated("N", b"\x94")),
        ("PUT at one place", repeated("N", b"q\0")),
        ("PUT at places far apart", numbered("N", |number| with_number(b'r', far(number)))),
        ("PUT from the last place on", numbered("N", |number| with_number(b'r', u32::MAX - number))),
        ("PUT at numbers in lines", numbered("N", |number| format!("p{}\n", far(number)))),
        ("GET", repeated("Nq\0", b"h\0")),
        ("GET of a number in a line", repeated("Nq\0", "g0\n")),
        (
            "GET at places far apart",
            numbered("N", |number| [with_number(b'r', far(number)), with_number(b'j', far(number / 2))].concat()),
        ),
    ]
}

/// Numbers that are far apart.
fn far(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1)
}

fn texts() -> Inputs {
    let long = |text: &[u8]| text_of(&text.repeat((64 << 10) / text.len()));
    vec![
        ("empty texts", repeated("", b"\x8c\0")),
        ("texts of a letter", repeated("", b"\x8c\x01a")),
        ("texts as long as a name can be", repeated("", text_of(&[b'a'; 256]))),
        ("texts that are no UTF-8", repeated("", b"\x8c\x08\xff\xff\xff\xff\xff\xff\xff\xff")),
        ("texts in quotes", repeated("", "S'\\x41'\n")),
        ("texts with escapes", repeated("", "V\\u0041\\u00e9\n")),
        ("long texts that are nearly a pickle", repeated("", long(b"N.\n"))),
        ("long texts that are nearly Latin-1", repeated("", long("\u{ff}\n.".as_bytes()))),
        ("long texts with escapes", repeated("", ["V", &"\\u00ff.\\u000a".repeat(5000), "\n"].concat())),
    ]
}

fn imports() -> Inputs {
    let texts = |texts: &[String]| -> Vec<u8> {
        texts.iter().flat_map(|text| [text_of(text.as_bytes()), b"\x940".to_vec()].concat()).collect()
    };
    let long: Vec<String> = (0..256).map(|number| format!("{number:a>128}")).collect();
    let of_parts: Vec<String> = (0..256).map(|number| format!("a{number}{}", ".aa".repeat(80))).collect();
    let of_two = |number: u32| [b'h', (number >> 8) as u8, b'h', number as u8, 0x93, b'0'];
    let getattr = b"cbuiltins\ngetattr\nq\0";
    vec![
        ("one import", repeated("", "cos\nsystem\n")),
        ("many imports", numbered("", |number| format!("cm\n{number}\n"))),
        ("one import of two texts", repeated(texts(&long[..1]), b"h\0h\0\x93")),
        ("imports of any two texts", numbered(texts(&long), of_two)),
        ("imports of any two texts of many parts", numbered(texts(&of_parts), of_two)),
        ("imports of computed names", repeated("", b"NN\x93")),
        ("one extension", repeated("", b"\x82\x01")),
        ("many extensions", numbered("", |number| [0x83, number as u8, (number >> 8) as u8])),
        (
            "attributes of attributes",
            repeated([getattr, b"\x8c\x01aq\x01h\0".as_slice()].concat(), b"h\x01\x86q\x02h\0h\x02R"),
        ),
        (
            "one attribute with a long name",
            repeated([getattr.as_slice(), &text_of(&[b'a'; 250]), b"q\x01\x86q\x020"].concat(), b"h\0h\x02R"),
        ),
    ]
}

/// Texts and bytes that are scanned because they may be pickles.
fn trials() -> Inputs {
    let short = |bytes: &[u8]| [&[b'C', bytes.len() as u8], bytes].concat();
    let any_two: Vec<u8> = {
        let texts = (0..64).flat_map(|number| [0x8c, 2, b'a', b'0' + number, 0x94]);
        let pairs = (0..64).flat_map(|one| (0..64).flat_map(move |other| [b'h', one, b'h', other, 0x93]));
        texts.chain(pairs).collect()
    };
    vec![
        ("empty bytes", repeated("", short(b""))),
        ("bytes of a byte", repeated("", short(b"N"))),
        ("bytes that import a name", repeated("", short(b"ca\nb\n"))),
        ("bytes that import no name", repeated("", short(b"c\n\n"))),
        ("bytes that import an extension", repeated("", short(b"\x82\x01"))),
        ("bytes that import any name", numbered("", move |number| short(format!("cm\n{number}\n").as_bytes()))),
        ("bytes that import any two texts", repeated("", bytes_of(&any_two))),
        ("bytes with texts that are tried", repeated("", bytes_of(&b"\x8c\x03\n.N".repeat((64 << 10) / 5)))),
        ("bytes with bytes of a byte", repeated("", bytes_of(&b"C\x01N".repeat((64 << 10) / 3)))),
        ("texts of an opcode", repeated("", b"\x8c\x03N.\n")),
        ("texts of a line feed", repeated("", b"\x8c\x01\n")),
        ("texts of a line feed, not kept", repeated("", b"\x8c\x01\n0")),
        ("texts that import a name", repeated("", b"\x8c\x05ca\nb\n")),
        ("texts that are pickles", repeated("", b"\x8c\x05\xc2\x80\x02N.")),
    ]
}

fn one_behind_the_other() -> Inputs {
    vec![
        ("pickles of NONE", repeated("", "N.")),
        ("pickles that import", repeated("N.", "cos\nsystem\n.")),
        ("pickles with a text and a PUT", repeated("N.", b"\x8c\x01aq\xff.")),
        ("pickles with a PUT far away", repeated("N.", b"Nr\xff\xff\xff\xff.")),
        (
            "a pickle of many values, then small ones",
            Box::new(|size| {
                let many = b"(\x8c\x01a\x94".repeat(size / 10);
                [MARK, &many, b".", &b"(\x8c\x01aq\xff.".repeat(size / 14)].concat()
            }),
        ),
    ]
}

/// Five pickles in one another, which is as deep as a scan goes.
fn nested() -> Inputs {
    let none = |size| vec![b'N'; size];
    let memoize = |size| [b"N".as_slice(), &vec![0x94; size]].concat();
    // At this number a table has just been doubled. The places are far apart, and each byte of them is a letter.
    let put = |size| -> Vec<u8> {
        let most = size as u32 / 5;
        let count = (0..26).map(|power| (7 << power) + 16).take_while(|&count| count <= most).last().unwrap_or(most);
        let place = |number: u32| [21, 14, 7, 0].map(|shift| (number >> shift & 0x7f) as u8);
        let puts = (8..8 + count).flat_map(|number| [b"r".as_slice(), &place(number)].concat());
        [b'N'].into_iter().chain(puts).collect()
    };
    vec![
        ("NONE, five deep in bytes", five_deep(bytes_of, none)),
        ("NONE, five deep in texts", five_deep(text_of_bytes, none)),
        ("NONE at the bottom of texts", at_the_bottom(text_of_bytes, none)),
        ("MEMOIZE, five deep in bytes", five_deep(bytes_of, memoize)),
        ("PUT far apart, five deep in texts", five_deep(text_of_bytes, put)),
        ("PUT far apart at the bottom of texts", at_the_bottom(text_of_bytes, put)),
        ("small ones, five deep in bytes", repeated("", bytes_of(&in_each_other(bytes_of, [b"N"; 5])))),
        ("small ones, five deep in texts", repeated("", text_of_bytes(&in_each_other(text_of_bytes, [b"N"; 5])))),
    ]
}

type Hold = fn(&[u8]) -> Vec<u8>;

/// Five pickles of the same size in one another.
fn five_deep(hold: Hold, content: fn(usize) -> Vec<u8>) -> Make {
    in_parts(move |size| in_each_other(hold, [(); 5].map(|()| content(size / 5))))
}

/// One large pickle with four around it.
fn at_the_bottom(hold: Hold, content: fn(usize) -> Vec<u8>) -> Make {
    in_parts(move |size| {
        let nothing = || b"N".to_vec();
        in_each_other(hold, [content(size), nothing(), nothing(), nothing(), nothing()])
    })
}

/// Several texts, because a text may have at most a megabyte.
fn in_parts(part: impl Fn(usize) -> Vec<u8> + 'static) -> Make {
    Box::new(move |size| {
        let parts = size / 600_000 + 1;
        part(size / parts).repeat(parts)
    })
}

/// Each pickle holds the one before it after its own content.
fn in_each_other<C: AsRef<[u8]>>(hold: Hold, contents: [C; 5]) -> Vec<u8> {
    let pickle = |inner: Vec<u8>, content: C| [MARK, content.as_ref(), &inner, b"."].concat();
    let inner = |pickle: Vec<u8>| hold(&pickle);
    contents
        .into_iter()
        .fold(None, |held: Option<Vec<u8>>, content| Some(pickle(held.map(inner).unwrap_or_default(), content)))
        .unwrap_or_default()
}

pub(super) fn text_of(text: &[u8]) -> Vec<u8> {
    [with_number(b'X', text.len() as u32), text.to_vec()].concat()
}

/// Bytes as Python spells them in protocols 0 to 2.
fn text_of_bytes(bytes: &[u8]) -> Vec<u8> {
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    text_of(text.as_bytes())
}

fn bytes_of(bytes: &[u8]) -> Vec<u8> {
    [with_number(b'B', bytes.len() as u32), bytes.to_vec()].concat()
}

fn with_number(opcode: u8, number: u32) -> Vec<u8> {
    [&[opcode], &number.to_le_bytes()[..]].concat()
}
