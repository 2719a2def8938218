//! Answers of this run that later questions with the same prompt may share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tokio::sync::OnceCell;

use super::core::UnparsedAnswer;
use crate::id::PromptHash;

/// One cell per prompt. While the first question is under way, the others wait for it in their
/// order, so that they share the answer to the first question in the program rather than the first
/// to arrive. If the first fails or is dropped, the next one that waits is asked.
#[derive(Default)]
pub(super) struct AnswerCells(RefCell<BTreeMap<PromptHash, Rc<OnceCell<UnparsedAnswer>>>>);

impl AnswerCells {
    /// The cell for the answer to a prompt.
    pub(super) fn cell(&self, prompt: PromptHash) -> Rc<OnceCell<UnparsedAnswer>> {
        self.0.borrow_mut().entry(prompt).or_default().clone()
    }

    /// Keeps an answer for sharing. An earlier one stays, and so does a question that is under way.
    pub(super) fn put(&self, prompt: PromptHash, answered: &UnparsedAnswer) {
        let cell = self.cell(prompt);
        if !cell.initialized() {
            // Fails only while a question is under way: the others wait for its answer.
            let _ = cell.set(answered.clone());
        }
    }
}
