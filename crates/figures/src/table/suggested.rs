//! Figures of a run of which nobody named any.

use retold::event::PARTICIPANTS;

use crate::definition::{FigureDefinition, Measure, ValueComparison};
use crate::recorded::{RunCensus, ValueShape};

/// The most values that a label has to be suggested.
const MOST_GROUPS: usize = 8;

/// The most values of one decision whose shares are suggested.
const MOST_VALUES: usize = 3;

/// The most figures that are suggested.
const MOST: usize = 12;

/// Figures that say what came out of runs: for each name of decisions the mean of numbers, or the share of the commonest
/// values, by each label with two to eight values other than those that say who is asked.
pub fn suggested_figures(census: &RunCensus) -> Vec<FigureDefinition> {
    // Participants are what is counted, not what is compared.
    let is_suggested = |label: &str, values: usize| {
        !PARTICIPANTS.contains(&label) && (2..=MOST_GROUPS).contains(&values)
    };
    let labels = census.labels.iter().filter(|(label, values)| is_suggested(label, values.len()));
    let mut by: Vec<Vec<String>> = labels.map(|(label, _)| vec![label.clone()]).collect();
    if by.is_empty() {
        by.push(Vec::new());
    }
    let mut figures = Vec::new();
    for (name, values) in &census.decisions {
        let of = name.clone();
        let measures = match values.shape() {
            ValueShape::Numbers => vec![Measure::Mean { of }],
            ValueShape::Names(names) => {
                // The share of the rarest of two says nothing that the other does not.
                let some = names.len().saturating_sub(1).clamp(1, MOST_VALUES);
                let share = |value: String| {
                    let (of, comparison) = (of.clone(), ValueComparison::Equal);
                    Measure::Share { of, comparison, value }
                };
                names.into_iter().take(some).map(share).collect()
            }
            ValueShape::Other => Vec::new(),
        };
        for by in &by {
            for measure in &measures {
                let (measure, by) = (measure.clone(), by.clone());
                figures.push(FigureDefinition { measure, by, clustering: None });
            }
        }
    }
    figures.truncate(MOST);
    figures
}
