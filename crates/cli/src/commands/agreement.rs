//! `retold agreement`: how well those agree who decided about the same answers.

use std::fmt::Write;

use clap::ValueEnum;
use retold::escaping::printable;
use retold::event::Event;
use retold::id::Seq;
use retold::log::{LogError, Reader};
use retold_figures::agreement::{
    Agreement, Disagreement, MeasurementLevel, PairedRaters, RatedAnswers, Rater, RaterError,
    RaterPair,
};
use serde_json::json;

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, counted, grouped};
use crate::runs::accepting;
use crate::select::{self, RunSelection};

/// How much of a name, of a value and of an answer is shown.
const NAME_SHOWN: usize = 40;
const ANSWER_SHOWN: usize = 100;

/// Compare what parsers, judges and people decided about the answers.
///
/// Every decision about the run's answers counts: recorded ones, and those that were accepted, judged or labelled since, in
/// force or not. The names say which of them are about the same: `retold agreement latest vote ada` compares the
/// decisions that are called `vote` with those called `ada`. Without names, those of one name are compared, if several
/// decided under it.
///
/// Shows Krippendorff's alpha of all, with the interval of a bootstrap of the answers, Cohen's kappa of each two with the
/// interval of a large sample, and the answers about which they disagree. Values that are null, and a parser's last resort,
/// are missing values.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, its name, `latest`, or the file of a recording.
    run: String,
    /// The names of the decisions that are compared.
    names: Vec<String>,
    /// What differences between values mean for alpha.
    #[arg(long, value_enum, default_value_t = LevelName::Nominal)]
    level: LevelName,
    /// How many disagreements to list as text; --json lists all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LevelName {
    /// Values are names: two are the same or not.
    Nominal,
    /// Values are numbers with an order.
    Ordinal,
    /// Values are numbers whose differences count.
    Interval,
}

impl From<LevelName> for MeasurementLevel {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Nominal => MeasurementLevel::Nominal,
            LevelName::Ordinal => MeasurementLevel::Ordinal,
            LevelName::Interval => MeasurementLevel::Interval,
        }
    }
}

impl From<RaterError> for CliError {
    fn from(error: RaterError) -> Self {
        let hint = match error {
            RaterError::Log(error) => return error.into(),
            RaterError::NoDecisions { .. } => {
                "`retold label RUN --by NAME` decides about them, and so does `retold check`"
            }
            _ => "name them: `retold agreement RUN vote ada`",
        };
        CliError::usage(error.to_string()).hint(hint)
    }
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let selected = select::to_read(global, &args.run)?;
    let run = accepting::answered_in(&selected.log, selected.run)?;
    let selected = RunSelection { run, ..selected };
    gate::show_runs([selected], output, |[selected]| show(&selected, &args, global, output))
}

fn show(
    selected: &RunSelection,
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (mut reader, run) = (selected.checked()?, selected.run);
    let simulated = select::started(&mut reader, run)?.is_simulated();
    let rated = RatedAnswers::read(&mut reader, run, &args.names, global.studies.parsers())?;
    let found = rated.agreement(args.level.into());
    let mut texts = Vec::new();
    let listed = if output.is_json() { found.disagreements.len() } else { args.most };
    for disagreement in found.disagreements.iter().take(listed) {
        texts.push(answer_text(&mut reader, selected, disagreement.seq)?);
    }
    if output.is_json() {
        let mut object = json!(found);
        for (disagreement, text) in
            object["disagreements"].as_array_mut().into_iter().flatten().zip(texts)
        {
            disagreement["text"] = text.into();
        }
        object["run"] = json!(run);
        object["simulated"] = simulated.into();
        output.object(&object)?;
    } else {
        let said = if simulated { select::SIMULATED } else { "" };
        output.text(&format!("{said}{}", text(&found, &texts)))?;
    }
    Ok(Status::Fine)
}

/// What an answer says.
fn answer_text(
    reader: &mut dyn Reader,
    selected: &RunSelection,
    seq: Seq,
) -> Result<String, CliError> {
    let stored = reader.events(selected.run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
    let event = stored.map(|stored| stored.event().map_err(LogError::from)).transpose()?;
    Ok(match event {
        Some(Event::ResponseReceived(received)) => received.content.text().to_owned(),
        Some(Event::AnswerReused(reused)) => reused.content.text().to_owned(),
        _ => String::new(),
    })
}

/// A coefficient with its interval.
fn coefficient(of: Option<Agreement>) -> String {
    match of {
        None => "not defined (no two values can differ)".to_owned(),
        // No interval: nothing varies. A zero may be negative.
        Some(Agreement { value, interval: None, .. }) => format!("{:.3}", value + 0.0),
        Some(Agreement { value, interval: Some(interval), .. }) => {
            format!("{value:.3} [{:.3}, {:.3}]", interval.low, interval.high)
        }
    }
}

fn text(found: &PairedRaters, texts: &[String]) -> String {
    let PairedRaters { raters, alpha, level, not_numbers, pairs, rated, disagreements } = found;
    let mut out = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(out, "  {:<NAME_SHOWN$}{:>9}{:>9}", "who decided", "values", "missing");
    for Rater { rater, values, missing } in raters {
        let rater = printable(rater, NAME_SHOWN);
        let _ =
            writeln!(out, "  {rater:<NAME_SHOWN$}{:>9}{:>9}", grouped(*values), grouped(*missing));
    }
    let level = match level {
        MeasurementLevel::Nominal => "nominal",
        MeasurementLevel::Ordinal => "ordinal",
        MeasurementLevel::Interval => "interval",
    };
    let _ = writeln!(
        out,
        "\nKrippendorff's alpha, {level}: {} over {} with two values or more",
        coefficient(*alpha),
        counted(*rated, "answer")
    );
    if *not_numbers > 0 {
        let _ =
            writeln!(out, "{} not numbers, and left out of alpha", counted(*not_numbers, "value"));
    }
    for RaterPair { one, other, both, same, kappa } in pairs {
        let (one, other) = (printable(one, NAME_SHOWN), printable(other, NAME_SHOWN));
        let share = 100.0 * *same as f64 / (*both).max(1) as f64;
        let _ = match both {
            0 => writeln!(out, "{one} and {other}: no answer in common"),
            both => writeln!(
                out,
                "{one} and {other}: the same for {} of {} ({share:.2} %); Cohen's kappa {}",
                grouped(*same),
                counted(*both, "answer"),
                coefficient(*kappa)
            ),
        };
    }
    if !disagreements.is_empty() {
        let _ = writeln!(out, "\n{}", counted(disagreements.len() as u64, "disagreement"));
    }
    for (Disagreement { seq, choice, call, sample, values }, text) in
        disagreements.iter().zip(texts)
    {
        let choice = if *choice > 0 { format!(" choice {choice}") } else { String::new() };
        let _ = writeln!(out, "  seq {seq} {call}#{sample}{choice}");
        for (rater, value) in values {
            let (rater, value) = (printable(rater, NAME_SHOWN), value.to_string());
            let _ = writeln!(out, "    {rater}: {}", printable(&value, NAME_SHOWN));
        }
        let _ = writeln!(out, "    {}", printable(text, ANSWER_SHOWN));
    }
    if disagreements.len() > texts.len() {
        let more = grouped((disagreements.len() - texts.len()) as u64);
        let _ = writeln!(out, "  and {more} more: --most N, or --json for all");
    }
    out
}
