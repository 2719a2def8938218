//! The `retold` program.

fn main() -> std::process::ExitCode {
    retold::cli::main()
}
