//! What a figure of a run rests on.

use std::collections::BTreeSet;

use retold::parse::Parsers;

use super::{FigureRun, FiguresError, census_of, rows_of};
use crate::definition::FigureDefinition;
use crate::recorded::ValueSource;

/// What a figure rests on: whoever decides otherwise changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FigureBasis {
    /// Facts of the run, which follow from the decisions that it made itself.
    Facts,
    /// Decisions with these names, which may have been accepted since; none if it rests on the answers alone.
    Decisions(BTreeSet<String>),
}

impl FigureRun<'_> {
    /// What a figure of the run rests on.
    ///
    /// # Errors
    /// [`FiguresError::Log`] if the run cannot be read.
    pub fn basis(
        &mut self,
        figure: &FigureDefinition,
        parsers: &Parsers,
    ) -> Result<FigureBasis, FiguresError> {
        let rows = rows_of(std::slice::from_ref(self));
        let names = figure.measure.names();
        if names.iter().all(|name| rows.source(name).is_some()) {
            return Ok(FigureBasis::Facts);
        }
        let census = census_of(std::slice::from_mut(self), parsers)?;
        let mut decisions = BTreeSet::new();
        for name in names {
            match census.source(name) {
                Some(ValueSource::Decision { name, .. }) => drop(decisions.insert(name)),
                Some(ValueSource::Fact { .. }) => return Ok(FigureBasis::Facts),
                Some(ValueSource::Answer(_)) | None => {}
            }
        }
        Ok(FigureBasis::Decisions(decisions))
    }
}
