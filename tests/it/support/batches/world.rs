//! The state of the fake, which outlives its clients, and its clock.

use std::collections::BTreeMap;
use std::time::SystemTime;

use retold::id::Time;
use serde_json::Value;

use super::answers::{Answer, Asked, Refusal};
use super::batch::{Batch, Outcome, Stage};
use super::counts::{Counts, question};
use super::fates::Fate;
use super::files::{File, Started};
use super::routes::{Api, Route};
use crate::support::server::Received;

const DAY: i64 = 86_400;

/// How long each stage takes, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) validating: i64,
    pub(crate) running: i64,
    pub(crate) finalizing: i64,
    pub(crate) cancelling: i64,
}

/// What a test can change.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// By how many seconds the clock advances at each GET.
    pub(crate) per_get: i64,
    pub(crate) pace: Pace,
    /// The order of results.
    pub(crate) seed: u64,
    /// For how many seconds after its end a batch names no results, and then for as long results that cannot be read.
    pub(crate) lag: i64,
    /// Names a file of errors that there is not by an empty text, not by `null`, as OpenAI's API does at times.
    pub(crate) empty_ids: bool,
    /// Cancelling has no effect, which Gemini's API does not promise.
    pub(crate) ignores_cancel: bool,
    /// The lines, the bytes and the bytes of a request with questions in it that an API takes: OpenAI, Anthropic, Gemini.
    pub(crate) max_lines: [usize; 3],
    pub(crate) max_bytes: [usize; 3],
    pub(crate) max_inline_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            per_get: 0,
            pace: Pace { validating: 60, running: 3600, finalizing: 60, cancelling: 300 },
            seed: 1,
            lag: 0,
            empty_ids: false,
            ignores_cancel: false,
            max_lines: [50_000, 100_000, usize::MAX],
            max_bytes: [200 << 20, 256 << 20, 2 << 30],
            max_inline_bytes: 20 << 20,
        }
    }
}

pub(super) struct World {
    pub(super) options: Options,
    pub(super) fates: BTreeMap<usize, Fate>,
    pub(super) files: Vec<File>,
    pub(super) started: Vec<Started>,
    pub(super) batches: Vec<Batch>,
    pub(super) now: i64,
    counts: Counts,
    answer: Answer,
    ids: u64,
}

impl World {
    pub(super) fn new(options: Options, answer: Answer) -> Self {
        World {
            options,
            fates: BTreeMap::new(),
            files: Vec::new(),
            started: Vec::new(),
            batches: Vec::new(),
            now: today(),
            counts: Counts::default(),
            answer,
            ids: 0,
        }
    }

    /// Counts a request, and brings everything to the time at which it arrives.
    pub(super) fn begin(&mut self, received: &Received, route: &Route) {
        *self.counts.requests.entry(route.kind).or_default() += 1;
        let passed = if received.method == "GET" { self.options.per_get } else { 0 };
        self.advance(passed);
    }

    pub(super) fn advance(&mut self, seconds: i64) {
        self.now += seconds;
        for number in 0..self.batches.len() {
            while self.step(number) {}
        }
    }

    /// A time as RFC 3339.
    pub(super) fn time(at: i64) -> String {
        Time(at * 1000).to_string()
    }

    pub(super) fn id(&mut self) -> String {
        self.ids += 1;
        blake3::hash(&self.ids.to_le_bytes()).to_hex()[..24].to_owned()
    }

    pub(super) fn create(&mut self, batch: Batch) -> &Batch {
        self.batches.push(batch);
        // Its first stage may take no time.
        self.advance(0);
        self.batches.last().unwrap()
    }

    /// The batch of this id, if its owner asks.
    pub(super) fn find(&self, api: Api, id: &str, owner: &str) -> Option<usize> {
        let is_it = |batch: &Batch| batch.api == api && batch.id == id && batch.owner == owner;
        self.batches.iter().position(is_it)
    }

    /// The batches of an owner, the newest first.
    pub(super) fn list(&self, api: Api, owner: &str) -> Vec<&Batch> {
        let is_theirs = |batch: &&Batch| batch.api == api && batch.owner == owner;
        self.batches.iter().rev().filter(is_theirs).collect()
    }

    /// Answers a question, and counts the answer.
    pub(super) fn ask(
        &mut self,
        api: Api,
        endpoint: &str,
        body: &Value,
        custom_id: Option<&str>,
    ) -> Result<Value, Refusal> {
        let body = &question(body);
        let key = format!("{endpoint} {}", serde_json_canonicalizer::to_string(body).unwrap());
        let sample = self.counts.paid.get(&key).copied().unwrap_or_default();
        let answer = (self.answer)(&Asked { api, endpoint, body, custom_id, sample })?;
        self.counts.pay(key, custom_id);
        Ok(answer)
    }

    /// Brings a batch to its next stage, if it is time; returns whether it was.
    fn step(&mut self, number: usize) -> bool {
        let fate = self.fates.get(&number).cloned().unwrap_or_default();
        let Pace { validating, running, finalizing, cancelling } = self.options.pace;
        let batch = &self.batches[number];
        let since = batch.stages.last().unwrap().1;
        let expires = batch.expires.unwrap_or(i64::MAX);
        let (stage, at) = match batch.stage {
            Stage::Validating if batch.problems.is_empty() && !fate.fails => {
                (Stage::Running, since + validating)
            }
            Stage::Validating => (Stage::Failed, since + validating),
            Stage::Running if fate.expires_after.is_some() || since + running > expires => {
                (Stage::Expired, expires)
            }
            Stage::Running => (Stage::Finalizing, since + running),
            Stage::Finalizing => (Stage::Completed, since + finalizing),
            Stage::Cancelling => (Stage::Cancelled, since + cancelling),
            _ => return false,
        };
        if at > self.now {
            return false;
        }
        match stage {
            Stage::Finalizing => self.answer_lines(number, usize::MAX, &Outcome::Expired),
            Stage::Expired => {
                let first = fate.expires_after.unwrap_or_default();
                // "The job will not have any results to retrieve."
                let first = if self.batches[number].api == Api::Gemini { 0 } else { first };
                self.answer_lines(number, first, &Outcome::Expired);
            }
            _ => {}
        }
        self.batches[number].fate = fate;
        self.batches[number].enter(stage, at);
        if self.batches[number].ended().is_some() {
            self.write_results(number);
        }
        true
    }

    /// Cancels a batch: what it has answered so far is kept and paid for.
    pub(super) fn cancel(&mut self, number: usize) {
        if self.options.ignores_cancel {
            return;
        }
        let (now, batch) = (self.now, &self.batches[number]);
        let running = batch.since(Stage::Running).map_or(0, |since| now - since);
        let share = running as f64 / self.options.pace.running.max(1) as f64;
        let first = (batch.lines.len() as f64 * share) as usize;
        if batch.stage != Stage::Finalizing {
            self.answer_lines(number, first, &Outcome::Cancelled);
        }
        self.batches[number].enter(Stage::Cancelling, now);
        self.advance(0);
    }

    /// Answers the first lines of a batch, in its own order; the others end as they do.
    fn answer_lines(&mut self, number: usize, first: usize, rest: &Outcome) {
        let errors = self.fates.get(&number).map(|fate| fate.errors.clone()).unwrap_or_default();
        let batch = &mut self.batches[number];
        let mut answered: Vec<usize> =
            batch.order(self.options.seed).into_iter().take(first).collect();
        // The n-th of equal questions gets the n-th answer.
        answered.sort_unstable();
        let (api, endpoint) = (batch.api, batch.endpoint.clone());
        let mut lines = std::mem::take(&mut batch.lines);
        for (place, line) in lines.iter_mut().enumerate() {
            let error = errors.iter().find(|(at, _)| *at == place);
            line.outcome = match error {
                _ if answered.binary_search(&place).is_err() => rest.clone(),
                Some((_, status)) => Outcome::Refused(Refusal::new(*status, "an error for a test")),
                None => {
                    let id = Some(line.custom_id.as_str()).filter(|id| !id.is_empty());
                    match self.ask(api, &endpoint, &line.body, id) {
                        Ok(answer) => Outcome::Answered(answer),
                        Err(refusal) => Outcome::Refused(refusal),
                    }
                }
            };
        }
        self.batches[number].lines = lines;
    }

    fn write_results(&mut self, number: usize) {
        match self.batches[number].api {
            Api::OpenAi => super::openai_lines::write(self, number),
            Api::Gemini => super::gemini_files::write(self, number),
            // Its results are at a URL of the batch.
            Api::Anthropic => {}
        }
    }

    /// Whether the results of a batch can be read now.
    pub(super) fn is_readable(&self, batch: &Batch) -> bool {
        let lag = self.options.lag;
        !batch.fate.gone && batch.ended().is_some_and(|at| self.now >= at + 2 * lag)
    }

    /// Whether a batch names its results now.
    pub(super) fn is_named(&self, batch: &Batch) -> bool {
        batch.ended().is_some_and(|at| self.now >= at + self.options.lag)
    }

    /// The counts so far.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.counts.clone();
        counts.batches = self.batches.len() as u64;
        counts.files = self.files.iter().filter(|file| file.is_uploaded).count() as u64;
        for (number, batch) in self.batches.iter().enumerate() {
            if batch.stage == Stage::Failed {
                continue;
            }
            for line in &batch.lines {
                counts.submitted.entry(line.custom_id.clone()).or_default().push(number);
            }
        }
        counts
    }

    /// A time so many days after another.
    pub(super) fn days(at: i64, days: i64) -> i64 {
        at + days * DAY
    }
}

/// Clients compare what the APIs say of times with their own clocks.
#[expect(clippy::disallowed_methods, reason = "the fake's clock begins at the present")]
fn today() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() as i64
}
