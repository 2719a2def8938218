//! Decisions of scorers: of functions, people and judges, who decide about recorded answers outside of this program.
//!
//! - [`Scorer`]: who decides, and under which name;
//! - [`Score`]: one decision, with the answer that it is about; [`Scores`]: those of one scorer, each answer once;
//! - [`Scores::accept`]: adds them to a run of accepted decisions, all of them or none; [`Scores::compare`]: with the
//!   decisions of the same name that are in force;
//! - [`accept_revised`]: the same for decisions that parsers made again.

mod compared;
mod error;
mod revised;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub use self::compared::{ComparedScores, ScoreFlip};
pub use self::error::ScoreError;
pub use self::revised::{accept_revised, revised_name};
use crate::decide::{RecordedAnswer, each_answer};
use crate::event::{DecidedBy, DecisionDetails, FUNCTION, JUDGE, PERSON};
use crate::exchange::{AcceptedDecision, AcceptedRun};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{EventFault, LogError, Reader};

/// Who decides about recorded answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScorerKind {
    /// A function of the user's.
    Function,
    /// A person.
    Person,
    /// A model.
    Judge,
}

/// Who decides, and under which name.
#[derive(Debug, Clone, PartialEq)]
pub struct Scorer {
    /// What it is.
    pub kind: ScorerKind,
    /// What it decides, such as `vote`. Its decisions replace those with the same name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// What else is recorded about it, such as the person's name.
    pub about: Map<String, Value>,
}

impl Scorer {
    /// A person who decides something.
    pub fn person(person: &str, name: &str) -> Self {
        let about = Map::from_iter([("person".to_owned(), person.into())]);
        Scorer { kind: ScorerKind::Person, name: name.to_owned(), version: 1, about }
    }

    /// A model that decided something in a run of its own.
    pub fn judge(model: &str, run: RunId, name: &str) -> Self {
        let about =
            [("model".to_owned(), model.into()), ("run".to_owned(), run.to_string().into())];
        let about = Map::from_iter(about);
        Scorer { kind: ScorerKind::Judge, name: name.to_owned(), version: 1, about }
    }

    /// A simulated model that made verdicts up in a run of its own.
    pub fn simulated_judge(run: RunId, name: &str) -> Self {
        let about =
            [("run".to_owned(), run.to_string().into()), ("simulated".to_owned(), true.into())];
        let about = Map::from_iter(about);
        Scorer { kind: ScorerKind::Judge, name: name.to_owned(), version: 1, about }
    }

    /// What made a decision, as it is recorded.
    pub fn by(&self, method: &str) -> DecidedBy {
        let kind = match self.kind {
            ScorerKind::Function => FUNCTION,
            ScorerKind::Person => PERSON,
            ScorerKind::Judge => JUDGE,
        };
        let mut params = self.about.clone();
        params.insert("name".to_owned(), self.name.as_str().into());
        let parser = json!({"name": kind, "params": params, "version": self.version});
        DecidedBy { name: None, method: method.to_owned(), parser }
    }

    /// How a value was found, if the scorer does not say.
    fn method(&self) -> &'static str {
        match self.kind {
            ScorerKind::Function => "returned",
            ScorerKind::Person => "labelled",
            ScorerKind::Judge => "judged",
        }
    }
}

/// How a scorer names an answer of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerName {
    /// By its seq.
    Seq(Seq),
    /// By its call and its sample.
    Call(CallPath, Sample),
}

impl std::fmt::Display for AnswerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AnswerName::Seq(seq) => write!(f, "seq {seq}"),
            AnswerName::Call(call, sample) => write!(f, "{call}#{sample}"),
        }
    }
}

/// A decision of a scorer.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The line that it stands on, in messages.
    pub line: u64,
    /// The answer that it is about.
    pub answer: AnswerName,
    /// The call and the sample of the answer, if they are given beside its seq: they must fit.
    pub call: Option<(CallPath, Sample)>,
    /// The choice of that answer, from 0.
    pub choice: u32,
    /// The value.
    pub value: Value,
    /// How it was found, if the scorer says.
    pub method: Option<String>,
    /// Why, if the scorer says.
    pub reasoning: Option<String>,
    /// What looked odd.
    pub warnings: Vec<String>,
}

/// The decisions of a scorer about the answers of a run, each choice of an answer once.
#[derive(Debug, Clone, Default)]
pub struct Scores(BTreeMap<(AnswerName, u32), Score>);

impl Scores {
    /// Adds a decision.
    ///
    /// # Errors
    /// [`ScoreError::Twice`] if there is one about the same choice of the same answer.
    pub fn add(&mut self, score: Score) -> Result<(), ScoreError> {
        let (name, choice, line) = (score.answer.clone(), score.choice, score.line);
        match self.0.insert((name.clone(), choice), score) {
            None => Ok(()),
            Some(Score { line: first, .. }) => Err(ScoreError::Twice { first, line, name }),
        }
    }

    /// Takes one back; `None` if there is none.
    pub fn remove(&mut self, answer: &AnswerName, choice: u32) -> Option<Score> {
        self.0.remove(&(answer.clone(), choice))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds all of them to a run of accepted decisions about a run.
    ///
    /// # Errors
    /// [`ScoreError`] if one of them names no answer, or more than one, or the log cannot be read. The run of accepted
    /// decisions is of no use then.
    pub fn accept(
        &self,
        reader: &mut dyn Reader,
        of: RunId,
        scorer: &Scorer,
        accepted: &mut AcceptedRun,
    ) -> Result<(), ScoreError> {
        self.each(reader, of, |reader, answer, score| {
            let fault = EventFault::NoRequest { prompt: answer.prompt };
            let request = reader.request(answer.prompt)?;
            let request = request.ok_or_else(|| LogError::corrupt(of, answer.seq, fault))?;
            let details = DecisionDetails {
                choice: answer.choice.among_several(),
                reasoning: score.reasoning.clone(),
                value: score.value.clone(),
                warnings: score.warnings.clone(),
            };
            let by = scorer.by(score.method.as_deref().unwrap_or(scorer.method()));
            let RecordedAnswer { seq, call, sample, labels, content, beside, .. } = answer;
            let decision =
                AcceptedDecision { call, sample, labels, content, seq, beside, by, details };
            Ok(accepted.decision(decision, request)?)
        })
    }

    /// Passes on each decision with its answer, in the order of [`each_answer`].
    fn each(
        &self,
        reader: &mut dyn Reader,
        of: RunId,
        mut each: impl FnMut(&mut dyn Reader, RecordedAnswer, &Score) -> Result<(), ScoreError>,
    ) -> Result<(), ScoreError> {
        let mut found: BTreeMap<(Seq, u32), u64> = BTreeMap::new();
        let mut named: BTreeMap<&(AnswerName, u32), Seq> = BTreeMap::new();
        each_answer::<ScoreError>(reader, of, |reader, answer| {
            let (seq, choice) = (answer.seq, answer.choice.at);
            let by_call = AnswerName::Call(answer.call.clone(), answer.sample);
            let names = [(AnswerName::Seq(seq), choice), (by_call, choice)];
            for name in &names {
                let Some((name, score)) = self.0.get_key_value(name) else { continue };
                let line = score.line;
                let is_other = |(call, sample): &(CallPath, Sample)| {
                    (call, *sample) != (&answer.call, answer.sample)
                };
                if let Some((call, sample)) = score.call.clone().filter(is_other) {
                    let (given, is) = (
                        AnswerName::Call(call, sample),
                        AnswerName::Call(answer.call.clone(), answer.sample),
                    );
                    return Err(ScoreError::OtherCall { line, seq, given, is });
                }
                if let Some(other) = named.insert(name, seq) {
                    let (name, seqs) = (name.0.clone(), [other, seq]);
                    return Err(ScoreError::Ambiguous { line, name, seqs });
                }
                if let Some(first) = found.insert((seq, choice), line) {
                    let name = name.0.clone();
                    return Err(ScoreError::Twice {
                        first: first.min(line),
                        line: first.max(line),
                        name,
                    });
                }
                each(reader, answer.clone(), score)?;
            }
            Ok(())
        })?;
        let without = self.0.iter().filter(|(name, _)| !named.contains_key(name));
        match without.min_by_key(|(_, score)| score.line) {
            None => Ok(()),
            Some(((name, choice), score)) => {
                let (name, choice, line) = (name.clone(), *choice, score.line);
                Err(ScoreError::NoAnswer { line, name, choice, run: of })
            }
        }
    }
}
