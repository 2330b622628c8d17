//! The program `memoir`.

fn main() -> std::process::ExitCode {
    memoir_cli::main()
}
