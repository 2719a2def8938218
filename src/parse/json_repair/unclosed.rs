//! Searches for the end of a key that found none.

use super::Repair;

/// Which quotes close no key, from where it was found out to the end of the text.
///
/// To find out means to read all that is left, so it is done once for each kind of key: `{"a}` many times
/// over would otherwise be read to its end for every brace. What holds at one place holds at all later
/// ones: a later key meets the same quotes, and fewer of them.
#[derive(Default)]
pub(super) struct Unclosed {
    searches: Vec<Search>,
    /// The opening quotes for which it was found out in the container that is being read. There it is enough
    /// to know the quote.
    here: String,
}

/// What decides which quotes may close a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// The quote that opens it.
    pub(super) open: char,
    /// It is opened by two quotes, and two close it.
    pub(super) doubled: bool,
    /// Its quotes have backslashes.
    pub(super) escaped: bool,
}

/// A search to the end of the text.
struct Search {
    kind: Kind,
    noted: Noted,
}

/// Where a search met what: the repairs, and behind which positions, ascending.
#[derive(Default)]
pub(super) struct Noted(Vec<(Repair, Vec<usize>)>);

impl Noted {
    pub(super) fn push(&mut self, repair: Repair, pos: usize) {
        match self.0.iter_mut().find(|(known, _)| *known == repair) {
            Some((_, places)) => places.push(pos),
            None => self.0.push((repair, vec![pos])),
        }
    }

    /// What a search from a later place meets, in its order, and that it ends without a quote.
    fn after(&self, pos: usize) -> Vec<Repair> {
        let first = |(repair, places): &(Repair, Vec<usize>)| {
            let at = places.partition_point(|place| *place <= pos);
            places.get(at).map(|place| (*place, *repair))
        };
        let mut met: Vec<(usize, Repair)> = self.0.iter().filter_map(first).collect();
        met.sort_unstable();
        met.into_iter().map(|(_, repair)| repair).chain([Repair::UnclosedString]).collect()
    }
}

impl Unclosed {
    /// Goes on with the next container.
    pub(super) fn next_container(&mut self) {
        self.here.clear();
    }

    /// If it is known that a key that begins at `pos` has no end: what a search for it would note.
    pub(super) fn known(&mut self, kind: Kind, pos: usize) -> Option<Vec<Repair>> {
        if self.here.contains(kind.open) {
            return Some(Vec::new());
        }
        let search = self.searches.iter().find(|search| search.kind == kind)?;
        self.here.push(kind.open);
        Some(search.noted.after(pos))
    }

    pub(super) fn push(&mut self, kind: Kind, noted: Noted) {
        self.here.push(kind.open);
        self.searches.push(Search { kind, noted });
    }
}
