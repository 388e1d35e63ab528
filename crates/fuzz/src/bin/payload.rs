//! Any bytes as the data of PopART or TensorFlow in an opaque blob: no panic, and no more time and memory than is
//! promised, for reading it and for its JSON. The first byte chooses the framework.

#![no_main]

use std::io::{self, Write};

use libfuzzer_sys::fuzz_target;
use popef::Writer;
use popef::read::Blobs;
use popef::types::OpaqueInfo;
use popef_fuzz::cost::{PAYLOAD, SLACK, assert_within};
use popef_fuzz::heap::Counting;
use popef_payload::{Framework, Payload};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|input: &[u8]| {
    let Some((first, data)) = input.split_first() else { return };
    let framework = if first % 2 == 0 { Framework::Popart } else { Framework::Tensorflow };
    let mut writer = Writer::stream(Vec::new());
    let info = OpaqueInfo { name: framework.as_str().into(), executable: "model".into() };
    writer.write_opaque(&info, data).expect("memory takes any bytes");
    let file = writer.into_inner().expect("memory takes any bytes");
    let blob = Blobs::new(&file).next().expect("it was written").expect("it was written");
    let opaque = blob.as_opaque().expect("it was written");

    assert_within(&PAYLOAD, SLACK, data.len() as u64, || {
        let payload = match Payload::read(&opaque) {
            Ok(payload) => payload,
            Err(error) => {
                let end = blob.offset() + blob.size();
                assert!(error.offset().is_some_and(|at| (blob.data_offset()..=end).contains(&at)), "{error}");
                return 0;
            }
        };
        let mut out = Counted(0);
        serde_json::to_writer(&mut out, &payload).expect("any payload has a JSON");
        if let Payload::Popart(executable) = &payload {
            assert_eq!(executable.bytes + executable.surplus, data.len() as u64);
            let places = executable.tensors.iter().filter_map(|tensor| tensor.data);
            places.for_each(|place| assert!(place.offset + place.len <= executable.bytes, "{place:?}"));
        }
        out.0
    });
});

struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
