//! The candidates that a strategy finds in its places, and the choice among the places.

use std::ops::Range;

use serde_json::Value;

use super::doubt::{Excerpt, ReadingDoubt};
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

/// A candidate, and where the text has it, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub(super) at: Range<usize>,
    pub(super) candidate: Candidate,
}

/// The candidate that stands for several in one place: doubtful unless all are the same value.
pub(super) fn agreed(found: impl Iterator<Item = Candidate>) -> Option<Candidate> {
    let mut known: Option<Candidate> = None;
    for next in found {
        known = Some(match (known, next) {
            (None, next) => next,
            (Some(Candidate::Certain(one)), Candidate::Certain(other)) if one != other => {
                let [one, other] = [one, other].map(|it| Excerpt::new(&it.to_string()));
                Candidate::Doubtful(ReadingDoubt::Several(one, other))
            }
            (Some(Candidate::Certain(_)), next) => next,
            (Some(doubt), _) => doubt,
        });
    }
    known
}

/// The value of the place that counts. Where that has none, or a doubtful one, no other place is
/// read in its stead.
///
/// # Errors
/// The doubt, if there is one.
pub(super) fn pick_value(
    pick: Pick,
    places: Vec<Option<Candidate>>,
) -> Result<FoundValue<Value>, Vec<String>> {
    let mut places = places.into_iter();
    let counting = match pick {
        Pick::Only => agreed(places.flatten()),
        Pick::First => places.next().flatten(),
        Pick::Last => places.next_back().flatten(),
    };
    match counting {
        Some(Candidate::Certain(value)) => Ok(FoundValue::plain(value)),
        Some(Candidate::Doubtful(doubt)) => Err(vec![doubt.to_string()]),
        None => Err(Vec::new()),
    }
}
