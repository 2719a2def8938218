//! `retold score agreement`: how well those agree who decided about the same answers.

use std::fmt::Write;

use std::path::PathBuf;

use clap::ValueEnum;
use retold::escaping::printable;
use retold::members::Members;
use retold_figures::SIMULATED_VERDICTS;
use retold_figures::agreement::{
    AnswerRatings, MeasurementLevel, PairedRaters, RatedAnswers, Rater, RaterError, RaterPair,
    coefficient_text,
};
use retold_report::{PictureSize, agreement_file};
use serde_json::json;

use crate::document_file::{DocumentFile, svg_file};
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::runs::accepting;
use crate::select::{self, RunSelection};
use crate::{gate, label_argument};

/// How much of a name, of a value and of an answer is shown.
const NAME_SHOWN: usize = 40;
const ANSWER_SHOWN: usize = 100;

/// Compare what parsers, judges and people decided about the answers.
///
/// Every decision about the run's answers counts: recorded ones, and those that were accepted, judged or labelled since, in
/// force or not. The names say which of them are about the same: `retold score agreement latest vote ada` compares the
/// decisions that are called `vote` with those called `ada`. Without names, those of one name are compared, if several
/// decided under it.
///
/// Shows Krippendorff's alpha of all and Cohen's kappa of each two, with the intervals of a jackknife of the answers, and
/// the answers about which they disagree. Values that are null, and a parser's last resort,
/// are missing values. Each two have a matrix of their values, at most twelve; -o draws it in a file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, its name, `latest`, or the file of a recording.
    run: String,
    /// The names of the decisions that are compared.
    names: Vec<String>,
    /// Only answers to calls with this label; several must all be met.
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label_argument::label)]
    labels: Vec<(String, String)>,
    /// What differences between values mean for alpha.
    #[arg(long, value_enum, default_value_t = LevelName::Nominal)]
    level: LevelName,
    /// How many disagreements to list as text; --json lists all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// Draw which values each two gave, as wide as a column of a paper (85 mm), in a file that ends with .svg, or `-` for stdout.
    /// The coefficients and all numbers are in it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
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
                "`retold score label RUN --by NAME` decides about them, and so does `retold check`"
            }
            _ => "name them: `retold score agreement RUN vote ada`",
        };
        CliError::usage(error.to_string()).hint(hint)
    }
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let drawing = args.output.clone().map(|file| svg_file(file, args.force, output)).transpose()?;
    let selected = select::to_read(global, &args.run)?;
    let run = accepting::answered_in(&selected.log, selected.run)?;
    let selected = RunSelection { run, ..selected };
    gate::show_runs([selected], output, |[selected]| {
        show(&selected, &args, drawing.as_ref(), global, output)
    })
}

fn show(
    selected: &RunSelection,
    args: &Args,
    drawing: Option<&DocumentFile>,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (mut reader, run) = (selected.checked_reader()?, selected.run);
    let simulated = select::run_start(&mut reader, run)?.is_simulated();
    let rated = RatedAnswers::read(&mut reader, run, global.studies.parsers())?;
    let choice = rated.choice(&args.names, &args.labels)?;
    let found = rated.agreement(&choice, args.level.into());
    if let Some(file) = drawing {
        return draw(&found, file, simulated, output);
    }
    let listed = if output.is_json() { found.differing.len() } else { args.most };
    let places = found.differing.iter().take(listed);
    let differing = places.map(|place| rated.ratings(&mut reader, &choice, *place));
    let differing = differing.collect::<Result<Vec<AnswerRatings>, _>>()?;
    if output.is_json() {
        let mut object = json!(found);
        object.set("disagreements", json!(differing));
        object.set("run", json!(run));
        object.set("simulated", (simulated || found.simulated).into());
        output.object(&object)?;
    } else {
        let said = match (simulated, found.simulated) {
            (true, _) => select::SIMULATED.to_owned(),
            (false, true) => format!("{SIMULATED_VERDICTS}\n"),
            (false, false) => String::new(),
        };
        output.text(&format!("{said}{}", text(&found, &differing)))?;
    }
    Ok(Status::Fine)
}

/// Draws which values each two raters gave.
fn draw(
    found: &PairedRaters,
    file: &DocumentFile,
    is_simulated: bool,
    output: &Output,
) -> Result<Status, CliError> {
    let picture = agreement_file(found, PictureSize::COLUMN, is_simulated);
    let picture = picture.map_err(|e| CliError::usage(format!("it cannot be drawn: {e}")))?;
    let Some(picture) = picture else {
        return Err(CliError::usage(
            "there is nothing to draw: no two have up to twelve values for the same answers",
        ));
    };
    file.write(picture.as_bytes(), output)?;
    let Some(path) = file.path() else { return Ok(Status::Fine) };
    let (path, bytes) = (path.display().to_string(), picture.len());
    match output.is_json() {
        true => output.object(&json!({"file": path, "bytes": bytes, "agreement": found}))?,
        false => output.text(&format!("drawn in {path}\n"))?,
    }
    Ok(Status::Fine)
}

fn text(found: &PairedRaters, listed: &[AnswerRatings]) -> String {
    let PairedRaters { raters, alpha, level, not_numbers, pairs, rated, differing, .. } = found;
    let mut out = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(out, "  {:<NAME_SHOWN$}{:>9}{:>9}", "who decided", "values", "missing");
    for Rater { rater, values, missing } in raters {
        let rater = printable(rater, NAME_SHOWN);
        let _ = writeln!(
            out,
            "  {rater:<NAME_SHOWN$}{:>9}{:>9}",
            group_digits(*values),
            group_digits(*missing)
        );
    }
    let level = level.name();
    let _ = writeln!(
        out,
        "\nKrippendorff's alpha, {level}: {} over {} with two values or more",
        coefficient_text(*alpha),
        count_of(*rated, "answer")
    );
    if *not_numbers > 0 {
        let _ =
            writeln!(out, "{} not numbers, and left out of alpha", count_of(*not_numbers, "value"));
    }
    for pair in pairs {
        let RaterPair { one, other, both, same, kappa, .. } = pair;
        let (one, other) = (printable(one, NAME_SHOWN), printable(other, NAME_SHOWN));
        let share = 100.0 * *same as f64 / (*both).max(1) as f64;
        let _ = match both {
            0 => writeln!(out, "{one} and {other}: no answer in common"),
            both => writeln!(
                out,
                "{one} and {other}: the same for {} of {} ({share:.2} %); Cohen's kappa {}",
                group_digits(*same),
                count_of(*both, "answer"),
                coefficient_text(*kappa)
            ),
        };
        pair.matrix_lines().iter().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
    }
    if !differing.is_empty() {
        let _ = writeln!(out, "\n{}", count_of(differing.len() as u64, "disagreement"));
    }
    for AnswerRatings { seq, choice, call, sample, values, text, .. } in listed {
        let choice = if *choice > 0 { format!(" choice {choice}") } else { String::new() };
        let _ = writeln!(out, "  seq {seq} {call}#{sample}{choice}");
        for (rater, value) in values {
            let (rater, value) = (printable(rater, NAME_SHOWN), value.to_string());
            let _ = writeln!(out, "    {rater}: {}", printable(&value, NAME_SHOWN));
        }
        let _ = writeln!(out, "    {}", printable(text, ANSWER_SHOWN));
    }
    if differing.len() > listed.len() {
        let more = group_digits((differing.len() - listed.len()) as u64);
        let _ = writeln!(out, "  and {more} more: --most N, or --json for all");
    }
    out
}
