//! Models linked across files, and the arithmetic of shapes and calls.

use std::num::NonZeroU32;

use popef::model::{AnchorShape, FeedRuns, Outer, Phase, ShapeMismatch, Source, Sources};
use popef::types::{Anchor, EngineOption, ProgramFlow, TensorDataInfo, TensorType};
use popef::{DataType, File, Metadata, Model, OpenOptions, TensorInfo, Writer};

fn open(name: &str) -> File {
    File::open(format!("../../testdata/interop/{name}.popef")).unwrap()
}

fn names<'a>(anchors: impl Iterator<Item = &'a Anchor>) -> Vec<String> {
    anchors.map(|anchor| anchor.name.to_string()).collect()
}

/// Checks one of the six examples in the vendor's chapter on anchors: fields, and the stored shape.
#[track_caller]
fn stored_shape(use_remote_buffers: bool, repeats: u32, replication_factor: u32, is_per_replica: bool, stored: &[i64]) {
    let own = [8, 3, 1];
    let tensor_info = TensorInfo::new(DataType::F16, stored);
    let anchor = Anchor { use_remote_buffers, repeats, is_per_replica, tensor_info, ..Anchor::default() };
    assert_eq!(AnchorShape::join(own, &anchor, replication_factor).stored(), stored);
    let shape = AnchorShape::of(&anchor, replication_factor).unwrap();
    assert_eq!(shape.own, own);
    assert_eq!(shape.batch_size(), 8);
    assert_eq!(shape, AnchorShape::join(own, &anchor, replication_factor));
}

#[test]
fn replicas_and_repeats_come_before_the_shape() {
    stored_shape(true, 3, 2, true, &[2, 3, 8, 3, 1]);
}

#[test]
fn one_replica_has_no_dimension() {
    stored_shape(true, 3, 1, true, &[3, 8, 3, 1]);
}

#[test]
fn data_shared_by_all_replicas_has_no_dimension_for_them() {
    stored_shape(true, 3, 2, false, &[3, 8, 3, 1]);
}

#[test]
fn a_plain_anchor_has_the_shape_alone() {
    stored_shape(false, 1, 1, false, &[8, 3, 1]);
}

#[test]
fn repeats_without_remote_buffers_have_no_dimension() {
    stored_shape(false, 3, 2, true, &[2, 8, 3, 1]);
}

#[test]
fn one_repeat_has_no_dimension() {
    stored_shape(true, 1, 2, true, &[2, 8, 3, 1]);
}

#[test]
fn a_shape_that_lacks_its_outer_dimensions_is_an_error() {
    let tensor_info = TensorInfo::new(DataType::F16, [8, 3]);
    let anchor = Anchor { is_per_replica: true, tensor_info, ..Anchor::default() };
    let mismatch = AnchorShape::of(&anchor, 2).unwrap_err();
    let ShapeMismatch { outer, dimension, needed, found, .. } = mismatch;
    assert_eq!((outer, dimension, needed, found), (Outer::Replicas, 0, 2, Some(8)));
    assert_eq!(mismatch.to_string(), "dimension 0 has to be the 2 replicas, but is 8");

    let anchor =
        Anchor { use_remote_buffers: true, repeats: 3, tensor_info: TensorInfo::default(), ..Anchor::default() };
    let mismatch = AnchorShape::of(&anchor, 2).unwrap_err();
    assert_eq!(mismatch.to_string(), "dimension 0 has to be the 3 repeats, but the shape has only 0 dimensions");
}

#[test]
fn a_scalar_is_a_batch_of_one() {
    assert_eq!(AnchorShape::of(&Anchor::default(), 1).unwrap().batch_size(), 1);
}

fn per_replica(shape: &[i64]) -> Anchor {
    Anchor { tensor_info: TensorInfo::new(DataType::F32, shape), is_per_replica: true, ..Anchor::default() }
}

#[test]
fn elements_per_call_are_those_of_the_vendors_example() {
    let metadata = Metadata { replication_factor: 2, device_iterations: 10, ..Metadata::default() };
    let anchor = per_replica(&[2, 8, 3, 1]);
    assert_eq!(metadata.elements_per_call(&anchor), Some(160));
    let accumulation = NonZeroU32::new(4).unwrap();
    assert_eq!(metadata.training_elements_per_call(&anchor, accumulation), Some(640));
}

#[test]
fn iterations_that_were_never_set_are_one() {
    let metadata = Metadata { device_iterations: 0, ..Metadata::default() };
    assert_eq!(metadata.elements_per_call(&per_replica(&[8, 3])), Some(8));
}

#[test]
fn elements_per_call_never_wrap() {
    let metadata =
        Metadata { replication_factor: u32::MAX, device_iterations: u32::MAX, num_ipus: 1, ..Metadata::default() };
    assert_eq!(metadata.elements_per_call(&per_replica(&[u32::MAX.into(), i64::MAX])), None);
    assert_eq!(metadata.elements_per_call(&per_replica(&[7])), None);
}

#[test]
fn the_runs_of_a_feed_are_counted_in_elements() {
    let feeds = open("split-feeds");
    let feed = feeds.feed("user_input").unwrap();
    // Three tensors of shape [2] have six elements.
    let figures = |found: FeedRuns| (found.runs, found.left_over);
    let runs = |metadata: &Metadata, shape: &[i64]| metadata.feed_runs(&per_replica(shape), &feed).map(figures);
    let metadata = Metadata::default();
    assert_eq!(runs(&metadata, &[2]), Some((3, 0)));
    assert_eq!(runs(&metadata, &[4]), Some((1, 2)));
    assert_eq!(runs(&metadata, &[1, 2]), Some((3, 0)));
    assert_eq!((runs(&metadata, &[0]), runs(&metadata, &[2, 0])), (None, None));
    let replicated = Metadata { replication_factor: 2, device_iterations: 3, ..Metadata::default() };
    assert_eq!(runs(&replicated, &[2, 1]), Some((1, 0)));
    let accumulation = NonZeroU32::new(2).unwrap();
    let training = metadata.training_feed_runs(&per_replica(&[2]), &feed, accumulation);
    assert_eq!(training.map(figures), Some((1, 2)));
}

#[test]
fn a_model_is_linked_across_three_files() {
    let files = [open("split-executable"), open("split-tensors"), open("split-feeds")];
    let models = Model::link(&files).unwrap();
    let [model] = models.as_slice() else { panic!("one metadata, {} models", models.len()) };
    assert_eq!(model.executable().unwrap().name(), model.metadata().executable);
    assert_eq!(model.executable().unwrap().file, 0);
    assert_eq!(model.inputs_from_user().count(), 0);
    let uploads: Vec<_> = model.tensors_to_upload().map(|(a, tensor)| (a.handle.to_string(), tensor.file)).collect();
    assert_eq!(uploads, [("h2d_input_parameter".to_owned(), 1)]);
    let with_tensor: Vec<_> = model.files().iter().map(|file| file.tensor("input_parameter").is_some()).collect();
    assert_eq!(with_tensor, [false, true, false]);
    let fed: Vec<_> = model.feeds_to_upload().map(|(a, feed)| (a.name.to_string(), feed.file)).collect();
    assert_eq!(fed, [("user_input".to_owned(), 2)]);
    let fed = model.anchors().find(|(anchor, _)| anchor.name == "user_input").unwrap();
    assert!(matches!(fed.1, Source::Feed(feed) if feed.file == 2 && feed.num_tensors() == 3), "{:?}", fed.1);
    let users = model.anchors().filter(|(_, source)| source.is_user()).map(|(anchor, _)| anchor);
    assert_eq!(names(users), ["Add:0"]);
}

#[test]
fn without_the_other_files_the_user_has_to_feed_their_inputs() {
    let files = [open("split-executable")];
    let model = &Model::link(&files).unwrap()[0];
    assert_eq!(names(model.inputs_from_user()), ["user_input", "input_parameter"]);
    assert_eq!((model.tensors_to_upload().count(), model.feeds_to_upload().count()), (0, 0));
}

#[test]
fn in_a_damaged_file_it_is_unknown_what_the_user_has_to_provide() {
    let bytes = std::fs::read("../../testdata/interop/executable.popef").unwrap();
    // The weight is the last blob.
    let cut = OpenOptions::new().damaged(true).bytes(bytes[..bytes.len() - 1].to_vec()).unwrap();
    let model = &Model::link([&cut]).unwrap()[0];
    assert_eq!((model.inputs_from_user().count(), model.outputs_to_user().count()), (0, 0));
    assert!(model.anchors().all(|(_, source)| matches!(source, Source::Unknown)));
    let whole = open("split-tensors");
    let model = &Model::link([&cut, &whole]).unwrap()[0];
    let found = model.anchors().find(|(anchor, _)| anchor.name == "input_parameter").unwrap();
    assert!(matches!(found.1, Source::Tensor(tensor) if tensor.file == 1), "{:?}", found.1);
}

#[test]
fn the_vendors_example_links_to_what_a_deployment_needs() {
    let files = [open("executable")];
    let model = &Model::link(&files).unwrap()[0];
    assert_eq!(names(model.inputs_from_user()), ["user_input"]);
    assert_eq!(names(model.outputs()), ["Add:0"]);
    // The other output is a weight, which the save program reads back.
    assert_eq!(names(model.outputs_to_user()), ["Add:0"]);
    assert_eq!(names(model.all_outputs()), ["input_parameter", "Add:0"]);
    let shown = |programs: Vec<popef::model::Program<'_>>| programs.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shown(model.load_programs().collect()), ["0 (WeightsFromHost)", "1 (OptimizerFromHost)"]);
    assert_eq!(shown(model.main_programs().collect()), ["5 (Program)"]);
    assert_eq!(shown(model.save_programs().collect()), ["7 (WeightsToHost)"]);
    assert_eq!(model.opaques().map(|opaque| opaque.name().to_string()).collect::<Vec<_>>(), ["popart"]);
    assert_eq!(model.metadata_blob().blob().index(), 1);
    let weights = model.all_outputs().next().unwrap();
    assert!(model.runs_in(weights, Phase::Save) && !model.runs_in(weights, Phase::Main));
    assert_eq!(model.program_name(99), None);
}

#[test]
fn outputs_with_data_in_the_files_are_not_for_the_user() {
    let tensor_info = TensorInfo::new(DataType::U8, [1]);
    let anchor = |name: &str, program: u32| Anchor {
        name: name.to_owned().into(),
        tensor_type: TensorType::Output,
        tensor_info: tensor_info.clone(),
        programs: vec![program],
        ..Anchor::default()
    };
    let metadata = Metadata {
        program_flow: ProgramFlow { load: vec![], main: vec![1], save: vec![2] },
        anchors: vec![anchor("result", 1), anchor("state", 1), anchor("saved", 2)],
        ..Metadata::default()
    };
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_metadata(&metadata).unwrap();
    writer.write_tensor(&TensorDataInfo { name: "state".into(), tensor_info }, &[7u8]).unwrap();
    writer.finish().unwrap();

    let model = &Model::link([File::from_bytes(bytes).unwrap()]).unwrap()[0];
    assert_eq!(names(model.all_outputs()), ["result", "state", "saved"]);
    assert_eq!(names(model.outputs()), ["result", "state"]);
    assert_eq!(names(model.outputs_to_user()), ["result"]);
}

#[test]
fn a_file_of_two_models_gives_two() {
    let files = [open("two-models")];
    let models = Model::link(&files).unwrap();
    let parts: Vec<_> = models
        .iter()
        .map(|model| {
            let opaques: Vec<_> = model.opaques().map(|opaque| opaque.name().to_string()).collect();
            (model.executable().unwrap().name().to_string(), opaques)
        })
        .collect();
    assert_eq!(parts, [("a".to_owned(), vec!["tensorflow".to_owned()]), ("b".to_owned(), vec!["poptorch".to_owned()])]);
}

#[test]
fn weights_alone_are_no_model() {
    assert!(Model::link(&[open("split-tensors")]).unwrap().is_empty());
}

#[test]
fn data_in_the_file_of_the_anchor_comes_first() {
    let files = [open("add-clean"), open("executable")];
    let models = Model::link(&files).unwrap();
    for (file, model) in models.iter().enumerate() {
        assert_eq!(model.tensors_to_upload().next().unwrap().1.file, file);
        assert_eq!(model.executable().unwrap().file, file);
    }
}

#[test]
fn sources_are_found_in_all_files_together() {
    let files = [open("split-executable"), open("split-tensors")];
    let anchors = files[0].metadata().next().unwrap().read().unwrap().anchors;
    let provided = |sources: &Sources| anchors.iter().map(|a| sources.provide(a)).collect::<Vec<_>>();
    assert_eq!(provided(&Sources::of(&files[..1]).unwrap()), [false; 4]);
    assert_eq!(provided(&Sources::of(&files).unwrap()), [false, true, true, false]);
    assert!(Sources::of(&files).unwrap().of_anchor(&anchors[0], 0).is_user());
}

#[test]
fn an_option_reads_as_a_bool_or_number_only_if_it_is_one() {
    let option = |value: &str| EngineOption { name: "n".into(), value: value.to_owned().into() };
    assert_eq!(option("true").to_bool(), Some(true));
    assert_eq!(option("True").to_bool(), None);
    assert_eq!(option("12").to_u64(), Some(12));
    assert_eq!(option("-12").to_u64(), None);
    assert_eq!(option("-12").to_i64(), Some(-12));
    assert_eq!(option("0.25").to_f64(), Some(0.25));
    assert_eq!(option("hostRearrangeOnly").to_f64(), None);
    let metadata = Metadata { device_options: vec![option("1"), option("2")], ..Metadata::default() };
    assert_eq!(metadata.device_option("n").unwrap().to_u64(), Some(2));
    assert_eq!(metadata.engine_option("n"), None);
    let metadata = Metadata { engine_options: vec![option("1"), option("3")], ..Metadata::default() };
    assert_eq!(metadata.engine_option("n").unwrap().to_u64(), Some(3));
    assert_eq!((metadata.engine_option("m"), metadata.device_option("n")), (None, None));
}
