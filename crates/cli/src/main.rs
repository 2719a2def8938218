//! The `retold` program.

// Answers are read by one thread and freed by another; with the system's allocator, that costs a
// lock each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<std::process::ExitCode, retold_study::error::Clash> {
    Ok(retold_cli::main(&retold_cli::program::catalogue()?))
}
