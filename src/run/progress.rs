//! How far a run is.

/// How far a run is, for showing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Answers so far, recorded or new.
    pub exchanges: u64,
    /// How many a model has just given. An answer that is used again counts once here.
    pub live: u64,
    /// Attempts made with a model, including failed ones.
    pub model_calls: u64,
    /// Calls that failed after all retries.
    pub failed: u64,
    /// How many of these because no answer came in time.
    pub timed_out: u64,
    /// Answers that are kept as bytes, since no text could be read from them.
    pub unreadable: u64,
    /// Blank answers: no text, no tool call, no refusal.
    pub blank: u64,
    /// Answers that were refused, by the model or by a filter.
    pub refused: u64,
    /// Answers that end before their end, because they were as long as they might be.
    pub cut_off: u64,
    /// Decisions so far.
    pub decisions: u64,
    /// How many answers the experiment expects in all; 0 if it has not said.
    pub expected: u64,
}
