//! Figures of runs, as people read them in the terminal and in reports.

use std::collections::BTreeSet;

use retold::counted::{count_of, group_digits};
use retold::escaping::printable;

use super::label::RUN;
use super::{ClusteringUsed, ComparedGroups, FigureGroup, FigureTable, GroupValue};
use crate::definition::CountedUnit;
use crate::words::{dots, ends, number, points};
use crate::{FEWEST_CLUSTERS, FigureKind, GroupPairing, NarrowInterval};

/// The notice above numbers that count verdicts of a simulated judge.
pub const SIMULATED_VERDICTS: &str =
    "SIMULATED: a program made up verdicts that are counted here; they are not data";

/// The longest name of a label that is shown.
const LONGEST: usize = 60;

/// How many groups a line has.
const MOST_IN_A_LINE: usize = 4;

impl FigureTable {
    /// The figure, as it is written down.
    pub fn title(&self) -> String {
        printable(&self.figure, 300)
    }

    /// Its first group in a line: `mean of coins by round, 1: 15.000 [12.100, 17.900]`.
    pub fn first_group(&self) -> Option<String> {
        let first = self.groups.first()?;
        let labels = first.group.iter().map(|value| format!(", {value}")).collect::<String>();
        let value = first.value.map_or_else(|| "no values".to_owned(), |it| number(self.kind, it));
        let interval =
            first.interval.map(|interval| format!(" {}", ends(self.kind, interval, false)));
        Some(format!("{}{labels}: {value}{}", self.title(), interval.unwrap_or_default()))
    }

    /// Its values in a line, to be compared with those of the same figure elsewhere: `acp 40.00 % [12.16, 73.76], simple_passive 0.00 % [0.00, 30.85]`.
    pub fn values_line(&self) -> String {
        let of = |group: &FigureGroup| {
            let names = group.group.iter().map(|value| format!("{value} ")).collect::<String>();
            let value =
                group.value.map_or_else(|| "no values".to_owned(), |it| number(self.kind, it));
            let interval = group.interval.map(|interval| ends(self.kind, interval, false));
            let interval = interval.map_or_else(String::new, |interval| format!(" {interval}"));
            format!("{names}{value}{interval}")
        };
        let mut groups: Vec<String> = self.groups.iter().take(MOST_IN_A_LINE).map(of).collect();
        let more = self.groups.len().saturating_sub(MOST_IN_A_LINE);
        groups.extend((more > 0).then(|| format!("and {}", count_of(more as u64, "group"))));
        if groups.is_empty() { "no values".to_owned() } else { groups.join(", ") }
    }

    /// What has to be above the numbers, if a simulated judge made any of the values up.
    pub fn banner(&self) -> Option<&'static str> {
        (self.simulated > 0).then_some(SIMULATED_VERDICTS)
    }

    /// The name of one cluster.
    pub(crate) fn cluster(&self) -> String {
        match &self.clusters {
            ClusteringUsed::By(label) => printable(label, LONGEST),
            ClusteringUsed::Independent => "value".to_owned(),
            ClusteringUsed::Unknown => "cluster".to_owned(),
        }
    }

    /// A description of the clusters that follows "clusters are".
    pub(crate) fn clusters_in_words(&self) -> String {
        match &self.clusters {
            ClusteringUsed::By(_) => format!("the values of {}", self.cluster()),
            ClusteringUsed::Independent => "single values".to_owned(),
            ClusteringUsed::Unknown => "not known".to_owned(),
        }
    }

    /// Notes about the numbers: the values that are taken as independent, and everything that is not taken into account.
    pub fn notes(&self) -> Vec<String> {
        let shared = (self.shared > 0).then(|| {
            let values = count_of(self.shared, "value");
            format!(
                "no intervals and no tests, because another call was given the answers of {values} first: \
                 they are not draws of their own"
            )
        });
        let independence = shared.unwrap_or_else(|| self.independence());
        let finding = self.finding.as_ref().map(ToString::to_string);
        let baseline = self.lacks_baseline.then(|| {
            let label = self.labels.iter().rfind(|label| *label != RUN).map(|it| printable(it, LONGEST));
            let label = label.unwrap_or_default();
            format!(
                "the groups of {label} are too many to compare each with each other: add \"against VALUE\" after {label}"
            )
        });
        let earlier = self.has_earlier_facts.then(|| {
            "facts follow from the decisions that a run made itself, not from those that were accepted since".to_owned()
        });
        let refused = (self.refused > 0).then(|| {
            let are = if self.refused == 1 {
                "is of an answer that was"
            } else {
                "are of answers that were"
            };
            format!(
                "of the missing and fallback values, {} {are} refused",
                group_digits(self.refused)
            )
        });
        let judged = self.judged.iter().map(ToString::to_string);
        let last = [Some(independence), self.few_clusters(), self.strangers()];
        [finding, baseline, refused, earlier]
            .into_iter()
            .flatten()
            .chain(judged)
            .chain(last.into_iter().flatten())
            .chain(self.narrow_intervals())
            .collect()
    }

    /// Why groups of few clusters have no interval, or no test; `None` if all have enough.
    fn few_clusters(&self) -> Option<String> {
        let is_few = |group: &FigureGroup| (1..FEWEST_CLUSTERS).contains(&group.clusters);
        let has_dots = self.groups.iter().any(|group| !group.dots.is_empty());
        let is_said = has_dots || !self.differences.is_empty() && self.groups.iter().any(is_few);
        is_said.then(|| {
            let value = if self.kind == FigureKind::Mean { "mean" } else { "share" };
            let listed = format!(": the {value} of each {} is listed instead", self.cluster());
            format!(
                "groups of fewer than {FEWEST_CLUSTERS} clusters have no {}, because so few do not show how much they differ{}",
                if has_dots { "interval and no test" } else { "test" },
                if has_dots { &listed } else { "" }
            )
        })
    }

    /// Why intervals may be too narrow, each reason once.
    fn narrow_intervals(&self) -> impl Iterator<Item = String> {
        let reasons: BTreeSet<NarrowInterval> =
            self.groups.iter().filter_map(|group| group.narrow).collect();
        reasons.into_iter().map(|reason| reason.as_str().to_owned())
    }

    /// Whether the groups are of runs that drew their participants separately.
    fn draws_anew(&self, compared: &ComparedGroups) -> bool {
        let run = |group: &[GroupValue]| match group.last() {
            Some(GroupValue::Run { place, .. }) => Some(*place),
            _ => None,
        };
        !self.paired_by_name && run(&compared.one) != run(&compared.other)
    }

    /// Why runs are not paired although clusters have the same names; `None` if that does not matter.
    fn strangers(&self) -> Option<String> {
        let is_said = self.has_independence()
            && matches!(self.clusters, ClusteringUsed::By(_))
            && self.differences.iter().any(|compared| self.draws_anew(compared));
        is_said.then(|| {
            format!(
                "differences between runs are unpaired: the runs are of different experiments or have different seeds, \
                 so values of {} with the same name may be different ones",
                self.cluster()
            )
        })
    }

    /// What counts the same.
    fn counted_unit(&self) -> String {
        match self.per {
            CountedUnit::Answer => "per answer: every value counts the same".to_owned(),
            CountedUnit::Cluster => {
                format!("per {0}: every {0} counts the same", self.cluster())
            }
        }
    }

    /// Which draws are taken as independent, and what follows.
    fn independence(&self) -> String {
        match &self.clusters {
            ClusteringUsed::By(_) => format!(
                "{}; values are taken as independent of each other if their label {} differs",
                self.counted_unit(),
                self.cluster()
            ),
            ClusteringUsed::Independent => format!(
                "{}; all values are taken as independent of each other, as the figure says",
                self.counted_unit()
            ),
            ClusteringUsed::Unknown => {
                "no intervals and no tests, because nothing says which values are independent: \
                 add \"clustered by LABEL\" or \"independent\" to the figure"
                    .to_owned()
            }
        }
    }

    /// The headings of the columns.
    pub fn headings(&self) -> Vec<String> {
        let value = match self.kind {
            FigureKind::Share | FigureKind::Proportion => "share",
            FigureKind::Mean => "mean",
        };
        let fixed = ["n", "missing", "fallback", value, "95 % interval"];
        let labels = self.labels.iter().map(|label| printable(label, LONGEST));
        labels.chain(fixed.map(str::to_owned)).collect()
    }

    /// The cells of a group.
    pub fn cells(&self, group: &FigureGroup) -> Vec<String> {
        let FigureGroup { draws, missing, fallback, value, .. } = group;
        let value = value.map_or_else(|| "-".to_owned(), |value| number(self.kind, value));
        let counts = [draws, missing, fallback].map(|count| group_digits(*count));
        group
            .group
            .iter()
            .map(ToString::to_string)
            .chain(counts)
            .chain([value, self.interval(group)])
            .collect()
    }

    /// The interval of a group, with its method, or why there is none.
    fn interval(&self, group: &FigureGroup) -> String {
        match group.interval {
            Some(interval) => format!(
                "{} {} over {}",
                ends(self.kind, interval, false),
                interval.method.as_str(),
                count_of(group.clusters, &self.cluster())
            ),
            None if group.draws == 0 => "none: no values".to_owned(),
            None if !self.has_independence() => "none".to_owned(),
            None if group.dots.is_empty() => "none: nothing varies".to_owned(),
            None => {
                let clusters = count_of(group.clusters, &self.cluster());
                format!("none with {clusters}: {}", dots(self.kind, &group.dots))
            }
        }
    }

    /// The headings of a table of differences.
    pub fn difference_headings() -> [&'static str; 5] {
        ["compared", "difference", "95 % interval", "pairs", "test"]
    }

    /// The cells of the difference between two groups.
    pub fn difference_cells(&self, compared: &ComparedGroups) -> [String; 5] {
        let ComparedGroups { one, other, found } = compared;
        let name = |group: &[GroupValue]| {
            group.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let between = format!("{} minus {}", name(other), name(one));
        let Some(difference) = found.difference else {
            let none = "none, because a group has no values".to_owned();
            return [between, none, String::new(), String::new(), String::new()];
        };
        let interval = found.interval.map(|interval| {
            format!("{} {}", ends(self.kind, interval, true), interval.method.as_str())
        });
        let cluster = self.cluster();
        let in_both = count_of(found.clusters_in_both, &cluster);
        let pairs = match found.pairing {
            _ if !self.has_independence() => String::new(),
            GroupPairing::Unpaired if self.draws_anew(compared) => "unpaired".to_owned(),
            GroupPairing::Unpaired => format!("unpaired (no {cluster} is in both)"),
            GroupPairing::Paired => format!("paired over {in_both} in both"),
        };
        let test = found.test.map(|test| test.text()).unwrap_or_default();
        [between, points(self.kind, difference), interval.unwrap_or_default(), pairs, test]
    }

    /// The difference between two groups, in a line.
    pub fn difference(&self, compared: &ComparedGroups) -> String {
        let [between, difference, interval, pairs, test] = self.difference_cells(compared);
        let mut text = format!("{between}: {difference}");
        for (before, part) in [(" ", interval), (", ", pairs), ("; ", test)] {
            if !part.is_empty() {
                text.push_str(before);
                text.push_str(&part);
            }
        }
        text
    }
}
