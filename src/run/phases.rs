//! How far a run has come by the marks of its experiment: after which of them it stops, and after which a merged run asks a
//! model.

use std::cell::{Cell, RefCell};

use super::progress::Progress;
use super::stop::Stop;

/// The marks of a run.
#[derive(Debug, Default)]
pub(super) struct Phases {
    /// After which mark it stops.
    until: Option<String>,
    /// The mark with which the shards of a merged run end.
    shards_end: Option<String>,
    /// Whether that mark was passed.
    is_past_shards: Cell<bool>,
    /// The last mark that ends a phase, and how many questions had ended by then.
    last: RefCell<Option<(String, u64)>>,
    /// Whether many questions are being asked at once. A mark among them ends no phase, because later questions may have
    /// been asked before it.
    is_asking: Cell<bool>,
}

/// How many questions have ended.
fn end_count(progress: Progress) -> u64 {
    progress.exchanges + progress.failed
}

impl Phases {
    /// Stops after the mark `until`, if there is one; the shards of a merged run end with `shards_end`.
    pub(super) fn new(until: Option<String>, shards_end: Option<String>) -> Self {
        Phases { until, shards_end, ..Phases::default() }
    }

    /// Whether a merged run has come to what its shards do not have: not before the mark with which they end.
    pub(super) fn is_past_shards(&self) -> bool {
        self.is_past_shards.get()
    }

    /// Many questions are asked at once from now on, or not any more.
    pub(super) fn asking(&self, is_asking: bool) {
        self.is_asking.set(is_asking);
    }

    /// The experiment has passed a mark.
    ///
    /// # Errors
    /// [`Stop::Reached`] if it goes no further.
    pub(super) fn pass(&self, name: &str, progress: Progress) -> Result<(), Stop> {
        if !self.is_asking.get() {
            self.last.replace(Some((name.to_owned(), end_count(progress))));
        }
        if self.shards_end.as_deref() == Some(name) {
            self.is_past_shards.set(true);
        }
        match &self.until {
            Some(until) if until == name => Err(Stop::Reached { phase: name.to_owned() }),
            _ => Ok(()),
        }
    }

    /// The last mark that ends a phase, if no question has ended since.
    pub(super) fn last(&self, progress: Progress) -> Option<String> {
        let last = self.last.borrow().clone();
        last.filter(|(_, then)| *then == end_count(progress)).map(|(name, _)| name)
    }
}
