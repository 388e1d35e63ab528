//! The files that the tests of checks use, and the options for each.

use popef::check::{CheckOptions, Extent, Loader, Policy, TensorDemand};
use popef::types::TensorDataInfo;
use popef::write::Stream;
use popef::{DataType, File, OpenOptions, TensorInfo, Writer};

pub(crate) const FOLDER: &str = "../testdata/checks";
pub(crate) const INTEROP: &str = "../testdata/interop";

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
        701..=799 => drop(options.policy(policy(id))),
        _ => {}
    }
    options
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
