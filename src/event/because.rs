//! What a prompt was made from: earlier events of the same run.

use super::outcome::{pairs, ranged, ranges};
use crate::id::Seq;

/// The events that a prompt was made from, ascending: answers (for the decisions made on them), facts, and
/// earlier questions, of which each stands for all that its own prompt was made from.
///
/// Kept as ranges, so that a file from elsewhere cannot claim more than it has bytes for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Because(Vec<(u64, u64)>);

impl Because {
    /// These events, in any order.
    pub fn of(seqs: impl IntoIterator<Item = Seq>) -> Self {
        let mut seqs: Vec<u64> = seqs.into_iter().map(|seq| seq.0).collect();
        seqs.sort_unstable();
        seqs.dedup();
        Because(ranged(&seqs))
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
    pub(super) fn body(&self) -> String {
        format!("{{\"because\":{}}}", ranges(&self.0))
    }

    /// What a question declares, given its body's value; `None` if these are not earlier events, ascending.
    pub(super) fn read(value: &serde_json::Value, before: Seq) -> Option<Self> {
        let all = pairs(value)?;
        let rising = all.windows(2).all(|two| matches!(two, [(_, a), (b, _)] if a < b));
        let first = all.first().is_none_or(|(first, _)| *first > 0);
        let last = all.last().is_none_or(|(_, last)| *last < before.0);
        (rising && first && last).then_some(Because(all))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn adjacent_events_are_one_range() {
        let because = Because::of([9, 3, 7, 8, 3, 20].map(Seq));
        assert_eq!(because.body(), r#"{"because":[3,[7,9],20]}"#);
        assert_eq!(because.iter().collect::<Vec<_>>(), [3, 7, 8, 9, 20].map(Seq));
        assert_eq!(because.count(), 5);
        let body: Value = serde_json::from_str(&because.body()).unwrap();
        assert_eq!(Because::read(&body["because"], Seq(21)), Some(because.clone()));
        let held = (0..25).map(Seq).filter(|seq| because.contains(*seq));
        assert!(held.eq(because.iter()));
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
