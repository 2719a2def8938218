//! Answers of this run that later questions with the same prompt may share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tokio::sync::Notify;

use super::core::Answered;
use crate::id::PromptHash;

/// One entry per prompt. While the first question is under way, the others wait for it, so that
/// they share the answer to the first question in the program rather than the first to arrive.
#[derive(Default)]
pub(super) struct Shared(RefCell<BTreeMap<PromptHash, Entry>>);

enum Entry {
    Asked(Rc<Notify>),
    Answered(Answered),
}

/// The result of looking for an answer to share.
pub(super) enum Place<'a> {
    /// An answer to share.
    Answered(Answered),
    /// This question is the first, or all earlier ones failed.
    First(First<'a>),
}

/// The duty to ask. If it is dropped without an answer, it passes to the next waiting question.
pub(super) struct First<'a> {
    shared: &'a Shared,
    prompt: PromptHash,
}

impl Shared {
    /// Finds an answer to share; waits for it if it has been asked for.
    pub(super) async fn place(&self, prompt: PromptHash) -> Place<'_> {
        loop {
            let asked = match self.0.borrow_mut().get(&prompt) {
                Some(Entry::Answered(answered)) => return Place::Answered(answered.clone()),
                Some(Entry::Asked(notify)) => Some(notify.clone()),
                None => None,
            };
            match asked {
                Some(notify) => notify.notified().await,
                None => {
                    self.0.borrow_mut().insert(prompt, Entry::Asked(Rc::default()));
                    return Place::First(First { shared: self, prompt });
                }
            }
        }
    }

    /// Keeps an answer for sharing, unless there is one already.
    pub(super) fn put(&self, prompt: PromptHash, answered: Answered) {
        let mut entries = self.0.borrow_mut();
        if matches!(entries.get(&prompt), Some(Entry::Answered(_))) {
            return;
        }
        if let Some(Entry::Asked(notify)) = entries.insert(prompt, Entry::Answered(answered)) {
            notify.notify_waiters();
        }
    }
}

impl First<'_> {
    /// Fulfils the duty with an answer.
    pub(super) fn answered(self, answered: Answered) {
        self.shared.put(self.prompt, answered);
    }
}

impl Drop for First<'_> {
    fn drop(&mut self) {
        let mut entries = self.shared.0.borrow_mut();
        if let Some(Entry::Asked(notify)) = entries.get(&self.prompt) {
            notify.notify_waiters();
            entries.remove(&self.prompt);
        }
    }
}
