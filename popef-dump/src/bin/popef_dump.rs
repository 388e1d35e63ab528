//! `popef_dump`: the same program under the name of the vendor's tool.

fn main() -> std::process::ExitCode {
    popef_dump_tool::main()
}
