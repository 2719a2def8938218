//! Figures of a run of which nobody named any.

use crate::definition::{CountedUnit, FigureDefinition, Measure, OptionQuantity, ValueComparison};
use crate::recorded::{RunCensus, ValueShape};
use retold::event::PARTICIPANTS;

/// The most values that a label has to be suggested.
const MOST_GROUPS: usize = 8;

/// The most values of one decision whose shares are suggested.
const MOST_VALUES: usize = 3;

/// Of two values, the one whose share people ask for.
const AFFIRMATIVE: [&str; 2] = ["yes", "true"];

/// The most figures that are suggested.
const MOST: usize = 12;

/// Figures of which nobody named any.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SuggestedFigures {
    /// The figures, at most twelve.
    pub(super) figures: Vec<FigureDefinition>,
    /// How many others there would be.
    pub(super) left_out: usize,
}

/// Figures that say what came out of runs: for each name of decisions the mean of numbers, the share of the commonest
/// values, or what ballots say of each option, by each label that all its calls have with two to eight values, other than those that say who is asked.
pub(super) fn suggested_figures(census: &RunCensus) -> SuggestedFigures {
    let mut figures = Vec::new();
    for (name, values) in &census.decisions {
        let of = name.clone();
        let measures = match values.shape() {
            ValueShape::Numbers => vec![Measure::Mean { of }],
            ValueShape::Names(names) => {
                // The share of one of two says nothing that the other does not.
                let names = match names.iter().position(|name| AFFIRMATIVE.contains(&name.as_str()))
                {
                    Some(at) if names.len() == 2 => vec![names[at].clone()],
                    _ => names,
                };
                let some = names.len().saturating_sub(1).clamp(1, MOST_VALUES);
                let share = |value: String| {
                    let (of, comparison) = (of.clone(), ValueComparison::Equal);
                    Measure::Share { of, comparison, value }
                };
                names.into_iter().take(some).map(share).collect()
            }
            ValueShape::Lists => vec![Measure::EachShare { of }],
            ValueShape::Rankings => {
                let quantity = OptionQuantity::Rank;
                vec![Measure::MeanOf { quantity, option: None, of }]
            }
            ValueShape::Points => {
                let quantity = OptionQuantity::Points;
                vec![Measure::MeanOf { quantity, option: None, of }]
            }
            ValueShape::Other => Vec::new(),
        };
        // Participants are counted, not compared.
        let labels = values.shared_labels().filter(|(label, values)| {
            !PARTICIPANTS.contains(label) && (2..=MOST_GROUPS).contains(values)
        });
        let mut by: Vec<Vec<String>> = labels.map(|(label, _)| vec![label.to_owned()]).collect();
        if by.is_empty() {
            by.push(Vec::new());
        }
        for by in &by {
            for measure in &measures {
                let (measure, by) = (measure.clone(), by.clone());
                let (against, clustering, per) = (None, None, CountedUnit::Answer);
                figures.push(FigureDefinition { measure, by, against, clustering, per });
            }
        }
    }
    let left_out = figures.len().saturating_sub(MOST);
    figures.truncate(MOST);
    SuggestedFigures { figures, left_out }
}
