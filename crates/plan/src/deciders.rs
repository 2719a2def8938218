//! Who decided about the answers of a run, and how that differs from its plan.

use std::collections::{BTreeMap, BTreeSet};

use retold::counted::count_of;
use retold::decided::{DecisionAbout, JoinedDecision, decisions_about};
use retold::escaping::printable;
use retold::event::DecidedBy;
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold_figures::FigureBasis;

use crate::deviation::{Deviation, DeviationKind};
use crate::judges::judge_difference;
use crate::registered::RegisteredPlan;

/// How much of a name is shown, in characters.
const SHOWN: usize = 80;

/// Somebody or something that decided.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct DecisionMaker {
    name: String,
    /// The run of the judge, if it is one; `None` within if the decision does not say.
    judged_in: Option<Option<RunId>>,
}

/// Who decided about the answers of a run, by the name of the decisions.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunDecisionMakers {
    recorded: BTreeMap<String, BTreeSet<DecisionMaker>>,
    in_force: BTreeMap<String, BTreeMap<DecisionMaker, Changes>>,
}

/// What decisions in force changed, compared with recorded ones of the same name about the same answer.
#[derive(Debug, Clone, Copy, Default)]
struct Changes {
    /// Decisions that are not in place of a recorded value that they take away.
    values: u64,
    /// Recorded values that they take away.
    taken_away: u64,
}

impl RunDecisionMakers {
    /// Those of a run.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read, or one of accepted decisions about its answers.
    pub(crate) fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let mut found = RunDecisionMakers::default();
        let mut replaced: BTreeSet<(Seq, u32, String)> = BTreeSet::new();
        decisions_about(reader, run, |DecisionAbout { run: of, answer, joined }| {
            let JoinedDecision { made, in_force, .. } = joined;
            let (name, choice) = made.subject();
            let (name, has_value) = (name.to_owned(), !made.details.value.is_null());
            let maker = DecisionMaker::new(&made.by);
            if of == run {
                found.recorded.entry(name.clone()).or_default().insert(maker.clone());
            }
            if !in_force {
                replaced.extend((has_value && of == run).then_some((answer, choice, name)));
                return;
            }
            let takes_away =
                !has_value && of != run && replaced.contains(&(answer, choice, name.clone()));
            let changes = found.in_force.entry(name).or_default().entry(maker).or_default();
            match takes_away {
                true => changes.taken_away += 1,
                false => changes.values += 1,
            }
        })?;
        Ok(found)
    }

    /// How they differ from the plan, as far as a figure rests on them. `reader` finds the runs of judges.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub(crate) fn deviations(
        &self,
        plan: &RegisteredPlan,
        basis: &FigureBasis,
        reader: &mut dyn Reader,
    ) -> Result<Vec<Deviation>, LogError> {
        let mut deviations = Vec::new();
        match basis {
            // A run may decide something that the planned one never came to.
            FigureBasis::Facts => {
                for (name, makers) in &self.recorded {
                    let Some(planned) = plan.deciders.get(name) else { continue };
                    let others = makers.iter().filter(|it| !is_admitted(it, planned, plan));
                    deviations.extend(others.map(|other| parser_deviation(name, other, planned)));
                }
            }
            FigureBasis::Decisions(names) => {
                for name in names {
                    let planned = self.planned(name, plan);
                    for (maker, changes) in self.in_force.get(name).into_iter().flatten() {
                        if is_admitted(maker, &planned, plan) {
                            continue;
                        }
                        let found = of_decisions(name, maker, *changes, (plan, &planned), reader)?;
                        deviations.extend(found);
                    }
                }
            }
        }
        Ok(deviations)
    }

    /// What was to decide. A program decides itself, and nobody knows before how: what it reported is as planned.
    fn planned(&self, name: &str, plan: &RegisteredPlan) -> Vec<String> {
        if plan.is_of_program() {
            let recorded = self.recorded.get(name).into_iter().flatten();
            return recorded.map(|maker| maker.name.clone()).collect();
        }
        plan.deciders.get(name).cloned().unwrap_or_default()
    }
}

/// What decided in a run itself, by the name of the decisions.
///
/// # Errors
/// [`LogError`] if the run cannot be read.
pub fn decided_by(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<BTreeMap<String, Vec<String>>, LogError> {
    let RunDecisionMakers { recorded, .. } = RunDecisionMakers::read(reader, run)?;
    let names = |makers: BTreeSet<DecisionMaker>| makers.into_iter().map(|it| it.name).collect();
    Ok(recorded.into_iter().map(|(name, makers)| (name, names(makers))).collect())
}

impl DecisionMaker {
    fn new(by: &DecidedBy) -> Self {
        let run = || by.parser["params"]["run"].as_str().and_then(|run| run.parse().ok());
        DecisionMaker { name: by.made_by(), judged_in: by.is_by_judge().then(run) }
    }
}

fn is_admitted(maker: &DecisionMaker, planned: &[String], plan: &RegisteredPlan) -> bool {
    planned.contains(&maker.name) || plan.parsers.contains(&maker.name)
}

fn parser_deviation(name: &str, maker: &DecisionMaker, planned: &[String]) -> Deviation {
    let [name, by] = [name, &maker.name].map(|text| printable(text, SHOWN));
    let planned = match planned {
        [] => "which the plan does not have".to_owned(),
        planned => format!("planned {}", printable(&planned.join(", "), SHOWN)),
    };
    Deviation::new(DeviationKind::Parser, format!("{name} is decided by {by}, {planned}"))
}

/// How the decisions in force of one name and one maker differ from the plan.
fn of_decisions(
    name: &str,
    maker: &DecisionMaker,
    changes: Changes,
    (plan, planned): (&RegisteredPlan, &[String]),
    reader: &mut dyn Reader,
) -> Result<Vec<Deviation>, LogError> {
    let [shown, by] = [name, &maker.name].map(|text| printable(text, SHOWN));
    if let Some(judged_in) = maker.judged_in {
        let difference = judge_difference(plan, name, judged_in, reader)?;
        let how = |difference| format!("{shown} is decided by {by}: {difference}");
        return Ok(difference
            .map(|it| Deviation::new(DeviationKind::Judge, how(it)))
            .into_iter()
            .collect());
    }
    let mut deviations = Vec::new();
    if changes.values > 0 {
        deviations.push(parser_deviation(name, maker, planned));
    }
    if changes.taken_away > 0 {
        let values = count_of(changes.taken_away, "recorded value");
        let how = format!("{by} took {values} of {shown} away");
        deviations.push(Deviation::new(DeviationKind::Exclusion, how));
    }
    Ok(deviations)
}
