//! The tool `popef`.

fn main() -> std::process::ExitCode {
    popef_toolbox::main()
}
