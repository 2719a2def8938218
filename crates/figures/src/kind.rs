//! How figures are read.

use serde::Serialize;

/// How a figure is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// A share of draws, from 0 to 1.
    Share,
    /// A mean of shares, from 0 to 1, each of which may be any number.
    Proportion,
    /// A mean in a unit of its own.
    Mean,
}
