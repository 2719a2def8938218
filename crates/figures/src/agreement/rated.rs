//! Who decided what about the same answers of a run: parsers of several versions, programs, functions, judges and people.
//!
//! A rater is the parser, program, function, person or judge that made decisions
//! ([`DecidedBy::made_by`](retold::event::DecidedBy::made_by)), in the run itself or in runs
//! of accepted decisions about its answers, whether they are in force or not. A later decision of the same rater about the same
//! choice of an answer replaces the earlier one. Null values and last resorts do not count as ratings.

use std::collections::{BTreeMap, BTreeSet};

use retold::decide::{NOTHING_FOUND, last_resort};
use retold::decided::{DecisionAbout, decisions_about};
use retold::event::DecidedBy;
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::parse::Parsers;
use serde_json::Value;

use super::numbered::Numbered;

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
    /// No call has a label that was asked for.
    #[error(
        "no rated answer of run {run} belongs to a call with the label {label:?}: there is {names}"
    )]
    NoSuchLabel {
        /// The run.
        run: RunId,
        /// The label.
        label: String,
        /// The names of the labels that there are.
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

/// An answer of a run, and the number of its choice: the key of the decisions about it.
pub type RatedPlace = (Seq, u32);

/// A rater's value for an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rating {
    pub(super) rater: u32,
    /// `None` if they found nothing.
    pub(super) value: Option<u32>,
}

/// The ratings of one answer by rater, and the labels of its call.
#[derive(Debug, Default)]
pub(super) struct RatedAnswer {
    labels: Box<[u32]>,
    pub(super) ratings: Vec<Rating>,
}

/// All ratings of a run's answers. Of texts, each is kept once.
#[derive(Debug)]
pub struct RatedAnswers {
    pub(super) run: RunId,
    /// For each rater: who decided, and the name of the decision.
    raters: Vec<(String, String)>,
    /// Those of them that are simulated judges.
    pub(super) simulated: BTreeSet<u32>,
    /// Those that are judges some of whose verdicts are in force.
    judges: BTreeSet<u32>,
    /// Those that are people, each with the person's name.
    people: BTreeMap<u32, String>,
    /// Values that are the same have one number.
    pub(super) values: Numbered<String, Value>,
    labels: Numbered<(String, String), ()>,
    pub(super) answers: BTreeMap<RatedPlace, RatedAnswer>,
}

/// Which ratings are compared: those of some raters, of answers to calls with some labels.
#[derive(Debug, Clone)]
pub struct RatingChoice {
    pub(super) raters: BTreeSet<u32>,
    labels: Vec<u32>,
}

impl RatingChoice {
    /// The ratings of an answer that are compared, if it is one of those that are.
    pub(super) fn of<'a>(&self, answer: &'a RatedAnswer) -> impl Iterator<Item = &'a Rating> {
        let has_labels = self.labels.iter().all(|label| answer.labels.contains(label));
        let ratings = if has_labels { answer.ratings.as_slice() } else { &[] };
        ratings.iter().filter(|rating| self.raters.contains(&rating.rater))
    }
}

impl RatedAnswers {
    /// Reads them.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read or is damaged.
    pub fn read(reader: &mut dyn Reader, run: RunId, parsers: &Parsers) -> Result<Self, LogError> {
        let mut found = RatedAnswers {
            run,
            raters: Vec::new(),
            simulated: BTreeSet::new(),
            judges: BTreeSet::new(),
            people: BTreeMap::new(),
            values: Numbered::default(),
            labels: Numbered::default(),
            answers: BTreeMap::new(),
        };
        let mut last_resorts = BTreeMap::new();
        decisions_about(reader, run, |about| found.add(about, &mut last_resorts, parsers))?;
        Ok(found)
    }

    fn add(
        &mut self,
        DecisionAbout { answer, joined, .. }: DecisionAbout,
        last_resorts: &mut BTreeMap<String, Option<&'static str>>,
        parsers: &Parsers,
    ) {
        let by = &joined.made.by;
        let rater = (by.made_by(), by.decides().to_owned());
        let at = self.raters.iter().position(|known| *known == rater).unwrap_or_else(|| {
            self.raters.push(rater);
            self.raters.len() - 1
        });
        let rater = u32::try_from(at).unwrap_or(u32::MAX);
        if by.is_simulated() {
            self.simulated.insert(rater);
        }
        if by.is_by_judge() && joined.in_force {
            self.judges.insert(rater);
        }
        if let Some(person) = by.person() {
            self.people.entry(rater).or_insert_with(|| person.to_owned());
        }
        let is_found = !is_last_resort(by, last_resorts, parsers);
        let value = joined.made.details.value;
        let value = (is_found && !value.is_null()).then(|| self.values.add(key(&value), value));
        let labels = &mut self.labels;
        let place = (answer, joined.made.details.choice.unwrap_or(0));
        let rated = self.answers.entry(place).or_insert_with(|| {
            let of = joined.question.labels.clone();
            RatedAnswer {
                labels: of.into_iter().map(|label| labels.add(label, ())).collect(),
                ratings: Vec::with_capacity(2),
            }
        });
        match rated.ratings.iter_mut().find(|rating| rating.rater == rater) {
            Some(earlier) => earlier.value = value,
            None => rated.ratings.push(Rating { rater, value }),
        }
    }

    /// The names of decisions, each with how many raters decided under it.
    pub fn names(&self) -> BTreeMap<&str, usize> {
        self.by_name().into_iter().map(|(name, raters)| (name, raters.len())).collect()
    }

    /// The labels of the calls that were rated: names and values.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.keys().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A rater, with the name of its decisions.
    pub(super) fn rater(&self, number: u32) -> &str {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.raters.get(at)).map_or("", |(rater, _)| rater.as_str())
    }

    fn by_name(&self) -> BTreeMap<&str, BTreeSet<u32>> {
        let mut by_name: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for ((_, name), at) in self.raters.iter().zip(0..) {
            by_name.entry(name).or_default().insert(at);
        }
        by_name
    }

    /// The ratings to be compared: of these names, or of the one that has several raters if none is given, and of calls with
    /// all of these labels.
    ///
    /// # Errors
    /// [`RaterError`].
    pub fn choice(
        &self,
        names: &[String],
        labels: &[(String, String)],
    ) -> Result<RatingChoice, RaterError> {
        let numbers = labels.iter().map(|label| {
            let missing = || RaterError::NoSuchLabel {
                run: self.run,
                label: format!("{}={}", label.0, label.1),
                names: name_list(&self.labels().map(|(name, _)| name).collect()),
            };
            self.labels.find(label).ok_or_else(missing)
        });
        let labels = numbers.collect::<Result<Vec<u32>, RaterError>>()?;
        Ok(RatingChoice { raters: self.choose_raters(names)?, labels })
    }

    /// The ratings of the judges whose verdicts have a name and are in force, and those of people under the same name or
    /// their own; `None` if there are no judges or no people.
    pub(crate) fn judges_and_people(&self, name: &str) -> Option<RatingChoice> {
        let decides = |rater: &u32| {
            let at = usize::try_from(*rater).ok();
            at.and_then(|at| self.raters.get(at)).map_or("", |(_, decides)| decides.as_str())
        };
        let judges: BTreeSet<u32> =
            self.judges.iter().copied().filter(|judge| decides(judge) == name).collect();
        let is_of_it =
            |(rater, person): &(&u32, &String)| [name, person.as_str()].contains(&decides(rater));
        let people: BTreeSet<u32> =
            self.people.iter().filter(is_of_it).map(|(rater, _)| *rater).collect();
        let are_both = !judges.is_empty() && !people.is_empty();
        are_both.then(|| RatingChoice {
            raters: judges.union(&people).copied().collect(),
            labels: Vec::new(),
        })
    }

    /// The raters to be compared.
    fn choose_raters(&self, names: &[String]) -> Result<BTreeSet<u32>, RaterError> {
        let (run, by_name) = (self.run, self.by_name());
        let all = || name_list(&by_name.keys().copied().collect());
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
                    Err(RaterError::SeveralNames { names: name_list(&names) })
                }
            };
        }
        let mut chosen: BTreeSet<u32> = BTreeSet::new();
        for name in names {
            let raters = by_name.get(name.as_str()).ok_or_else(|| {
                let (name, names) = (name.clone(), all());
                RaterError::NoSuchName { run, name, names }
            })?;
            chosen.extend(raters);
        }
        match chosen.first().filter(|_| chosen.len() == 1) {
            Some(only) => Err(RaterError::OneRater { run, rater: self.rater(*only).to_owned() }),
            None => Ok(chosen),
        }
    }
}

/// Names in a message.
fn name_list(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
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
