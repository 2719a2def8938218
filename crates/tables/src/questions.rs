//! Which question an event belongs to.

use std::collections::BTreeMap;
use std::sync::Arc;

use retold::event::{Event, Labels, RequestSent};
use retold::id::{CallPath, PromptHash, RunId, Sample, Seq};
use retold::log::{LogError, Reader};

use crate::column::Cell;
use crate::labels::LabelColumns;

/// How many questions, and how many answers, are remembered. What is further back is read again.
const REMEMBERED: usize = 8192;

/// A question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) seq: Seq,
    pub(crate) call: CallPath,
    pub(crate) sample: Sample,
    pub(crate) prompt: PromptHash,
    pub(crate) labels: Labels,
}

impl Question {
    pub(crate) fn new(seq: Seq, sent: RequestSent) -> Self {
        let RequestSent { call, sample, prompt, because: _, labels } = sent;
        Question { seq, call, sample, prompt, labels }
    }

    /// Its call, sample and labels in a row.
    pub(crate) fn cells<'a>(&'a self, labels: &'a LabelColumns) -> impl Iterator<Item = Cell<'a>> {
        let named = [self.call.as_str().into(), Cell::count(u64::from(self.sample))];
        named.into_iter().chain(labels.cells(&self.labels))
    }
}

/// The questions of a run, and which answer belongs to which.
#[derive(Default)]
pub(crate) struct Questions {
    questions: BTreeMap<Seq, Arc<Question>>,
    answers: BTreeMap<Seq, Seq>,
}

impl Questions {
    pub(crate) fn add(&mut self, question: &Arc<Question>) {
        remember(&mut self.questions, question.seq, question.clone());
    }

    /// Notes the question of an answer.
    pub(crate) fn answered(&mut self, answer: Seq, question: Seq) {
        remember(&mut self.answers, answer, question);
    }

    /// The question with this seq.
    pub(crate) fn at(
        &mut self,
        reader: &mut dyn Reader,
        run: RunId,
        seq: Seq,
    ) -> Result<Option<Arc<Question>>, LogError> {
        if let Some(question) = self.questions.get(&seq) {
            return Ok(Some(question.clone()));
        }
        let Some(Event::RequestSent(sent)) = event_at(reader, run, seq)? else { return Ok(None) };
        Ok(Some(Arc::new(Question::new(seq, sent))))
    }

    /// The question of the answer with this seq.
    pub(crate) fn of_answer(
        &mut self,
        reader: &mut dyn Reader,
        run: RunId,
        answer: Seq,
    ) -> Result<Option<Arc<Question>>, LogError> {
        let question = match self.answers.get(&answer) {
            Some(question) => Some(*question),
            None => match event_at(reader, run, answer)? {
                Some(Event::ResponseReceived(received)) => Some(received.request),
                Some(Event::AnswerReused(reused)) => Some(reused.request),
                _ => None,
            },
        };
        question.map_or(Ok(None), |question| self.at(reader, run, question))
    }
}

/// Remembers the newest.
fn remember<T>(remembered: &mut BTreeMap<Seq, T>, seq: Seq, value: T) {
    remembered.insert(seq, value);
    if remembered.len() > REMEMBERED {
        remembered.pop_first();
    }
}

fn event_at(reader: &mut dyn Reader, run: RunId, seq: Seq) -> Result<Option<Event>, LogError> {
    let events = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?;
    let found = events.into_iter().find(|event| event.seq == seq);
    Ok(found.map(|event| event.event()).transpose()?)
}
