//! Holds questions for a batch.

use super::core::{Core, Exchanged};
use super::question::{QuestionCore, Reuse};
#[cfg(feature = "openai")]
use super::setup::Setup;
use super::stop::Stop;
use crate::model::Model;

impl Core {
    /// Whether a question is held: what no server takes by batch is asked as always.
    #[cfg(feature = "openai")]
    pub(super) fn holds(&self, model: &dyn Model, asked: &QuestionCore) -> bool {
        let Setup { holds, mode, .. } = self.setup;
        holds && mode.writes() && model.batching(&asked.request).is_some()
    }

    /// Without a client, no server takes batches.
    #[cfg(not(feature = "openai"))]
    pub(super) fn holds(&self, _model: &dyn Model, _asked: &QuestionCore) -> bool {
        false
    }

    /// Holds a question. One that was recorded and has no end is held as it is: a batch may have it already.
    pub(super) fn hold(&self, asked: &QuestionCore) -> Result<Exchanged, Stop> {
        let is_shared = asked.reuse == Reuse::Shared;
        if is_shared && self.held.borrow().shared.contains(&asked.prompt()) {
            return Err(Stop::Held);
        }
        // Nothing of a batch is known to cost anything before it is answered.
        self.budget.check(&asked.request).inspect_err(|_| self.brake.pull())?;
        let open = match self.history.borrow_mut().as_mut() {
            Some(history) => history.open(asked)?,
            None => None,
        };
        let question = match open {
            Some(question) => question,
            None => self.record_question(asked)?,
        };
        let mut held = self.held.borrow_mut();
        held.questions.push(question);
        if is_shared {
            held.shared.insert(asked.prompt());
        }
        Err(Stop::Held)
    }
}
