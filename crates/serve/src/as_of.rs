//! The state of a run after one of its events, for the terminal.

use retold::id::{RunId, Seq};
use retold::log::Reader;
use retold::run::Folding;
use serde_json::Value;

use crate::facts::{At, Fold, StateError};
use crate::tree::{TreeNode, tree};

/// The state of a run after one of its events.
#[derive(Debug)]
pub struct AsOf {
    /// How many facts are in it.
    pub facts: usize,
    /// The last of them.
    pub last: Option<Seq>,
    /// The state.
    pub state: Value,
    /// The same as a tree, cut; the changes that the last fact made are marked.
    pub tree: TreeNode,
}

/// The state of a run after an event; `begin` is that without facts. The page folds it in the same
/// way.
///
/// # Errors
/// [`StateError`].
pub fn as_of(
    reader: &mut dyn Reader,
    run: RunId,
    begin: Box<dyn Folding>,
    at: Seq,
) -> Result<AsOf, StateError> {
    let mut fold = Fold::new(reader, run, begin)?;
    loop {
        match fold.at(reader, at)? {
            At::State { state, before, facts } => {
                let tree = tree(&state, before.as_ref());
                let (last, _) = fold.around(at);
                return Ok(AsOf { facts, last, state, tree });
            }
            // A page would be loaded again.
            At::Folding { .. } => {}
            At::Broken { facts, why } => return Err(StateError::Broken { facts, why }),
        }
    }
}
