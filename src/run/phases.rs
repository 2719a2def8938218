//! How far a run has come by the marks of its experiment, and after which of them it stops.

use std::cell::{Cell, RefCell};

use super::core::Progress;
use super::stop::Stop;

/// The marks of a run.
#[derive(Debug, Default)]
pub(super) struct Phases {
    /// After which mark it stops.
    until: Option<String>,
    /// The last mark that ends a phase, and how many questions had ended by then.
    last: RefCell<Option<(String, u64)>>,
    /// Whether many questions are being asked at once. A mark among them ends no phase, because later questions may have
    /// been asked before it.
    is_asking: Cell<bool>,
}

/// How many questions have ended.
fn ended(progress: Progress) -> u64 {
    progress.exchanges + progress.failed
}

impl Phases {
    /// Stops after this mark, if there is one.
    pub(super) fn until(until: Option<String>) -> Self {
        Phases { until, ..Phases::default() }
    }

    /// Many questions are asked at once from now on, or not any more.
    pub(super) fn asking(&self, is_asking: bool) {
        self.is_asking.set(is_asking);
    }

    /// The experiment has passed a mark.
    ///
    /// # Errors
    /// [`Stop::Reached`] if it goes no further.
    pub(super) fn passed(&self, name: &str, progress: Progress) -> Result<(), Stop> {
        if !self.is_asking.get() {
            self.last.replace(Some((name.to_owned(), ended(progress))));
        }
        match &self.until {
            Some(until) if until == name => Err(Stop::Reached { phase: name.to_owned() }),
            _ => Ok(()),
        }
    }

    /// The last mark that ends a phase, if no question has ended since.
    pub(super) fn last(&self, progress: Progress) -> Option<String> {
        let last = self.last.borrow().clone();
        last.filter(|(_, then)| *then == ended(progress)).map(|(name, _)| name)
    }
}
