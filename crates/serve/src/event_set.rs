//! Some of the events of a run.

use std::collections::BTreeSet;

use retold::id::Seq;

/// Some of the events of a run: marked if the columns in memory find them, which may be many; listed if words find them.
#[derive(Debug)]
pub(crate) enum EventSet<'a> {
    /// For each event from 0 on, true if it is one of them.
    Marked(Vec<bool>),
    Listed(&'a BTreeSet<Seq>),
    /// Those that are in both.
    Both(Vec<bool>, &'a BTreeSet<Seq>),
}

impl<'a> EventSet<'a> {
    /// The events that are in each of two sets; `None` if neither is given.
    pub(crate) fn of(marked: Option<Vec<bool>>, listed: Option<&'a BTreeSet<Seq>>) -> Option<Self> {
        Some(match (marked, listed) {
            (None, None) => return None,
            (Some(marked), None) => EventSet::Marked(marked),
            (None, Some(listed)) => EventSet::Listed(listed),
            (Some(marked), Some(listed)) => EventSet::Both(marked, listed),
        })
    }

    /// The events of the set from one to another, both included, in order.
    pub(crate) fn range(
        &self,
        first: u64,
        last: u64,
    ) -> Box<dyn DoubleEndedIterator<Item = u64> + '_> {
        let listed =
            |listed: &'a BTreeSet<Seq>| listed.range(Seq(first)..=Seq(last)).map(|seq| seq.0);
        match self {
            _ if first > last => Box::new(std::iter::empty()),
            EventSet::Marked(marked) => {
                Box::new((first..=last).filter(|seq| is_marked(marked, *seq)))
            }
            EventSet::Listed(few) => Box::new(listed(few)),
            EventSet::Both(marked, few) => {
                Box::new(listed(few).filter(|seq| is_marked(marked, *seq)))
            }
        }
    }
}

/// Whether an event is marked.
pub(crate) fn is_marked(marked: &[bool], seq: u64) -> bool {
    let at = seq.checked_sub(1).and_then(|at| usize::try_from(at).ok());
    at.and_then(|at| marked.get(at)).copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_is_in_both() {
        let marked = || vec![true, false, true, true];
        let few = BTreeSet::from([Seq(2), Seq(3), Seq(4)]);
        let all = |set: Option<EventSet<'_>>| set.unwrap().range(1, 9).collect::<Vec<u64>>();
        assert!(EventSet::of(None, None).is_none());
        assert_eq!(all(EventSet::of(Some(marked()), None)), [1, 3, 4]);
        assert_eq!(all(EventSet::of(None, Some(&few))), [2, 3, 4]);
        assert_eq!(all(EventSet::of(Some(marked()), Some(&few))), [3, 4]);
        let both = EventSet::of(Some(marked()), Some(&few)).unwrap();
        assert_eq!(both.range(1, 9).next_back(), Some(4));
        assert_eq!(both.range(5, 2).count(), 0);
    }
}
