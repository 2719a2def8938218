//! Figures of recorded runs: counts, intervals, differences, and how well judges agree.
//!
//! - [`FigureDefinition`]: a figure of any run, as people write it down; [`FigureTable`]: its values in recorded runs.
//! - [`Figure`], [`Estimate`], [`ComparedFigure`]: the figures that a study leads with.
//! - [`ClusteredDraws`], [`difference()`]: any draws by cluster: their mean, and the difference between two groups.
//! - [`Interval`]: 95 % intervals: [`wilson`], [`clopper_pearson`], [`newcombe`], and bootstraps of clusters.
//! - [`ExpectedInterval`]: how wide an interval will be, before anything is paid for.
//! - [`PermutationTest`]: how often chance alone makes such a difference.
//! - [`agreement`]: Krippendorff's alpha and Cohen's kappa.
//!
//! Everything is a function of the draws and of a figure's name, which seeds the random numbers: the same figures have
//! the same intervals everywhere. `scripts/figures-check` compares all of it with scipy, statsmodels and krippendorff.

pub mod agreement;
pub mod definition;
mod difference;
mod draws;
mod exact;
mod expected;
mod headline;
mod interval;
mod merged;
mod permutation;
pub mod recorded;
#[cfg(test)]
mod resamples;
mod table;
mod words;

pub use definition::{DefinitionError, FigureDefinition, FiguresFile};
pub use difference::{GroupDifference, GroupPairing, difference, newcombe};
pub use draws::ClusteredDraws;
pub use exact::{EXACT_DRAWS, clopper_pearson};
pub use expected::{ExpectedInterval, WIDER_DIFFERENCE};
pub use headline::{
    ComparedFigure, Draws, Estimate, Figure, FigureKind, Pairing, compared_figures,
};
pub use interval::{Interval, IntervalMethod, RESAMPLES, Z, wilson};
pub use merged::MOST_CLUSTERS;
pub use permutation::{DRAWN_ASSIGNMENTS, EXACT_ASSIGNMENTS, PermutationTest};
pub use table::{
    ClusteringUsed, ComparedGroups, FigureFinding, FigureGroup, FigureRun, FigureTable,
    FiguresError, GroupValue, SIMULATED_VERDICTS, SuggestedFigures, SuggestedTables, census_of,
    figure_tables, natural_order, suggested_figures, suggested_tables,
};
pub use words::{other_seed, other_seeds};
