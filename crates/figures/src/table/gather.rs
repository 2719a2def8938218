//! Gathers the draws of a figure.

use std::collections::{BTreeMap, BTreeSet};

use retold::escaping::printable;
use retold::event::{CLUSTERS, PARTICIPANTS};
use retold::log::{AskedModels, LogError, Reader};
use serde_json::Value;

use super::changes::changes;
use super::compared::{GroupPairs, compared_groups};
use super::counted::{Counted, GroupDraws};
use super::each_value::{EachValue, Unnamed};
use super::finding::{FigureFinding, SeenValues};
use super::graded::GradedCalls;
use super::group::GroupValue;
use super::label::{CountedRun, MODEL, RUN, label_of, setting_of};
use super::value_name::name_of;
use super::{ClusteringUsed, ComparedGroups, FigureGroup, FigureTable, FiguresError};
use crate::definition::{
    Clustering, CountedUnit, FigureDefinition, Grade, Measure, OptionQuantity, is_right, options_of,
};
use crate::difference::{correct, difference};
use crate::recorded::{FoundValue, Observation, RunCensus, SourceError, ValueSource};
use crate::{ClusteredDraws, FigureKind};

/// The most groups that a figure may have.
const MOST_GROUPS: usize = 1_000;

/// The largest number that a mean counts: the squares of larger ones could not be summed up.
const LARGEST: f64 = 1e100;

/// The two values of a participant.
#[derive(Debug, Default)]
struct ParticipantValues {
    cluster: String,
    before: Option<Counted<Value>>,
    after: Option<Counted<Value>>,
}

/// A figure while its draws are gathered.
pub(super) struct FigureGathering<'a> {
    definition: &'a FigureDefinition,
    census: &'a RunCensus,
    sources: Vec<ValueSource>,
    /// The label that says whose a value is, for `changed`.
    participant: String,
    clusters: ClusteringUsed,
    /// True if runs are groups of their own: there are several, and no setting of theirs is compared.
    has_runs: bool,
    /// True if clusters of the same name are in different runs, and are not the same.
    is_by_run: bool,
    /// Whether clusters of the same name are the same in all runs.
    is_paired: bool,
    groups: BTreeMap<Vec<GroupValue>, GroupDraws>,
    /// For `changed`: by group, run and participant.
    participants: BTreeMap<(Vec<GroupValue>, [GroupValue; 2]), ParticipantValues>,
    /// For the share of each value.
    each_value: EachValue,
    /// For grades of the samples of a call.
    graded: GradedCalls,
    models: AskedModels,
    /// Values so far, which number those that are independent.
    values: u64,
    /// Those with an answer that another call was given first.
    shared: u64,
    /// Those that a simulated judge made up.
    simulated: u64,
    /// Values without one of answers that were refused.
    refused: u64,
    /// The names of decisions that judges made.
    judged: BTreeSet<String>,
    seen: SeenValues,
    has_earlier_facts: bool,
}

impl<'a> FigureGathering<'a> {
    pub(super) fn new(
        definition: &'a FigureDefinition,
        census: &'a RunCensus,
        runs: &[CountedRun],
        independent_by: Option<&str>,
        is_paired: bool,
    ) -> Result<Self, SourceError> {
        let figure = || printable(&definition.to_string(), 300);
        let mut sources = Vec::new();
        for name in definition.measure.names() {
            sources.push(census.source(name).ok_or_else(|| SourceError::Name {
                figure: figure(),
                name: printable(name, 100),
                there: census.names(name),
            })?);
        }
        let is_fact = sources.iter().any(|source| matches!(source, ValueSource::Fact { .. }));
        let is_there = |label: &str| {
            let is_field = || census.with_field(label).next().is_some();
            let is_of_run = label == RUN || runs.iter().any(|run| run.has(label));
            census.labels.contains_key(label)
                || label == MODEL
                || is_of_run
                || is_fact && is_field()
        };
        let clustered = match &definition.clustering {
            Some(Clustering::By(label)) => Some(label),
            Some(Clustering::Independent) | None => None,
        };
        let against = match &definition.measure {
            Measure::Graded { against, .. } => Some(against),
            _ => None,
        };
        let mut named_labels = definition.by.iter().chain(clustered).chain(against);
        if let Some(label) = named_labels.find(|label| !is_there(label)) {
            if let Some(setting) = setting_of(label) {
                return Err(SourceError::Setting {
                    figure: figure(),
                    setting: printable(setting, 100),
                });
            }
            let (label, there) = (printable(label, 100), census.label_names());
            return Err(SourceError::Label { figure: figure(), label, there });
        }
        let is_changed = matches!(definition.measure, Measure::Changed { .. });
        let named = |names: &[&str]| {
            // A label that is compared cannot be the cluster: each group would be one cluster.
            let is_by = |name: &str| definition.by.iter().any(|by| by == name);
            let all_have = |name: &str| sources.iter().all(|source| source.all_have(name, census));
            let found = names.iter().find(|name| all_have(name) && !is_by(name));
            found.map(|name| (*name).to_owned())
        };
        let asked = named(&PARTICIPANTS);
        let are_alone = sources.iter().all(|source| source.are_alone(census));
        if is_changed && asked.is_none() && clustered.is_none() {
            let there = census.label_names();
            return Err(SourceError::Participant { figure: figure(), there });
        }
        let clusters = match &definition.clustering {
            Some(Clustering::By(label)) => ClusteringUsed::By(label.clone()),
            Some(Clustering::Independent) => ClusteringUsed::Independent,
            None => independent_by
                .and_then(|label| named(&[label]))
                .or_else(|| named(&CLUSTERS))
                .or_else(|| asked.clone().filter(|_| are_alone))
                .map_or(ClusteringUsed::Unknown, ClusteringUsed::By),
        };
        if definition.per == CountedUnit::Cluster && clusters == ClusteringUsed::Unknown {
            return Err(SourceError::Cluster { figure: figure(), there: census.label_names() });
        }
        let participant = asked.or_else(|| clustered.cloned()).unwrap_or_default();
        let has_runs =
            runs.len() > 1 && !definition.by.iter().any(|label| setting_of(label).is_some());
        let is_by_run = runs.len() > 1
            && match &clusters {
                ClusteringUsed::By(label) => {
                    !is_paired && label != RUN && setting_of(label).is_none()
                }
                ClusteringUsed::Independent | ClusteringUsed::Unknown => true,
            };
        Ok(FigureGathering {
            definition,
            census,
            sources,
            participant,
            clusters,
            has_runs,
            is_by_run,
            is_paired,
            groups: BTreeMap::new(),
            participants: BTreeMap::new(),
            each_value: EachValue::default(),
            graded: GradedCalls::default(),
            models: AskedModels::default(),
            values: 0,
            shared: 0,
            simulated: 0,
            refused: 0,
            judged: BTreeSet::new(),
            seen: SeenValues::default(),
            has_earlier_facts: false,
        })
    }

    /// Adds an observation of a run, if the figure counts it.
    pub(super) fn add(
        &mut self,
        run: &CountedRun,
        reader: &mut dyn Reader,
        observation: Observation<'_>,
    ) -> Result<(), LogError> {
        for at in 0..self.sources.len() {
            let Some(found) = self.sources[at].find(observation, self.census) else { continue };
            let mut group = Vec::new();
            for label in &self.definition.by {
                group.push(label_of(observation, label, run, &mut self.models, reader)?);
            }
            group.extend(self.has_runs.then(|| run.group.clone()));
            self.values += 1;
            let is_fact = matches!(observation, Observation::Fact { .. });
            self.has_earlier_facts |= is_fact && run.has_accepted;
            match (&found, observation) {
                (
                    FoundValue::Value(_),
                    Observation::Decision { name, is_shared, is_judged, is_simulated, .. },
                ) => {
                    if is_judged && !self.judged.contains(name) {
                        self.judged.insert(name.to_owned());
                    }
                    self.shared += u64::from(is_shared);
                    self.simulated += u64::from(is_simulated);
                }
                (FoundValue::Value(_), Observation::Answer { is_shared, .. }) => {
                    self.shared += u64::from(is_shared);
                }
                (_, Observation::Decision { is_refused, .. }) => {
                    self.refused += u64::from(is_refused);
                }
                _ => {}
            }
            if let FoundValue::Value(value) = found {
                self.seen.add(&self.definition.measure, value);
            }
            let cluster = match &self.clusters {
                ClusteringUsed::By(label) => {
                    label_of(observation, label, run, &mut self.models, reader)?.to_string()
                }
                ClusteringUsed::Independent => self.values.to_string(),
                ClusteringUsed::Unknown => String::new(),
            };
            let cluster = match self.is_by_run {
                true => format!("{}/{cluster}", run.group),
                false => cluster,
            };
            if self.definition.measure.names_each().is_some() {
                let found = match found {
                    FoundValue::Value(value) => self
                        .definition
                        .measure
                        .numbers(value)
                        .map_or(Counted::Missing, Counted::Value),
                    FoundValue::Missing => Counted::Missing,
                    FoundValue::Fallback => Counted::Fallback,
                };
                if self.each_value.groups() <= MOST_GROUPS {
                    self.each_value.add(group, &cluster, found);
                }
            } else if let Measure::Graded { grade, against, ignores_case, .. } =
                &self.definition.measure
            {
                let right = label_of(observation, against, run, &mut self.models, reader)?;
                match (found, right.text(), observation) {
                    (FoundValue::Fallback, ..) => self.count(group, &cluster, Counted::Fallback),
                    (
                        FoundValue::Value(value),
                        Some(right),
                        Observation::Decision { question, .. },
                    ) => {
                        let is_right = is_right(value, right, *ignores_case);
                        if *grade == Grade::Accuracy {
                            self.count(group, &cluster, Counted::Value(share(is_right)));
                        } else {
                            let call = (run.group.clone(), question.call.to_string());
                            self.graded.add(group, call, cluster, name_of(value), is_right);
                        }
                    }
                    _ => self.count(group, &cluster, Counted::Missing),
                }
            } else if let Measure::Changed { .. } = self.definition.measure {
                let participant =
                    label_of(observation, &self.participant, run, &mut self.models, reader)?;
                let whose = [run.group.clone(), participant];
                let values = self.participants.entry((group, whose)).or_default();
                values.cluster = cluster;
                let end = if at == 0 { &mut values.before } else { &mut values.after };
                // A call that failed and was made again takes nothing away.
                if matches!((&found, &end), (FoundValue::Missing, Some(_))) {
                    continue;
                }
                *end = Some(match found {
                    FoundValue::Value(value) => Counted::Value(value.clone()),
                    FoundValue::Missing => Counted::Missing,
                    FoundValue::Fallback => Counted::Fallback,
                });
            } else {
                let draw = match found {
                    FoundValue::Value(value) => self.draw(value),
                    FoundValue::Missing => Counted::Missing,
                    FoundValue::Fallback => Counted::Fallback,
                };
                self.count(group, &cluster, draw);
            }
        }
        Ok(())
    }

    /// Counts a draw, unless there are too many groups, of which only the number matters then.
    fn count(&mut self, group: Vec<GroupValue>, cluster: &str, draw: Counted<f64>) {
        if self.groups.len() <= MOST_GROUPS || self.groups.contains_key(&group) {
            let is_mean = self.definition.kind() == FigureKind::Mean;
            let of = self.groups.entry(group).or_default();
            if let Counted::Value(value) = draw
                && is_mean
            {
                of.values.add(value);
            }
            of.add(cluster, draw);
        }
    }

    /// The draw for a value. A value of another type than the figure needs is missing.
    fn draw(&self, value: &Value) -> Counted<f64> {
        let draw = match &self.definition.measure {
            Measure::Share { comparison, value: written, .. } => {
                comparison.holds(value, written).map(share)
            }
            Measure::MeanOf { quantity, option: Some(option), .. } => quantity.of(option, value),
            Measure::EachShare { .. }
            | Measure::MeanOf { option: None, .. }
            | Measure::Mean { .. }
            | Measure::Graded { .. }
            | Measure::Changed { .. } => value.as_f64(),
        };
        draw.filter(|draw| draw.abs() <= LARGEST).map_or(Counted::Missing, Counted::Value)
    }

    /// The names of the decisions of judges that it counts.
    pub(super) fn judged(&self) -> impl Iterator<Item = &str> {
        self.judged.iter().map(String::as_str)
    }

    /// Makes draws of what takes several values: participants, calls with samples, and answers that name several values.
    fn settle(&mut self) -> Result<(), FiguresError> {
        for ((group, _), values) in std::mem::take(&mut self.participants) {
            let draw = match (&values.before, &values.after) {
                (Some(Counted::Value(before)), Some(Counted::Value(after))) => {
                    Counted::Value(share(before != after))
                }
                (Some(Counted::Fallback), _) | (_, Some(Counted::Fallback)) => Counted::Fallback,
                _ => Counted::Missing,
            };
            if let (Some(Counted::Value(before)), Some(Counted::Value(after))) =
                (&values.before, &values.after)
                && self.groups.len() <= MOST_GROUPS
            {
                let change = (name_of(before), name_of(after));
                let of = self.groups.entry(group.clone()).or_default();
                *of.changes.entry(change).or_default() += 1;
            }
            self.count(group, &values.cluster, draw);
        }
        if let Measure::Graded { grade, .. } = &self.definition.measure {
            for (group, cluster, draw) in std::mem::take(&mut self.graded).draws(*grade) {
                self.count(group, &cluster, draw);
            }
        }
        let figure = self.definition.to_string();
        if let Some((most, such_as)) = self.each_value.too_many() {
            return Err(FiguresError::Values { figure: printable(&figure, 300), most, such_as });
        }
        if self.each_value.groups() > MOST_GROUPS {
            let (figure, most) = (printable(&figure, 300), MOST_GROUPS);
            return Err(FiguresError::Groups { figure, most });
        }
        let unnamed = match &self.definition.measure {
            Measure::MeanOf { quantity: OptionQuantity::Rank, .. } => Unnamed::Missing,
            _ => Unnamed::Zero,
        };
        self.groups.append(&mut std::mem::take(&mut self.each_value).draws(unnamed));
        if self.groups.len() > MOST_GROUPS {
            let (figure, most) = (printable(&figure, 300), MOST_GROUPS);
            return Err(FiguresError::Groups { figure, most });
        }
        Ok(())
    }

    /// The draws of each group.
    pub(super) fn draws(mut self) -> Result<Vec<(Vec<GroupValue>, ClusteredDraws)>, FiguresError> {
        self.settle()?;
        Ok(self.groups.into_iter().map(|(group, found)| (group, found.draws)).collect())
    }

    /// Makes the table from the gathered values.
    pub(super) fn table(mut self) -> Result<FigureTable, FiguresError> {
        self.settle()?;
        let figure = self.definition.to_string();
        let (kind, per) = (self.definition.kind(), self.definition.per);
        let counted = |found: &GroupDraws| match per {
            CountedUnit::Answer => found.draws.clone(),
            CountedUnit::Cluster => found.draws.cluster_means(),
        };
        let is_known = self.clusters != ClusteringUsed::Unknown && self.shared == 0;
        let of_group = |(group, found): (&Vec<GroupValue>, &GroupDraws)| {
            let GroupDraws { draws: answers, missing, fallback, .. } = found;
            let draws = counted(found);
            let interval = is_known.then(|| draws.interval(kind)).flatten();
            let dots = if is_known { draws.dots(kind) } else { Vec::new() };
            FigureGroup {
                group: group.clone(),
                draws: answers.count(),
                clusters: if is_known { draws.clusters() } else { 0 },
                missing: *missing,
                fallback: *fallback,
                value: draws.mean(),
                interval,
                dots,
                values: found.values.bins(),
                changes: changes(&found.changes),
                narrow: interval.and_then(|_| draws.narrow_interval(kind)),
            }
        };
        let groups = self.groups.iter().map(of_group).collect();
        let of_each = self.definition.measure.names_each().map(str::to_owned);
        let labels = self.definition.by.len();
        let against = self.definition.against.as_deref();
        let is_baseline = |value: &GroupValue| value.text() == against;
        let baseline: Option<&dyn Fn(&GroupValue) -> bool> =
            against.is_some().then_some(&is_baseline);
        let GroupPairs { pairs, lacks_baseline } =
            compared_groups(&self.groups, labels, of_each.is_some(), self.has_runs, baseline);
        let differences = pairs.into_iter().map(|(one, other)| {
            let (first, second) = (counted(&self.groups[&one]), counted(&self.groups[&other]));
            let found = difference(kind, &first, &second, is_known);
            ComparedGroups { one, other, found }
        });
        let mut differences: Vec<ComparedGroups> = differences.collect();
        correct(differences.iter_mut().filter_map(|compared| compared.found.test.as_mut()));
        let run = self.has_runs.then(|| RUN.to_owned());
        let labels = of_each.into_iter().chain(self.definition.by.iter().cloned()).chain(run);
        let labels: Vec<String> = labels.collect();
        let last = labels.len() - usize::from(self.has_runs);
        let values = || self.groups.keys().filter_map(|group| group.get(last.checked_sub(1)?));
        let finding = self.seen.finding(&self.definition.measure);
        let finding = finding.or_else(|| FigureFinding::of_baseline(against?, values()));
        let (clusters, shared, paired_by_name) = (self.clusters, self.shared, self.is_paired);
        Ok(FigureTable {
            figure,
            kind,
            per,
            clusters,
            labels,
            paired_by_name,
            groups,
            differences,
            lacks_baseline,
            shared,
            simulated: self.simulated,
            refused: self.refused,
            judged: Vec::new(),
            has_earlier_facts: self.has_earlier_facts,
            finding,
        })
    }
}

impl Measure {
    /// The name of the values, if the figure is of each that there is.
    fn names_each(&self) -> Option<&str> {
        match self {
            Measure::EachShare { of } | Measure::MeanOf { option: None, of, .. } => Some(of),
            _ => None,
        }
    }

    /// The number of each value that an answer names, for a figure of each; `None` if it has none of that kind.
    fn numbers(&self, value: &Value) -> Option<Vec<(String, f64)>> {
        if let Measure::MeanOf { quantity, .. } = self {
            return quantity.each(value);
        }
        let mut names = options_of(value).unwrap_or_else(|| vec![name_of(value)]);
        names.sort_unstable();
        names.dedup();
        Some(names.into_iter().map(|name| (name, 1.0)).collect())
    }
}

impl GroupDraws {
    fn add(&mut self, cluster: &str, draw: Counted<f64>) {
        match draw {
            Counted::Value(value) => self.draws.add(cluster, value),
            Counted::Missing => self.missing += 1,
            Counted::Fallback => self.fallback += 1,
        }
    }
}

/// What something that holds or not counts in a share.
fn share(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}
