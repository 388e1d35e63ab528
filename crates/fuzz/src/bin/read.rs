//! The walk, every accessor, models and checks over any bytes: no panic, no contradictions, no more memory than follows
//! from the headers and infos, and no more time than is promised.

#![no_main]

use libfuzzer_sys::fuzz_target;
use popef::read::Blobs;
use popef::{File, Model, OpenOptions};
use popef_check::{CheckOptions, check};
use popef_fuzz::cost::{CHECK, HEADS, HEADS_KEPT, METADATA, SLACK, assert_within};
use popef_fuzz::everything::{everything, walk};
use popef_fuzz::heap::{BASE, Counting, allowance, peak_of};
use popef_fuzz::work;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|input: &[u8]| {
    let file = popef_fuzz::file(input);
    walk(&file);
    let len = file.len() as u64;
    assert_within(&HEADS, SLACK, len, || work::walk(&file));
    assert_within(&HEADS_KEPT, SLACK, len, || work::list(&file));
    assert_within(&METADATA, SLACK, len, || work::read_metadata(&file));
    assert_within(&CHECK, SLACK, len, || work::check_headers(&file));

    let allowed = allowance(&file, false);
    let allowed_streamed = allowance(&file, true);
    let (_, peak) = peak_of(|| Blobs::new(&file).for_each(drop));
    assert!(peak <= allowed, "a walk held {peak} bytes of {allowed}");
    let size = file.len() as u64;
    let bytes: std::sync::Arc<[u8]> = file.into();
    let (opened, peak) = peak_of(|| OpenOptions::new().damaged(true).bytes(bytes.clone()).unwrap());
    assert!(peak <= allowed, "an opened file held {peak} bytes of {allowed}");
    for metadata in opened.metadata() {
        let allowed = BASE + 4 * metadata.blob().info_bytes().len();
        let (_, peak) = peak_of(|| drop(metadata.read()));
        assert!(peak <= allowed, "metadata held {peak} bytes of {allowed}");
    }
    everything(&opened, size);
    models(&opened);
    checks(&opened);
    let (streamed, peak) = peak_of(|| OpenOptions::new().damaged(true).stream(&*bytes).unwrap());
    assert!(peak <= allowed_streamed, "a stream held {peak} bytes of {allowed_streamed}");
    everything(&streamed, size);
    assert_eq!(File::from_bytes(bytes).is_ok(), opened.damage().is_none());
});

fn models(file: &File) {
    // Metadata that would take too much memory is an error.
    let Ok(models) = Model::link([file]) else { return };
    for model in &models {
        let anchors = model.anchors().count();
        assert_eq!(anchors, model.metadata().anchors.len());
        assert!(model.inputs_from_user().count() + model.tensors_to_upload().count() <= 2 * anchors);
        for (anchor, _) in model.anchors() {
            if let Ok(shape) = model.shape_of(anchor) {
                assert_eq!(shape.stored(), anchor.tensor_info.shape);
            }
            std::hint::black_box(model.metadata().elements_per_call(anchor));
        }
    }
}

fn checks(file: &File) {
    let report = check([file], CheckOptions::new().deep(true));
    for finding in &report.findings {
        let text = format!("{finding}");
        assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text:?}");
    }
    assert_ne!(report.worst().is_some(), report.findings.is_empty());
}
