//! The common parts of studies based on [`retold`], and everything that a program needs to know
//! about them.
//!
//! - [`registration`]: a study as a program offers it ([`Registration`]); [`studies`]: all that it
//!   offers ([`Studies`]).
//! - [`study`]: a run about to be recorded; [`settings`]: its settings, in the types of its study.
//! - [`shard`]: the parts of a study that several machines record; [`phase`]: where a run can stop.
//! - [`error`]: why a study cannot be executed.
//! - [`config`]: YAML to settings; a mistake is shown with its line.
//! - [`template`]: prompts with places for values; [`templates`]: those in recorded settings,
//!   replaced.
//! - [`table`]: CSV for other programs.
//! - [`story`]: the whole story of a part of a run; [`run_name`]: the name of a run.
//! - [`original`]: original runs of other programs, imported.
//! - [`floats`]: vectors in facts and states
//!   alone.
//! - [`charts`]: the numbers of a report's plots; [`figures`]: runs as figures read them.
//! - [`parser_file`]: parsers that are written down in YAML.
//! - [`at_once`], [`word_vector`]: questions in bounds, vectors of made-up texts.

mod asking;
pub mod at_once;
pub mod charts;
pub mod config;
pub mod error;
pub mod figures;
pub mod floats;
pub mod original;
pub mod parser_file;
pub mod phase;
pub mod registration;
pub mod run_name;
pub mod settings;
pub mod shard;
pub mod story;
pub mod studies;
pub mod study;
pub mod table;
pub mod template;
pub mod templates;
pub mod word_vector;

pub use registration::Registration;
pub use studies::Studies;

/// The tracing target for messages that the author of a config should always see.
pub const REMARKS: &str = "retold::study";
