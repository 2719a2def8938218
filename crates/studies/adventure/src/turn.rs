//! The meaning of a game master's answer in a game: the rules, whose consequences are facts.

use super::facts::Narration;
use super::offer::Offer;
use super::state::AdventureGame;
use crate::parse::Narrative;

/// The story if no answer tells one.
const NOTHING: &str = "Nothing happens.";

/// Whether an answer is usable.
pub(super) fn usable(narrative: &Narrative, last: bool) -> bool {
    !narrative.narrative.trim().is_empty()
        && (last
            || narrative.rejected_decision.is_none() && !Offer::new(narrative).options.is_empty())
}

/// What an answer means at this point of a game.
pub(super) fn narration(
    game: &AdventureGame,
    number: u32,
    turn: u32,
    narrative: &Narrative,
    last: bool,
    default_actions: &[String],
) -> Narration {
    let story = narrative.narrative.trim();
    let offer = match (last, Offer::new(narrative)) {
        (true, _) => Offer::default(),
        (false, offer) if offer.options.is_empty() => Offer::default_of(default_actions),
        (false, offer) => offer,
    };
    let mut told = Narration {
        game: number,
        turn,
        story: if story.is_empty() { NOTHING } else { story }.to_owned(),
        location: narrative.location.clone().filter(|location| *location != game.location),
        gained: items(&narrative.acquired_items).cloned().collect(),
        lost: Vec::new(),
        not_there: Vec::new(),
        opponent: narrative.opponent.clone(),
        offer,
        unusable: 0,
    };
    let mut left = game.inventory.clone();
    for item in &narrative.removed_items {
        match left.iter().position(|had| same(had, item)) {
            Some(place) => told.lost.push(left.remove(place)),
            None => told.not_there.extend(items([item]).cloned()),
        }
    }
    told
}

/// The names that denote something. Game masters write `REMOVED_ITEMS: nothing` where the document
/// says to leave the marker out.
fn items<'a>(named: impl IntoIterator<Item = &'a String>) -> impl Iterator<Item = &'a String> {
    const NOTHING_AT_ALL: [&str; 6] = ["nothing", "none", "no items", "n/a", "-", "empty"];
    named.into_iter().filter(|name| {
        let name = name.trim_end_matches('.');
        !NOTHING_AT_ALL.iter().any(|nothing| same(nothing, name))
    })
}

/// Whether two names denote the same thing: case and spaces do not count.
fn same(a: &str, b: &str) -> bool {
    let plain = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(a) == plain(b)
}
