//! Who decided what about the same answers of a run: parsers of several versions, programs, functions, judges and people.
//!
//! A rater is the parser, program, function, person or judge that made decisions
//! ([`DecidedBy::made_by`](retold::event::DecidedBy::made_by)), in the run itself or in runs
//! of accepted decisions about its answers, whether they are in force or not. A later decision of the same rater about the same
//! choice of an answer replaces the earlier one. Null values and last resorts do not count as ratings.

use std::collections::{BTreeMap, BTreeSet};

use retold::decide::{NOTHING_FOUND, last_resort};
use retold::decided::{DecidedQuestion, JoinedDecision, decisions_about};
use retold::event::DecidedBy;
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::parse::Parsers;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

use super::{Agreement, MeasurementLevel, cohens_kappa, krippendorffs_alpha};

/// Why raters cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RaterError {
    /// The log cannot be read or is damaged.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The run has no decisions.
    #[error("there are no decisions about the answers of run {run}")]
    NoDecisions {
        /// The run.
        run: RunId,
    },
    /// No decision has a name that was asked for.
    #[error("no decision about the answers of run {run} is called {name:?}: there are {names}")]
    NoSuchName {
        /// The run.
        run: RunId,
        /// The name.
        name: String,
        /// The names that there are.
        names: String,
    },
    /// No two raters decided about the same thing.
    #[error(
        "no two raters of the answers of run {run} decided under the same name: there are {names}"
    )]
    NothingInCommon {
        /// The run.
        run: RunId,
        /// The names that there are.
        names: String,
    },
    /// Only one rater decided under these names.
    #[error("{rater:?} alone decided about the answers of run {run} under this name")]
    OneRater {
        /// The run.
        run: RunId,
        /// Who.
        rater: String,
    },
    /// Several names have two raters or more.
    #[error("which decisions shall be compared? Several raters decided about each of {names}")]
    SeveralNames {
        /// Their names.
        names: String,
    },
}

/// Somebody who decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rater {
    /// Who, with the name of what was decided.
    pub rater: String,
    /// How many answers have a value of theirs.
    pub values: u64,
    /// For how many they found nothing: the value is null, or the parser's last resort.
    pub missing: u64,
}

/// Two raters, and how well they agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RaterPair {
    /// One.
    pub one: String,
    /// The other.
    pub other: String,
    /// How many answers both have a value for.
    pub both: u64,
    /// How many of these values are the same.
    pub same: u64,
    /// Cohen's kappa, if it can be given.
    pub kappa: Option<Agreement>,
}

/// An answer whose raters differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    /// The seq of the answer.
    pub seq: Seq,
    /// The choice of the answer.
    pub choice: u32,
    /// Its call.
    pub call: String,
    /// Its sample.
    pub sample: u32,
    /// The values, by rater.
    pub values: BTreeMap<String, Value>,
}

/// The raters of a run's answers, two by two.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairedRaters {
    /// Who they are.
    pub raters: Vec<Rater>,
    /// Krippendorff's alpha of all of them, if it can be given.
    pub alpha: Option<Agreement>,
    /// What differences between values mean for alpha.
    pub level: MeasurementLevel,
    /// How many values are left out of alpha, because they are not numbers.
    pub not_numbers: u64,
    /// Each two of them.
    pub pairs: Vec<RaterPair>,
    /// How many answers have values of two raters or more.
    pub rated: u64,
    /// The answers whose raters differ, in the order of the run.
    pub disagreements: Vec<Disagreement>,
}

/// The values of one answer by rater, and its question.
#[derive(Debug)]
struct RatedAnswer {
    question: Arc<DecidedQuestion>,
    values: BTreeMap<usize, Value>,
}

/// All ratings of a run's answers.
#[derive(Debug, Default)]
pub struct RatedAnswers {
    /// Who, and the name of what they decided.
    raters: Vec<(String, String)>,
    answers: BTreeMap<(Seq, u32), RatedAnswer>,
}

impl RatedAnswers {
    /// Reads them. Of these names, or of the one that has several raters if none is given.
    ///
    /// # Errors
    /// [`RaterError`].
    pub fn read(
        reader: &mut dyn Reader,
        run: RunId,
        names: &[String],
        parsers: &Parsers,
    ) -> Result<Self, RaterError> {
        let mut found = RatedAnswers::default();
        let mut last_resorts = BTreeMap::new();
        decisions_about(reader, run, |_, joined| found.add(joined, &mut last_resorts, parsers))?;
        let chosen = found.chosen(run, names)?;
        found.answers.values_mut().for_each(|answer| {
            answer.values.retain(|rater, _| chosen.contains(rater));
        });
        Ok(found)
    }

    fn add(
        &mut self,
        joined: JoinedDecision,
        last_resorts: &mut BTreeMap<String, Option<&'static str>>,
        parsers: &Parsers,
    ) {
        let Some(answer) = joined.accepted_as else { return };
        let by = &joined.made.by;
        let rater = (by.made_by(), by.decides().to_owned());
        let at = self.raters.iter().position(|known| *known == rater).unwrap_or_else(|| {
            self.raters.push(rater);
            self.raters.len() - 1
        });
        let is_found = !is_last_resort(by, last_resorts, parsers);
        let choice = joined.made.details.choice.unwrap_or(0);
        let question = joined.question;
        let rated = self.answers.entry((answer, choice));
        let rated = rated.or_insert_with(|| RatedAnswer { question, values: BTreeMap::new() });
        let value = joined.made.details.value;
        rated.values.insert(at, if is_found { value } else { Value::Null });
    }

    /// The raters to be compared.
    fn chosen(&self, run: RunId, names: &[String]) -> Result<BTreeSet<usize>, RaterError> {
        let mut by_name: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (at, (_, name)) in self.raters.iter().enumerate() {
            by_name.entry(name).or_default().insert(at);
        }
        let listed = |names: Vec<&str>| names.join(", ");
        let all = || listed(by_name.keys().copied().collect());
        if by_name.is_empty() {
            return Err(RaterError::NoDecisions { run });
        }
        if names.is_empty() {
            let several = by_name.iter().filter(|(_, raters)| raters.len() > 1);
            return match several.collect::<Vec<_>>().as_slice() {
                [] => Err(RaterError::NothingInCommon { run, names: all() }),
                [(_, raters)] => Ok((*raters).clone()),
                several => {
                    let names = several.iter().map(|(name, _)| **name).collect();
                    Err(RaterError::SeveralNames { names: listed(names) })
                }
            };
        }
        let mut chosen: BTreeSet<usize> = BTreeSet::new();
        for name in names {
            let raters = by_name.get(name.as_str()).ok_or_else(|| {
                let (name, names) = (name.clone(), all());
                RaterError::NoSuchName { run, name, names }
            })?;
            chosen.extend(raters);
        }
        match chosen.first().filter(|_| chosen.len() == 1) {
            Some(only) => Err(RaterError::OneRater { run, rater: self.raters[*only].0.clone() }),
            None => Ok(chosen),
        }
    }

    /// How well they agree.
    pub fn agreement(&self, level: MeasurementLevel) -> PairedRaters {
        let used: BTreeSet<usize> =
            self.answers.values().flat_map(|answer| answer.values.keys().copied()).collect();
        let name = |at: usize| self.raters[at].0.clone();
        let raters = used.iter().map(|at| {
            let given = self.answers.values().filter_map(|answer| answer.values.get(at));
            let (missing, values): (Vec<_>, Vec<_>) = given.partition(|value| value.is_null());
            let (values, missing) = (values.len() as u64, missing.len() as u64);
            Rater { rater: name(*at), values, missing }
        });
        let pairs = used.iter().enumerate().flat_map(|(after, one)| {
            used.iter().skip(after + 1).map(|other| self.pair(*one, *other))
        });
        let (units, not_numbers) = self.units(level);
        let rated = self.answers.values().filter(|answer| answer.given().count() > 1);
        let disagreements = self.answers.iter().filter(|(_, answer)| {
            let mut keys = answer.given().map(|(_, value)| key(value));
            let first = keys.next();
            keys.any(|key| Some(key) != first)
        });
        PairedRaters {
            raters: raters.collect(),
            alpha: krippendorffs_alpha("agreement", &units, level),
            level,
            not_numbers,
            pairs: pairs.collect(),
            rated: rated.count() as u64,
            disagreements: disagreements
                .map(|((seq, choice), answer)| Disagreement {
                    seq: *seq,
                    choice: *choice,
                    call: answer.question.call.to_string(),
                    sample: answer.question.sample,
                    values: answer.given().map(|(at, value)| (name(at), value.clone())).collect(),
                })
                .collect(),
        }
    }

    fn pair(&self, one: usize, other: usize) -> RaterPair {
        let both = self.answers.values().filter_map(|answer| {
            let of = |at| answer.values.get(&at).filter(|value| !value.is_null()).map(key);
            Some((of(one)?, of(other)?))
        });
        let both: Vec<(String, String)> = both.collect();
        let same = both.iter().filter(|(one, other)| one == other).count() as u64;
        let kappa = cohens_kappa(both.iter().map(|(one, other)| (&**one, &**other)));
        let name = |at: usize| self.raters[at].0.clone();
        RaterPair { one: name(one), other: name(other), both: both.len() as u64, same, kappa }
    }

    /// The values of each answer as numbers, and how many have none.
    fn units(&self, level: MeasurementLevel) -> (Vec<Vec<f64>>, u64) {
        let (mut names, mut not_numbers) = (BTreeMap::new(), 0);
        let mut number = |value: &Value| match level {
            MeasurementLevel::Nominal => {
                let next = names.len();
                Some(*names.entry(key(value)).or_insert(next) as f64)
            }
            MeasurementLevel::Ordinal | MeasurementLevel::Interval => {
                not_numbers += u64::from(value.as_f64().is_none());
                value.as_f64()
            }
        };
        let units = self.answers.values().map(|answer| {
            answer.given().filter_map(|(_, value)| number(value)).collect::<Vec<f64>>()
        });
        let units = units.collect();
        (units, not_numbers)
    }
}

impl RatedAnswer {
    /// The values that say something.
    fn given(&self) -> impl Iterator<Item = (usize, &Value)> {
        self.values.iter().filter(|(_, value)| !value.is_null()).map(|(at, value)| (*at, value))
    }
}

/// What makes two values the same: 3 and 3.0 are.
fn key(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => number.to_string(),
        None => value.to_string(),
    }
}

/// Whether a decision is the last resort of its parser.
fn is_last_resort(
    by: &DecidedBy,
    last_resorts: &mut BTreeMap<String, Option<&'static str>>,
    parsers: &Parsers,
) -> bool {
    if by.is_reported() {
        return by.method == NOTHING_FOUND;
    }
    let of = last_resorts.entry(by.made_by()).or_insert_with(|| last_resort(&by.parser, parsers));
    *of == Some(by.method.as_str())
}
