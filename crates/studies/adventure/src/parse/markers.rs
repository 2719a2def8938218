//! The markers in a game master's answer, and the story without them.
//!
//! What counts as a marker:
//!
//! - One of the document's names in capitals and a colon, on a line of its own or in the middle of
//!   one; also in bold, in quotes, in brackets, in a code fence, as a heading or as an entry of a
//!   list. `Location:` and `LOCATION -` are prose, because the document does not write markers in
//!   this way.
//! - Within speech, it is not a marker: in a quotation that begins with other words and ends on the
//!   same line. A quotation that begins with the marker, or is not closed, does not hide it. Single
//!   quotes are apostrophes.
//!
//! The value of a marker:
//!
//! - A list in brackets is JSON, or items separated by commas or bars; a quote that is not closed
//!   ends with its line, unless the list continues on the next one. JSON may also be an object
//!   whose keys are the items, or contain places or opponents, several of which are combined (`Sal
//!   and Joe`). Actions may have types after their quotes (`"Draw" (combat)`). Without brackets, it
//!   extends to the end of the line or to the next marker, or it consists of the entries (`- Rope`)
//!   below, or of the line below if that has commas and nothing follows it directly. Commas in
//!   parentheses or in quotes are part of an item.
//! - A place or an opponent extends to the end of the line or to the next marker. It may also be
//!   alone on the line below the marker.
//! - In prose, that is, after other words or before another sentence on the line, a value ends with
//!   its sentence, at a full stop that does not belong to an abbreviation. A name ends before the
//!   sentence continues (see [`super::words::name`]), a list before somebody does something (`Rope
//!   and you go`). Text with a pronoun or a verb such as `is`, or that continues a sentence in
//!   lower case, is not a list: it remains in the story unchanged. A warning says so, unless the
//!   marker is empty in the middle of a sentence (`Joe ACQUIRED_ITEMS: ducks.`).
//! - `and` separates items in prose, because prose does not list things without it. A list on a
//!   line of its own has commas, as in the document: `Salt and Pepper shaker` is one item, and
//!   `and` only counts in the last of several. In brackets, it only counts before the last (`, and
//!   Rope`).
//!
//! The story is everything else. Text in lower case after a marker continues the sentence before
//! it. A name that its sentence needs also remains in the story: after a preposition (`You ride to
//! LOCATION: Boot Hill.`, also in brackets) or a verb (`You face COMBAT: Sal!`), and before its
//! verb (`LOCATION: Boot Hill looms ahead.`).

use super::bounds::skip_closers;
use super::model::Narrative;
use super::scan::{Mark, Marker, scan};
use super::story::Story;
use super::values::{Region, ValueReader};

/// How many times a text is searched.
const PASSES: usize = 4;

/// Moves the markers from a text into the narrative, whose story is the rest.
pub(super) fn take(text: &str, narrative: &mut Narrative, warnings: &mut Vec<String>) {
    pass(text, scan(text), narrative, warnings);
    // The texts before and after a removed marker can form another marker, if one of the
    // surrounding quotes also surrounded the removed one.
    for _ in 1..PASSES {
        let marks = scan(&narrative.narrative);
        if marks.is_empty() {
            break;
        }
        let story = std::mem::take(&mut narrative.narrative);
        pass(&story, marks, narrative, warnings);
    }
}

/// Removes these markers from a text.
fn pass(text: &str, marks: Vec<Mark>, narrative: &mut Narrative, warnings: &mut Vec<String>) {
    let mut story = Story::default();
    let mut reader = ValueReader { text, narrative, warnings };
    let mut seen: Vec<Marker> = Vec::new();
    let mut at = 0;
    // No value extends beyond the next marker; one in JSON, which contains texts of its own,
    // extends at most to the next marker at the beginning of a line. No part of the text is
    // searched more often than that.
    let mut heads = marks.iter().filter(|mark| mark.heads_line).map(|mark| mark.start).peekable();
    for (number, mark) in marks.iter().enumerate() {
        if mark.start < at {
            continue;
        }
        let between = text.get(at..mark.start).unwrap_or("");
        let is_separator = number > 0 && between.chars().all(|c| " \t|,;-–—•".contains(c));
        let before = story.push(if is_separator { "" } else { between });
        if !seen.contains(&mark.marker) {
            seen.push(mark.marker);
        } else if matches!(mark.marker, Marker::Location | Marker::Combat) {
            reader.warnings.push("a marker stands twice: the last one counts".to_owned());
        }
        while heads.next_if(|start| *start <= mark.start).is_some() {}
        let limit = marks.get(number + 1).map_or(text.len(), |next| next.start);
        let region = Region { limit, json: heads.peek().copied().unwrap_or(text.len()), before };
        let taken = reader.value(mark, &region);
        story.mark_removal(taken.sentence_continues || !mark.closers.is_empty());
        if let Some(kept) = &taken.kept {
            story.push(kept);
        }
        at = skip_closers(text, taken.end.max(mark.value), &mark.closers);
    }
    story.push(text.get(at..).unwrap_or(""));
    reader.narrative.narrative = story.finish(!marks.is_empty());
}

/// Whether there are any markers.
pub(super) fn any(text: &str) -> bool {
    !scan(text).is_empty()
}
