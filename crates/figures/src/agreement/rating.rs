//! An answer as its raters see it, for lists of disagreements.

use std::collections::BTreeMap;

use retold::event::{Event, Labels, RequestSent, StoredEvent};
use retold::id::Seq;
use retold::log::{EventFault, LogError, Reader};
use retold::model::other_choices;
use serde::Serialize;
use serde_json::{Map, Value};

use super::rated::{RatedAnswers, RatedPlace, RatingChoice};

/// An answer, and what its raters say about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerRatings {
    /// The seq of the answer.
    pub seq: Seq,
    /// The choice of the answer.
    pub choice: u32,
    /// Its call.
    pub call: String,
    /// Its sample.
    pub sample: u32,
    /// The labels of the call.
    pub labels: Labels,
    /// The values, by rater.
    pub values: BTreeMap<String, Value>,
    /// The text of the choice.
    pub text: String,
}

impl RatedAnswers {
    /// Reads an answer and its question again, since their texts are not kept.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read or is damaged.
    pub fn ratings(
        &self,
        reader: &mut dyn Reader,
        choice: &RatingChoice,
        (seq, at): RatedPlace,
    ) -> Result<AnswerRatings, LogError> {
        let missing = |fault| LogError::corrupt(self.run, seq, fault);
        let answer = self.event(reader, seq)?.ok_or_else(|| missing(EventFault::NoAnswer))?;
        let question = answer.cause.map(|cause| self.event(reader, cause)).transpose()?.flatten();
        let no_question = || missing(EventFault::NoQuestion);
        let question = question.ok_or_else(no_question)?.event().map_err(LogError::from)?;
        let Event::RequestSent(RequestSent { call, sample, labels, .. }) = question else {
            return Err(no_question());
        };
        let given = self.answers.get(&(seq, at)).into_iter().flat_map(|answer| choice.of(answer));
        let values = given.filter_map(|rating| {
            let value = self.values.get(rating.value?)?;
            Some((self.rater(rating.rater).to_owned(), value.clone()))
        });
        Ok(AnswerRatings {
            seq,
            choice: at,
            call: call.to_string(),
            sample,
            labels,
            values: values.collect(),
            text: choice_text(&answer, at)?,
        })
    }

    fn event(&self, reader: &mut dyn Reader, seq: Seq) -> Result<Option<StoredEvent>, LogError> {
        let found = reader.events(self.run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
        Ok(found.filter(|found| found.seq == seq))
    }
}

/// The text of a choice of an answer; empty if it has none.
fn choice_text(answer: &StoredEvent, choice: u32) -> Result<String, LogError> {
    let other = |extra: &Map<String, Value>| {
        let at = usize::try_from(choice).ok()?.checked_sub(1)?;
        Some(other_choices(extra).into_iter().nth(at)?.text)
    };
    Ok(match answer.event().map_err(LogError::from)? {
        Event::ResponseReceived(received) if choice == 0 => received.content.text().to_owned(),
        Event::AnswerReused(reused) if choice == 0 => reused.content.text().to_owned(),
        Event::ResponseReceived(received) => other(&received.details.extra).unwrap_or_default(),
        Event::AnswerReused(reused) => other(&reused.details.extra).unwrap_or_default(),
        _ => String::new(),
    })
}
