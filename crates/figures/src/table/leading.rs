//! Figures of runs of which nobody named any.

use retold::parse::Parsers;

use super::suggested::{SuggestedFigures, suggested_figures};
use super::{FigureRun, FigureTable, FiguresError, census_of, rows_of, tables};
use crate::definition::FigureDefinition;

/// The figures that runs lead with.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadingTables {
    /// The figures; of suggested ones at most twelve.
    pub tables: Vec<FigureTable>,
    /// How many others decisions suggest.
    pub left_out: usize,
}

/// The figures that runs lead with: the headline of the study that made them all, as far as there are rows of it, or else
/// what their decisions suggest.
///
/// # Errors
/// [`FiguresError::Log`] if the runs cannot be read, [`FiguresError::Definition`] if a study's headline is no figure.
pub fn leading_tables(
    runs: &mut [FigureRun<'_>],
    parsers: &Parsers,
) -> Result<LeadingTables, FiguresError> {
    let headline = runs.first().map_or(&[][..], |run| run.study.headline);
    if headline.is_empty() || runs.iter().any(|run| run.study.headline != headline) {
        let census = census_of(runs, parsers)?;
        let SuggestedFigures { figures, left_out } = suggested_figures(&census);
        let tables = tables(runs, &census, &figures, Some(parsers))?;
        return Ok(LeadingTables { tables, left_out });
    }
    let rows = rows_of(runs);
    let mut figures: Vec<FigureDefinition> = Vec::new();
    for figure in headline {
        figures.push(figure.parse()?);
    }
    figures.retain(|figure| figure.measure.names().iter().all(|name| rows.source(name).is_some()));
    Ok(LeadingTables { tables: tables(runs, &rows, &figures, None)?, left_out: 0 })
}
