//! Counting what happens in a session.

use std::sync::Mutex;

use crate::limits::MISSES_COMPARED;
use crate::lock::lock;
use crate::nearest_match::NearestMatch;
use crate::summary::SessionSummary;

/// How many hosts of a summary are named.
const HOSTS_SHOWN: usize = 20;

/// The summary of a session while it is made.
#[derive(Default)]
pub(crate) struct SessionCounts(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    summary: SessionSummary,
    /// The number of misses that were compared with the recorded requests.
    compared: usize,
}

impl SessionCounts {
    /// Changes the summary.
    pub(crate) fn change(&self, change: impl FnOnce(&mut SessionSummary)) {
        change(&mut lock(&self.0).summary);
    }

    /// Notes that an answer led the program to a host that is none of the upstreams.
    pub(crate) fn note_host(&self, host: String) {
        self.change(|summary| {
            if summary.led_to.len() < HOSTS_SHOWN {
                summary.led_to.insert(host);
            }
        });
    }

    /// Counts a request that is not recorded.
    pub(crate) fn add_miss(&self, miss: NearestMatch) {
        self.change(|summary| {
            // What follows from the first difference may look like anything.
            let look = miss.look.filter(|_| summary.misses.is_empty());
            let miss = NearestMatch { look, ..miss };
            summary.missed += 1;
            if summary.misses.len() < MISSES_COMPARED {
                summary.misses.push(miss);
            }
        });
    }

    /// Counts a miss; true if it is to be compared with the recorded requests.
    pub(crate) fn compares_a_miss(&self) -> bool {
        let mut counts = lock(&self.0);
        counts.compared += 1;
        counts.compared <= MISSES_COMPARED
    }

    /// The summary so far.
    pub(crate) fn summary(&self) -> SessionSummary {
        lock(&self.0).summary.clone()
    }
}
