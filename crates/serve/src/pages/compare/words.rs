//! How the prompts or the answers of a call differ between two runs, word by word.

use retold::compare::{CallDifference, CallPlace};
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::prompt::first_difference;
use retold::text_diff::WordDifference;

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
            Ok(both.and_then(|(before, after)| first_difference(&before, &after)?.words()))
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
