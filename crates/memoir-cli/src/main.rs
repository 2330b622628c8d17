//! The `memoir` executable. Its code is in the `memoir_cli` library, which `xtask` also uses.

fn main() -> std::process::ExitCode {
    memoir_cli::main()
}
