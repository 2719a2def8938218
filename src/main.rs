//! The `retold` program.

// Answers are read by one thread and freed by another, which costs the system's allocator a lock each.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    retold::cli::main()
}
