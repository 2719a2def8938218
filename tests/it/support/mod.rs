//! What several tests need.

use std::path::PathBuf;

pub(crate) mod batches;
pub(crate) mod bombs;
pub(crate) mod cases;
pub(crate) mod child;
pub(crate) mod cli;
pub(crate) mod csv;
pub(crate) mod data;
pub(crate) mod forge;
pub(crate) mod server;
pub(crate) mod terminal;
pub(crate) mod tls;

/// A file of the data that is kept next to the project and never committed.
///
/// If it is missing, this panics: a test with nothing to test must not pass.
pub(crate) fn shared_data(path: &str) -> PathBuf {
    let file = PathBuf::from(env!("RETOLD_ROOT")).join("../shared/data").join(path);
    assert!(
        file.exists(),
        "{} is missing: this test needs the shared data folder beside the project",
        file.display()
    );
    file
}

/// Runs a future to its end on a runtime of its own.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}
pub(crate) mod forged;
pub(crate) mod kills;
pub(crate) mod logs;
pub(crate) mod measured;
pub(crate) mod mixed;
pub(crate) mod oracle;
pub(crate) mod parsers;
pub(crate) mod program;
pub(crate) mod program_run;
pub(crate) mod rows;
pub(crate) mod shape;
pub(crate) mod stops;
pub(crate) mod strict;
pub(crate) mod studies;
pub(crate) mod tamper;
pub(crate) mod trial;
pub(crate) mod users;
pub(crate) mod waiting;
