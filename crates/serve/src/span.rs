//! The part of an answer that a decision was made from.
//!
//! No parser reports it, and parsers of earlier versions never will. But parsers are pure and total,
//! so it can be found by asking them: the shortest piece that was found from which the same parser
//! makes the same decision by the same method, and no longer does if the piece is trimmed at either
//! end. This holds for any parser and any version, including those in files.

use std::ops::Range;

use retold::parse::{AnyParser, WholeAnswer};
use serde_json::Value;

use retold::char_boundary::{ceil, floor};

/// The longest answer that is tried out.
const LONGEST: usize = 64 << 10;

/// The most that is parsed in all, in bytes: a bound on the time, since parsers are linear.
const MOST_BYTES: usize = 4 << 20;

/// The part of an answer that a decision was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DecisionSpan {
    /// This part of the text.
    Span(Range<usize>),
    /// Nothing in the text: an empty one leads to the same decision.
    Nothing,
    /// Unknown: today's parser decides otherwise, or the answer is too long to try out.
    Unknown,
}

/// Finds the part of an answer that a decision was made from.
pub(crate) fn decision_span(
    parser: &dyn AnyParser,
    answer: WholeAnswer<'_>,
    method: &str,
    value: &Value,
) -> DecisionSpan {
    let text = answer.text;
    if text.len() > LONGEST {
        return DecisionSpan::Unknown;
    }
    let mut left = MOST_BYTES;
    let mut same = |range: Range<usize>| {
        let Some(rest) = left.checked_sub(range.len() + 256) else { return false };
        left = rest;
        let (parsed, _) = parser.parse_whole_any(WholeAnswer { text: &text[range], ..answer });
        parsed.method == method && parsed.value == *value
    };
    if !same(0..text.len()) {
        return DecisionSpan::Unknown;
    }
    if same(0..0) {
        return DecisionSpan::Nothing;
    }
    // Trims the beginning first: a parser often takes the last of several matches.
    let mut span = 0..text.len();
    for _ in 0..2 {
        let before = span.clone();
        span.start = trim(text, &span, |at| at..before.end, true, &mut same);
        span.end = trim(text, &span, |at| span.start..at, false, &mut same);
        if span == before {
            break;
        }
    }
    DecisionSpan::Span(span)
}

/// Moves one end of a span inwards as far as the decision stays the same: in steps that are halved
/// whenever one goes too far.
fn trim(
    text: &str,
    span: &Range<usize>,
    to: impl Fn(usize) -> Range<usize>,
    is_start: bool,
    same: &mut impl FnMut(Range<usize>) -> bool,
) -> usize {
    let mut at = if is_start { span.start } else { span.end };
    let mut step = (span.len() / 2).max(1);
    loop {
        let next = if is_start {
            ceil(text, at.saturating_add(step).min(span.end))
        } else {
            floor(text, at.saturating_sub(step).max(span.start))
        };
        if next != at && same(to(next)) {
            at = next;
        } else if step == 1 {
            return at;
        } else {
            step /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use retold::parse::{FoundValue, LastResort, Strategy, StrategyParser};

    use super::*;

    const WAYS: &[Strategy<(), u32>] = &[
        Strategy {
            method: "tag",
            find: |text, ()| {
                let inside = text.split_once("<n>")?.1.split_once("</n>")?.0;
                Some(FoundValue::plain(inside.trim().parse().ok()?))
            },
        },
        Strategy {
            method: "last_word",
            find: |text, ()| Some(FoundValue::plain(text.split_whitespace().last()?.parse().ok()?)),
        },
    ];
    const NOTHING: LastResort<(), u32> = ("default", |_, ()| FoundValue::plain(0));

    fn piece(text: &str) -> Option<String> {
        let parser = StrategyParser::new("n", 1, (), WAYS, NOTHING, None).unwrap();
        let answer = WholeAnswer::text(text);
        let (parsed, _) = parser.parse_whole_any(answer);
        match decision_span(&parser, answer, parsed.method, &parsed.value) {
            DecisionSpan::Span(span) => Some(text[span].to_owned()),
            DecisionSpan::Nothing => None,
            DecisionSpan::Unknown => panic!("it is what the parser decides"),
        }
    }

    #[test]
    fn the_piece_is_what_the_parser_needs() {
        assert_eq!(piece("Well, 4 of us: <n> 12 </n>. Or 7?").unwrap(), "<n> 12 </n>");
        assert_eq!(piece("ä ö ü\nI give 7").unwrap(), "7");
        assert_eq!(piece("nothing here"), None);
        assert_eq!(piece(""), None);
    }

    #[test]
    fn another_decision_was_not_made_from_the_text() {
        let parser = StrategyParser::new("n", 1, (), WAYS, NOTHING, None).unwrap();
        let taken = decision_span(&parser, WholeAnswer::text("7"), "last_word", &Value::from(8));
        assert_eq!(taken, DecisionSpan::Unknown);
    }

    proptest::proptest! {
        /// Whatever the text: the piece alone leads to the same decision.
        #[test]
        fn the_piece_alone_is_enough(text in "[<>n/ 0-9aä]{0,60}") {
            let parser = StrategyParser::new("n", 1, (), WAYS, NOTHING, None).unwrap();
            let (whole, _) = parser.parse_any(&text);
            match decision_span(&parser, WholeAnswer::text(&text), whole.method, &whole.value) {
                DecisionSpan::Span(span) => {
                    let (again, _) = parser.parse_any(&text[span]);
                    proptest::prop_assert_eq!(again, whole);
                }
                DecisionSpan::Nothing => proptest::prop_assert_eq!(parser.parse_any("").0, whole),
                DecisionSpan::Unknown => proptest::prop_assert!(false),
            }
        }
    }
}
