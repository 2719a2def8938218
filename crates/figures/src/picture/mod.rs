//! A figure as a picture: a dot for each group with its interval, and the differences between groups, for whatever draws it.
//!
//! - [`FigurePicture`]: what is drawn, on the page, in reports and in files.
//! - [`PictureDistribution`]: how numbers are spread; [`PictureLines`]: groups that are rounds.
//! - [`PictureFlow`]: who went from which value to which.
//! - [`FigurePicture::lines`]: the same in a terminal.

mod axis;
mod distribution;
mod flow;
mod lines;
mod terminal;

use retold::counted::count_of;
use retold::escaping::printable;

pub use axis::PictureAxis;
use axis::PictureUnit;
pub use distribution::{DistributionRow, PictureBar, PictureDistribution};
pub use flow::{PictureFlow, PictureLink};
pub use lines::{PictureLine, PictureLines};

use crate::words::{ends, number, unitless_points};
use crate::{ComparedGroups, FigureGroup, FigureKind, FigureTable, GroupValue, Interval};

/// The longest name of a group that is drawn, in characters.
const LONGEST: usize = 40;

/// What is drawn of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct FigurePicture {
    /// The groups.
    pub values: PicturePanel,
    /// The difference of each group to its baseline, in the same rows. `None` if groups are compared with several others, as all
    /// pairs are.
    pub differences: Option<PicturePanel>,
    /// How the numbers of each group are spread; `None` of shares.
    pub distribution: Option<PictureDistribution>,
    /// The groups as lines, where they are rounds.
    pub lines: Option<PictureLines>,
    /// From which value to which the members of each group went, of a share of changes.
    pub flows: Vec<PictureFlow>,
}

/// Rows over one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct PicturePanel {
    /// The rows, from top to bottom.
    pub rows: Vec<PictureRow>,
    /// The axis below them.
    pub axis: PictureAxis,
}

/// A dot with its interval.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PictureRow {
    /// The name of the group, or of those that are compared.
    pub name: String,
    /// How many values it has, and how many are left out: `n 400, 3 missing`. Empty for a difference.
    pub counts: String,
    /// The value; `None` without draws.
    pub value: Option<f64>,
    /// The ends of its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The means of clusters that are too few for an interval.
    pub dots: Vec<f64>,
    /// The value in numbers: `42.00 %`.
    pub value_text: String,
    /// The ends of the interval in numbers, `[37.10, 46.90]`, or how many clusters there are instead; empty if neither.
    pub interval_text: String,
}

impl PictureRow {
    /// All values that the row shows.
    fn ends(&self) -> impl Iterator<Item = f64> {
        let interval = self.interval.into_iter().flat_map(|(low, high)| [low, high]);
        self.value.into_iter().chain(interval).chain(self.dots.iter().copied())
    }
}

impl PicturePanel {
    fn new(rows: Vec<PictureRow>, unit: PictureUnit) -> Self {
        let axis = PictureAxis::over(rows.iter().flat_map(PictureRow::ends), unit);
        PicturePanel { rows, axis }
    }
}

impl FigureTable {
    /// Its picture; `None` of a figure without any values.
    pub fn picture(&self) -> Option<FigurePicture> {
        self.groups.iter().find(|group| group.value.is_some())?;
        let is_share = self.kind != FigureKind::Mean;
        let unit = if is_share { PictureUnit::Share } else { PictureUnit::Number };
        let values = self.groups.iter().map(|group| self.row(group)).collect();
        let values = PicturePanel::new(values, unit);
        let differences = self.differences_to_baselines(is_share);
        let (distribution, lines, flows) = (self.distribution(), self.lines(), self.flows());
        Some(FigurePicture { values, differences, distribution, lines, flows })
    }

    /// The differences, if each group is compared with one other at most, or is the one that others are compared with.
    fn differences_to_baselines(&self, is_share: bool) -> Option<PicturePanel> {
        let known = || self.differences.iter().filter(|it| it.found.difference.is_some());
        let row = |group: &FigureGroup| {
            let mut of_group = known().filter(|it| it.other == group.group);
            let is_baseline = || known().any(|it| it.one == group.group);
            match (of_group.next(), of_group.next()) {
                (Some(compared), None) if !is_baseline() => Some(self.difference_row(compared)),
                (None, _) => {
                    let name = self.title_of(&group.group);
                    let value_text = if is_baseline() { "baseline" } else { "" }.to_owned();
                    Some(PictureRow { name, value_text, ..PictureRow::default() })
                }
                _ => None,
            }
        };
        known().next()?;
        let rows = self.groups.iter().map(row).collect::<Option<Vec<PictureRow>>>()?;
        let unit = if is_share { PictureUnit::Points } else { PictureUnit::SignedNumber };
        Some(PicturePanel::new(rows, unit))
    }

    pub(crate) fn title_of(&self, group: &[GroupValue]) -> String {
        let name = group.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if name.is_empty() { "all".to_owned() } else { printable(&name, LONGEST) }
    }

    fn row(&self, group: &FigureGroup) -> PictureRow {
        let FigureGroup { value, interval, dots, .. } = group;
        let value_text = value.map_or_else(|| "no values".to_owned(), |it| number(self.kind, it));
        let of_clusters = || (!dots.is_empty()).then(|| count_of(group.clusters, &self.cluster()));
        let interval_text = interval.map(|it| ends(self.kind, it, false)).or_else(of_clusters);
        PictureRow {
            name: self.title_of(&group.group),
            counts: group.counts(),
            value: *value,
            interval: interval.map(pair),
            dots: dots.clone(),
            value_text,
            interval_text: interval_text.unwrap_or_default(),
        }
    }

    fn difference_row(&self, compared: &ComparedGroups) -> PictureRow {
        let ComparedGroups { one, other, found } = compared;
        let value_text = found.difference.map(|value| unitless_points(self.kind, value));
        let interval_text = found.interval.map(|it| ends(self.kind, it, true));
        PictureRow {
            name: format!("{} minus {}", self.title_of(other), self.title_of(one)),
            counts: String::new(),
            value: found.difference,
            interval: found.interval.map(pair),
            dots: Vec::new(),
            value_text: value_text.unwrap_or_default(),
            interval_text: interval_text.unwrap_or_default(),
        }
    }
}

fn pair(Interval { low, high, .. }: Interval) -> (f64, f64) {
    (low, high)
}
