//! The overview on a terminal of 80 by 24 characters.

use std::path::Path;

use popef::types::TensorDataInfo;
use popef::{DataType, File, TensorInfo, Writer};
use popef_show::{Failures, FileReport, FileToShow, ListFormat, Options, Out, Provider, Screen};

fn overview(tensors: usize, elements: &[f32], options: &Options) -> String {
    overview_of((0..tensors).map(|tensor| format!("t{tensor}")), elements, options)
}

fn overview_of(names: impl IntoIterator<Item = String>, elements: &[f32], options: &Options) -> String {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    for name in names {
        let tensor_info = TensorInfo::new(DataType::F32, [elements.len() as i64]);
        writer.write_tensor(&TensorDataInfo { name: name.into(), tensor_info }, elements).unwrap();
    }
    writer.finish().unwrap();
    let file = File::from_bytes(bytes).unwrap();
    let path = Path::new("model.popef");
    let input = FileToShow { index: 0, path, file: Some(&file), failure: None, provider: &|_| Provider::User };
    let mut out = Out::in_memory(false);
    let renderer = ListFormat::Text.renderer(options, Some(Screen { width: 80, height: 24 }));
    renderer.file(&mut out, &FileReport::new(input, options), &mut Failures::default()).unwrap();
    String::from_utf8(out.into_bytes()).unwrap()
}

#[test]
fn all_values_that_were_asked_for_are_shown() {
    let elements: Vec<f32> = (0..30).map(|element| element as f32 * 1.125).collect();
    for count in [1, 20, 30, 40] {
        let mut options = Options::default();
        options.values = Some(count);
        let shown = overview(1, &elements, &options);
        assert!(shown.lines().all(|line| line.len() <= 80), "{shown}");
        let (_, list) = shown.split_once('[').and_then(|(_, rest)| rest.split_once('[')).unwrap();
        let (list, _) = list.split_once(']').unwrap();
        let values: Vec<_> = list.split_whitespace().map(|value| value.trim_end_matches(',')).collect();
        let mut expected: Vec<_> = elements.iter().take(count as usize).map(|element| format!("{element:?}")).collect();
        if count < 30 {
            expected.push("...".to_owned());
        }
        assert_eq!(values, expected, "{shown}");
    }
}

/// It may not look as if another file began.
#[test]
fn what_a_long_table_scrolls_away_is_repeated_as_its_end() {
    let count = |tensors, text: &str| overview(tensors, &[1.0], &Options::default()).matches(text).count();
    for tensors in [1, 20, 21, 100] {
        assert_eq!(count(tensors, "PopEF file: model.popef\n"), 1, "{tensors}");
        let scrolls = tensors > 20;
        assert_eq!(count(tensors, "End of file: model.popef\n"), usize::from(scrolls), "{tensors}");
        assert_eq!(count(tensors, " in "), if scrolls { 2 } else { 1 }, "{tensors}");
    }
}

#[test]
fn names_are_shown_in_full_on_request() {
    let name = format!("encoder/{}/weight", "layer/".repeat(30));
    let mut options = Options::default();
    let shown = |options: &Options| overview_of([name.clone()], &[1.0], options);
    assert!(!shown(&options).contains(&name) && shown(&options).lines().all(|line| line.chars().count() <= 80));
    options.full_names = true;
    assert!(shown(&options).contains(&name));
}
