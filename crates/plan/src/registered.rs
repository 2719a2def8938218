//! A plan in the log.

use std::collections::BTreeMap;
use std::fmt::Write;

use retold::counted::{count_of, group_digits};
use retold::escaping::printable;
use retold::event::{PLAN, PROGRAM, RUN_NAME, RunStarted};
use retold::exchange::store_statement;
use retold::id::{RunId, Time};
use retold::log::{Backend, Head, LogError, Reader};
use retold::run::run_start;
use retold_figures::ExpectedInterval;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hypotheses::{Direction, HypothesisDefinition};

/// The setting of its run in which a plan is.
const REGISTERED: &str = "plan";

/// A plan as it is registered: with everything that decides whether a run is as planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegisteredPlan {
    /// The name of the experiment; of a program, the name of its runs.
    pub study: String,
    /// The seed; `None` if the config leaves it to chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The settings of the planned run, as it would record them. A program has none: nobody knows what it will ask.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
    /// What is expected.
    pub hypotheses: Vec<PlannedFigure>,
    /// When recording stops, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<String>,
    /// Which answers are left out, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusions: Vec<String>,
    /// What decides in the planned run, by the name of the decisions.
    pub deciders: BTreeMap<String, Vec<String>>,
    /// Parsers that may decide besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parsers: Vec<String>,
    /// The settings of the judges that will decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<Value>,
    /// Models that may answer besides those of the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// How many calls a run with made-up answers made, or a program is to make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
}

/// A figure of which something is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedFigure {
    /// The figure.
    pub figure: String,
    /// The number that it is compared with, if it is not compared by groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// On which side of its baseline it is expected.
    pub direction: Direction,
    /// Its groups in a run with made-up answers; none of what a judge decides later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<PlannedGroup>,
}

/// A group of a planned figure, in a run with made-up answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedGroup {
    /// Its name: the figure with the values of its labels.
    pub name: String,
    /// Values that count.
    pub draws: u64,
    /// Their clusters.
    pub clusters: u64,
    /// Half the width of its interval; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

impl PlannedFigure {
    /// A hypothesis with what a run with made-up answers has of it.
    pub fn new(hypothesis: &HypothesisDefinition, expected: &[ExpectedInterval]) -> Self {
        let group = |of: &ExpectedInterval| PlannedGroup {
            name: of.name.clone(),
            draws: of.draws,
            clusters: of.clusters,
            half_width: of.half_width,
        };
        PlannedFigure {
            figure: hypothesis.figure.to_string(),
            number: hypothesis.number,
            direction: hypothesis.direction,
            groups: expected.iter().map(group).collect(),
        }
    }
}

impl RegisteredPlan {
    /// The plan that a run registered; `None` of any other run, and of one that another release wrote differently.
    pub fn of(started: &RunStarted) -> Option<Self> {
        let registered = started.settings.get(REGISTERED).filter(|_| started.experiment == PLAN)?;
        serde_json::from_value(registered.clone()).ok()
    }

    /// The last run that registered this plan. Damaged ones are left out.
    ///
    /// # Errors
    /// [`LogError`] if the runs cannot be listed.
    pub fn find(&self, reader: &mut dyn Reader) -> Result<Option<RunId>, LogError> {
        let mut found = None;
        for head in reader.runs()? {
            let Ok(started) = run_start(reader, head.run) else { continue };
            let is_this = RegisteredPlan::of(&started).is_some_and(|plan| plan == *self);
            found = is_this.then_some(head.run).or(found);
        }
        Ok(found)
    }

    /// Whether it is a plan of a program, which has a name and no settings.
    pub fn is_of_program(&self) -> bool {
        self.settings.is_null()
    }

    /// Whether a run is of the planned study.
    pub fn is_of(&self, started: &RunStarted) -> bool {
        match started.experiment == PROGRAM {
            true => self.is_of_program() && started.name() == Some(self.study.as_str()),
            false => !self.is_of_program() && started.experiment == self.study,
        }
    }

    /// Registers it as a run of its own, which is found by this name.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn store(
        &self,
        backend: &dyn Backend,
        (run, name): (RunId, &str),
        time: Time,
    ) -> Result<Head, LogError> {
        let settings = json!({ REGISTERED: self, RUN_NAME: name });
        let nobody = json!({"kind": "none", "simulated": false});
        let started = RunStarted::new(PLAN, self.seed.unwrap_or_default(), settings, nobody);
        store_statement(backend, run, time, started)
    }

    /// The hypothesis about a figure.
    pub fn hypothesis(&self, figure: &str) -> Option<&PlannedFigure> {
        self.hypotheses.iter().find(|planned| planned.figure == figure)
    }

    /// The plan as people read it, line by line.
    pub fn text(&self) -> String {
        let shown = |text: &str| printable(text, 300);
        let mut text = format!("a plan of {}\n", shown(&self.study));
        for planned in &self.hypotheses {
            let PlannedFigure { figure, number, direction, groups } = planned;
            // Writing to a string cannot fail, here and below.
            let _ = write!(text, "  {}: expected {}", shown(figure), direction.as_str());
            let than = number.map(|number| format!(" than {number}")).unwrap_or_default();
            let _ = writeln!(text, "{than}");
            for PlannedGroup { name, draws, clusters, .. } in groups {
                let (draws, clusters) = (group_digits(*draws), count_of(*clusters, "cluster"));
                let _ = writeln!(text, "    {}: n {draws}, {clusters}", shown(name));
            }
        }
        if let Some(calls) = self.calls {
            let made_up = if self.is_of_program() { "" } else { " in a run with made-up answers" };
            let _ = writeln!(text, "  n: {}{made_up}", count_of(calls, "call"));
        }
        let stopping = self.stopping.as_deref().unwrap_or("when everything has been asked");
        let _ = writeln!(text, "  stopping: {}", shown(stopping));
        for (name, by) in &self.deciders {
            let _ = writeln!(text, "  {} by {}", shown(name), shown(&by.join(", ")));
        }
        let judges = self.judges.iter().filter_map(|judge| judge["name"].as_str());
        let lists = [
            ("exclusions", self.exclusions.clone()),
            ("other parsers", self.parsers.clone()),
            ("judges of", judges.map(str::to_owned).collect()),
            (if self.is_of_program() { "models" } else { "other models" }, self.models.clone()),
        ];
        for (name, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            let _ = writeln!(text, "  {name}: {}", shown(&list.join("; ")));
        }
        text
    }
}
