//! A batch, and what happens to it as time passes.

use serde_json::Value;

use super::answers::Refusal;
use super::fates::Fate;
use super::routes::Api;

/// How far a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Validating,
    Running,
    Finalizing,
    Cancelling,
    Completed,
    Failed,
    Expired,
    Cancelled,
}

/// What became of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Waiting,
    Answered(Value),
    Refused(Refusal),
    Expired,
    Cancelled,
}

/// A question in a batch.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) custom_id: String,
    pub(super) body: Value,
    pub(super) outcome: Outcome,
}

impl Line {
    pub(super) fn new(custom_id: &str, body: Value) -> Self {
        Line { custom_id: custom_id.to_owned(), body, outcome: Outcome::Waiting }
    }
}

/// Something that is wrong with the input.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) param: Option<&'static str>,
    /// From 1.
    pub(super) line: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) id: String,
    pub(super) api: Api,
    /// The key that created it, which alone can see it.
    pub(super) owner: String,
    /// The path of the live API, without `/v1/`.
    pub(super) endpoint: String,
    /// What the API repeats of the request that created it.
    pub(super) about: Value,
    pub(super) problems: Vec<Problem>,
    pub(super) lines: Vec<Line>,
    pub(super) stage: Stage,
    /// When each stage began, in order.
    pub(super) stages: Vec<(Stage, i64)>,
    pub(super) expires: Option<i64>,
    pub(super) fate: Fate,
    /// The files of answers and of errors, once there are any.
    pub(super) results: [Option<String>; 2],
}

impl Batch {
    pub(super) fn created(&self) -> i64 {
        self.stages[0].1
    }

    /// When a stage began, if it did.
    pub(super) fn since(&self, stage: Stage) -> Option<i64> {
        self.stages.iter().find(|(other, _)| *other == stage).map(|(_, at)| *at)
    }

    pub(super) fn enter(&mut self, stage: Stage, at: i64) {
        self.stage = stage;
        self.stages.push((stage, at));
    }

    pub(super) fn ended(&self) -> Option<i64> {
        let has_ended = matches!(
            self.stage,
            Stage::Completed | Stage::Failed | Stage::Expired | Stage::Cancelled
        );
        has_ended.then(|| self.stages.last().map(|(_, at)| *at))?
    }

    pub(super) fn count(&self, is_it: impl Fn(&Outcome) -> bool) -> usize {
        self.lines.iter().filter(|line| is_it(&line.outcome)).count()
    }

    /// The places of its lines in an order of its own: they are answered, and written to files, in this order.
    pub(super) fn order(&self, seed: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        order.sort_by_cached_key(|place| {
            *blake3::hash(format!("{seed} {} {place}", self.id).as_bytes()).as_bytes()
        });
        order
    }
}
