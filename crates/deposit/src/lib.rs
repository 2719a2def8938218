//! The folder that goes beside a paper: recordings, tables, and what readers and venues ask for.
//!
//! Everything but the nonces of commitments follows from the log, so the same log gives the same bytes.
//!
//! - [`DepositFacts`]: all that its texts are written from; [`DepositFacts::texts`]: README, citation, checklists, scripts.
//! - [`RequestFacts`]: the requests of a run as a paper describes them, and its prompts as text.
//! - [`ExpectedRow`]: a row of `figures.csv`, by which a reader compares; [`clusters_csv`]: what its values are computed from.
//! - [`croissant()`]: the tables for machines. [`Manifest`]: the runs. [`sums`]: the hash of each file.
//! - [`commitments`]: texts that are not in the folder. [`is_without_texts`]: the columns that are in it then.

mod checklist;
mod citation;
mod columns;
pub mod commitments;
mod croissant;
mod expected;
mod facts;
mod manifest;
mod markdown;
mod plan_file;
mod readme;
mod requests;
pub mod sums;
mod texts;

pub use columns::is_without_texts;
pub use croissant::{DepositTable, croissant};
pub use expected::{
    ExpectedRow, RowComparison, clusters_csv, compare, expected_rows, read_rows, rows_csv,
};
pub use facts::{DepositFacts, TextFile};
pub use manifest::{DepositedRun, MANIFEST, Manifest, ManifestError, RunPlace};
pub use requests::{RequestFacts, templates};

/// The figures as they are written down.
pub const DEFINITIONS: &str = "figures.yaml";

/// The values of the figures.
pub const FIGURES: &str = "figures.csv";

/// What the values are computed from.
pub const CLUSTERS: &str = "clusters.csv";

/// The folder into which the scripts draw. It is not part of a deposit.
pub const DRAWN: &str = "drawn";
