//! Executes runs: recording, continuing, forking, and what these have in common.

pub(crate) mod accepting;
pub(crate) mod answers;
pub(crate) mod changes;
pub(crate) mod conclusion;
pub(crate) mod config;
pub(crate) mod continuation;
pub(crate) mod effective;
pub(crate) mod figures;
pub(crate) mod folder;
pub(crate) mod fork;
pub(crate) mod live;
pub(crate) mod original;
pub(crate) mod person;
pub(crate) mod phase_files;
pub(crate) mod program;
pub(crate) mod record;
pub(crate) mod refold;
pub(crate) mod resume;
pub(crate) mod run_figures;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod templates;
pub(crate) mod trace;
pub(crate) mod unfinished;
