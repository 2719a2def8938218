//! Which decisions are in force, in words.

use crate::error::CliError;
use crate::select::RunSelection;
use retold::effective::{EffectiveDecisions, effective_decisions};

/// Lines for people; empty if there is nothing to say.
pub(crate) fn text(in_force: &EffectiveDecisions) -> String {
    in_force.lines().into_iter().map(|line| line + "\n").collect()
}

/// Which other decisions there are about the answers of a run. With readers of its own: only what is
/// shown of the run itself counts as checked.
pub(crate) fn of(selected: &RunSelection) -> Result<EffectiveDecisions, CliError> {
    Ok(effective_decisions(&mut selected.checked()?, &mut selected.checked()?, selected.run)?)
}
