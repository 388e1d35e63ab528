//! The files that the tests of checks use, and the options for each.

use std::io::Read;

use popef::types::TensorDataInfo;
use popef::write::Stream;
use popef::{DataType, File, OpenOptions, TensorInfo, Writer};
use popef_check::{CheckOptions, Extent, Inspection, Loader, Policy, TensorDemand};

pub(crate) const FOLDER: &str = "../../testdata/checks";
pub(crate) const INTEROP: &str = "../../testdata/interop";

/// Opens a file, also a damaged one.
pub(crate) fn open(path: &str) -> File {
    OpenOptions::new().damaged(true).open(path).unwrap()
}

/// The options that the file of a rule is checked with: only those that the rule needs.
pub(crate) fn options(id: &str) -> CheckOptions {
    let mut options = CheckOptions::new();
    let number: u32 = id[2..].parse().unwrap();
    match number {
        401..=499 => drop(options.deep(true)),
        601..=610 => drop(options.loader(Loader::Popart)),
        611..=619 => drop(options.loader(Loader::Poptorch)),
        621..=629 => drop(options.loader(Loader::Tensorflow)),
        631..=639 => drop(options.loader(Loader::Triton)),
        721 => drop(options.loader(Loader::Popart)),
        722 => drop(options.loader(Loader::Tensorflow)),
        701..=719 | 731 => drop(options.policy(policy(id))),
        801..=899 => drop(options.deep(true).inspect_archives(inspect)),
        _ => {}
    }
    options
}

/// Reads as much of an archive of ELF files as the files of the rules need.
fn inspect(archive: &mut dyn Read) -> Inspection {
    let mut bytes = Vec::new();
    archive.read_to_end(&mut bytes).unwrap();
    let mut rest = bytes.strip_prefix(b"!<arch>\n").unwrap();
    let mut tiles = Vec::new();
    while !rest.is_empty() {
        let size: usize = std::str::from_utf8(&rest[48..58]).unwrap().trim_end().parse().unwrap();
        let Some((elf, others)) = rest[60..].split_at_checked(size) else {
            return Inspection::Damaged(format!("tile {} is cut", tiles.len()));
        };
        let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().unwrap());
        let sections = (0..usize::from(elf[48])).map(|number| word(32) as usize + 40 * number);
        let loaded = sections.filter(|at| word(at + 8) & 2 != 0);
        tiles.push(loaded.map(|at| u64::from(word(at + 20))).sum::<u64>());
        rest = &others[size % 2..];
    }
    let (fullest, bytes) = (0..).zip(&tiles).max_by_key(|(_, bytes)| **bytes).unwrap();
    Inspection::Tiles { count: tiles.len() as u64, fullest, bytes: *bytes }
}

pub(crate) fn all_loaders() -> CheckOptions {
    let mut options = CheckOptions::new();
    for &loader in Loader::ALL {
        options.loader(loader);
    }
    options
}

/// The policy that the file of a rule breaks.
pub(crate) fn policy(id: &str) -> Policy {
    let anchor = |name: &str| TensorDemand { name: name.to_owned(), ..TensorDemand::default() };
    let mut policy = Policy::default();
    match id {
        "PE701" => policy.max_file_size = Some(500),
        "PE702" => policy.compressed_executables = true,
        "PE703" => policy.no_pickles = true,
        "PE731" => policy.poptorch_version = Some("3.4.0".to_owned()),
        "PE704" => policy.opaques = Some(vec!["popart".to_owned()]),
        "PE705" => policy.num_ipus = Some(4),
        "PE706" => policy.ipu_version = Some(21),
        "PE707" => policy.inputs = vec![anchor("x"), anchor("y")],
        "PE708" => policy.outputs = vec![anchor("x"), anchor("y")],
        "PE709" => {
            let open = TensorDemand { shape: Some(vec![Extent::Any]), ..anchor("x") };
            let other = TensorDemand { data_type: Some(DataType::F16), ..anchor("y") };
            let exact = TensorDemand { shape: Some(vec![Extent::Exactly(3)]), ..anchor("w") };
            policy.inputs = vec![open, exact];
            policy.outputs = vec![other];
        }
        "PE710" => policy.poplar_hash = Some("another hash".to_owned()),
        "PE711" => policy.target_arch = Some("ipu21".to_owned()),
        _ => {}
    }
    policy
}

/// A file in memory with what `write` writes.
pub(crate) fn written(write: impl FnOnce(&mut Writer<Stream<&mut Vec<u8>>>)) -> File {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    write(&mut writer);
    writer.finish().unwrap();
    File::from_bytes(bytes).unwrap()
}

/// A tensor of one dimension.
pub(crate) fn tensor(name: &'static str, data_type: DataType, len: usize) -> TensorDataInfo {
    TensorDataInfo { name: name.into(), tensor_info: TensorInfo::new(data_type, [len as i64]) }
}
