//! The `memoir` executable.

fn main() -> std::process::ExitCode {
    memoir_cli::main()
}
