//! The first point where a re-execution and its log differ, and how they differ.

use std::fmt;

use super::history::RecordedOutcome;
use super::question::QuestionCore;
use super::state_difference::StateDifference;
use crate::escaping::printable;
use crate::event::{Because, Event, MarkRecorded};
use crate::id::{CallPath, OutcomeDigest, PromptHash, RunId, Sample, Seq};
use crate::log::{LogError, Reader, RunEvents};
use crate::prompt::{Request, first_difference, inert_diff};
use crate::text_diff::line_likeness;

/// How many of the events that only one of two declarations names are shown.
const MOST_SOURCES: usize = 20;

/// The longest excerpt of a fact that is shown.
const SHOWN: usize = 200;

/// A difference between a re-execution and its log.
#[derive(Debug, Clone)]
pub struct Divergence {
    kind: DivergenceKind,
    /// Looked up in the log when the report is made.
    nearest: Option<Nearest>,
    /// Likewise: the events that only one of two declarations names, by address.
    declared: Vec<String>,
}

#[derive(Debug, Clone)]
enum DivergenceKind {
    /// A call was asked with a prompt other than the recorded one.
    Prompt { call: CallPath, sample: Sample, request: Request, recorded: PromptHash },
    /// A call was asked that is not in the log.
    Missing { call: CallPath, sample: Sample, request: Request },
    /// A call was asked with the recorded prompt, but declares other sources of it than recorded.
    Sources { call: CallPath, sample: Sample, recorded: Because, now: Because },
    /// A decision or fact differs.
    Outcome { seq: Seq, call: Option<(CallPath, Sample)>, recorded: String, now: String },
    /// The log has a decision or fact that the re-execution did not make.
    Left { seq: Seq, recorded: String },
    /// The re-execution made one more decision or fact than the log has.
    Extra { now: String },
    /// Everything is the same except the digest: the log's was computed by another rule.
    Digest { recorded: OutcomeDigest, now: OutcomeDigest },
    /// All decisions and facts are the same, but the state that they fold into differs.
    State { differences: Vec<StateDifference> },
}

#[derive(Debug, Clone)]
struct Nearest {
    call: CallPath,
    sample: Sample,
    request: Request,
}

impl Nearest {
    /// Describes how this differs from the question asked now.
    fn compare(
        &self,
        f: &mut fmt::Formatter<'_>,
        call: &CallPath,
        sample: Sample,
        asked: &Request,
    ) -> fmt::Result {
        let Nearest { call: recorded_call, sample: recorded_sample, request } = self;
        let hash = request.hash().short(12);
        writeln!(
            f,
            "nearest recorded prompt: {hash}, call {recorded_call} sample {recorded_sample}"
        )?;
        match first_difference(request, asked) {
            Some(difference) => f.write_str(&difference.diff()),
            None if recorded_call != call => {
                writeln!(f, "the prompts are alike; only the call differs")
            }
            None if *recorded_sample != sample => {
                writeln!(f, "call and prompt are alike; only the sample differs")
            }
            None => writeln!(f, "exactly this was asked, and no answer to it was recorded"),
        }
    }
}

impl Divergence {
    fn new(kind: DivergenceKind) -> Self {
        Divergence { kind, nearest: None, declared: Vec::new() }
    }

    pub(super) fn prompt(asked: &QuestionCore, recorded: PromptHash) -> Self {
        let QuestionCore { call, sample, request, .. } = asked.clone();
        Self::new(DivergenceKind::Prompt { call, sample, request, recorded })
    }

    pub(super) fn sources(asked: &QuestionCore, recorded: Because, now: Because) -> Self {
        let (call, sample) = (asked.call.clone(), asked.sample);
        Self::new(DivergenceKind::Sources { call, sample, recorded, now })
    }

    pub(super) fn missing(asked: &QuestionCore) -> Self {
        let QuestionCore { call, sample, request, .. } = asked.clone();
        Self::new(DivergenceKind::Missing { call, sample, request })
    }

    pub(super) fn outcome(
        recorded: &RecordedOutcome,
        call: Option<(CallPath, Sample)>,
        now: String,
    ) -> Self {
        let (seq, recorded) = (recorded.seq(), describe(recorded));
        Self::new(DivergenceKind::Outcome { seq, call, recorded, now })
    }

    /// A fact that is the same, but rests on other events.
    pub(super) fn causes(seq: Seq, fact: &str, recorded: &[Seq], now: &[Seq]) -> Self {
        let shown = |causes: &[Seq]| {
            let seqs: Vec<String> = causes.iter().take(MOST_SOURCES).map(Seq::to_string).collect();
            let more = if causes.len() > MOST_SOURCES { ", .." } else { "" };
            let seqs = if seqs.is_empty() { "none".to_owned() } else { seqs.join(", ") };
            format!("fact\n{fact}\nevents that it rests on: {seqs}{more}")
        };
        let (recorded, now) = (shown(recorded), shown(now));
        Self::new(DivergenceKind::Outcome { seq, call: None, recorded, now })
    }

    pub(super) fn leftover(recorded: &RecordedOutcome) -> Self {
        Self::new(DivergenceKind::Left { seq: recorded.seq(), recorded: describe(recorded) })
    }

    pub(super) fn extra(now: String) -> Self {
        Self::new(DivergenceKind::Extra { now })
    }

    pub(super) fn digest(recorded: OutcomeDigest, now: OutcomeDigest) -> Self {
        Self::new(DivergenceKind::Digest { recorded, now })
    }

    pub(super) fn state(differences: Vec<StateDifference>) -> Self {
        Self::new(DivergenceKind::State { differences })
    }

    /// What differs in the state, if all decisions and facts are as recorded.
    pub fn state_differences(&self) -> &[StateDifference] {
        match &self.kind {
            DivergenceKind::State { differences } => differences,
            _ => &[],
        }
    }

    /// Whether the log merely ends here, which is not a difference if the run was cut off at this
    /// point.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.kind, DivergenceKind::Missing { .. } | DivergenceKind::Extra { .. })
    }

    /// Looks up the nearest recorded prompt for the report: the one recorded for the same call and
    /// sample, otherwise another sample of the call, otherwise the most similar prompt of the run.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub(super) fn look_up(&mut self, reader: &mut dyn Reader, run: RunId) -> Result<(), LogError> {
        let (call, sample, request) = match &self.kind {
            DivergenceKind::Prompt { call, sample, request, recorded } => {
                let nearest = |request| Nearest { call: call.clone(), sample: *sample, request };
                self.nearest = reader.request(*recorded)?.map(nearest);
                let _ = request;
                return Ok(());
            }
            DivergenceKind::Missing { call, sample, request } => (call, *sample, request),
            DivergenceKind::Sources { recorded, now, .. } => {
                self.declared = only_in_one(recorded, now, reader, run)?;
                return Ok(());
            }
            _ => return Ok(()),
        };
        let wanted = whole_text(request);
        let mut best: Option<(u64, Nearest)> = None;
        let (mut compared, mut events) = (0, RunEvents::new(run));
        while let Some(event) = events.next(reader)? {
            let (Some(other), Some(other_sample), Some(prompt)) =
                (event.call, event.sample, event.prompt)
            else {
                continue;
            };
            let same_call = other == *call;
            // Comparing texts is slow: after a few hundred, only the call itself counts.
            if !same_call && compared > 400 {
                continue;
            }
            let Some(candidate) = reader.request(prompt)? else { continue };
            compared += 1;
            let alike = likeness(&wanted, &whole_text(&candidate), &other, call);
            let score =
                u64::from(same_call) * 1_000_000 + alike * 100 + u64::from(other_sample == sample);
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((
                    score,
                    Nearest { call: other, sample: other_sample, request: candidate },
                ));
            }
        }
        self.nearest = best.map(|(_, nearest)| nearest);
        Ok(())
    }

    /// The seq in the log, if there is one.
    pub fn seq(&self) -> Option<Seq> {
        match &self.kind {
            DivergenceKind::Outcome { seq, .. } | DivergenceKind::Left { seq, .. } => Some(*seq),
            _ => None,
        }
    }

    /// One line that says what differs, and where.
    pub fn headline(&self) -> String {
        match &self.kind {
            DivergenceKind::Prompt { call, sample, request, recorded } => format!(
                "call {call} sample {sample} has a different prompt ({}) than recorded ({})",
                request.hash().short(12),
                recorded.short(12)
            ),
            DivergenceKind::Missing { call, sample, request } => format!(
                "call {call} sample {sample} (prompt {}) was never recorded",
                request.hash().short(12)
            ),
            DivergenceKind::Sources { call, sample, .. } => format!(
                "call {call} sample {sample} declares other sources of its prompt than recorded"
            ),
            DivergenceKind::Outcome { seq, call: Some((call, sample)), .. } => {
                format!("seq {seq} (call {call} sample {sample}) comes out differently")
            }
            DivergenceKind::Outcome { seq, call: None, .. } => {
                format!("seq {seq} comes out differently")
            }
            DivergenceKind::Left { seq, .. } => {
                format!("seq {seq} was recorded, and the run has ended before it")
            }
            DivergenceKind::Extra { .. } => {
                "one more decision or fact than was recorded".to_owned()
            }
            DivergenceKind::Digest { recorded, now } => {
                format!("the outcome digest is {now}, and {recorded} was recorded")
            }
            DivergenceKind::State { differences } => {
                let names: Vec<String> = differences
                    .iter()
                    .filter_map(|d| Some(printable(d.entry.as_ref()?, 100)))
                    .collect();
                let what = if names.is_empty() { "its marks".to_owned() } else { names.join(", ") };
                format!("decisions and facts are as recorded, but the state is not: {what}")
            }
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        match &self.kind {
            DivergenceKind::Prompt { call, sample, request, .. }
            | DivergenceKind::Missing { call, sample, request } => match &self.nearest {
                Some(nearest) => nearest.compare(f, call, *sample, request),
                None => writeln!(f, "the log holds no prompt to compare with"),
            },
            DivergenceKind::Sources { .. } => {
                self.declared.iter().try_for_each(|line| writeln!(f, "{line}"))
            }
            DivergenceKind::Outcome { recorded, now, .. } => {
                f.write_str(&inert_diff(recorded, now))
            }
            DivergenceKind::Left { recorded, .. } => writeln!(f, "recorded: {recorded}"),
            DivergenceKind::Extra { now } => writeln!(f, "now: {now}"),
            DivergenceKind::Digest { .. } => Ok(()),
            DivergenceKind::State { differences } => {
                differences.iter().try_for_each(|difference| writeln!(f, "{difference}"))
            }
        }
    }
}

impl std::error::Error for Divergence {}

/// A mark, in words.
pub(super) fn mark_words(mark: &MarkRecorded) -> String {
    format!("mark {}: a state with the digest {}", mark.name, mark.digest)
}

fn describe(outcome: &RecordedOutcome) -> String {
    match outcome {
        RecordedOutcome::Decision { by, body, response, .. } => {
            format!("decision on seq {response} by {by}\n{body}")
        }
        RecordedOutcome::Occurrence { fact, .. } => format!("fact\n{fact}"),
        RecordedOutcome::Mark { mark, .. } => mark_words(mark),
    }
}

/// The events that only one of two declarations has, each by its address.
fn only_in_one(
    recorded: &Because,
    now: &Because,
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Vec<String>, LogError> {
    let lost = recorded.iter().filter(|seq| !now.contains(*seq)).map(|seq| ('-', seq));
    let new = now.iter().filter(|seq| !recorded.contains(*seq)).map(|seq| ('+', seq));
    let all: Vec<(char, Seq)> = lost.chain(new).take(MOST_SOURCES + 1).collect();
    let mut lines = Vec::new();
    for (sign, seq) in all.iter().take(MOST_SOURCES) {
        lines.push(format!("{sign} {}", source_at(reader, run, *seq)?));
    }
    if all.len() > MOST_SOURCES {
        lines.push("and more".to_owned());
    }
    Ok(lines)
}

/// Describes a source for people: a decision or a question by call and sample, a fact as it is.
fn source_at(reader: &mut dyn Reader, run: RunId, seq: Seq) -> Result<String, LogError> {
    let mut at = |seq: Seq| -> Result<Option<Event>, LogError> {
        let stored = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
        let stored = stored.filter(|stored| stored.seq == seq);
        Ok(stored.map(|stored| stored.event()).transpose()?)
    };
    let event = at(seq)?;
    let request = match &event {
        Some(Event::ResponseReceived(answer)) => Some(answer.request),
        Some(Event::AnswerReused(answer)) => Some(answer.request),
        _ => None,
    };
    Ok(match (event, request.map(&mut at).transpose()?.flatten()) {
        (_, Some(Event::RequestSent(sent))) => {
            format!("seq {seq}: the decision on call {} sample {}", sent.call, sent.sample)
        }
        (Some(Event::RequestSent(sent)), _) => format!(
            "seq {seq}: all that the prompt of call {} sample {} was made from",
            sent.call, sent.sample
        ),
        (Some(Event::Occurred(occurred)), _) => {
            format!("seq {seq}: fact {}", printable(&occurred.fact.to_string(), SHOWN))
        }
        _ => format!("seq {seq}"),
    })
}

fn whole_text(request: &Request) -> String {
    request.messages().into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
}

/// How similar two prompts are, 0 to 1000: common lines, and a little for a common call prefix.
fn likeness(wanted: &str, candidate: &str, other: &CallPath, call: &CallPath) -> u64 {
    let ratio = line_likeness(wanted, candidate);
    let prefix = other.as_str().bytes().zip(call.as_str().bytes()).take_while(|(a, b)| a == b);
    (f64::from(ratio) * 900.0) as u64 + prefix.count().min(100) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The message for a nearest recorded prompt that is identical.
    fn said(recorded_call: &str, recorded_sample: Sample) -> String {
        let request = || Request::from_body(json!({"model": "m", "messages": []})).unwrap();
        let call = |path| CallPath::new(path).unwrap();
        let missing =
            DivergenceKind::Missing { call: call("vote/1"), sample: 0, request: request() };
        let nearest =
            Nearest { call: call(recorded_call), sample: recorded_sample, request: request() };
        let said = Divergence { nearest: Some(nearest), ..Divergence::new(missing) }.to_string();
        said.lines().last().unwrap().to_owned()
    }

    #[test]
    fn equal_prompts_are_distinguished_by_other_differences() {
        assert_eq!(said("vote/2", 0), "the prompts are alike; only the call differs");
        assert_eq!(said("vote/1", 1), "call and prompt are alike; only the sample differs");
        assert_eq!(said("vote/1", 0), "exactly this was asked, and no answer to it was recorded");
    }
}
