//! The candidates that a strategy finds in one place, and the choice among them.

use serde_json::Value;

use super::doubt::ReadingDoubt;
use super::fields::Pick;
use retold::parse::FoundValue;

/// Something in an answer that may be the value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Candidate {
    /// A value.
    Certain(Value),
    /// The value may be here, but nobody can say which it is.
    Doubtful(ReadingDoubt),
}

/// The value that counts, of those that were found. Where it could be a doubtful one, it is none:
/// another value would be read in its place.
///
/// # Errors
/// The doubts, if nothing counts.
pub(super) fn pick_value(
    pick: Pick,
    found: impl Iterator<Item = Candidate>,
) -> Result<FoundValue<Value>, Vec<String>> {
    let mut counting: Option<Candidate> = None;
    for next in found {
        match (&counting, pick) {
            (Some(_), Pick::First) => break,
            (Some(Candidate::Doubtful(_)), Pick::Only) => {}
            (Some(known), Pick::Only) if *known != next => match next {
                Candidate::Certain(_) => return Err(Vec::new()),
                Candidate::Doubtful(_) => counting = Some(next),
            },
            (Some(_), Pick::Only) => {}
            (None, _) | (Some(_), Pick::Last) => counting = Some(next),
        }
    }
    match counting {
        Some(Candidate::Certain(value)) => Ok(FoundValue::plain(value)),
        Some(Candidate::Doubtful(doubt)) => Err(vec![doubt.to_string()]),
        None => Err(Vec::new()),
    }
}
