//! `popef-dump`.

fn main() -> std::process::ExitCode {
    popef_dump_tool::main()
}
