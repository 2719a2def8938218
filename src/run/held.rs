//! Questions that are held for a batch: each is recorded as asked, and answered in a later execution.

use std::collections::BTreeSet;

use crate::id::{PromptHash, Seq};

/// The questions that are held.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Their `RequestSent`.
    pub(super) questions: Vec<Seq>,
    /// The prompts of those whose answer is shared with later ones, which are asked when they have it.
    pub(super) shared: BTreeSet<PromptHash>,
}

impl Held {
    /// The `RequestSent` of each, ascending.
    pub(super) fn take(&mut self) -> Vec<Seq> {
        let mut questions = std::mem::take(&mut self.questions);
        questions.sort_unstable();
        questions
    }
}
