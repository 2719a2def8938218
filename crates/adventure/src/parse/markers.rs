//! The markers in a game master's answer, and the story without them.
//!
//! What a marker is:
//!
//! - One of the document's names in capitals and a colon, on a line of its own or in the middle of
//!   one; also in bold, in quotes, in brackets, in a code fence, as a heading or as an entry of a
//!   list. `Location:` and `LOCATION -` are prose, as the document writes no marker so.
//! - In the middle of what somebody says it is speech: in a quotation that starts with other words
//!   and ends on the same line. A quotation that starts with the marker, or is left open, hides
//!   none. Single quotes are apostrophes.
//!
//! What its value is:
//!
//! - A list in brackets is JSON, or items with commas or bars between; a quote that is left open ends with
//!   its line, if none of the list's follows. JSON may also be an object whose keys are the items, and
//!   hold places or opponents, of whom several make one (`Sal and Joe`). Actions may have types behind
//!   their quotes (`"Draw" (combat)`). Without brackets it goes to the end
//!   of the line or to the next marker, or it is the entries (`- Rope`) below, or the line below if that
//!   has commas and nothing follows it at once. Commas in parentheses or in quotes are part of an item.
//! - A place or an opponent goes to the end of the line or to the next marker. It, too, may stand alone
//!   on the line below the marker.
//! - In prose, which is behind other words or in front of another sentence on the line, a value ends
//!   with its sentence, at a stop that belongs to no abbreviation. A name there ends before the
//!   sentence goes on (see [`super::words::name`]), a list before somebody does something (`Rope and you
//!   go`). What has a pronoun or a verb such as `is`, or continues a sentence in lower case, is no
//!   list: it stays in the story as it stands. A warning says so, unless the marker is empty in the
//!   middle of a sentence (`Joe ACQUIRED_ITEMS: ducks.`).
//! - `and` stands between items in prose, as no prose lists things without. A list on a line of its
//!   own has commas, as in the document: `Salt and Pepper shaker` is one item, and `and` counts only
//!   in the last of several. In brackets it counts only in front of the last (`, and Rope`).
//!
//! What the story is: all the rest. What goes on behind a marker in lower case continues the sentence
//! before it. A name that its sentence cannot do without stays in the story, too: behind a
//! preposition (`You ride to LOCATION: Boot Hill.`, also in brackets) or a verb (`You face COMBAT: Sal!`), and in front of its verb
//! (`LOCATION: Boot Hill looms ahead.`).

use super::Rules;
use super::bounds::closed;
use super::model::Narrative;
use super::scan::{Mark, Marker, scan};
use super::story::Story;
use super::values::{Reader, Region};

/// How often a text is gone through.
const PASSES: usize = 4;

/// Takes the markers out of a text into the narrative, whose story is what remains.
pub(super) fn take(
    text: &str,
    narrative: &mut Narrative,
    warnings: &mut Vec<String>,
    rules: Rules,
) {
    pass(text, scan(text), narrative, warnings, rules);
    // What stood on both sides of a marker can read as another, if one of the quotes around that
    // stood around the marker, too.
    for _ in 1..PASSES {
        let marks = scan(&narrative.narrative);
        if marks.is_empty() {
            break;
        }
        let story = std::mem::take(&mut narrative.narrative);
        pass(&story, marks, narrative, warnings, rules);
    }
}

/// Takes these markers out of a text.
fn pass(
    text: &str,
    marks: Vec<Mark>,
    narrative: &mut Narrative,
    warnings: &mut Vec<String>,
    rules: Rules,
) {
    let mut story = Story::by(rules);
    let mut reader = Reader { rules, text, narrative, warnings };
    let mut seen: Vec<Marker> = Vec::new();
    let mut at = 0;
    // No value reaches beyond the next marker; one in JSON, which holds texts of its own, reaches at
    // most to the next that heads a line. No piece of the text is looked at for more than that.
    let mut heads = marks.iter().filter(|mark| mark.heads_line).map(|mark| mark.start).peekable();
    for (number, mark) in marks.iter().enumerate() {
        if mark.start < at {
            continue;
        }
        let between = text.get(at..mark.start).unwrap_or_default();
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
        story.taken(taken.goes_on || !mark.closers.is_empty());
        if let Some(kept) = &taken.kept {
            story.push(kept);
        }
        at = closed(text, taken.end.max(mark.value), &mark.closers);
    }
    story.push(text.get(at..).unwrap_or_default());
    reader.narrative.narrative = story.finish(!marks.is_empty());
}

/// Whether there is any marker.
pub(super) fn any(text: &str) -> bool {
    !scan(text).is_empty()
}
