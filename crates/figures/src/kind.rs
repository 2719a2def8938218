//! How figures are read.

use serde::Serialize;

/// How a figure is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// A share of draws, from 0 to 1.
    Share,
    /// The mean of the shares of clusters, from 0 to 1.
    Proportion,
    /// A mean in a unit of its own.
    Mean,
}
