//! Figures of recorded runs: what is counted, its intervals, its differences, and how well judges agree.
//!
//! - [`Figure`], [`Estimate`], [`ComparedFigure`]: the figures that a study leads with.
//! - [`ClusteredDraws`], [`difference()`]: any draws by cluster: their mean, and the difference between two groups.
//! - [`Interval`]: 95 % intervals: [`wilson`], [`clopper_pearson`], [`newcombe`], and bootstraps of clusters.
//! - [`PermutationTest`]: how often chance alone makes such a difference.
//! - [`agreement`]: Krippendorff's alpha and Cohen's kappa.
//!
//! Everything is a function of the draws and of a figure's name, which seeds what is drawn by chance: the same figures have
//! the same intervals everywhere. `scripts/figures-check` compares all of it with scipy, statsmodels and krippendorff.

pub mod agreement;
mod difference;
mod draws;
mod exact;
mod headline;
mod interval;
mod permutation;
#[cfg(test)]
mod resamples;
mod words;

pub use difference::{GroupDifference, GroupPairing, difference, newcombe};
pub use draws::ClusteredDraws;
pub use exact::{EXACT_DRAWS, clopper_pearson};
pub use headline::{
    ComparedFigure, Draws, Estimate, Figure, FigureKind, Pairing, compared_figures,
};
pub use interval::{Interval, IntervalMethod, RESAMPLES, Z, wilson};
pub use permutation::{DRAWN_ASSIGNMENTS, EXACT_ASSIGNMENTS, PermutationTest};
pub use words::other_seed;
