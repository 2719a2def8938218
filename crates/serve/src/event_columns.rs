//! What filters, counts and lists need of each event of a run, in memory: some 30 bytes an event.
//! It is made once, in the background, by reading the run with every hash checked, and continued
//! when the run has grown.

use std::collections::{BTreeMap, BTreeSet};

use retold::event::Event;
use retold::id::{EventHash, RunId, Seq, Time};
use retold::log::{AskedModels, EventFields, EventFilter, LogError, Reader, method_and_model};

use retold::run::AnswerCosts;
use retold_archive::Damage;

use crate::event_set::{EventSet, is_marked};
use crate::question_columns::{QuestionColumns, QuestionPlaces, QuestionRow, QuestionStatus};
use crate::question_news::{AnswerNews, QuestionNews};
use crate::texts::{NONE, Texts};

/// Events in one read.
const BATCH: usize = 2048;

/// An event, as filters and counts need it.
#[derive(Debug, Clone, Copy)]
struct EventRow {
    /// In [`EventColumns::texts`].
    kind: u32,
    time: Time,
    /// The call of a question, the method of a decision or the model of an answer.
    name: u32,
    /// For an answer: the model that the request names.
    asked: u32,
    /// The first cause; more are in [`EventColumns::more_causes`].
    cause: u32,
}

/// The events of a run, as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct EventColumns {
    rows: Vec<EventRow>,
    /// The further causes of facts that have several.
    more_causes: BTreeMap<u32, Vec<u32>>,
    texts: Texts,
    /// The first event that is not as it was written.
    pub(crate) damage: Option<Damage>,
    /// The hash of the last event.
    pub(crate) head: Option<EventHash>,
    /// How many events have each kind, method and model.
    pub(crate) counts: EventCounts,
    /// The numbers of calls, in the order in which they were first asked, with their questions.
    calls: BTreeMap<u32, Vec<u32>>,
    /// The questions with each label, by the numbers of its name and its value.
    labels: BTreeMap<(u32, u32), Vec<u32>>,
    /// What tables need of each question.
    pub(crate) questions: QuestionColumns,
    /// Whether its last event is the end of the run.
    pub(crate) is_finished: bool,
}

/// How many events there are of each kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventCounts {
    pub(crate) kinds: BTreeMap<String, u64>,
    pub(crate) methods: BTreeMap<String, u64>,
    /// Answers by model: the one that the request names, and the one that the server reported.
    pub(crate) models: BTreeMap<String, u64>,
    /// `None` if no answer says it.
    pub(crate) tokens_in: Option<u64>,
    pub(crate) tokens_out: Option<u64>,
}

/// An event for a roll.
struct ColumnEntry {
    kind: String,
    time: Time,
    name: Option<String>,
    /// For an answer: the model that the request names.
    asked: Option<String>,
    causes: Vec<u32>,
    /// Its news about a question.
    news: Option<QuestionNews>,
}

/// A batch of events for a roll.
pub(crate) struct ColumnBatch {
    rows: Vec<ColumnEntry>,
    damage: Option<Damage>,
    head: Option<EventHash>,
    is_last: bool,
}

impl EventColumns {
    /// The last event that was read.
    pub(crate) fn end(&self) -> Seq {
        Seq(self.rows.len() as u64)
    }

    /// The times of the first and the last event.
    pub(crate) fn times(&self) -> Option<(Time, Time)> {
        Some((self.rows.first()?.time, self.rows.last()?.time))
    }

    fn row(&self, seq: u64) -> Option<&EventRow> {
        self.rows.get(usize::try_from(seq.checked_sub(1)?).ok()?)
    }

    /// The kind of an event.
    pub(crate) fn kind(&self, seq: Seq) -> Option<&str> {
        self.texts.text(self.row(seq.0)?.kind)
    }

    fn causes(&self, seq: u64) -> impl Iterator<Item = u32> + '_ {
        let first = self.row(seq).map(|row| row.cause).filter(|cause| *cause != NONE);
        let more = u32::try_from(seq).ok().and_then(|seq| self.more_causes.get(&seq));
        first.into_iter().chain(more.into_iter().flatten().copied())
    }

    /// By call and sample: the place of the question, and the kind of call. A question that was asked again after a crash
    /// replaces the lost one.
    pub(crate) fn question_places(&self) -> QuestionPlaces {
        let rows = self.questions.rows().iter().enumerate();
        rows.map(|(at, row)| ((self.text(row.call).to_owned(), row.sample), (at, row.asked_for)))
            .collect()
    }

    /// A text of the columns; empty if there is none with the number.
    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.text(number).unwrap_or("")
    }

    /// The number of a text of the columns.
    pub(crate) fn text_number(&self, text: &str) -> Option<u32> {
        self.texts.find(text)
    }

    /// All calls that were asked, by their names, each with its questions.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&str, &[u32])> {
        self.calls.iter().filter_map(|(call, asked)| Some((self.texts.text(*call)?, &**asked)))
    }

    /// All labels, each with the questions that have it: name, value, questions.
    pub(crate) fn labels(&self) -> impl Iterator<Item = (&str, &str, &[u32])> {
        self.labels.iter().filter_map(|((name, value), asked)| {
            Some((self.texts.text(*name)?, self.texts.text(*value)?, &**asked))
        })
    }

    /// The questions with a label.
    pub(crate) fn with_label(&self, name: &str, value: &str) -> &[u32] {
        let number = |text| self.texts.find(text);
        let label = number(name).zip(number(value));
        label.and_then(|label| self.labels.get(&label)).map_or(&[], Vec::as_slice)
    }

    /// The events that a filter lists whatever its calls are, in order. `from` and `to` bound the seqs (`from` excluded,
    /// `to` included), and at most `most` are returned: the first, or the last if `from_end`. If
    /// `only` is given, no others are listed.
    pub(crate) fn list(
        &self,
        filter: &EventFilter,
        only: Option<&EventSet<'_>>,
        from: u64,
        to: u64,
        most: usize,
        from_end: bool,
    ) -> Vec<Seq> {
        let to = to.min(self.rows.len() as u64);
        let is_listed =
            |seq: &u64| self.row(*seq).is_some_and(|row| filter.lists(self.fields(row)));
        let all: Box<dyn DoubleEndedIterator<Item = u64> + '_> = match only {
            _ if from >= to => return Vec::new(),
            Some(only) => only.range(from + 1, to),
            None => Box::new(from + 1..=to),
        };
        let listed = all.filter(is_listed).map(Seq);
        if !from_end {
            return listed.take(most).collect();
        }
        let mut last: Vec<Seq> = listed.rev().take(most).collect();
        last.reverse();
        last
    }

    /// How many events a filter lists.
    pub(crate) fn count(&self, filter: &EventFilter, only: Option<&EventSet<'_>>) -> u64 {
        if only.is_some() {
            return self.list(filter, only, 0, u64::MAX, usize::MAX, false).len() as u64;
        }
        if !filter.is_on() {
            return self.rows.len() as u64;
        }
        self.rows.iter().filter(|row| filter.lists(self.fields(row))).count() as u64
    }

    /// The events that follow from some questions: answers, attempts, decisions, and the facts that
    /// those caused.
    pub(crate) fn following(&self, questions: &BTreeSet<Seq>) -> Vec<Seq> {
        let Some(first) = questions.first() else { return Vec::new() };
        let mut belongs: BTreeSet<u64> = questions.iter().map(|seq| seq.0).collect();
        let mut found = Vec::new();
        for seq in first.0 + 1..=self.rows.len() as u64 {
            if !belongs.contains(&seq)
                && self.causes(seq).any(|cause| belongs.contains(&cause.into()))
            {
                // What facts caused is another story.
                if self.kind(Seq(seq)) != Some("Occurred") {
                    belongs.insert(seq);
                }
                found.push(Seq(seq));
            }
        }
        found
    }

    /// For each event, whether it belongs to the questions of a filter of which this has come: questions, and what follows from them.
    pub(crate) fn belonging(
        &self,
        filter: &EventFilter,
        status: Option<QuestionStatus>,
    ) -> Vec<bool> {
        let number = |text: &str| self.texts.find(text).unwrap_or(NONE);
        let labels = filter.labels.iter().map(|(name, value)| (number(name), number(value)));
        let labels: Vec<(u32, u32)> = labels.collect();
        let is_chosen = |(at, question): &(u32, &QuestionRow)| {
            let has = |(name, value): &(u32, u32)| self.questions.label(*name, *at) == Some(*value);
            status.is_none_or(|status| question.status == status)
                && labels.iter().all(has)
                && (filter.call.is_none() || filter.is_call(self.text(question.call)))
        };
        let asked = (0..).zip(self.questions.rows()).filter(is_chosen);
        let mut belongs = vec![false; self.rows.len()];
        let mut first = None;
        for (_, question) in asked {
            first.get_or_insert(question.seq);
            if let Some(place) = belongs.get_mut(index(question.seq.into())) {
                *place = true;
            }
        }
        let Some(first) = first else { return belongs };
        let facts = self.texts.find("Occurred");
        for seq in u64::from(first) + 1..=self.rows.len() as u64 {
            let Some(row) = self.row(seq) else { break };
            // A cause comes before its consequence, unless the log is damaged.
            let is = |cause: u32| u64::from(cause) < seq && is_marked(&belongs, cause.into());
            let follows = row.cause != NONE
                && (is(row.cause) || Some(row.kind) == facts && self.causes(seq).any(is));
            if follows && let Some(place) = belongs.get_mut(index(seq)) {
                *place = true;
            }
        }
        belongs
    }

    fn fields(&self, row: &EventRow) -> EventFields<'_> {
        let kind = self.texts.text(row.kind).unwrap_or("");
        let name = self.texts.text(row.name);
        let (method, model) = match kind {
            "DecisionMade" => (name, None),
            "ResponseReceived" | "AnswerReused" => (None, name),
            _ => (None, None),
        };
        EventFields { kind, time: row.time, method, model, asked: self.texts.text(row.asked) }
    }

    /// Reads on, without changing anything, so that others can read the roll meanwhile. At damage, it ends.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read at all.
    pub(crate) fn next(
        reader: &mut dyn Reader,
        others: &mut dyn Reader,
        models: &mut AskedModels,
        costs: &mut AnswerCosts,
        run: RunId,
        after: Seq,
    ) -> Result<ColumnBatch, LogError> {
        let (events, damage) = match reader.events(run, after, BATCH) {
            Ok(events) => (events, None),
            Err(error) => (Vec::new(), Some(damage_of(error, after)?)),
        };
        let mut rows = Vec::with_capacity(events.len());
        let head = events.last().map(|event| event.hash);
        let is_last = events.last().is_some_and(|event| event.kind == "RunFinished");
        for stored in events {
            let read = stored.event().ok();
            // A question that cannot be read names no model; it is reported as damage.
            let asked = models.asked_by(others, &stored).ok().flatten();
            let name = match &read {
                Some(event) => {
                    let (method, model) = method_and_model(event);
                    let call = stored.call.as_ref().map(|call| call.as_str());
                    call.or(method).or(model).map(str::to_owned)
                }
                None => stored.call.as_ref().map(|call| call.as_str().to_owned()),
            };
            let cost = read.as_ref().map(|event| costs.of_event(others, &stored, event));
            let cost = cost.and_then(Result::ok).flatten();
            let news = match &read {
                Some(Event::RequestSent(sent)) => {
                    let model = models.of_prompt(others, sent.prompt).ok().flatten();
                    Some(QuestionNews::from_request(sent, model))
                }
                Some(event) => QuestionNews::of(event, cost),
                None => None,
            };
            let causes = match read {
                Some(Event::Occurred(fact)) => fact.causes,
                _ => stored.cause.into_iter().collect(),
            };
            let causes = causes.into_iter().filter_map(|cause| u32::try_from(cause.0).ok());
            let (kind, time, causes) = (stored.kind.into_owned(), stored.time, causes.collect());
            rows.push(ColumnEntry { kind, time, name, asked, causes, news });
        }
        Ok(ColumnBatch { rows, damage, head, is_last })
    }

    /// Adds a batch of events; returns true if it was empty, which is the end.
    pub(crate) fn add(&mut self, batch: ColumnBatch) -> bool {
        let ColumnBatch { rows, damage, head, is_last } = batch;
        let is_end = rows.is_empty();
        self.damage = self.damage.take().or(damage);
        self.head = head.or(self.head);
        self.is_finished = is_last || self.is_finished && is_end;
        for ColumnEntry { kind, time, name, asked, causes, news } in rows {
            *self.counts.kinds.entry(kind.clone()).or_default() += 1;
            let is_answer = matches!(&*kind, "ResponseReceived" | "AnswerReused");
            match &name {
                Some(method) if kind == "DecisionMade" => {
                    *self.counts.methods.entry(method.clone()).or_default() += 1;
                }
                _ if is_answer => {
                    // An answer is listed under either name of its model.
                    let other = asked.as_ref().filter(|asked| Some(*asked) != name.as_ref());
                    for model in name.iter().chain(other) {
                        *self.counts.models.entry(model.clone()).or_default() += 1;
                    }
                }
                _ => {}
            }
            if let Some(QuestionNews::Answered(AnswerNews { usage: Some(usage), .. })) = &news {
                let counts = &mut self.counts;
                for (sum, more) in [
                    (&mut counts.tokens_in, usage.prompt_tokens),
                    (&mut counts.tokens_out, usage.completion_tokens),
                ] {
                    *sum = more.map(|more| sum.unwrap_or(0).saturating_add(more)).or(*sum);
                }
            }
            let is_question = kind == "RequestSent";
            let kind = self.texts.number(&kind);
            let name = name.map_or(NONE, |name| self.texts.number(&name));
            let asked = asked.map_or(NONE, |asked| self.texts.number(&asked));
            let mut causes = causes.into_iter();
            let cause = causes.next().unwrap_or(NONE);
            self.rows.push(EventRow { kind, time, name, asked, cause });
            let Ok(seq) = u32::try_from(self.rows.len()) else { return true };
            let more: Vec<u32> = causes.collect();
            if !more.is_empty() {
                self.more_causes.insert(seq, more);
            }
            if is_question && name != NONE {
                self.calls.entry(name).or_default().push(seq);
            }
            let Some(news) = news else { continue };
            if let QuestionNews::Asked { labels, .. } = &news {
                for (name, value) in labels {
                    let label = (self.texts.number(name), self.texts.number(value));
                    self.labels.entry(label).or_default().push(seq);
                }
            }
            // A decision names an answer, which names its question.
            let question = match &news {
                QuestionNews::Asked { .. } => seq,
                QuestionNews::Decided(_) => self.row(cause.into()).map_or(NONE, |row| row.cause),
                _ => cause,
            };
            self.questions.add(seq, question, time, news, &mut self.texts);
        }
        is_end
    }
}

/// The damage that an error is about; other errors are returned.
fn damage_of(error: LogError, after: Seq) -> Result<Damage, LogError> {
    match error {
        LogError::Corrupt { seq, fault, .. } => Ok(Damage { seq, fault: *fault }),
        LogError::Damaged { fault, .. } => Ok(Damage { seq: after.next(), fault: *fault }),
        other => Err(other),
    }
}

fn index(seq: u64) -> usize {
    usize::try_from(seq.saturating_sub(1)).unwrap_or(usize::MAX)
}
