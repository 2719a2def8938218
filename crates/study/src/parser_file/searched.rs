//! A text whose places are searched.

use std::ops::Range;

use super::candidate::{Candidate, Mention, agreed};
use super::plain_text::PlainText;

/// A piece of a text in which a value is looked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// The piece, in bytes.
    pub(super) at: Range<usize>,
    /// All that a pattern matched: beyond the piece, numbers and options do not continue there.
    pub(super) matched: Range<usize>,
}

impl Place {
    /// A piece whose ends are not those of a number or an option.
    pub(super) fn of(at: Range<usize>) -> Self {
        Place { matched: at.clone(), at }
    }
}

/// Places of a text, as a person sees it.
pub(super) struct SearchedText<'t> {
    pub(super) plain: PlainText<'t>,
    places: Vec<Range<usize>>,
    /// Positions at which a pattern parts a place from the rest of its match.
    pub(super) cuts: Vec<usize>,
}

impl<'t> SearchedText<'t> {
    pub(super) fn new(text: &'t str, places: &[Place]) -> Self {
        let plain = PlainText::new(text);
        let mut cuts = Vec::new();
        let places = places.iter().map(|place| {
            let at = plain.position(place.at.start)..plain.position(place.at.end);
            let is_cut = |at: &usize| may_be_cut(&plain.text, *at);
            let before = Some(at.start).filter(|_| place.matched.start < place.at.start);
            let after = Some(at.end).filter(|_| place.matched.end > place.at.end);
            cuts.extend(before.into_iter().chain(after).filter(is_cut));
            at
        });
        let places = places.collect();
        cuts.sort_unstable();
        cuts.dedup();
        SearchedText { plain, places, cuts }
    }

    /// The candidate of each place: what is mentioned in it, also if it goes beyond.
    pub(super) fn candidates(&self, mentions: &[Mention]) -> Vec<Option<Candidate>> {
        let found = self.in_each_place(mentions, |mention| &mention.at);
        found.map(|found| agreed(found.iter().map(|found| found.candidate.clone()))).collect()
    }

    /// The things that are mentioned in each place, also if they go beyond.
    pub(super) fn in_each_place<'m, M>(
        &self,
        mentions: &'m [M],
        at: impl Fn(&M) -> &Range<usize> + Copy,
    ) -> impl Iterator<Item = &'m [M]> {
        self.places.iter().map(move |place| {
            let first = mentions.partition_point(|found| at(found).end <= place.start);
            let end = mentions.partition_point(|found| at(found).start < place.end);
            mentions.get(first..end).unwrap_or(&[])
        })
    }

    /// Where each place is.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.places.iter().cloned()
    }

    /// The candidates that the places have, each of which is a place of its own.
    pub(super) fn mentioned(&self, mentions: &[Mention]) -> Vec<Option<Candidate>> {
        let found = self.in_each_place(mentions, |mention| &mention.at);
        found.flatten().map(|found| Some(found.candidate.clone())).collect()
    }
}

/// True where digits or an underscore may be parted from what is beside them. A word is never cut: a
/// pattern with `.*(agree|disagree)` matches the end of `disagree`.
fn may_be_cut(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let parts = |c: char| c.is_ascii_digit() || c == '_';
    before.ends_with(parts) || after.starts_with(parts)
}
