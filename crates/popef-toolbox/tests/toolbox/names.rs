//! Names with odd letters, as people copy them from what is shown.

use popef::types::TensorDataInfo;
use popef::{DataType, File, TensorInfo, Writer};

use crate::common::Place;

/// A file with tensors of these names.
fn tensors(place: &Place, names: &[&str]) {
    let mut writer = Writer::create(place.path("odd.popef")).unwrap();
    for name in names {
        let info = TensorDataInfo { name: (*name).to_owned().into(), tensor_info: TensorInfo::new(DataType::U8, [4]) };
        writer.write_tensor_bytes(&info, b"data").unwrap();
    }
    writer.finish().unwrap();
}

fn names(place: &Place, file: &str) -> Vec<String> {
    File::open(place.path(file)).unwrap().blobs().map(|blob| blob.name().unwrap().to_string()).collect()
}

#[test]
fn a_name_is_understood_as_it_is_shown() {
    let place = Place::with(&[]);
    tensors(&place, &["tab\tnl\n", "plain", "\u{202e}back"]);
    let shown = place.run(&["ls", "odd.popef"]).good();
    assert!(shown.text().contains(r"tab\tnl\n") && shown.text().contains(r"\u{202e}back"), "{shown:?}");
    for (given, name) in [(r"tab\tnl\n", "tab\tnl\n"), (r"\u{202e}*", "\u{202e}back"), ("tab?nl?", "tab\tnl\n")] {
        let listed = place.run(&["ls", "--format", "json", "odd.popef", "--filter", given]).good().json();
        let blobs = listed["files"][0]["blobs"].as_array().unwrap();
        assert!(blobs.len() == 1 && blobs[0]["info"]["name"] == name, "{listed}");
        place.run(&["merge", "odd.popef", "-o", "one.popef", "--force", "--filter", given]).good();
        assert_eq!(names(&place, "one.popef"), [name]);
        place.run(&["strip", "odd.popef", "-o", "two.popef", "--force", "--drop", &format!("tensor:{given}")]).good();
        assert!(!names(&place, "two.popef").contains(&name.to_owned()));
    }
    place.run(&["set", "odd.popef", "-o", "new.popef", "--rename", r"tab\tnl\n=usual"]).good();
    assert_eq!(names(&place, "new.popef"), ["usual", "plain", "\u{202e}back"]);
}

/// A backslash in a name stays one.
#[test]
fn a_name_as_it_is_comes_first() {
    let place = Place::with(&[]);
    tensors(&place, &["a\tb", r"a\tb"]);
    place.run(&["set", "odd.popef", "-o", "new.popef", "--rename", r"a\tb=new"]).good();
    assert_eq!(names(&place, "new.popef"), ["a\tb", "new"]);
    place.run(&["set", "odd.popef", "-o", "new.popef", "--force", "--rename", r"a\\tb=new"]).good();
    assert_eq!(names(&place, "new.popef"), ["a\tb", "new"]);
    let run = place.run(&["set", "odd.popef", "-o", "x.popef", "--rename", r"b\tb=new"]);
    assert!(run.status == 2 && run.err.contains("[no-such-name]"), "{run:?}");
}
