//! Which decision is meant.

use crate::id::{CallPath, Sample, Seq};

/// Which decision is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The event at a seq: a decision, an answer, a question, or a fact.
    Seq(Seq),
    /// The decision of a call, or of the only call with the same parts: for the given sample, or
    /// for the only one.
    Call(CallPath, Option<Sample>),
}

impl std::str::FromStr for Target {
    type Err = crate::id::IdError;

    /// `SEQ`, `CALL` or `CALL#SAMPLE`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(seq) = text.parse() {
            return Ok(Target::Seq(Seq(seq)));
        }
        if let Some((call, sample)) = text.rsplit_once('#')
            && let Ok(sample) = sample.parse()
        {
            return Ok(Target::Call(call.parse()?, Some(sample)));
        }
        Ok(Target::Call(text.parse()?, None))
    }
}

/// Whether two calls have the same parts in any order: `p_0012/final_vote` is understood as
/// `final_vote/p_0012`.
pub(super) fn has_parts_of(call: &CallPath, other: &CallPath) -> bool {
    let parts = |call: &CallPath| {
        let mut parts: Vec<String> = call.as_str().split('/').map(str::to_owned).collect();
        parts.sort_unstable();
        parts
    };
    call == other || (call.as_str().len() == other.as_str().len() && parts(call) == parts(other))
}
