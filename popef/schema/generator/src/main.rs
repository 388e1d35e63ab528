//! Writes the Rust code for one Cap'n Proto schema.
//!
//! Usage: `generator SCHEMA OUTPUT_FOLDER MODULE...`. The modules are the path from the crate's root to the module that the
//! code will be in. Needs the `capnp` command.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [schema, output_folder, modules @ ..] = arguments.as_slice() else {
        eprintln!("usage: generator SCHEMA OUTPUT_FOLDER MODULE...");
        return ExitCode::from(2);
    };
    let folder = Path::new(schema).parent().unwrap_or(Path::new("."));
    // The plugin of capnpc cannot be told where the module will live other
    // than by a mark in the schema; the schema stays free of Rust this way.
    let result = capnpc::CompilerCommand::new()
        .src_prefix(folder)
        .file(schema)
        .default_parent_module(modules.to_vec())
        .output_path(output_folder)
        .run();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{schema}: {error}");
            ExitCode::FAILURE
        }
    }
}
