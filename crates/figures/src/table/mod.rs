//! A figure of recorded runs: its value in each group of calls, and the differences between groups.

mod behind;
mod changes;
mod compared;
mod count_table;
mod counted;
mod each_value;
mod finding;
mod gather;
mod graded;
mod group;
mod judged;
mod label;
mod leading;
mod so_far;
mod suggested;
#[cfg(test)]
mod tests;
mod value_name;
mod words;

use std::collections::BTreeSet;

use retold::event::RunStarted;
use retold::exchange::{accepted_about, decides_about};
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::parse::Parsers;
use retold::run::run_start;
use serde::Serialize;

pub use behind::FigureBasis;
pub use changes::ValueChange;
pub use count_table::CountTable;
pub use finding::FigureFinding;
pub use group::{GroupValue, natural_order};
pub use judged::JudgeAgreement;
pub use leading::{LeadingTables, leading_tables};
pub use words::SIMULATED_VERDICTS;

use crate::definition::{CountedUnit, DefinitionError, FigureDefinition};
use crate::recorded::{FigureRow, Observation, RunCensus, SourceError, each_observation};
use crate::{ClusteredDraws, FigureKind, GroupDifference, Interval, NarrowInterval, ValueCount};
use gather::FigureGathering;
use label::CountedRun;

/// Figures that could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FiguresError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A study's headline cannot be read.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// Nothing was recorded under a name of the figure.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A label has too many values to be a table.
    #[error(
        "figure \"{figure}\": it has more than {most} groups: name labels with fewer values after `by`"
    )]
    Groups {
        /// The figure.
        figure: String,
        /// How many it may have.
        most: usize,
    },
    /// There are too many values for the share of each.
    #[error(
        "figure \"{figure}\": it has more than {most} different values, such as {such_as}: name the one whose share you want, \
         as in `share of NAME = VALUE`"
    )]
    Values {
        /// The figure.
        figure: String,
        /// How many it may have.
        most: usize,
        /// The first of them.
        such_as: String,
    },
}

/// A run that figures are of.
pub struct FigureRun<'a> {
    /// What it is called in tables.
    pub name: String,
    /// The run.
    pub run: RunId,
    /// Reads its log.
    pub reader: &'a mut dyn Reader,
    /// What its study says of it; nothing of a run that no study made.
    pub study: FigureStudy,
}

/// What a study says of the figures of one of its runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FigureStudy {
    /// The figures that its runs lead with, as people write them down.
    pub headline: &'static [&'static str],
    /// The rows of its own tables.
    pub rows: Vec<FigureRow>,
    /// The label by which draws are independent.
    pub independent_by: Option<&'static str>,
}

/// Which draws are taken as independent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusteringUsed {
    /// Those with different values of this label.
    By(String),
    /// All, as the figure says.
    Independent,
    /// It is not known, so that there are no intervals and no tests.
    Unknown,
}

/// A figure of one or several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureTable {
    /// The figure, as it is written down.
    pub figure: String,
    /// How it is read.
    pub kind: FigureKind,
    /// What counts the same.
    pub per: CountedUnit,
    /// Which draws are taken as independent.
    pub clusters: ClusteringUsed,
    /// What groups are named by: labels, and `run` where there are several; before them the name of the values, if the figure
    /// is the share of each.
    pub labels: Vec<String>,
    /// Whether clusters with the same name are the same in all runs.
    pub paired_by_name: bool,
    /// The groups, sorted by the values of these.
    pub groups: Vec<FigureGroup>,
    /// The differences between groups that differ in the last label alone, or in the run alone.
    pub differences: Vec<ComparedGroups>,
    /// True if groups are too many to be compared without a baseline.
    pub lacks_baseline: bool,
    /// Values of all groups whose answers another call was given first. They are not draws of their own, so that there are no
    /// intervals and no tests.
    pub shared: u64,
    /// Values of all groups that a simulated judge made up.
    pub simulated: u64,
    /// Missing values and last resorts of all groups whose answers were refused.
    #[serde(skip_serializing_if = "is_zero")]
    pub refused: u64,
    /// How far judges whose verdicts are counted agree with people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgeAgreement>,
    /// True if values are facts of a run about whose answers other decisions were accepted since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_earlier_facts: bool,
    /// What looks wrong with the figure, given its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<FigureFinding>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FigureTable {
    /// Whether it is known which draws are independent.
    fn has_independence(&self) -> bool {
        self.clusters != ClusteringUsed::Unknown && self.shared == 0
    }
}

/// A figure in one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureGroup {
    /// The values of the labels.
    pub group: Vec<GroupValue>,
    /// Values that count.
    pub draws: u64,
    /// Their clusters.
    pub clusters: u64,
    /// Values that are missing, which do not count: not answered, null, or of another type.
    pub missing: u64,
    /// Values that are a parser's last resort, which do not count.
    pub fallback: u64,
    /// The share or mean; `None` without draws.
    pub value: Option<f64>,
    /// Its 95 % interval, if one can be given.
    pub interval: Option<Interval>,
    /// The means of its clusters, where they are too few for an interval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dots: Vec<f64>,
    /// How often each number is among the values of a mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueCount>,
    /// Of a share of changes: how many participants had which value first, and which last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ValueChange>,
    /// Why the interval may be too narrow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrow: Option<NarrowInterval>,
}

/// The difference between two groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedGroups {
    /// The first group.
    pub one: Vec<GroupValue>,
    /// The second group.
    pub other: Vec<GroupValue>,
    /// The second minus the first.
    #[serde(flatten)]
    pub found: GroupDifference,
}

/// The figures of runs.
///
/// # Errors
/// [`FiguresError::Source`] if the runs have nothing of a name, [`FiguresError::Groups`] if a figure has too many groups,
/// [`FiguresError::Log`] if the runs cannot be read.
pub fn figure_tables(
    runs: &mut [FigureRun<'_>],
    definitions: &[FigureDefinition],
    parsers: &Parsers,
) -> Result<Vec<FigureTable>, FiguresError> {
    let (census, parsers) = census_for(runs, definitions, parsers)?;
    tables(runs, &census, definitions, parsers)
}

/// The draws behind a figure, by the values of its labels.
pub type FigureDraws = Vec<(Vec<GroupValue>, ClusteredDraws)>;

/// The draws behind each figure of runs, by group: what its values and intervals are computed from.
///
/// # Errors
/// As [`figure_tables`].
pub fn figure_draws(
    runs: &mut [FigureRun<'_>],
    definitions: &[FigureDefinition],
    parsers: &Parsers,
) -> Result<Vec<FigureDraws>, FiguresError> {
    let (census, parsers) = census_for(runs, definitions, parsers)?;
    gather(runs, &census, definitions, parsers)?.into_iter().map(FigureGathering::draws).collect()
}

/// The names that figures need; without parsers if they are all of rows, so that no events are read.
fn census_for<'p>(
    runs: &mut [FigureRun<'_>],
    definitions: &[FigureDefinition],
    parsers: &'p Parsers,
) -> Result<(RunCensus, Option<&'p Parsers>), LogError> {
    let rows = rows_of(runs);
    let mut names = definitions.iter().flat_map(|figure| figure.measure.names());
    Ok(match names.all(|name| rows.source(name).is_some()) {
        true => (rows, None),
        false => (census_of(runs, parsers)?, Some(parsers)),
    })
}

/// The names of the rows that studies made.
fn rows_of(runs: &[FigureRun<'_>]) -> RunCensus {
    let mut census = RunCensus::default();
    runs.iter().flat_map(|run| &run.study.rows).for_each(|row| census.add_row(row));
    census
}

/// The names that runs have.
fn census_of(runs: &mut [FigureRun<'_>], parsers: &Parsers) -> Result<RunCensus, LogError> {
    let mut census = rows_of(runs);
    for FigureRun { run, reader, .. } in runs {
        each_observation(*reader, *run, parsers, &mut |_, observation| {
            census.add(observation);
            Ok(())
        })?;
    }
    Ok(census)
}

/// The figures of runs whose names are known. Without parsers, the figures are of rows alone, and no events are read.
fn tables(
    runs: &mut [FigureRun<'_>],
    census: &RunCensus,
    definitions: &[FigureDefinition],
    parsers: Option<&Parsers>,
) -> Result<Vec<FigureTable>, FiguresError> {
    let mut tables = Vec::new();
    for figure in gather(runs, census, definitions, parsers)? {
        let judged: Vec<String> = figure.judged().map(str::to_owned).collect();
        let mut table = figure.table()?;
        for name in judged {
            table.judged.extend(judge_agreements(runs, &name, parsers)?);
        }
        tables.push(table);
    }
    Ok(tables)
}

/// The values of figures, gathered.
fn gather<'a>(
    runs: &mut [FigureRun<'_>],
    census: &'a RunCensus,
    definitions: &'a [FigureDefinition],
    parsers: Option<&Parsers>,
) -> Result<Vec<FigureGathering<'a>>, FiguresError> {
    let (mut beginnings, mut counted) = (Vec::new(), Vec::new());
    for (place, FigureRun { name, run, reader, .. }) in runs.iter_mut().enumerate() {
        let started = root_of(*reader, *run)?;
        let group = GroupValue::Run { place, name: name.clone() };
        let has_accepted = !accepted_about(*reader, *run)?.is_empty();
        counted.push(CountedRun { group, settings: started.settings.clone(), has_accepted });
        beginnings.push(started);
    }
    let is_paired = are_pairs(&beginnings);
    let independent_by = runs.first().and_then(|run| run.study.independent_by);
    let new =
        |definition| FigureGathering::new(definition, census, &counted, independent_by, is_paired);
    let mut gathering =
        definitions.iter().map(new).collect::<Result<Vec<FigureGathering<'_>>, SourceError>>()?;
    for (FigureRun { run, reader, study, .. }, counted) in runs.iter_mut().zip(&counted) {
        let mut add = |reader: &mut dyn Reader, observation: Observation<'_>| {
            gathering.iter_mut().try_for_each(|figure| figure.add(counted, reader, observation))
        };
        for FigureRow { fact, draws } in &study.rows {
            (0..*draws).try_for_each(|_| add(*reader, Observation::Fact { fact }))?;
        }
        if let Some(parsers) = parsers {
            each_observation(*reader, *run, parsers, &mut add)?;
        }
    }
    Ok(gathering)
}

/// How far the judges of each run agree with people about decisions of a name.
fn judge_agreements(
    runs: &mut [FigureRun<'_>],
    name: &str,
    parsers: Option<&Parsers>,
) -> Result<Vec<JudgeAgreement>, LogError> {
    let (Some(parsers), are_several) = (parsers, runs.len() > 1) else { return Ok(Vec::new()) };
    let of_run = |FigureRun { name: run_name, run, reader, .. }: &mut FigureRun<'_>| {
        let shown = are_several.then_some(run_name.as_str());
        JudgeAgreement::read(*reader, (*run, shown), name, parsers)
    };
    runs.iter_mut().map(of_run).collect()
}

/// The beginning of the run whose answers a run is about: of a run of accepted decisions, that of the run whose answers
/// were decided about, if it is in the same log.
fn root_of(reader: &mut dyn Reader, run: RunId) -> Result<RunStarted, LogError> {
    let (mut root, mut known) = (run_start(reader, run)?, BTreeSet::from([run]));
    while let Some(of) = decides_about(&root).filter(|of| known.insert(*of)) {
        if reader.events(of, Seq(0), 1)?.is_empty() {
            break;
        }
        root = run_start(reader, of)?;
    }
    Ok(root)
}

/// Whether participants of the same name are the same in all runs: in runs of one experiment with one seed, and in programs'
/// runs, which draw nobody.
fn are_pairs(runs: &[RunStarted]) -> bool {
    runs.windows(2).all(|pair| {
        pair[0].experiment == pair[1].experiment && pair[0].drawn_from() == pair[1].drawn_from()
    })
}
