//! `popef merge`.

use crate::common::Place;

#[test]
fn files_become_one() {
    let place = Place::with(&["interop/split-executable.popef", "interop/split-tensors.popef"]);
    place.run(&["merge", "split-executable.popef", "split-tensors.popef", "-o", "whole.popef"]).good();
    assert_eq!(
        place.read("whole.popef"),
        [place.read("split-executable.popef"), place.read("split-tensors.popef")].concat()
    );
}
