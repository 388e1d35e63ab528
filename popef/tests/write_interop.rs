mod writing;
use popef::File;
use writing::*;

#[test]
fn tmp() {
    for path in interop_files() {
        let file = File::open(&path).unwrap();
        let bytes = in_memory(|w| {
            write_anew(w, &file).unwrap();
        });
        let orig = std::fs::read(&path).unwrap();
        println!("{:?} {} {} {}", path.file_name(), bytes.len(), orig.len(), bytes == orig);
    }
}
