//! The readers of JSON files. All files are made here, after the code and the documents that describe them: no sample is public
//! as a whole.

use std::fmt::Write as _;
use std::io::{self, Read};

use poplar_inspect::tiles::{LoweredVars, ReadErrorKind, Target, TensorMap};

const TENSOR_MAP: &str = r#"{"mappings":{
"entry":[["arg0.1",0,[784,10],"half",0,0,7840,[[0,68],[1,64],[5,7708]],"weights"],["add.2",1,[],"float",1,1,1,[[7,1]]]],
"other":[["odd.3",0,[2],"mystery",false,true,2,[[1,2]],"x","later",{"a":[1]}]]}}"#;

/// The extract in Poplar's documentation of the format, with variables around its one.
const VARS: &str = r#"{"numTiles":1216,
"targetMemoryInfo":{"tileMemory":262144,"interleavedMemoryStart":131072,"memoryElementOffsets":[0,16384],"supervisorInstrFetchDelay":64},
"vars":[
{"var":0,"info":{"allocated":true,"tile":0,"name":"v1#0","sizeBytes":16,"alignment":8,"offset":352,"category":"variable","isConstant":false,"alwaysLive":false,"executable":false,"vertexCode":false,"lowest256KB":false,"equivalenceClass":0,"inInterleavedMem":false}},
{"var":1,"info":{"allocated":true,"tile":0,"name":"code","sizeBytes":100,"offset":0,"category":"controlCode","alwaysLive":true}},
{"var":2,"info":{"allocated":true,"tile":0,"name":"v2#0","sizeBytes":32,"offset":360,"category":"variable","equivalenceClass":1}},
{"var":3,"info":{"allocated":true,"tile":0,"name":"v3#0","sizeBytes":8,"offset":368,"category":"variable","equivalenceClass":2}},
{"var":4,"info":{"allocated":false,"tile":0,"name":"unused","sizeBytes":8,"offset":0,"category":"variable"}},
{"var":5,"info":{"allocated":true,"tile":9,"name":"big","sizeBytes":262144,"offset":8,"category":"variable"}}],
"equivalenceClassInterference":[[0,2],[2],[]],
"allocationOrderByTile":[[1,0,2,3],[]]}"#;

#[test]
fn tensor_maps_are_read() {
    let map = TensorMap::read(TENSOR_MAP.as_bytes()).unwrap();
    assert_eq!(map.damage, None);
    let names: Vec<_> = map.computations.iter().map(|it| (it.name.as_str(), it.tensors.len())).collect();
    assert_eq!(names, [("entry", 2), ("other", 1)]);
    let [weights, scalar] = &map.computations[0].tensors[..] else { panic!("{map:?}") };
    assert_eq!((weights.used_tiles, weights.most_elements, weights.fullest_tile), (3, 7708, Some(5)));
    assert_eq!((weights.name.as_deref(), scalar.name.as_deref(), scalar.has_constant), (Some("weights"), None, true));
    assert_eq!(map.bytes_by_tile.clone().into_iter().collect::<Vec<_>>(), [(0, 136), (1, 128), (5, 15416), (7, 4)]);
    assert_eq!((map.unknown_types, map.last_tile()), (1, Some(7)));
    let balance = weights.balance(&Target::new(1472, 1).unwrap()).unwrap();
    assert_eq!((balance.imbalance, balance.ideal_elements, balance.excess_size), (7708 - 64, 68, (7708 - 68) * 2));
    assert_eq!(map.computations[1].tensors[0].balance(&Target::new(1472, 1).unwrap()), None, "of unknown type");
}

#[test]
fn the_key_of_the_documentation_is_known_too() {
    let map = TensorMap::read(&br#"{"other":[[[{}]]],"mapping":{"entry":[]}}"#[..]).unwrap();
    assert_eq!((map.computations.len(), map.damage), (1, None));
}

#[test]
fn variables_are_read() {
    let vars = LoweredVars::read(VARS.as_bytes()).unwrap();
    assert_eq!((vars.tiles, vars.tile_memory, vars.interleaved_start), (Some(1216), Some(262_144), Some(131_072)));
    assert_eq!((vars.memory_elements.len(), vars.variables.len(), vars.interference.len()), (2, 6, 3));
    assert_eq!(vars.category(&vars.variables[1]), "controlCode");
    assert_eq!(vars.variables[4].offset, None, "it is not allocated");
}

#[test]
fn the_memory_of_tiles_is_summed_up() {
    let vars = LoweredVars::read(VARS.as_bytes()).unwrap();
    let [zero, nine] = &vars.tile_memories()[..] else { panic!("two tiles have variables") };
    assert_eq!((zero.tile, zero.variables, zero.not_allocated), (0, 4, 1));
    // [0, 100), [352, 368), [360, 392) and [368, 376).
    assert_eq!((zero.variable_bytes, zero.used_bytes, zero.end), (156, 140, 392));
    assert_eq!((zero.gaps, zero.gap_bytes, zero.largest_gap), (1, 252, 252));
    // Free are 252 bytes in the gap and 261752 at the end.
    assert_eq!(zero.fragmentation_permille, Some(0));
    // Classes 1 and 2 interfere, and so do 0 and 2. The pair of 1 and 2 is the heavier one.
    assert_eq!((zero.always_live_bytes, zero.lower_bound_bytes), (100, 100 + 32 + 8));
    assert_eq!((nine.tile, nine.overflow_bytes, nine.lower_bound_bytes), (9, 8, 0));
    assert_eq!(vars.used_on(0).iter().map(|at| (at.begin(), at.end())).collect::<Vec<_>>(), [(0, 100), (352, 392)]);
}

/// No bound is above what is used, whatever interferes.
#[test]
fn the_lower_bound_is_one() {
    let mut json = String::from(r#"{"vars":["#);
    for var in 0..200_u32 {
        // Classes of neighbours interfere, and do not share bytes.
        let (offset, size) = ((var % 10) * 100, 20 + var * 7 % 80);
        let comma = if var == 0 { "" } else { "," };
        write!(json, r#"{comma}{{"var":{var},"info":{{"allocated":true,"tile":{},"sizeBytes":{size},"offset":{offset},"equivalenceClass":{}}}}}"#, var / 100, var % 10).unwrap();
    }
    let rows: Vec<Vec<u32>> = (0..10).map(|class| (0..10).filter(|other| *other != class).collect()).collect();
    write!(json, r#"],"equivalenceClassInterference":{rows:?}}}"#).unwrap();
    for tile in LoweredVars::read(json.as_bytes()).unwrap().tile_memories() {
        assert!(tile.lower_bound_bytes > 500 && tile.lower_bound_bytes <= tile.used_bytes, "{tile:?}");
    }
}

/// What is wrong, where the reader says so, and how many tensors or variables come before.
struct Broken {
    what: &'static str,
    json: &'static str,
    /// `None` if the file is refused as a whole.
    kept: Option<usize>,
    kind: ReadErrorKind,
    message: &'static str,
    place: (usize, usize),
}

use ReadErrorKind::{Cut, NotJson, WrongForm};

const GOOD: &str = r#"["a",0,[1],"float",0,0,1,[[0,1]]]"#;

#[rustfmt::skip]
const BROKEN_MAPS: &[Broken] = &[
    Broken { what: "empty", json: "", kept: None, kind: Cut, message: "EOF while parsing a value", place: (1, 0) },
    Broken { what: "another format", json: "\u{7f}ELF", kept: None, kind: NotJson, message: "expected value", place: (1, 1) },
    Broken { what: "a list", json: "[1]", kept: None, kind: WrongForm, message: "invalid type: sequence, expected an object with the key \"mappings\"", place: (1, 1) },
    Broken { what: "another object", json: r#"{"vars":[]}"#, kept: None, kind: WrongForm, message: "missing field `mappings`", place: (1, 11) },
    Broken { what: "cut in a tensor", json: r#"{"mappings":{"c":[GOOD,["b",0,[1"#, kept: Some(1), kind: Cut, message: "EOF while parsing a list", place: (1, 61) },
    Broken { what: "a short tensor", json: r#"{"mappings":{"c":[GOOD,["b",0,[1]]]}}"#, kept: Some(1), kind: WrongForm, message: "invalid length 3, expected a tensor: a list of at least 8 values", place: (1, 63) },
    Broken { what: "a text for a number", json: r#"{"mappings":{"c":[["b","0",[1],"float",0,0,1,[]]]}}"#, kept: Some(0), kind: WrongForm, message: "invalid type: string \"0\", expected u64", place: (1, 26) },
    Broken { what: "a flag of 2", json: r#"{"mappings":{"c":[["b",0,[1],"float",2,0,1,[]]]}}"#, kept: Some(0), kind: WrongForm, message: "invalid value: integer `2`, expected 0, 1, true or false", place: (1, 39) },
    Broken { what: "a negative tile", json: r#"{"mappings":{"c":[["b",0,[1],"float",0,0,1,[[-1,1]]]]}}"#, kept: Some(0), kind: WrongForm, message: "invalid value: integer `-1`, expected u32", place: (1, 48) },
    Broken { what: "a huge tile", json: r#"{"mappings":{"c":[["b",0,[1],"float",0,0,1,[[4294967296,1]]]]}}"#, kept: Some(0), kind: WrongForm, message: "invalid value: integer `4294967296`, expected u32", place: (1, 56) },
    Broken { what: "a huge number", json: r#"{"mappings":{"c":[["b",0,[1e300],"float",0,0,1,[]]]}}"#, kept: Some(0), kind: WrongForm, message: "invalid type: floating point `1e+300`, expected u64", place: (1, 32) },
    Broken { what: "a number beyond all", json: r#"{"mappings":{"c":[["b",0,[1e999],"float",0,0,1,[]]]}}"#, kept: Some(0), kind: NotJson, message: "number out of range", place: (1, 32) },
    Broken { what: "a sum that wraps", json: r#"{"mappings":{"c":[["b",0,[1],"float",0,0,1,[[0,18446744073709551615],[1,1]]]]}}"#, kept: Some(0), kind: WrongForm, message: "the number of elements is too large", place: (1, 76) },
    Broken { what: "a tile twice", json: r#"{"mappings":{"c":[["b",0,[1],"float",0,0,1,[[3,1],[3,1]]]]}}"#, kept: Some(0), kind: WrongForm, message: "tile 3 does not follow the tile before it", place: (1, 56) },
    Broken { what: "a computation twice", json: r#"{"mappings":{"c":[GOOD],"c":[GOOD]}}"#, kept: Some(1), kind: WrongForm, message: "the computation \"c\" is there twice", place: (1, 57) },
    Broken { what: "mappings twice", json: r#"{"mappings":{"c":[GOOD]},"mappings":{}}"#, kept: Some(1), kind: WrongForm, message: "the key \"mappings\" is there twice", place: (1, 65) },
    Broken { what: "more behind it", json: r#"{"mappings":{"c":[GOOD]}} x"#, kept: Some(1), kind: NotJson, message: "trailing characters", place: (1, 56) },
    Broken { what: "a control character", json: "{\"mappings\":{\"c\n\":[]}}", kept: Some(0), kind: NotJson, message: "control character (\\u0000-\\u001F) found while parsing a string", place: (2, 0) },
];

#[rustfmt::skip]
const BROKEN_VARS: &[Broken] = &[
    Broken { what: "another object", json: r#"{"mappings":{}}"#, kept: None, kind: WrongForm, message: "missing field `vars`", place: (1, 15) },
    Broken { what: "cut", json: r#"{"vars":[VAR,{"var":1,"info":{"tile"#, kept: Some(1), kind: Cut, message: "EOF while parsing a string", place: (1, 73) },
    Broken { what: "no tile", json: r#"{"vars":[VAR,{"var":1,"info":{"sizeBytes":1}}]}"#, kept: Some(1), kind: WrongForm, message: "missing field `tile`", place: (1, 82) },
    Broken { what: "a key twice", json: r#"{"vars":[{"var":1,"info":{"tile":1,"tile":2,"sizeBytes":1}}]}"#, kept: Some(0), kind: WrongForm, message: "duplicate field `tile`", place: (1, 42) },
    Broken { what: "variables twice", json: r#"{"vars":[VAR],"vars":[]}"#, kept: Some(1), kind: WrongForm, message: "the key \"vars\" is there twice", place: (1, 59) },
    Broken { what: "an end beyond all", json: r#"{"vars":[{"var":7,"info":{"allocated":true,"tile":1,"sizeBytes":2,"offset":18446744073709551615}}]}"#, kept: Some(0), kind: WrongForm, message: "variable 7 ends beyond any memory", place: (1, 98) },
    Broken { what: "a negative offset", json: r#"{"vars":[{"var":7,"info":{"allocated":true,"tile":1,"sizeBytes":2,"offset":-1}}]}"#, kept: Some(0), kind: WrongForm, message: "invalid value: integer `-1`, expected u64", place: (1, 78) },
    Broken { what: "a text for a list", json: r#"{"vars":[VAR],"equivalenceClassInterference":["x"]}"#, kept: Some(1), kind: WrongForm, message: "invalid type: string \"x\", expected a sequence", place: (1, 87) },
];

const VAR: &str = r#"{"var":0,"info":{"tile":0,"sizeBytes":1}}"#;

fn hold(
    broken: &Broken,
    read: impl Fn(&[u8]) -> Result<(usize, Option<poplar_inspect::tiles::ReadError>), poplar_inspect::tiles::ReadError>,
) {
    let json = broken.json.replace("GOOD", GOOD).replace("VAR", VAR);
    let (kept, error) = match read(json.as_bytes()) {
        Ok((kept, damage)) => (Some(kept), damage.unwrap_or_else(|| panic!("{}: no damage", broken.what))),
        Err(error) => (None, error),
    };
    let ours = (kept, error.kind, error.message.as_str(), (error.line, error.column));
    assert_eq!(ours, (broken.kept, broken.kind, broken.message, broken.place), "{}", broken.what);
}

#[test]
fn broken_tensor_maps_keep_what_comes_before() {
    for broken in BROKEN_MAPS {
        hold(broken, |json| TensorMap::read(json).map(|map| (map.tensors().count(), map.damage)));
    }
}

#[test]
fn broken_variables_keep_what_comes_before() {
    for broken in BROKEN_VARS {
        hold(broken, |json| LoweredVars::read(json).map(|vars| (vars.variables.len(), vars.damage)));
    }
}

/// Every beginning of a file is damaged, and gives what is complete in it.
#[test]
fn every_beginning_is_cut() {
    let whole = TENSOR_MAP.trim_end().len();
    let mut most = 0;
    for len in 0..whole {
        match TensorMap::read(&TENSOR_MAP.as_bytes()[..len]) {
            Ok(map) => {
                assert_eq!(map.damage.as_ref().map(|it| it.kind), Some(Cut), "{len}");
                assert!(map.tensors().count() >= most);
                most = map.tensors().count();
            }
            Err(error) => assert_eq!(error.kind, Cut),
        }
        let _ = LoweredVars::read(&VARS.as_bytes()[..len]);
    }
    assert_eq!(most, 3);
}

/// Nesting of unknown fields takes no stack, and that of known ones is refused.
#[test]
fn deep_nesting_is_harmless() {
    let deep = "[".repeat(1 << 20);
    let unknown = format!(r#"{{"x":{deep}{},"mappings":{{}}}}"#, "]".repeat(1 << 20));
    let known = format!(r#"{{"mappings":{{"c":[["a",0,{deep}"#);
    let unfinished = format!(r#"{{"vars":[],"x":{deep}"#);
    let _ = TensorMap::read(unknown.as_bytes());
    assert!(TensorMap::read(known.as_bytes()).unwrap().damage.is_some());
    assert!(LoweredVars::read(unfinished.as_bytes()).unwrap().damage.is_some());
}

/// A long text in the wrong place does not make a long message.
#[test]
fn messages_are_short() {
    let json = format!(r#"{{"mappings":{{"c":[["a","{}"]]}}}}"#, "ä".repeat(10_000));
    let damage = TensorMap::read(json.as_bytes()).unwrap().damage.unwrap();
    assert!(damage.message.len() < 210 && damage.message.ends_with("..."), "{damage}");
}

#[test]
fn a_disk_that_fails_is_an_error() {
    struct Fails;

    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    let bytes = br#"{"mappings":{"c":["#.chain(Fails);
    assert_eq!(TensorMap::read(bytes).unwrap_err().kind, ReadErrorKind::Unreadable(io::ErrorKind::PermissionDenied));
}
