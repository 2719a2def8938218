//! Which decisions are in force, in words.

use crate::error::CliError;
use crate::select::RunSelection;
use retold::effective::{EffectiveDecisions, effective_decisions};

/// Lines for people; empty if there is nothing to say.
pub(crate) fn text(in_force: &EffectiveDecisions) -> String {
    in_force.lines().into_iter().map(|line| line + "\n").collect()
}

/// The other decisions about the answers of a run. Uses readers of its own: only the events of the run that are shown
/// count as checked.
pub(crate) fn of(selected: &RunSelection) -> Result<EffectiveDecisions, CliError> {
    Ok(effective_decisions(
        &mut selected.checked_reader()?,
        &mut selected.checked_reader()?,
        selected.run,
    )?)
}
