//! A figure over the parsers and judges that could have decided: the same answers, read differently.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use retold::check::{CheckError, check};
use retold::counted::count_of;
use retold::decide::{Again, AgainError, Choices, ParserParams, RegisteredParser, Selection};
use retold::decided::{JoinedDecision, decisions_of};
use retold::exchange::{AcceptedRun, accepted_about};
use retold::id::{CallPath, RunId, Sample};
use retold::log::{Backend, Head, Log, LogError, MemoryBackend, Reader};
use retold::run::{OtherDecision, run_start};
use retold::scores::{accept_revised, revised_name};
use retold_figures::{FigureBasis, FigureDefinition, FigureRun, FigureTable, figure_tables};
use retold_study::figures::{RowsError, figure_run, figure_study};
use retold_study::studies::Studies;
use serde::Serialize;

use crate::alternative::AlternativeReader;
use crate::refold::facts_with;
use crate::search::SearchError;

/// The most sets of decisions that are tried.
const MOST_TRIED: usize = 12;

/// A figure with other decisions about the same answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpreadRow {
    /// What decides, and where that comes from.
    pub by: String,
    /// The values of the figure.
    pub values: String,
    /// The value of its first group, by which rows are sorted.
    pub first: Option<f64>,
}

/// Decisions about the answers of a run, in the place of those in force.
enum OtherDecisions {
    /// As recorded.
    Recorded,
    /// Those that were accepted in a run.
    Accepted(RunId),
    /// Those that a parser makes.
    Parser(String),
}

/// A run whose figure is computed with other decisions.
pub(crate) struct SpreadOf<'a> {
    pub(crate) log: &'a Log,
    pub(crate) run: RunId,
    pub(crate) studies: &'a Studies,
}

/// What deciding again found.
#[derive(Default)]
struct MadeAgain {
    /// By the name of the decisions: who decided.
    by: BTreeMap<String, BTreeSet<String>>,
    /// For the facts of a study.
    others: BTreeMap<(CallPath, Sample), OtherDecision>,
    /// For the decisions in force: a log with a run of them, if it is not in the run's own log.
    beside: Option<Log>,
    accepted: Option<RunId>,
    /// How many decisions there are with the names that count, by these.
    counts: BTreeMap<String, u64>,
}

impl SpreadOf<'_> {
    /// The figure with the recorded decisions, with each set of accepted ones, and with those that other parsers make; nothing
    /// if only one of them decides. Sorted by the first value.
    ///
    /// # Errors
    /// [`SearchError`] if the log cannot be read, or an admitted parser cannot be used.
    pub(crate) fn rows(
        &self,
        figure: &FigureDefinition,
        basis: &FigureBasis,
        parsers: &[String],
    ) -> Result<Vec<SpreadRow>, SearchError> {
        let accepted = accepted_about(self.log.reader()?.as_mut(), self.run)?;
        let all = std::iter::once(OtherDecisions::Recorded)
            .chain(accepted.iter().map(|run| OtherDecisions::Accepted(*run)))
            .chain(parsers.iter().cloned().map(OtherDecisions::Parser));
        let (mut rows, mut known): (Vec<SpreadRow>, BTreeSet<String>) =
            (Vec::new(), BTreeSet::new());
        for decisions in all.take(MOST_TRIED) {
            if accepted.is_empty() && parsers.is_empty() {
                break;
            }
            let Some(made) = self.made(&decisions)? else { continue };
            let is_behind = |name: &String| match basis {
                FigureBasis::Facts => true,
                FigureBasis::Decisions(names) => names.contains(name),
            };
            let by: BTreeSet<&String> =
                made.by.iter().filter(|(name, _)| is_behind(name)).flat_map(|(_, by)| by).collect();
            let by: Vec<&str> = by.into_iter().map(String::as_str).collect();
            let by = by.join(", ");
            // A parser that the plan admits may have decided already.
            let is_parser = matches!(decisions, OtherDecisions::Parser(_));
            if by.is_empty() || !known.insert(by.clone()) && is_parser {
                continue;
            }
            let by = match decisions {
                OtherDecisions::Recorded => format!("{by}, as recorded"),
                OtherDecisions::Accepted(run) => {
                    let counts = made.counts.iter().filter(|(name, _)| is_behind(name));
                    let count = count_of(counts.map(|(_, count)| count).sum(), "decision");
                    format!("{by}, {count} accepted in run {}", run.short(8))
                }
                OtherDecisions::Parser(_) => format!("{by}, as the plan admits"),
            };
            if let Some(table) = self.table(figure, basis, &decisions, made, &accepted)? {
                let first = table.groups.first().and_then(|group| group.value);
                rows.push(SpreadRow { by, values: table.values_line(), first });
            }
        }
        if rows.len() < 2 {
            rows.clear();
        }
        rows.sort_by(|one, other| {
            let value = |row: &SpreadRow| row.first.unwrap_or(f64::INFINITY);
            value(one).total_cmp(&value(other))
        });
        Ok(rows)
    }

    /// Decides again; `None` if a parser has nothing to decide about in this run.
    fn made(&self, decisions: &OtherDecisions) -> Result<Option<MadeAgain>, SearchError> {
        let mut made = MadeAgain::default();
        let mut reader = self.log.checked_reader()?;
        match decisions {
            OtherDecisions::Recorded => decisions_of(&mut reader, self.run, |joined| {
                let by = &joined.made.by;
                made.by.entry(by.decides().to_owned()).or_default().insert(by.made_by());
            })?,
            OtherDecisions::Accepted(run) => {
                made.accepted = Some(*run);
                decisions_of(&mut reader, *run, |joined| made.accept(joined))?;
            }
            OtherDecisions::Parser(name) => {
                return self.decide_again(name, &mut reader, made);
            }
        }
        Ok(Some(made))
    }

    fn decide_again(
        &self,
        name: &str,
        reader: &mut dyn Reader,
        mut made: MadeAgain,
    ) -> Result<Option<MadeAgain>, SearchError> {
        let parsers = self.studies.parsers();
        let mut parser = RegisteredParser::new(parsers, name)?;
        let params = ParserParams::default();
        let selection = Selection {
            by: Again::By(&mut parser),
            params: &params,
            only: None,
            choices: Choices::First,
            name: None,
            parsers,
        };
        let started = run_start(reader, self.run)?;
        let (new, head) =
            (RunId::random().map_err(|e| LogError::failure("a run", e))?, Head::START);
        let mut accepted = AcceptedRun::begin(new, self.run, head, &started, Default::default())?;
        let checked = check(reader, self.run, selection, |reader, revised| {
            let name = revised_name(revised);
            made.by.entry(name.to_owned()).or_default().insert(revised.by.to_string());
            if let Some(other) = revised.other() {
                made.others.insert((revised.answer.call.clone(), revised.answer.sample), other);
            }
            accept_revised(&mut accepted, reader, (self.run, name), revised)
                .map_err(|error| CheckError::from(AgainError::from(error)))
        });
        match checked {
            Ok(_) => {}
            Err(CheckError::NotInRun { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let memory: Arc<dyn Backend> = Arc::new(MemoryBackend::new());
        made.accepted = Some(accepted.store(memory.as_ref())?);
        made.beside = Some(Log::new(memory));
        Ok(Some(made))
    }

    /// The figure with these decisions; `None` if there is nothing of it then.
    fn table(
        &self,
        figure: &FigureDefinition,
        basis: &FigureBasis,
        decisions: &OtherDecisions,
        made: MadeAgain,
        accepted: &[RunId],
    ) -> Result<Option<FigureTable>, SearchError> {
        let without = accepted.iter().copied().filter(|run| made.accepted != Some(*run)).collect();
        let beside = made.beside.as_ref().map(Log::reader).transpose()?;
        let mut reader = AlternativeReader::new(self.log.reader()?, without, beside);
        let name = self.run.short(8);
        let is_recorded = matches!(decisions, OtherDecisions::Recorded);
        let run = match basis {
            FigureBasis::Facts if !is_recorded => {
                let started = run_start(&mut reader, self.run)?;
                let facts = facts_with(self.log, self.run, made.others, self.studies)?;
                let study = self.studies.find(&started.experiment).zip(facts);
                let Some((study, facts)) = study else { return Ok(None) };
                // Facts that other decisions lead to may be none that the study can count.
                let Ok(study) = figure_study(study, &facts) else { return Ok(None) };
                FigureRun { name, run: self.run, reader: &mut reader, study }
            }
            _ => figure_run(self.studies, name, self.run, &mut reader)?,
        };
        let figures = std::slice::from_ref(figure);
        let tables = figure_tables(&mut [run], figures, self.studies.parsers());
        Ok(tables.ok().and_then(|mut tables| tables.pop()))
    }
}

impl MadeAgain {
    /// Adds an accepted decision.
    fn accept(&mut self, joined: JoinedDecision) {
        let (by, details) = (&joined.made.by, &joined.made.details);
        self.by.entry(by.decides().to_owned()).or_default().insert(by.made_by());
        *self.counts.entry(by.decides().to_owned()).or_default() += 1;
        // A study decides about the first choice.
        if details.choice.unwrap_or(0) > 0 {
            return;
        }
        let other = OtherDecision {
            method: by.method.clone(),
            value: details.value.clone(),
            reasoning: details.reasoning.clone(),
            warnings: details.warnings.clone(),
        };
        self.others.insert((joined.question.call.clone(), joined.question.sample), other);
    }
}

impl From<RowsError> for SearchError {
    fn from(error: RowsError) -> Self {
        match error {
            RowsError::Log(error) => error.into(),
            error => SearchError::Rows(error),
        }
    }
}
