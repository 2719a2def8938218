//! The earlier events of a run that a prompt was made from.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::outcome::{pairs, ranges, spans};
use crate::id::Seq;

/// The events that a prompt was made from, in ascending order: answers (which stand for the
/// decisions about them), facts, and earlier questions (which stand for everything that their own
/// prompts were made from).
///
/// They are kept as ranges, so that a foreign file cannot claim more events than its size allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Because(Vec<(u64, u64)>);

/// Why the body of a question does not say what its prompt was made from.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BecauseError {
    #[error("its body: {0}")]
    Body(#[from] serde_json::Error),
    #[error("what its prompt was made from is not a list of earlier events")]
    NotEarlier,
}

impl Because {
    /// These events, in any order.
    pub fn new(seqs: impl IntoIterator<Item = Seq>) -> Self {
        let mut seqs: Vec<u64> = seqs.into_iter().map(|seq| seq.0).collect();
        seqs.sort_unstable();
        seqs.dedup();
        Because(spans(&seqs))
    }

    /// Whether nothing was declared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many events these are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// The events, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Seq> {
        self.0.iter().flat_map(|(first, last)| (*first..=*last).map(Seq))
    }

    /// Whether an event is among them.
    pub fn contains(&self, seq: Seq) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= seq.0);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, last)| seq.0 <= *last)
    }

    /// The canonical body of the question that declares them.
    pub(crate) fn body(&self) -> Cow<'static, str> {
        if self.is_empty() {
            Cow::Borrowed("{}")
        } else {
            Cow::Owned(format!("{{\"because\":{}}}", ranges(&self.0)))
        }
    }

    /// Whether a canonical body declares exactly these events, whatever else it has. If not, it may still do so in
    /// another form.
    pub(crate) fn is_all_of(&self, body: &str) -> bool {
        let own = self.body();
        let rest = own.strip_suffix('}').and_then(|own| body.strip_prefix(own));
        let more = if self.is_empty() { "\"labels\":" } else { ",\"labels\":" };
        rest.is_some_and(|rest| rest == "}" || rest.starts_with(more))
    }

    /// The sources that the question at a seq declares, given its body.
    ///
    /// # Errors
    /// [`BecauseError`] if these are not earlier events in ascending order.
    pub(crate) fn of_body(body: &str, at: Seq) -> Result<Self, BecauseError> {
        #[derive(Deserialize)]
        struct BecauseBody {
            because: Option<Value>,
        }
        // The common case of a question that declares nothing.
        if body == "{}" {
            return Ok(Because::default());
        }
        let body = serde_json::from_str::<BecauseBody>(body)?;
        let Some(because) = body.because else { return Ok(Because::default()) };
        Because::read(&because, at).ok_or(BecauseError::NotEarlier)
    }

    fn read(value: &Value, before: Seq) -> Option<Self> {
        let all = pairs(value)?;
        let rising = all.windows(2).all(|two| matches!(two, [(_, a), (b, _)] if a < b));
        let first = all.first().is_none_or(|(first, _)| *first > 0);
        let last = all.last().is_none_or(|(_, last)| *last < before.0);
        (rising && first && last).then_some(Because(all))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn adjacent_events_are_one_range() {
        let because = Because::new([9, 3, 7, 8, 3, 20].map(Seq));
        assert_eq!(because.body(), r#"{"because":[3,[7,9],20]}"#);
        assert_eq!(because.iter().collect::<Vec<_>>(), [3, 7, 8, 9, 20].map(Seq));
        assert_eq!(because.count(), 5);
        assert_eq!(Because::of_body(&because.body(), Seq(21)).unwrap(), because);
        for nothing in [&*Because::default().body(), r#"{"of a later release":1}"#] {
            assert!(Because::of_body(nothing, Seq(1)).unwrap().is_empty());
        }
        let held = (0..25).map(Seq).filter(|seq| because.contains(*seq));
        assert!(held.eq(because.iter()));
    }

    #[test]
    fn a_body_is_recognised_whether_its_call_has_labels_or_not() {
        let (none, three) = (Because::default(), Because::new([Seq(3)]));
        let labelled = r#"{"labels":{"because":"no"}}"#;
        let both = r#"{"because":[3],"labels":{"agent":"7"}}"#;
        for (of, body, is_all) in [
            (&none, "{}", true),
            (&none, labelled, true),
            (&none, both, false),
            (&three, r#"{"because":[3]}"#, true),
            (&three, both, true),
            (&three, r#"{"because":[3,7]}"#, false),
            (&three, labelled, false),
        ] {
            assert_eq!(of.is_all_of(body), is_all, "{body}");
            assert_eq!(*of == Because::of_body(body, Seq(9)).unwrap(), is_all, "{body}");
        }
    }

    #[test]
    fn only_earlier_events_in_order_can_be_declared() {
        for wrong in [
            json!([0]),
            json!([21]),
            json!([[3, 21]]),
            json!([5, 3]),
            json!([3, 3]),
            json!([[3, 7], [7, 9]]),
            json!([[9, 3]]),
            json!(["3"]),
            json!([-1]),
            json!({"seq": 3}),
            json!(null),
        ] {
            assert_eq!(Because::read(&wrong, Seq(21)), None, "{wrong}");
        }
        assert_eq!(Because::read(&json!([[1, 20]]), Seq(21)).unwrap().count(), 20);
    }
}
