//! Figures of recorded runs: counts, intervals, differences, and how well judges agree.
//!
//! - [`FigureDefinition`]: a figure of any run, as people write it down; [`FigureTable`]: its values in recorded runs.
//! - [`FigureRow`]: a row of the tables that a study makes of its facts, for the figures that it leads with.
//! - [`ClusteredDraws`], [`difference()`]: any draws by cluster: their mean, and the difference between two groups.
//! - [`Interval`]: 95 % intervals; [`DifferenceTest`]: how often chance alone makes such a difference.
//! - [`FigurePicture`]: what is drawn of a table.
//! - [`ExpectedInterval`]: how wide an interval will be, before anything is paid for.
//! - [`agreement`]: Krippendorff's alpha and Cohen's kappa.
//!
//! Everything is a function of the draws, and nothing is drawn at random: the same draws have the same figures
//! everywhere. `scripts/figures-check` compares all of it with scipy, statsmodels and krippendorff.

pub mod agreement;
mod beta;
pub mod definition;
mod difference;
mod draws;
mod expected;
mod holm;
mod interval;
mod jackknife;
mod kind;
mod mean_interval;
mod picture;
pub mod recorded;
mod robust;
mod share;
mod table;
mod value_counts;
mod words;

pub use definition::{DefinitionError, FigureDefinition, FiguresFile};
pub use difference::{DifferenceTest, GroupDifference, GroupPairing, difference};
pub use draws::ClusteredDraws;
pub use expected::{ExpectedInterval, WIDER_DIFFERENCE};
pub use interval::{FEWEST_CLUSTERS, Interval, IntervalMethod, NarrowInterval};
pub use kind::FigureKind;
pub use picture::{
    DistributionRow, FigurePicture, PictureAxis, PictureBar, PictureDistribution, PictureFlow,
    PictureLine, PictureLines, PictureLink, PicturePanel, PictureRow,
};
pub use recorded::FigureRow;
pub use share::clopper_pearson;
pub use table::{
    ClusteringUsed, ComparedGroups, CountTable, FigureBasis, FigureDraws, FigureFinding,
    FigureGroup, FigureRun, FigureStudy, FigureTable, FiguresError, GroupValue, JudgeAgreement,
    LeadingTables, SIMULATED_VERDICTS, ValueChange, figure_draws, figure_tables, leading_tables,
    natural_order,
};
pub use value_counts::ValueCount;
