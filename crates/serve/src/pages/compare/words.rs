//! How the prompts or the answers of a call differ between two runs, word by word.

use retold::compare::{CallDifference, CallPlace};
use retold::escaping::printable;
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::prompt::{Difference, Request, first_difference};
use retold::text_diff::{WordChange, word_diff};
use serde::Serialize;
use serde_json::Value;

/// Two texts, word by word.
#[derive(Serialize)]
pub(super) struct WordDifference {
    /// Which texts.
    of: String,
    pieces: Vec<WordPiece>,
}

#[derive(Serialize)]
struct WordPiece {
    /// `same`, `removed` or `added`.
    change: &'static str,
    text: String,
}

impl WordDifference {
    fn new(of: String, before: &str, after: &str) -> Option<Self> {
        let piece = |(change, text): (WordChange, String)| WordPiece {
            change: match change {
                WordChange::Same => "same",
                WordChange::Removed => "removed",
                WordChange::Added => "added",
            },
            text,
        };
        let pieces: Vec<WordPiece> = word_diff(before, after).into_iter().map(piece).collect();
        (!pieces.is_empty()).then_some(WordDifference { of, pieces })
    }

    /// The first difference of two requests.
    fn of_prompts(before: &Request, after: &Request) -> Option<Self> {
        match first_difference(before, after)? {
            Difference::Message { index, before, after } => {
                let of = format!("message {} ({})", index + 1, printable(&after.0, 40));
                let with_role = |(role, text): (String, String), is_same: bool| match is_same {
                    true => text,
                    false => format!("{role}: {text}"),
                };
                let is_same = before.0 == after.0;
                WordDifference::new(of, &with_role(before, is_same), &with_role(after, is_same))
            }
            Difference::Length { before, after, next: (role, text) } => {
                let of = format!(
                    "message {} ({}), which only one of the prompts has",
                    before.min(after) + 1,
                    printable(&role, 40)
                );
                match before < after {
                    true => WordDifference::new(of, "", &text),
                    false => WordDifference::new(of, &text, ""),
                }
            }
            Difference::Field { name, before, after } => {
                let text = |value: Option<Value>| value.map_or_else(String::new, |v| v.to_string());
                WordDifference::new(printable(&name, 60), &text(before), &text(after))
            }
            _ => None,
        }
    }
}

/// How the prompts of a call differ, or its answers.
pub(super) fn words(
    reader: &mut dyn Reader,
    runs: [RunId; 2],
    what: Option<CallDifference>,
    places: [Option<CallPlace>; 2],
) -> Result<Option<WordDifference>, LogError> {
    let [Some(one), Some(other)] = places else { return Ok(None) };
    match what {
        Some(CallDifference::Prompt) => {
            let (before, after) = (reader.request(one.prompt)?, reader.request(other.prompt)?);
            let both = before.zip(after);
            Ok(both.and_then(|(before, after)| WordDifference::of_prompts(&before, &after)))
        }
        Some(CallDifference::Answer) => {
            let (before, after) = (answer(reader, runs[0], one)?, answer(reader, runs[1], other)?);
            let both = before.zip(after);
            Ok(both.and_then(|(a, b)| WordDifference::new("the answer".to_owned(), &a, &b)))
        }
        _ => Ok(None),
    }
}

/// The text of an answer.
fn answer(
    reader: &mut dyn Reader,
    run: RunId,
    place: CallPlace,
) -> Result<Option<String>, LogError> {
    let Some(seq) = place.end else { return Ok(None) };
    let found = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
    Ok(found.and_then(|stored| Some(stored.content?.text().to_owned())))
}
