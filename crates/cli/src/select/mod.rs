//! Finds the log, run or recording that a user names: a run by prefix or `latest`, a recording by its file.

mod named;
mod opened;
mod recording;
mod run;
mod selection;
mod source;

pub(crate) use named::{each_once, find, names_a_file};
pub(crate) use opened::{
    open, open_to_read, open_to_read_silently, open_to_verify, open_to_verify_silently,
    report_damage,
};
pub(crate) use recording::{cassette, is_log, to_serve};
pub(crate) use run::{
    checked_line, choose, run, run_of, run_or_file, run_start, runs_to_read, sound, to_read,
};
pub(crate) use selection::{RunAsOf, RunSelection};
pub(crate) use source::{
    RunSource, runs_of, source, source_to_read, sources_to_read, sources_to_write,
};

/// Printed wherever simulated answers are shown.
pub(crate) const SIMULATED: &str =
    "SIMULATED: a program made these answers up; they are not data\n";
