//! Policies, and the names of loaders and severities, serialise and come back.

use crate::common::coming_back::come_back;

use popef::DataType;
use popef_check::{Extent, Level, Loader, Policy, Severity, TensorDemand};
use proptest::prelude::*;

#[test]
fn every_name_comes_back() {
    come_back(&Loader::ALL.to_vec());
    come_back(&Severity::ALL.to_vec());
    assert_eq!(serde_json::from_str::<Loader>("\"triton\"").unwrap(), Loader::Triton);
    let error = serde_json::from_str::<Loader>("\"onnx\"").unwrap_err().to_string();
    assert!(error.starts_with("\"onnx\" is not a loader that this version knows; there are popart, "), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn a_policy_comes_back(
        rules in prop::collection::btree_map(
            "[A-Z]{2}[0-9]{3}",
            prop::sample::select(vec![Level::Off, Level::Note, Level::Warning, Level::Error]),
            0..4,
        ),
        (max_file_size, num_ipus, ipu_version) in any::<(Option<u64>, Option<u32>, Option<u32>)>(),
        known_imports in prop::collection::vec(any::<String>(), 0..3),
        (compressed_executables, no_pickles) in any::<(bool, bool)>(),
        opaques in prop::option::of(prop::collection::vec(any::<String>(), 0..3)),
        (poplar_hash, target_arch, poptorch_version) in any::<(Option<String>, Option<String>, Option<String>)>(),
        inputs in prop::collection::vec(demand(), 0..3),
        outputs in prop::collection::vec(demand(), 0..3),
    ) {
        come_back(&Policy {
            rules, max_file_size, compressed_executables, no_pickles, opaques, known_imports, num_ipus, ipu_version,
            poplar_hash, target_arch, poptorch_version, inputs, outputs,
        });
    }
}

fn demand() -> impl Strategy<Value = TensorDemand> {
    let extent = prop_oneof![Just(Extent::Any), (0..=i64::MAX).prop_map(Extent::Exactly)];
    let shape = prop::option::of(prop::collection::vec(extent, 0..4));
    let data_type = prop::option::of(any::<u16>().prop_map(DataType::from_number));
    (any::<String>(), data_type, shape).prop_map(|(name, data_type, shape)| TensorDemand { name, data_type, shape })
}
