//! Which decisions are in force, in words.

use crate::error::CliError;
use crate::select::Selected;
use retold::in_force::{InForce, in_force};

/// Lines for people; empty if there is nothing to say.
pub(crate) fn text(in_force: &InForce) -> String {
    in_force.lines().into_iter().map(|line| line + "\n").collect()
}

/// Which other decisions there are about the answers of a run. With readers of its own: only what is
/// shown of the run itself counts as checked.
pub(crate) fn of(selected: &Selected) -> Result<InForce, CliError> {
    Ok(in_force(&mut selected.checked()?, &mut selected.checked()?, selected.run)?)
}
