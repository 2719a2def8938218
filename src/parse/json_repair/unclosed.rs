//! Searches for the end of a key that found nothing.

use super::Repair;

/// The quotes that close no key, from where this was discovered to the end of the text.
///
/// Discovering it means reading the rest of the text, so it is done once for each kind of key.
/// Otherwise, many repetitions of `{"a}` would be read to the end for every brace. The result also
/// holds for all later positions: a later key meets the same quotes, and fewer of them.
#[derive(Default)]
pub(super) struct UnclosedQuotes {
    searches: Vec<ClosingSearch>,
    /// The opening quotes for which this was discovered in the current container. In that case,
    /// knowing the quote is enough.
    here: String,
}

/// The properties that determine which quotes may close a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QuoteKind {
    /// The quote that opens it.
    pub(super) open: char,
    /// Whether it is opened and closed by two quotes.
    pub(super) doubled: bool,
    /// Whether its quotes have backslashes.
    pub(super) escaped: bool,
}

/// A search to the end of the text.
struct ClosingSearch {
    kind: QuoteKind,
    noted: RepairNotes,
}

/// The notes of a search: the repairs, and the positions after which they were needed, ascending.
#[derive(Default)]
pub(super) struct RepairNotes(Vec<(Repair, Vec<usize>)>);

impl RepairNotes {
    pub(super) fn push(&mut self, repair: Repair, pos: usize) {
        match self.0.iter_mut().find(|(known, _)| *known == repair) {
            Some((_, places)) => places.push(pos),
            None => self.0.push((repair, vec![pos])),
        }
    }

    /// The repairs that a search from a later position meets, in order, before it ends without a
    /// quote.
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

impl UnclosedQuotes {
    /// Moves on to the next container.
    pub(super) fn next_container(&mut self) {
        self.here.clear();
    }

    /// If a key beginning at `pos` is known to have no end: the repairs that a search for it would
    /// note.
    pub(super) fn known_repairs(&mut self, kind: QuoteKind, pos: usize) -> Option<Vec<Repair>> {
        if self.here.contains(kind.open) {
            return Some(Vec::new());
        }
        let search = self.searches.iter().find(|search| search.kind == kind)?;
        self.here.push(kind.open);
        Some(search.noted.after(pos))
    }

    pub(super) fn push(&mut self, kind: QuoteKind, noted: RepairNotes) {
        self.here.push(kind.open);
        self.searches.push(ClosingSearch { kind, noted });
    }
}
