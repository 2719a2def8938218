//! What the calls of a program asked and got: their names are made of hashes, and say nothing to people.

use std::collections::BTreeMap;

use retold::content::Content;
use retold::escaping::excerpt;
use retold::event::Event;
use retold::id::Seq;
use serde::Serialize;

use super::super::RunPageRequest;
use crate::event_columns::EventColumns;
use crate::table::TableRow;

/// How much of a question, and of an answer, is shown, in characters.
const ASKED: usize = 160;
const ANSWER: usize = 120;

/// The words of a call.
#[derive(Debug, Serialize)]
pub(super) struct CallWords {
    /// The last message of its question.
    asked: String,
    /// Its answer, if it has one.
    answer: Option<String>,
}

impl RunPageRequest<'_> {
    /// The words of the calls in these rows, by the seq of their questions; none for the calls of a study, which it has named. What
    /// cannot be read is named where it is opened.
    pub(super) fn call_words(
        &mut self,
        roll: &EventColumns,
        rows: &[TableRow],
    ) -> BTreeMap<u64, CallWords> {
        if self.info.kind == "study" {
            return BTreeMap::new();
        }
        let calls = rows.iter().filter(|row| row.value.is_none());
        calls.filter_map(|row| Some((row.seq, self.words_of(roll, Seq(row.seq))?))).collect()
    }

    fn words_of(&mut self, roll: &EventColumns, question: Seq) -> Option<CallWords> {
        let Ok(Event::RequestSent(sent)) = self.event(question).ok()?.event() else { return None };
        let messages = self.reader.request(sent.prompt).ok()??.messages();
        let (_, asked) = messages.into_iter().last()?;
        let place = u32::try_from(question.0).ok()?;
        let answer =
            roll.questions.find(place).and_then(|at| roll.questions.rows().get(at)?.answer());
        let answer = answer.and_then(|seq| match self.event(seq).ok()?.content? {
            Content::Text(text) => Some(excerpt(&text, ANSWER)),
            Content::Vector(_) => None,
        });
        Some(CallWords { asked: excerpt(&asked, ASKED), answer })
    }
}
