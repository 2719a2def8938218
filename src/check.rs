//! Re-parses recorded answers: which decisions would another parser version make differently?

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::Content;
use crate::event::{AnswerReused, DecisionDetails, DecisionMade, Event, ResponseReceived};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{LogError, Reader};
use crate::lookup::LookupMap;
use crate::model::Unreadable;
use crate::parse::registry::{self, RegistryError};
use crate::parse::{AnyParser, Parsed, ParserSpec};
use crate::prompt::canonical;

/// A check that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A decision names a parser this program does not have, or the one asked for does not fit.
    #[error(transparent)]
    Parser(#[from] RegistryError),
    /// The parser asked for made none of the decisions.
    #[error("parser {parser} decided nothing in run {run}: its decisions are of {made_by}")]
    NotInRun {
        /// The parser asked for.
        parser: String,
        /// The run.
        run: RunId,
        /// The parsers that decided.
        made_by: String,
    },
}

/// A part of a decision that can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The value: the decision flips.
    Value,
    /// The strategy that yielded it.
    Method,
    /// The model's reasoning, where the format keeps it apart.
    Reasoning,
    /// What was repaired or looked odd.
    Warnings,
}

impl Part {
    /// All parts, in the order in which they are reported.
    pub const ALL: [Part; 4] = [Part::Value, Part::Method, Part::Reasoning, Part::Warnings];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Part::Value => "value",
            Part::Method => "method",
            Part::Reasoning => "reasoning",
            Part::Warnings => "warnings",
        }
    }
}

/// One side of a comparison: what a parser made of an answer. Reasoning and warnings only where they differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The strategy that yielded the value.
    pub method: String,
    /// The value.
    pub value: Value,
    /// The model's reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What was repaired or looked odd.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The validator's judgement, for parsers that come with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
}

/// A decision that changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The decision in the log.
    pub seq: Seq,
    /// Its call.
    pub call: CallPath,
    /// Its sample.
    pub sample: Sample,
    /// What of it changes, at least one part.
    pub parts: Vec<Part>,
    /// As recorded.
    pub from: Side,
    /// As parsed now.
    pub to: Side,
}

/// What re-parsing a run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// The run.
    pub run: RunId,
    /// The parsers that decided, `name@version`, sorted.
    pub parser_from: Vec<String>,
    /// The parsers that were compared with them.
    pub parser_to: Vec<String>,
    /// Decisions compared.
    pub decisions: u64,
    /// The decisions whose value changes.
    pub flipped: Vec<Change>,
    /// The decisions whose value stays, but whose method, reasoning or warnings change.
    pub altered: Vec<Change>,
    /// In how many decisions each part changes; parts that change in none are left out.
    pub changed: BTreeMap<Part, u64>,
    /// Decisions by recorded method, then by method now.
    pub by_method: BTreeMap<String, BTreeMap<String, u64>>,
    /// Decisions by verdict, as recorded and now.
    pub verdicts: BTreeMap<&'static str, (u64, u64)>,
    /// Recorded decisions that their own parser version does not make any more: this program's
    /// parser was changed without a new version, or the log was.
    pub unfaithful: Vec<Seq>,
}

/// Re-parses the decisions of a run: with `target`, those of that parser, by that version; else each by
/// the latest version of its own parser.
///
/// # Errors
/// [`CheckError`].
pub fn check(
    reader: &mut dyn Reader,
    run: RunId,
    target: Option<(&'static str, u32)>,
) -> Result<Checked, CheckError> {
    let mut check = Check {
        target,
        questions: LookupMap::default(),
        answers: LookupMap::default(),
        parsers: BTreeMap::new(),
        others: BTreeSet::new(),
        checked: Checked {
            run,
            parser_from: Vec::new(),
            parser_to: Vec::new(),
            decisions: 0,
            flipped: Vec::new(),
            altered: Vec::new(),
            changed: BTreeMap::new(),
            by_method: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            unfaithful: Vec::new(),
        },
    };
    let mut after = Seq(0);
    loop {
        let events = reader.events(run, after, 1024)?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        for stored in &events {
            let corrupt = |what| LogError::Corrupt { run, seq: stored.seq, what };
            check.event(stored.seq, stored.event().map_err(|e| corrupt(e.what))?)?;
        }
    }
    let Check { mut checked, parsers, others, .. } = check;
    if let Some((name, version)) = target
        && parsers.is_empty()
        && !others.is_empty()
    {
        let made_by = others.into_iter().collect::<Vec<_>>().join(", ");
        return Err(CheckError::NotInRun { parser: format!("{name}@{version}"), run, made_by });
    }
    checked.parser_from = names(parsers.values().map(|p| p.from.spec()));
    checked.parser_to = names(parsers.values().map(|p| p.to.spec()));
    Ok(checked)
}

fn names<'a>(specs: impl Iterator<Item = &'a ParserSpec>) -> Vec<String> {
    let mut names: Vec<String> = specs.map(ParserSpec::to_string).collect();
    names.sort();
    names.dedup();
    names
}

/// A recorded parser and the one it is compared with.
struct Pair {
    from: Box<dyn AnyParser>,
    to: Box<dyn AnyParser>,
}

/// An answer that waits for its decision.
struct RecordedAnswer {
    request: Seq,
    content: Content,
    /// Why it has no text, if that is because it could not be read.
    unreadable: Option<String>,
}

struct Check {
    target: Option<(&'static str, u32)>,
    questions: LookupMap<Seq, (CallPath, Sample)>,
    answers: LookupMap<Seq, RecordedAnswer>,
    /// By the text of the recorded parser.
    parsers: BTreeMap<String, Pair>,
    /// The parsers that decided and are not asked for.
    others: BTreeSet<String>,
    checked: Checked,
}

impl Check {
    fn event(&mut self, seq: Seq, event: Event) -> Result<(), CheckError> {
        match event {
            Event::RequestSent(sent) => {
                self.questions.insert(seq, (sent.call, sent.sample));
            }
            Event::ResponseReceived(r) => {
                let unreadable = Unreadable::why(&r.content, &r.details.extra);
                let ResponseReceived { request, content, .. } = r;
                self.answers.insert(seq, RecordedAnswer { request, content, unreadable });
            }
            Event::AnswerReused(AnswerReused { request, content, unreadable, .. }) => {
                self.answers.insert(seq, RecordedAnswer { request, content, unreadable });
            }
            Event::DecisionMade(made) => {
                let run = self.checked.run;
                let missing = || LogError::Corrupt {
                    run,
                    seq,
                    what: "it decides on an answer that is not there".to_owned(),
                };
                let answer = self.answers.remove(&made.response).ok_or_else(missing)?;
                let (call, sample) = self.questions.remove(&answer.request).ok_or_else(missing)?;
                let key = made.by.parser.to_string();
                if !self.parsers.contains_key(&key) {
                    let spec = self.spec(seq, &made.by.parser)?;
                    if self.target.is_some_and(|(name, _)| name != spec.name) {
                        self.others.insert(spec.to_string());
                        return Ok(());
                    }
                    let pair = self.pair(&spec)?;
                    self.parsers.insert(key.clone(), pair);
                }
                let Some(pair) = self.parsers.get(&key) else { return Ok(()) };
                compare(&mut self.checked, pair, (seq, call, sample), made, &answer);
            }
            _ => {}
        }
        Ok(())
    }

    fn spec(&self, seq: Seq, parser: &Value) -> Result<ParserSpec, LogError> {
        let what = |e: serde_json::Error| format!("its parser: {e}");
        ParserSpec::deserialize(parser).map_err(|e| LogError::Corrupt {
            run: self.checked.run,
            seq,
            what: what(e),
        })
    }

    fn pair(&self, spec: &ParserSpec) -> Result<Pair, RegistryError> {
        let (name, version) = match self.target {
            Some(target) => target,
            None => registry::resolve(&spec.name)?,
        };
        let to = ParserSpec { name: name.into(), version, params: spec.params.clone() };
        Ok(Pair { from: registry::parser(spec)?, to: registry::parser(&to)? })
    }
}

/// Whether two values are the same JSON: a log holds `1` where a parser says `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    a == b || matches!((canonical(a), canonical(b)), (Ok(a), Ok(b)) if a == b)
}

/// What a parser makes of an answer; as in a run, one that could not be read has a warning.
fn parsed(parser: &dyn AnyParser, answer: &RecordedAnswer) -> Side {
    let (Parsed { method, value, reasoning, mut warnings }, verdict) =
        parser.parse_any(answer.content.text());
    if let Some(reason) = &answer.unreadable {
        warnings.insert(0, Unreadable::warning(reason));
    }
    Side { method: method.to_owned(), value, reasoning, warnings, verdict }
}

/// The parts in which two decisions differ.
fn differing(recorded: &Side, now: &Side) -> Vec<Part> {
    let differs = |part: &Part| match part {
        Part::Value => !same(&recorded.value, &now.value),
        Part::Method => recorded.method != now.method,
        Part::Reasoning => recorded.reasoning != now.reasoning,
        Part::Warnings => recorded.warnings != now.warnings,
    };
    Part::ALL.into_iter().filter(differs).collect()
}

fn compare(
    checked: &mut Checked,
    pair: &Pair,
    (seq, call, sample): (Seq, CallPath, Sample),
    made: DecisionMade,
    answer: &RecordedAnswer,
) {
    let DecisionMade { by, details: DecisionDetails { reasoning, value, warnings }, .. } = made;
    let again = parsed(pair.from.as_ref(), answer);
    let mut from = Side { method: by.method, value, reasoning, warnings, verdict: again.verdict };
    if !differing(&from, &again).is_empty() {
        checked.unfaithful.push(seq);
    }
    let mut to = parsed(pair.to.as_ref(), answer);
    checked.decisions += 1;
    let methods = checked.by_method.entry(from.method.clone()).or_default();
    *methods.entry(to.method.clone()).or_default() += 1;
    if let Some(verdict) = from.verdict {
        checked.verdicts.entry(verdict).or_default().0 += 1;
    }
    if let Some(verdict) = to.verdict {
        checked.verdicts.entry(verdict).or_default().1 += 1;
    }
    let parts = differing(&from, &to);
    if parts.is_empty() {
        return;
    }
    for side in [&mut from, &mut to] {
        // Long texts that are the same on both sides are not kept twice for every decision.
        side.reasoning = side.reasoning.take().filter(|_| parts.contains(&Part::Reasoning));
        side.warnings.retain(|_| parts.contains(&Part::Warnings));
    }
    for part in &parts {
        *checked.changed.entry(*part).or_default() += 1;
    }
    let list = match parts.contains(&Part::Value) {
        true => &mut checked.flipped,
        false => &mut checked.altered,
    };
    list.push(Change { seq, call, sample, parts, from, to });
}
