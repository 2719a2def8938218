//! Decides again about recorded answers: which decisions would another parser, or another version,
//! change?

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::decide::{
    Again, AgainError, AnswerDecision, ChoiceNumber, DecideError, Decider, RecordedAnswer,
    RegisteredParser, RevisedDecision, Selection, SkippedAnswers, each_decision, is_of_a_file,
};
use crate::event::DecisionDetails;
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{LogError, Reader};
use crate::model::Unreadable;
use crate::parse::{ParserSpec, Parsers};
use crate::prompt::canonical;

/// A check that could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The log could not be read, or no decision could be made.
    #[error(transparent)]
    Again(#[from] AgainError),
    /// The given parser made none of the run's decisions.
    #[error("parser {parser} decided nothing in run {run}: its decisions were made by {made_by}")]
    NotInRun {
        /// The given parser.
        parser: String,
        /// The run.
        run: RunId,
        /// The parsers that decided.
        made_by: String,
    },
}

impl From<LogError> for CheckError {
    fn from(error: LogError) -> Self {
        CheckError::Again(error.into())
    }
}

/// A part of a decision that can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionPart {
    /// The value: the decision flips.
    Value,
    /// The strategy that yielded it.
    Method,
    /// The model's reasoning, where the format keeps it separately.
    Reasoning,
    /// Repairs, and anything that looked odd.
    Warnings,
}

impl DecisionPart {
    /// All parts, in the order in which they are reported.
    pub const ALL: [DecisionPart; 4] = [
        DecisionPart::Value,
        DecisionPart::Method,
        DecisionPart::Reasoning,
        DecisionPart::Warnings,
    ];

    /// The name of the part in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            DecisionPart::Value => "value",
            DecisionPart::Method => "method",
            DecisionPart::Reasoning => "reasoning",
            DecisionPart::Warnings => "warnings",
        }
    }
}

/// One side of a comparison: a parser's result for an answer. Reasoning and warnings are set only
/// where they differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionSide {
    /// The strategy that yielded the value.
    pub method: String,
    /// The value.
    pub value: Value,
    /// The model's reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Repairs, and anything that looked odd.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The validator's judgement, for parsers that come with a validator.
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
    /// The choice of the answer.
    pub choice: ChoiceNumber,
    /// The parts that change, at least one.
    pub parts: Vec<DecisionPart>,
    /// As recorded.
    pub from: DecisionSide,
    /// As parsed now.
    pub to: DecisionSide,
}

/// A decision about an answer that had none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct New {
    /// The answer in the log.
    pub seq: Seq,
    /// Its call.
    pub call: CallPath,
    /// Its sample.
    pub sample: Sample,
    /// Its choice, if it has several.
    pub choice: ChoiceNumber,
    /// The decision.
    #[serde(flatten)]
    pub decided: AnswerDecision,
}

/// What deciding again about a run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecisionCheck {
    /// The run.
    pub run: RunId,
    /// The parsers that decided, `name@version`, sorted.
    pub parser_from: Vec<String>,
    /// The parsers that they were compared with.
    pub parser_to: Vec<String>,
    /// Decisions compared.
    pub decisions: u64,
    /// The decisions about answers that had none.
    pub new: Vec<New>,
    /// The answers that were left alone.
    #[serde(skip)]
    pub left: SkippedAnswers,
    /// The decisions whose value changes.
    pub flipped: Vec<Change>,
    /// The decisions whose value stays, but whose method, reasoning or warnings change.
    pub altered: Vec<Change>,
    /// In how many decisions each part changes; parts that change in none are left out.
    pub changed: BTreeMap<DecisionPart, u64>,
    /// Decisions by recorded method, then by method now.
    pub by_method: BTreeMap<String, BTreeMap<String, u64>>,
    /// Decisions by verdict, as recorded and now.
    pub verdicts: BTreeMap<&'static str, (u64, u64)>,
    /// How many decisions were found by a strategy.
    pub found: StrategyCounts,
    /// Recorded decisions that their own parser version no longer makes: either the program's
    /// parser was changed without a new version, or the log was changed.
    pub unfaithful: Vec<Seq>,
}

/// How many decisions were found by a strategy, rather than by a parser's last resort. Decisions by
/// parsers that do not say, such as a user's program, do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StrategyCounts {
    /// Decisions of which both is known.
    pub of: u64,
    /// Found as recorded.
    pub from: u64,
    /// Found now.
    pub to: u64,
}

/// Decides again about the answers of a run and compares. `each` receives every decision that is
/// made.
///
/// # Errors
/// [`CheckError`], or any error of `each`.
pub fn check<E: From<CheckError>>(
    reader: &mut dyn Reader,
    run: RunId,
    choice: Selection<'_>,
    mut each: impl FnMut(&mut dyn Reader, &RevisedDecision) -> Result<(), E>,
) -> Result<DecisionCheck, E> {
    let named = match &choice.by {
        Again::By(decider) => Some(decider.spec(&Value::Null).to_string()),
        Again::Latest | Again::Chosen(_) => None,
    };
    let mut check = CheckRun {
        parsers: choice.parsers,
        recorded: BTreeMap::new(),
        from: BTreeSet::new(),
        to: BTreeSet::new(),
        checked: DecisionCheck {
            run,
            parser_from: Vec::new(),
            parser_to: Vec::new(),
            decisions: 0,
            new: Vec::new(),
            left: SkippedAnswers::default(),
            flipped: Vec::new(),
            altered: Vec::new(),
            changed: BTreeMap::new(),
            by_method: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            found: StrategyCounts::default(),
            unfaithful: Vec::new(),
        },
    };
    let left = each_decision(reader, run, choice, |reader, made| {
        each(reader, &made).map_err(CheckCallbackError::Here)?;
        check.compare(made).map_err(|e| CheckCallbackError::Again(e.into()))
    });
    let left = left.map_err(|raised| match raised {
        CheckCallbackError::Here(e) => e,
        CheckCallbackError::Again(e) => CheckError::from(e).into(),
    })?;
    let CheckRun { mut checked, from, to, .. } = check;
    if let Some(parser) = named
        && checked.decisions == 0
        && checked.new.is_empty()
        && !left.others.is_empty()
    {
        let made_by = left.others.into_iter().collect::<Vec<_>>().join(", ");
        return Err(CheckError::NotInRun { parser, run, made_by }.into());
    }
    checked.left = left;
    checked.parser_from = from.into_iter().collect();
    checked.parser_to = to.into_iter().collect();
    Ok(checked)
}

/// An error from deciding, or one from the callback that receives the decisions.
enum CheckCallbackError<E> {
    Again(AgainError),
    Here(E),
}

impl<E> From<AgainError> for CheckCallbackError<E> {
    fn from(error: AgainError) -> Self {
        CheckCallbackError::Again(error)
    }
}

struct CheckRun<'a> {
    parsers: &'a Parsers,
    /// The parsers that decided, by `name@version`, if this program has them.
    recorded: BTreeMap<String, Option<RegisteredParser>>,
    from: BTreeSet<String>,
    to: BTreeSet<String>,
    checked: DecisionCheck,
}

impl CheckRun<'_> {
    fn compare(&mut self, made: RevisedDecision) -> Result<(), DecideError> {
        let RevisedDecision { answer, recorded, by, now } = made;
        self.to.insert(by.to_string());
        let checked = &mut self.checked;
        let count = |methods: &mut BTreeMap<String, BTreeMap<String, u64>>, from: &str| {
            let methods = methods.entry(from.to_owned()).or_default();
            *methods.entry(now.method.clone()).or_default() += 1;
        };
        if let Some(verdict) = now.verdict {
            checked.verdicts.entry(verdict).or_default().1 += 1;
        }
        let (seq, call, sample) = (answer.seq, answer.call.clone(), answer.sample);
        let choice = answer.choice;
        let mut answer = answer;
        let (Some((at, decision)), Some(spec)) = (answer.decision.take(), recorded) else {
            count(&mut checked.by_method, NO_DECISION);
            checked.new.push(New { seq, call, sample, choice, decided: now });
            return Ok(());
        };
        let DecisionDetails { choice: _, reasoning, value, warnings } = decision.details;
        let method = decision.by.method;
        count(&mut checked.by_method, &method);
        let mut from = DecisionSide { method, value, reasoning, warnings, verdict: None };
        let now_found = now.found;
        let mut to = DecisionSide::from(now);
        let mut was_found = now_found.filter(|_| spec == by && from.method == to.method);
        // The recorded parser's result for the answer today; unknown if the program does not have
        // that parser.
        let again = if spec == by {
            Some(to.clone())
        } else {
            self.decide_as_recorded(&spec, &answer)?.map(|mut again| {
                if let Some(reason) = answer.unreadable() {
                    again.warnings.insert(0, Unreadable::warning(reason));
                }
                was_found = again.found.filter(|_| again.method == from.method);
                DecisionSide::from(again)
            })
        };
        self.from.insert(spec.to_string());
        let checked = &mut self.checked;
        if let Some(again) = again {
            if !differing(&from, &again).is_empty() {
                checked.unfaithful.push(at);
            }
            from.verdict = again.verdict;
        }
        if let Some(verdict) = from.verdict {
            checked.verdicts.entry(verdict).or_default().0 += 1;
        }
        checked.decisions += 1;
        if let (Some(was), Some(now)) = (was_found, now_found) {
            checked.found.of += 1;
            checked.found.from += u64::from(was);
            checked.found.to += u64::from(now);
        }
        let parts = differing(&from, &to);
        if parts.is_empty() {
            return Ok(());
        }
        for side in [&mut from, &mut to] {
            // Long texts that are equal on both sides are not kept for every decision.
            side.reasoning =
                side.reasoning.take().filter(|_| parts.contains(&DecisionPart::Reasoning));
            side.warnings.retain(|_| parts.contains(&DecisionPart::Warnings));
        }
        for part in &parts {
            *checked.changed.entry(*part).or_default() += 1;
        }
        let list = if parts.contains(&DecisionPart::Value) {
            &mut checked.flipped
        } else {
            &mut checked.altered
        };
        list.push(Change { seq: at, call, sample, choice, parts, from, to });
        Ok(())
    }

    /// A recorded parser's result for an answer now, if the program has that parser: not one of a parser file, which may have the
    /// same name. It is an error if it has the parser but not the version.
    fn decide_as_recorded(
        &mut self,
        spec: &ParserSpec,
        answer: &RecordedAnswer,
    ) -> Result<Option<AnswerDecision>, DecideError> {
        if is_of_a_file(spec) {
            return Ok(None);
        }
        let name = spec.to_string();
        if !self.recorded.contains_key(&name) {
            let parser = match self.parsers.get(&spec.name) {
                Some(_) => Some(RegisteredParser::new(self.parsers, &name)?),
                None => None,
            };
            self.recorded.insert(name.clone(), parser);
        }
        let Some(Some(parser)) = self.recorded.get_mut(&name) else { return Ok(None) };
        Ok(parser.decide(&[answer.as_undecided(&spec.params)])?.pop())
    }
}

/// The method that tables show for an answer without a recorded decision.
const NO_DECISION: &str = "no decision";

impl From<AnswerDecision> for DecisionSide {
    fn from(decided: AnswerDecision) -> Self {
        let AnswerDecision { method, value, reasoning, warnings, verdict, found: _ } = decided;
        DecisionSide { method, value, reasoning, warnings, verdict }
    }
}

/// Whether two values are equal as JSON: the log may hold `1` where a parser returns `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    a == b || matches!((canonical(a), canonical(b)), (Ok(a), Ok(b)) if a == b)
}

/// The parts in which two decisions differ.
fn differing(recorded: &DecisionSide, now: &DecisionSide) -> Vec<DecisionPart> {
    let differs = |part: &DecisionPart| match part {
        DecisionPart::Value => !same(&recorded.value, &now.value),
        DecisionPart::Method => recorded.method != now.method,
        DecisionPart::Reasoning => recorded.reasoning != now.reasoning,
        DecisionPart::Warnings => recorded.warnings != now.warnings,
    };
    DecisionPart::ALL.into_iter().filter(differs).collect()
}
