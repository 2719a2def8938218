//! A run and its figures beside plans and other runs.

use std::collections::BTreeSet;

use retold::check::CheckError;
use retold::event::{PLAN, PROGRAM, RunStarted};
use retold::exchange::{DECISIONS, EXCHANGES};
use retold::id::RunId;
use retold::log::{Log, LogError, RunHead};
use retold::parse::registry::RegistryError;
use retold::run::latest_start;
use retold_figures::{
    ComparedGroups, DefinitionError, FigureDefinition, FigureTable, FiguresError, GroupDifference,
    figure_tables,
};
use retold_study::figures::{RowsError, figure_run};
use retold_study::studies::Studies;
use serde::Serialize;

use crate::deciders::RunDecisionMakers;
use crate::deviation::{Deviation, DeviationKind};
use crate::hypotheses::Direction;
use crate::named_plan::NamedPlan;
use crate::program_deviations::program_deviations;
use crate::registered::{PlannedFigure, RegisteredPlan};
use crate::setting_deviations::setting_deviations;
use crate::spread::{SpreadOf, SpreadRow};
use crate::standing::Standing;
use crate::timing::end_deviations;
use crate::tries::{
    Beginnings, StudyRun, StudyRunKind, StudyRuns, is_same_study, settings_that_differ,
};

/// The most other runs in which a figure is computed: the latest.
const MOST_COMPUTED: usize = 20;

/// A search that could not be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A figure of the run could not be computed again.
    #[error(transparent)]
    Figures(#[from] FiguresError),
    /// A figure cannot be read.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The rows of a study cannot be made.
    #[error(transparent)]
    Rows(RowsError),
    /// A parser that the plan admits is not there.
    #[error("a parser that the plan admits: {0}")]
    Parser(#[from] RegistryError),
    /// A parser that the plan admits could not decide.
    #[error("a parser that the plan admits: {0}")]
    Decide(#[from] CheckError),
}

/// The plan that a run names, as far as the log has it.
enum PlanOfRun {
    /// It names none.
    None,
    /// The log lacks it.
    Elsewhere(RunId),
    /// It is there.
    Here { run: RunId, plan: Box<RegisteredPlan> },
}

/// A plan of the study of a run.
struct StudyPlan {
    run: RunId,
    plan: RegisteredPlan,
    /// Whether it was registered before the run began.
    is_earlier: bool,
}

/// A run beside its plan and beside the other runs of its study.
pub struct RunSearch<'a> {
    log: &'a Log,
    run: RunId,
    studies: &'a Studies,
    started: RunStarted,
    plan: PlanOfRun,
    /// The plans of the study, in the order in which they were registered.
    plans: Vec<StudyPlan>,
    /// What deviates whatever the figure is.
    deviations: Vec<Deviation>,
    makers: RunDecisionMakers,
    /// The other runs of the study.
    same_study: Vec<(RunHead, RunStarted)>,
    counts: StudyRuns,
}

/// What else there is to a figure of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureSearch {
    /// The run.
    pub run: RunId,
    /// The figure.
    pub figure: String,
    /// How it stands to a plan.
    #[serde(flatten)]
    pub standing: Standing,
    /// What is not as planned.
    pub deviations: Vec<Deviation>,
    /// On which side of its baseline it was expected, if the plan says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Direction>,
    /// What came of that, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub as_expected: Vec<String>,
    /// The study.
    pub study: String,
    /// How many runs of it the log has, this one included.
    pub runs: StudyRuns,
    /// The latest of them with the figure, in their order; empty if this one is the only one.
    pub others: Vec<StudyRun>,
    /// The figure with other decisions about the same answers.
    pub spread: Vec<SpreadRow>,
}

impl<'a> RunSearch<'a> {
    /// Reads what there is about a run; `None` for a run that belongs to no study: a plan, accepted decisions, or exchanges.
    ///
    /// # Errors
    /// [`SearchError::Log`] if the log cannot be read.
    pub fn read(
        log: &'a Log,
        run: RunId,
        studies: &'a Studies,
    ) -> Result<Option<Self>, SearchError> {
        let mut reader = log.checked_reader()?;
        let started = latest_start(&mut reader, run)?;
        if [PLAN, DECISIONS, EXCHANGES].contains(&started.experiment.as_str()) {
            return Ok(None);
        }
        let Beginnings { runs, unreadable } = Beginnings::read(&mut reader)?;
        let place = |of: RunId| runs.iter().position(|(head, _)| head.run == of);
        let own = place(run);
        let is_before = |of: RunId| place(of) < own;
        let mut plans: Vec<StudyPlan> = Vec::new();
        for (head, of) in &runs {
            let plan = RegisteredPlan::of(of).filter(|plan| plan.is_of(&started));
            let (run, is_earlier) = (head.run, is_before(head.run));
            plans.extend(plan.map(|plan| StudyPlan { run, plan, is_earlier }));
        }
        let makers = RunDecisionMakers::read(&mut reader, run)?;
        let mut deviations = Vec::new();
        let plan = match NamedPlan::of(&started) {
            None => PlanOfRun::None,
            Some(named) => match plans.iter().find(|of| of.run == named.run) {
                None => PlanOfRun::Elsewhere(named.run),
                Some(StudyPlan { run: plan_run, plan, is_earlier }) => {
                    let head =
                        place(named.run).and_then(|at| runs.get(at)).map(|(head, _)| head.head);
                    if head != Some(named.head) || !is_earlier {
                        let how =
                            "the plan in this log is not the one that the run named when it began";
                        deviations.push(Deviation::new(DeviationKind::Plan, how));
                    }
                    deviations.extend(match plan.is_of_program() {
                        true => program_deviations(plan, &mut reader, run, studies.parsers())?,
                        false => setting_deviations(plan, &started, studies),
                    });
                    if let Some((head, _)) = own.and_then(|at| runs.get(at)) {
                        deviations.extend(end_deviations(&mut reader, head, &runs)?);
                    }
                    PlanOfRun::Here { run: *plan_run, plan: Box::new(plan.clone()) }
                }
            },
        };
        let mut counts = StudyRuns { unreadable, ..StudyRuns::default() };
        let same_study: Vec<(RunHead, RunStarted)> = runs
            .into_iter()
            .filter(|(head, of)| head.run == run || is_same_study(&started, of))
            .collect();
        same_study.iter().for_each(|(_, of)| counts.count(StudyRunKind::of(of)));
        Ok(Some(RunSearch {
            log,
            run,
            studies,
            started,
            plan,
            plans,
            deviations,
            makers,
            same_study,
            counts,
        }))
    }

    /// What else there is to a figure of the run.
    ///
    /// # Errors
    /// [`SearchError`].
    pub fn figure(&self, table: &FigureTable) -> Result<FigureSearch, SearchError> {
        let definition: FigureDefinition = table.figure.parse()?;
        let mut reader = self.log.checked_reader()?;
        let parsers = self.studies.parsers();
        let mut of = figure_run(self.studies, self.run.short(8), self.run, &mut reader)?;
        let basis = of.basis(&definition, parsers)?;
        let (standing, planned) = self.standing(&definition.to_string());
        let (mut deviations, mut admitted): (Vec<Deviation>, &[String]) = (Vec::new(), &[]);
        if let (PlanOfRun::Here { plan, .. }, Some(_)) = (&self.plan, planned) {
            deviations.extend(self.deviations.iter().cloned());
            let mut others = self.log.reader()?;
            deviations.extend(self.makers.deviations(plan, &basis, others.as_mut())?);
            admitted = &plan.parsers;
        }
        let standing = match standing {
            Standing::ByPlan { plan } if !deviations.is_empty() => Standing::Deviation { plan },
            standing => standing,
        };
        let spread = SpreadOf { log: self.log, run: self.run, studies: self.studies };
        Ok(FigureSearch {
            run: self.run,
            figure: definition.to_string(),
            standing,
            deviations,
            expected: planned.map(|planned| planned.direction),
            as_expected: planned.map(|planned| as_expected(planned, table)).unwrap_or_default(),
            study: self.study(),
            runs: self.counts,
            others: self.other_runs(&definition, table)?,
            spread: spread.rows(&definition, &basis, admitted)?,
        })
    }

    /// What its study is called: of a program, the name that was given to it.
    fn study(&self) -> String {
        match (self.started.experiment.as_str(), self.started.name()) {
            (PROGRAM, Some(name)) => name.to_owned(),
            (PROGRAM, None) => "this program".to_owned(),
            (experiment, _) => experiment.to_owned(),
        }
    }

    /// How a figure stands to a plan, before its deviations are known, and what the plan of the run expects of it.
    fn standing(&self, figure: &str) -> (Standing, Option<&PlannedFigure>) {
        let exploratory = |because: String| (Standing::Exploratory { because }, None);
        match &self.plan {
            PlanOfRun::Elsewhere(run) => exploratory(format!(
                "the run names plan {}, which is not in this log: copy it here to compare them",
                run.short(8)
            )),
            PlanOfRun::Here { run, plan } => match plan.hypothesis(figure) {
                Some(planned) => (Standing::ByPlan { plan: *run }, Some(planned)),
                None => exploratory(format!("plan {} does not have this figure", run.short(8))),
            },
            PlanOfRun::None => {
                let mut with_it =
                    self.plans.iter().filter(|of| of.plan.hypothesis(figure).is_some());
                match with_it.next() {
                    None => exploratory("no plan of it was registered".to_owned()),
                    Some(StudyPlan { run, is_earlier: false, .. }) => {
                        (Standing::BeforePlan { plan: *run }, None)
                    }
                    Some(StudyPlan { run, .. }) => exploratory(format!(
                        "the run names no plan, though plan {} has this figure",
                        run.short(8)
                    )),
                }
            }
        }
    }

    /// The runs of the study with the figure, this one included; none if it is the only one.
    fn other_runs(
        &self,
        definition: &FigureDefinition,
        table: &FigureTable,
    ) -> Result<Vec<StudyRun>, SearchError> {
        if self.same_study.len() < 2 {
            return Ok(Vec::new());
        }
        let skipped = self.same_study.len().saturating_sub(MOST_COMPUTED);
        let mut computed: BTreeSet<RunId> =
            self.same_study.iter().skip(skipped).map(|(head, _)| head.run).collect();
        computed.insert(self.run);
        let mut all = Vec::new();
        for (head, started) in
            self.same_study.iter().filter(|(head, _)| computed.contains(&head.run))
        {
            let is_this = head.run == self.run;
            let values = match is_this {
                true => table.values_line(),
                false => self.values(head.run, definition)?,
            };
            all.push(StudyRun {
                run: head.run,
                began: head.started,
                kind: StudyRunKind::of(started),
                differs: settings_that_differ(&self.started, started, self.studies),
                values: Some(values),
            });
        }
        Ok(all)
    }

    /// A figure of another run.
    fn values(&self, run: RunId, definition: &FigureDefinition) -> Result<String, SearchError> {
        let mut reader = self.log.checked_reader()?;
        let of = match figure_run(self.studies, run.short(8), run, &mut reader) {
            Ok(of) => of,
            Err(RowsError::Log(error)) if !error.is_damage() => return Err(error.into()),
            Err(_) => return Ok("cannot be read".to_owned()),
        };
        let definitions = std::slice::from_ref(definition);
        match figure_tables(&mut [of], definitions, self.studies.parsers()) {
            Ok(tables) => Ok(tables.first().map_or_else(String::new, FigureTable::values_line)),
            Err(FiguresError::Log(error)) if !error.is_damage() => Err(error.into()),
            Err(FiguresError::Log(_)) => Ok("cannot be read".to_owned()),
            Err(_) => Ok("no values".to_owned()),
        }
    }
}

/// Whether what was expected of a figure came out, in words.
fn as_expected(planned: &PlannedFigure, table: &FigureTable) -> Vec<String> {
    let side = |difference: f64| match (planned.direction, planned.direction.holds(difference)) {
        (Direction::Different, _) | (_, None) if difference == 0.0 => "no difference",
        (Direction::Different, _) => "different, as expected",
        (_, Some(true)) => "on the expected side",
        (_, Some(false)) => "on the other side",
        (_, None) => "no difference",
    };
    if let Some(number) = planned.number {
        let values = table.groups.iter().filter_map(|group| group.value);
        return values
            .map(|value| format!("compared with {number}: {}", side(value - number)))
            .collect();
    }
    let words = |compared: &ComparedGroups| {
        let ComparedGroups { one, other, found: GroupDifference { difference, .. } } = compared;
        let name = |group: &[retold_figures::GroupValue]| {
            group.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        Some(format!("{} minus {}: {}", name(other), name(one), side((*difference)?)))
    };
    table.differences.iter().filter_map(words).collect()
}
