//! One summary of the runs of a command: how each ended, its cost, its first figure, and the next steps.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::again::{begins, quote, spell_commands};
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::runs::concluded::ConcludedRun;
use crate::runs::run_figures::leading;
use crate::select::{RunSelection, SIMULATED};
use crate::views::columns::{Column, align};
use retold::event::RunStarted;
use retold::members::Members;
use retold::model::Prices;
use retold::totals::{Totals, dollars};
use retold_figures::FigureTable;

/// The most runs that `report` compares.
const COMPARED: usize = 30;

/// The summary of one run among others.
pub(crate) struct RunSummary {
    name: String,
    /// By which commands find it: its name, unless that may be another run, too.
    found_by: String,
    concluded: Result<ConcludedRun, CliError>,
    /// In US dollars; `None` if it is not known, or if nobody was paid.
    dollars: Option<f64>,
    /// Of a finished run.
    figures: Vec<FigureTable>,
}

impl RunSummary {
    pub(crate) fn new(
        name: String,
        concluded: Result<ConcludedRun, CliError>,
        prices: &Prices,
        global: &Global,
    ) -> Self {
        let read = match &concluded {
            Ok(concluded) => read(concluded, prices, global),
            Err(_) => Ok((None, Vec::new())),
        };
        let found_by = match &concluded {
            Ok(concluded) if !is_found_by(&name, concluded, global) => concluded.name.clone(),
            // A name that cannot be typed as shown is foreign text.
            Ok(concluded) => quote(&name).unwrap_or_else(|| concluded.name.clone()),
            Err(_) => name.clone(),
        };
        match read {
            Ok((dollars, figures)) => RunSummary { name, found_by, concluded, dollars, figures },
            Err(e) => {
                let concluded = concluded.and(Err(e));
                RunSummary { name, found_by, concluded, dollars: None, figures: Vec::new() }
            }
        }
    }

    /// Its cells: name, run, outcome, answers, failed, cost, first figure.
    fn cells(&self) -> Vec<String> {
        let unknown = || "-".to_owned();
        let Ok(concluded) = &self.concluded else {
            let mut cells = vec![self.name.clone(), unknown(), "not begun".to_owned()];
            cells.resize_with(7, unknown);
            return cells;
        };
        let progress = concluded.ended.progress;
        let first = self.figures.first().and_then(FigureTable::first_group);
        vec![
            self.name.clone(),
            concluded.name.clone(),
            concluded.outcome().to_owned(),
            group_digits(progress.exchanges),
            group_digits(progress.failed),
            self.dollars.map_or_else(unknown, |cost| dollars(Some(cost))),
            first.unwrap_or_else(unknown),
        ]
    }

    fn as_json(&self) -> Value {
        let mut object = match &self.concluded {
            Ok(concluded) => concluded.as_json(),
            Err(e) => json!({"run": null, "outcome": "not begun", "error": e.message}),
        };
        object.set("name", self.name.as_str().into());
        object.set("dollars", self.dollars.into());
        object.set("figures", json!(self.figures));
        object
    }
}

/// Whether commands find a run by a name: an earlier one may begin with the same digits, say.
fn is_found_by(name: &str, concluded: &ConcludedRun, global: &Global) -> bool {
    let name_of = |started: &RunStarted| global.studies.run_name(started);
    let found = retold_archive::find(concluded.log.backend().as_ref(), name, &name_of);
    found.is_ok_and(|found| found.head.run == concluded.run)
}

/// The cost of a run, and its figures if it is finished.
fn read(
    concluded: &ConcludedRun,
    prices: &Prices,
    global: &Global,
) -> Result<(Option<f64>, Vec<FigureTable>), CliError> {
    let (log, run) = (&concluded.log, concluded.run);
    let totals = Totals::read(log.reader()?.as_mut(), run, prices)?;
    let cost = totals.figures(global.studies.parsers()).all.cost;
    let dollars = cost.dollars.filter(|_| cost.is_complete && !concluded.simulated);
    let figures = match concluded.outcome() {
        "finished" => leading(&[RunSelection { log: log.clone(), run }], global)?,
        _ => Vec::new(),
    };
    Ok((dollars, figures))
}

/// Prints the summary, and each error with the run that it belongs to. The exit code is that of the worst run.
pub(crate) fn print_summary(runs: Vec<RunSummary>, output: &Output) -> Result<Status, CliError> {
    match output.is_json() {
        true => {
            let runs: Vec<Value> = runs.iter().map(RunSummary::as_json).collect();
            output.object(&json!({"runs": runs}))?;
        }
        false => output.text(&text(&runs))?,
    }
    let mut worst = Status::Fine;
    for RunSummary { name, concluded, .. } in runs {
        for warning in concluded.iter().flat_map(|concluded| &concluded.warnings) {
            let warning = warning.replacen("warning: ", &format!("warning: {name}: "), 1);
            write_err(&spell_commands(&warning));
        }
        let status = match concluded.and_then(ConcludedRun::result) {
            Ok(status) => status,
            Err(e) => {
                let status = e.status;
                CliError { message: format!("{name}: {}", e.message), ..e }.print();
                status
            }
        };
        if status.code() > worst.code() {
            worst = status;
        }
    }
    Ok(worst)
}

fn text(runs: &[RunSummary]) -> String {
    let of = |outcome: &str| {
        let is_so = |run: &&RunSummary| {
            run.concluded.as_ref().map_or("not begun", ConcludedRun::outcome) == outcome
        };
        runs.iter().filter(is_so).count()
    };
    let mut text = count_of(runs.len() as u64, "run");
    let outcomes =
        ["finished", "waiting", "interrupted", "stopped", "left", "abandoned", "not begun"];
    let counts = outcomes.into_iter().filter(|outcome| of(outcome) > 0);
    let counts: Vec<String> = counts.map(|outcome| format!("{} {outcome}", of(outcome))).collect();
    if !counts.is_empty() {
        text.push_str(&format!(": {}", counts.join(", ")));
    }
    text.push('\n');
    let is_simulated = |run: &RunSummary| run.concluded.as_ref().is_ok_and(|of| of.simulated);
    if runs.iter().any(is_simulated) {
        text.push_str(SIMULATED);
    }
    const COLUMNS: [Column; 7] = [
        Column::text("name"),
        Column::text("run"),
        Column::text("outcome"),
        Column::number("answers"),
        Column::number("failed"),
        Column::number("cost"),
        Column::text("first figure"),
    ];
    text.push('\n');
    text.push_str(&align(&COLUMNS, runs.iter().map(RunSummary::cells)));
    text.push_str(&next_steps(runs));
    text
}

/// The commands that show all finished runs together, and those that continue the others.
fn next_steps(runs: &[RunSummary]) -> String {
    let retold = begins();
    let (mut finished, mut unfinished) = (Vec::new(), Vec::new());
    // By their options.
    let mut limited: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for RunSummary { name, found_by, concluded, .. } in runs {
        let Ok(concluded) = concluded else { continue };
        match concluded.outcome() {
            "finished" => finished.push(found_by.as_str()),
            "abandoned" => {}
            // Continued one by one, each could use up the limit.
            _ if concluded.is_limited_with_others() => {
                limited.entry(&concluded.options).or_default().push(found_by);
            }
            _ => unfinished.push((name, &concluded.go_on)),
        }
    }
    let mut text = "\nnext:\n".to_owned();
    // Writing to a string cannot fail, here and below.
    for (name, go_on) in &unfinished {
        let _ = writeln!(text, "  {retold} {go_on}   continue {name} where it stopped");
    }
    for (options, names) in &limited {
        let names = names.join(" ");
        let _ = writeln!(
            text,
            "  {retold} run --resume {names}{options}   continue within a higher limit"
        );
    }
    let all = finished.join(" ");
    if !finished.is_empty() {
        let _ = writeln!(text, "  {retold} stats {all}");
        let _ = writeln!(text, "  {retold} table {all} --to tables");
    }
    // Only runs of one experiment are compared.
    let mut experiments =
        runs.iter().filter_map(|run| Some(&run.concluded.as_ref().ok()?.experiment));
    let first = experiments.next();
    let is_one = experiments.all(|other| Some(other) == first);
    if is_one && (2..=COMPARED).contains(&finished.len()) {
        let _ = writeln!(text, "  {retold} report {all} -o report.html");
    }
    let is_nothing = finished.is_empty() && unfinished.is_empty() && limited.is_empty();
    if is_nothing { String::new() } else { text }
}
