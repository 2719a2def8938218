//! What tables need of each question of a run, in memory: some 80 bytes each.

use std::collections::BTreeMap;

use retold::id::{Sample, Seq, Time};
use retold::model::Usage;

use crate::decision_columns::DecisionColumns;
use crate::question_news::{AnswerNews, QuestionNews};
use crate::texts::{NONE, Texts};

/// By call and sample: the place of the question, and the kind of call.
pub(crate) type QuestionPlaces = BTreeMap<(String, Sample), (usize, u32)>;

/// What has come of a question so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QuestionStatus {
    /// Nothing yet.
    Unanswered,
    Answered,
    /// Its last attempt failed.
    Failed,
}

impl QuestionStatus {
    pub(crate) const ALL: [QuestionStatus; 3] =
        [QuestionStatus::Answered, QuestionStatus::Failed, QuestionStatus::Unanswered];

    /// Its name, the same as in `retold table`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            QuestionStatus::Unanswered => "unanswered",
            QuestionStatus::Answered => "answered",
            QuestionStatus::Failed => "failed",
        }
    }
}

/// A question with its outcome.
#[derive(Debug, Clone)]
pub(crate) struct QuestionRow {
    pub(crate) seq: u32,
    pub(crate) sample: u32,
    /// Texts: the call, its kind, the model that the request names, and the model that answered.
    pub(crate) call: u32,
    pub(crate) asked_for: u32,
    pub(crate) model: u32,
    pub(crate) reported: u32,
    pub(crate) status: QuestionStatus,
    /// Attempts that failed.
    pub(crate) failed: u32,
    pub(crate) asked_at: Time,
    /// When its answer came, or when it failed: milliseconds after it was asked, or [`NONE`].
    lasted_ms: u32,
    /// Tokens as the provider counted them, each [`NONE`] if it did not: of the request, of these in its cache, of the
    /// answer.
    tokens: [u32; 3],
    latency_ms: u32,
    pub(crate) is_reused: bool,
    /// The event of its answer, or [`NONE`].
    answer: u32,
    /// The cost of its answer in US dollars, if that is known.
    pub(crate) cost: Option<f64>,
    /// Whether the answer is a vector, whose decision says nothing.
    is_vector: bool,
}

/// The cost of a run, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
struct RunCost {
    dollars: f64,
    /// Answers whose cost is known, and those whose cost is not.
    known: u64,
    unknown: u64,
}

/// The questions of a run with their outcomes.
#[derive(Debug, Default)]
pub(crate) struct QuestionColumns {
    rows: Vec<QuestionRow>,
    /// By the name of a label: its value for each question, up to the last that has one.
    labels: BTreeMap<u32, Vec<u32>>,
    cost: RunCost,
    /// The decisions that the run itself recorded.
    pub(crate) decisions: DecisionColumns,
}

impl QuestionRow {
    fn ends(&mut self, time: Time) {
        let lasted = (time.0 - self.asked_at.0).max(0);
        self.lasted_ms = u32::try_from(lasted).unwrap_or(NONE - 1);
    }

    /// When its answer came, or when it failed.
    pub(crate) fn ended_at(&self) -> Option<Time> {
        (self.lasted_ms != NONE).then(|| Time(self.asked_at.0 + i64::from(self.lasted_ms)))
    }

    /// The event of its answer.
    pub(crate) fn answer(&self) -> Option<Seq> {
        (self.answer != NONE).then(|| Seq(self.answer.into()))
    }

    /// The latency of its answer in milliseconds, if it was recorded.
    pub(crate) fn latency_ms(&self) -> Option<u32> {
        Some(self.latency_ms).filter(|ms| *ms > 0)
    }

    /// The tokens that the provider counted. A reused answer cost nothing again.
    pub(crate) fn usage(&self) -> Usage {
        let [prompt_tokens, cached_tokens, completion_tokens] =
            self.tokens.map(|n| (n != NONE).then(|| n.into()));
        Usage { prompt_tokens, cached_tokens, completion_tokens, ..Usage::default() }
    }
}

impl QuestionColumns {
    /// Adds what an event says about the question with a seq.
    pub(crate) fn add(
        &mut self,
        seq: u32,
        question: u32,
        time: Time,
        news: QuestionNews,
        texts: &mut Texts,
    ) {
        if let QuestionNews::Asked { call, sample, asked_for, labels, model } = news {
            let at = self.rows.len();
            for (name, value) in &labels {
                let values = self.labels.entry(texts.number(name)).or_default();
                values.resize(at, NONE);
                values.push(texts.number(value));
            }
            let model = model.map_or(NONE, |model| texts.number(&model));
            self.rows.push(QuestionRow {
                seq,
                sample,
                call: texts.number(&call),
                asked_for: texts.number(&asked_for),
                model,
                reported: NONE,
                status: QuestionStatus::Unanswered,
                failed: 0,
                asked_at: time,
                lasted_ms: NONE,
                tokens: [NONE; 3],
                latency_ms: 0,
                is_reused: false,
                answer: NONE,
                cost: None,
                is_vector: false,
            });
            return;
        }
        let Some(at) = self.find(question) else { return };
        let Some(row) = self.rows.get_mut(at) else { return };
        match news {
            QuestionNews::Answered(AnswerNews { model, usage, cost, latency_ms, is_vector }) => {
                row.reported = model.map_or(NONE, |model| texts.number(&model));
                row.status = QuestionStatus::Answered;
                row.ends(time);
                row.answer = seq;
                row.is_reused = usage.is_none();
                row.is_vector = is_vector;
                row.latency_ms = u32::try_from(latency_ms).unwrap_or(NONE);
                row.cost = cost;
                if let Some(usage) = usage {
                    match cost {
                        Some(cost) => {
                            self.cost.dollars += cost;
                            self.cost.known += 1;
                        }
                        None => self.cost.unknown += 1,
                    }
                    let counted =
                        [usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens];
                    row.tokens =
                        counted.map(|n| n.and_then(|n| u32::try_from(n).ok()).unwrap_or(NONE));
                }
            }
            QuestionNews::Failed => {
                row.failed += 1;
                // It may still be asked again, and answered.
                row.status = QuestionStatus::Failed;
                row.ends(time);
            }
            QuestionNews::Decided(decided) if !row.is_vector => {
                let asked_for = row.asked_for;
                self.decisions.add(at, asked_for, &decided, Some(Seq(seq.into())));
                self.decisions.add_rater(&decided.name, decided.by);
            }
            QuestionNews::Asked { .. } | QuestionNews::Decided(_) => {}
        }
    }

    /// The place of the question with a seq.
    pub(crate) fn find(&self, seq: u32) -> Option<usize> {
        self.rows.binary_search_by_key(&seq, |row| row.seq).ok()
    }

    /// All questions, in the order in which they were asked.
    pub(crate) fn rows(&self) -> &[QuestionRow] {
        &self.rows
    }

    /// The value of a label for a question: the texts of the name and of the value.
    pub(crate) fn label(&self, name: u32, at: u32) -> Option<u32> {
        let value = self.labels.get(&name)?.get(usize::try_from(at).ok()?).copied();
        value.filter(|value| *value != NONE)
    }

    /// The values of a label, question by question, up to the last that has one.
    pub(crate) fn labels_of(&self, name: u32) -> &[u32] {
        self.labels.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The cost of the answers that were asked for, not reused, as far as it is known, and true if it is known for all of them.
    pub(crate) fn cost(&self) -> (Option<f64>, bool) {
        let RunCost { dollars, known, unknown } = self.cost;
        ((known > 0).then_some(dollars), unknown == 0)
    }

    /// Questions whose last attempt failed.
    pub(crate) fn failures(&self) -> u64 {
        let failed = self.rows.iter().filter(|row| row.status == QuestionStatus::Failed);
        failed.count() as u64
    }

    /// The names of labels.
    pub(crate) fn label_names(&self) -> impl Iterator<Item = u32> + '_ {
        self.labels.keys().copied()
    }
}
