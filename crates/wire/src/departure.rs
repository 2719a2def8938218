//! A client that hung up before it had the whole answer, as a session notices it and a replay plays it.

use std::time::Duration;

use retold::event::ClientLeft;
use retold::id::Seq;
use retold::model::Usage;

use crate::limits::SILENCE;

/// All clients leave when their program dies, and its death is noticed within this time.
pub(crate) const DEATH_IS_NOTICED_WITHIN: Duration = Duration::from_millis(250);

/// When a client hung up, and how much it had been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// After its request.
    pub after: Duration,
    /// How many bytes of the answer's body it had been sent; `None` if not even the status.
    pub bytes: Option<u64>,
}

impl Departure {
    /// How long a replay waits for its client to leave, from the request on. A client leaves at about the same time as
    /// before, and would otherwise get the answer just then.
    pub(crate) fn patience(self) -> Duration {
        self.after.saturating_mul(2).saturating_add(Duration::from_secs(1)).min(SILENCE)
    }

    /// The event of the departure of a question's client.
    pub(crate) fn event(self, request: Seq) -> ClientLeft {
        let after_ms = u64::try_from(self.after.as_millis()).unwrap_or(u64::MAX);
        ClientLeft { request, after_ms, bytes: self.bytes }
    }
}

impl From<&ClientLeft> for Departure {
    fn from(left: &ClientLeft) -> Self {
        Departure { after: Duration::from_millis(left.after_ms), bytes: left.bytes }
    }
}

/// Clients that left, and the answers that were received for them nevertheless.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DepartureSummary {
    /// How many clients left before they had their whole answers.
    pub clients: u64,
    /// How many of their answers were received to their end.
    pub answers: u64,
    /// The tokens of these answers and of their requests, as far as they were counted.
    pub tokens: u64,
}

impl DepartureSummary {
    /// Counts a client whose answer was received to its end.
    pub(crate) fn count_answer(&mut self, usage: Usage) {
        self.clients += 1;
        self.answers += 1;
        let Usage { prompt_tokens, completion_tokens, .. } = usage;
        for tokens in [prompt_tokens, completion_tokens].into_iter().flatten() {
            self.tokens = self.tokens.saturating_add(tokens);
        }
    }
}
