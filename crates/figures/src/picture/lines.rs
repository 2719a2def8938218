//! A figure by round: a line for each group, where the last label counts something.

use std::collections::BTreeMap;

use super::axis::PictureUnit;
use super::{PictureAxis, PictureRow};
use crate::{FigureKind, FigureTable, GroupValue};

/// The fewest rounds that are a line.
const FEWEST_ROUNDS: usize = 3;

/// The most lines that can be told apart.
const MOST_LINES: usize = 6;

/// Lines over rounds, days or turns.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureLines {
    /// The label that counts.
    pub label: String,
    /// Its values, in order.
    pub rounds: Vec<f64>,
    /// The lines.
    pub lines: Vec<PictureLine>,
    /// The axis of the values.
    pub axis: PictureAxis,
}

/// The values of a group from round to round.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureLine {
    /// The name of the group.
    pub name: String,
    /// Its rounds, in order, each with its value and interval.
    pub points: Vec<(f64, PictureRow)>,
}

impl FigureTable {
    /// Its groups as lines; `None` if the last of its labels does not count, or counts too little.
    pub fn lines(&self) -> Option<PictureLines> {
        let label = self.labels.last()?;
        let mut lines: BTreeMap<&[GroupValue], Vec<(f64, PictureRow)>> = BTreeMap::new();
        let mut rounds = Vec::new();
        for group in self.groups.iter().filter(|group| group.value.is_some()) {
            let (last, others) = group.group.split_last()?;
            let round = match last {
                GroupValue::Label(text) => text.parse::<f64>().ok().filter(|it| it.is_finite())?,
                GroupValue::Unlabelled | GroupValue::Run { .. } => return None,
            };
            rounds.push(round);
            lines.entry(others).or_default().push((round, self.row(group)));
        }
        rounds.sort_by(f64::total_cmp);
        rounds.dedup();
        if rounds.len() < FEWEST_ROUNDS || lines.len() > MOST_LINES {
            return None;
        }
        let is_share = self.kind != FigureKind::Mean;
        let unit = if is_share { PictureUnit::Share } else { PictureUnit::Number };
        let rows = lines.values().flatten().flat_map(|(_, row)| row.ends());
        let axis = PictureAxis::over(rows, unit);
        let line = |(group, mut points): (&[GroupValue], Vec<(f64, PictureRow)>)| {
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            PictureLine { name: self.title_of(group), points }
        };
        let lines = lines.into_iter().map(line).collect();
        Some(PictureLines { label: label.clone(), rounds, lines, axis })
    }
}
