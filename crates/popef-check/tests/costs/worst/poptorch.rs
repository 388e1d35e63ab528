//! PopTorch's data that costs much time or memory for few bytes.

use popef_payload::poptorch::PoptorchData;

use super::super::cost::{POPTORCH, Worst};
use super::pickles::{Inputs, Make, inputs, text_of};

pub fn worst_poptorch_data() -> Vec<Worst> {
    let worst = |(name, make)| Worst { bound: POPTORCH, name, make, work: read };
    inputs().into_iter().chain(shared()).map(worst).collect()
}

/// The number of bytes that come out is not counted: it is limited too.
fn read(bytes: &[u8]) -> u64 {
    drop(std::hint::black_box(PoptorchData::read_bytes(bytes)));
    0
}

/// PopTorch's data with one key, which has a start and one repeated piece as its value.
fn with(key: &'static str, start: &[u8], piece: &[u8], end: &'static [u8]) -> Make {
    let start = [&begin(key), start].concat();
    let piece = piece.to_vec();
    Box::new(move |size| {
        let count = size.saturating_sub(start.len()) / piece.len();
        [&start, &piece.repeat(count), end, b"sb."].concat()
    })
}

fn begin(key: &str) -> Vec<u8> {
    let class = b"\x80\x04\x8c\x17poptorch._poptorch_data\x8c\x0cPoptorchData\x93)\x81}";
    [class.as_slice(), &text_of(key.as_bytes())].concat()
}

/// Values that are in many others.
fn shared() -> Inputs {
    let long = [text_of(&[b'a'; 250]), b"q\0".to_vec()].concat();
    let longer = [text_of(&[b'a'; 60_000]), b"q\0".to_vec()].concat();
    let class = b"cm\nNet\nq\x01)\x81}";
    let tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(NK\0)tRq\x02";
    let parameters = |start: &[u8]| [start, b"0", tensor, b"0", class, &text_of(b"_parameters"), b"}("].concat();
    let modules = [class.as_slice(), &text_of(b"_modules"), b"}("].concat();
    vec![
        ("options of pairs of the same", with("options", b"N", b"2\x86", b"")),
        (
            "options with one list of many in many",
            with("options", b"](NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNeq\0]q\x010](", b"h\0", b"e"),
        ),
        ("options with one text", with("options", &[&long, b"](".as_slice()].concat(), b"h\0", b"e")),
        ("options with one long text", with("options", &[&longer, b"](".as_slice()].concat(), b"h\0", b"e")),
        ("options with one key", with("options", &[&long, b"}(".as_slice()].concat(), b"h\0N", b"u")),
        ("options with integers", with("options", b"](", b"\x8a\x10aaaaaaaaaaaaaaaa", b"e")),
        ("a list that contains itself", with("options", b"]q\0(", b"h\0", b"e")),
        ("parameters with one name", with("model", &parameters(&long), b"h\0h\x02", b"usb")),
        (
            "modules with one name",
            with("model", &[&long, b"0".as_slice(), &modules].concat(), b"h\0h\x01)\x81", b"usb"),
        ),
        ("modules in modules", with("model", b"", b"cm\nNet\n)\x81}X\x08\0\0\0_modules}\x8c\x01a", b"N")),
        ("modules that share their state", Box::new(shared_state)),
        (
            "inputs with one text",
            with("executable_inputs", &[&long, b"}\x8c\x05_args](".as_slice()].concat(), b"h\0", b"es"),
        ),
    ]
}

/// Half of the bytes are one state, and half are modules with that state.
fn shared_state(size: usize) -> Vec<u8> {
    let state = [b"}q\x02(", b"\x8c\x01aN".repeat(size / 8).as_slice(), b"u0"].concat();
    let start = [begin("model"), state, b"cm\nNet\nq\x01)\x81}".to_vec(), text_of(b"_modules"), b"}(".to_vec()];
    let modules = (0..size / 24)
        .flat_map(|number| [text_of(number.to_string().as_bytes()), b"h\x01)\x81h\x02b".to_vec()].concat());
    [start.concat(), modules.collect(), b"usbsb.".to_vec()].concat()
}
