//! `retold score label`: a person decides about recorded answers. `asking` shows one answer at a time, `chosen` is which.

mod asking;
mod chosen;

use std::fmt::Write;
use std::path::PathBuf;

use clap::ArgAction;
use retold::escaping::printable;
use retold::id::CallPath;
use retold::scores::Scorer;
use serde_json::{Value, json};

use crate::again::{spell_commands, typed_options};
use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::runs::accepting;
use crate::score_rows::{ScoreFile, ScoreRows, typed_value};
use crate::select::{self, RunSource};
use asking::{Asking, LabelSession};
use chosen::unlabelled_answers;

/// How much of a name is shown.
const SHOWN: usize = 60;

/// Decide about recorded answers yourself, one after the other.
///
/// Shows one answer at a time and reads a line: the value, an empty line to skip the answer, `:undo` to take the last one
/// back, `:quit` to stop. What was labelled so far is then recorded as a run of its own, whose decisions cite the answers; the
/// end of the input and Ctrl-C do the same. The same command continues with the answers that are not labelled yet.
///
/// The decisions of a run are not shown, so that they influence nobody.
///
/// With --from, the values are those of a CSV file with the columns `call`, `sample` (0 if it is missing) and `value`, and
/// `note` if you want to say why; `answer_seq`, which `retold table RUN` writes, can name the answer instead of `call`.
/// Rows without a value are left out. A file that ends in anything else than .csv has JSON Lines with these keys.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, its name, or `latest`.
    #[arg(default_value = "latest")]
    run: String,
    /// Who decides.
    #[arg(long, value_name = "PERSON")]
    by: String,
    /// What is decided, such as `polite`; the person's name if it is left out. Labels replace decisions that have the same
    /// name, as accepted decisions do, and stand beside all others.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The values that may be given, separated by commas; any value if they are left out.
    #[arg(long, value_name = "VALUES", value_delimiter = ',')]
    values: Vec<String>,
    /// Read the values from this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["call", "again", "question", "most"])]
    from: Option<PathBuf>,
    /// With --from: the column with the values.
    #[arg(long, value_name = "COLUMN", default_value = "value", requires = "from")]
    column: String,
    /// Only answers to this call or to calls below it.
    #[arg(long, value_name = "CALL")]
    call: Option<CallPath>,
    /// Also answers that this person has labelled before; the new labels replace the earlier ones.
    #[arg(long, action = ArgAction::SetTrue)]
    again: bool,
    /// Show the last message of the request before each answer.
    #[arg(long, action = ArgAction::SetTrue)]
    question: bool,
    /// Stop after so many answers.
    #[arg(long, value_name = "N")]
    most: Option<usize>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let scorer = scorer(&args)?;
    let values = values(&args)?;
    let source = accepting::answers_of(source(&args.run, global)?)?;
    gate::sound(&source.log, source.run, "nothing was labelled", output)?;
    // A run that nothing can be accepted about is refused before anybody labels it.
    let mut accepted = accepting::begin(&source)?;
    let mut reader = source.checked_reader()?;
    let (file, given) = match &args.from {
        Some(path) => {
            let (run, column) = (Some(source.run), args.column.as_str());
            let file = ScoreFile { path, run, column, values: &values };
            let ScoreRows { scores, without_value } = file.read()?;
            (Some(file), LabelSession { scores, skipped: without_value, left: None })
        }
        None => (None, by_hand(&args, &source, &scorer, values.clone(), output)?),
    };
    let LabelSession { scores, skipped, left } = given;
    let (mut stored, mut known) = (None, None);
    if !scores.is_empty() {
        scores.accept(&mut reader, source.run, &scorer, &mut accepted).map_err(
            |error| match &file {
                Some(file) => file.wrong(error).into(),
                None => CliError::usage(error.to_string()),
            },
        )?;
        let backend = global.open_or_create()?;
        (stored, known) = accepting::store(accepted, backend.as_ref())?;
    }
    let labelled = scores.len() as u64;
    if output.is_json() {
        output.object(&json!({"of": source.run, "by": args.by, "name": scorer.name,
            "labelled": labelled, "skipped": skipped, "left": left, "run": stored,
            "accepted_before": known, "simulated": source.simulated}))?;
        return Ok(Status::Fine);
    }
    let (run, by) = (source.run.short(8), printable(&args.by, SHOWN));
    let mut text = match (stored, known) {
        (Some(stored), _) => {
            let name = printable(&scorer.name, SHOWN);
            format!("run {stored}: {} labelled by {by}, as {name}\n", count_of(labelled, "answer"))
        }
        (None, Some(known)) => format!("no run was recorded: run {known} has all these labels\n"),
        (None, None) => "no run was recorded: no answer was labelled\n".to_owned(),
    };
    // Writing to a string cannot fail, here and below.
    if skipped > 0 {
        let _ = writeln!(text, "{} left without a value", count_of(skipped, "answer"));
    }
    if let Some(left) = left.filter(|left| *left > 0) {
        let again = [
            ("--by", Some(args.by.clone())),
            ("--name", args.name.clone()),
            ("--values", Some(args.values.join(","))),
        ];
        let given = |(flag, given): (&'static str, Option<String>)| {
            Some((flag, given.filter(|given| !given.is_empty())?))
        };
        let again: Vec<(&str, String)> = again.into_iter().filter_map(given).collect();
        let again = typed_options(&again).unwrap_or_default();
        let _ = writeln!(
            text,
            "{} not labelled by {by} yet: {}",
            count_of(left, "answer"),
            spell_commands(&format!("`retold score label {run}{again}` continues"))
        );
    }
    output.text(&text)?;
    Ok(Status::Fine)
}

/// The values that may be given.
fn values(args: &Args) -> Result<Vec<Value>, CliError> {
    let texts: Vec<&str> = args.values.iter().map(|text| text.trim()).collect();
    match texts.iter().any(|text| text.is_empty()) {
        true => Err(CliError::usage("--values has an empty value")
            .hint("--values yes,no, for example; without --values, any value may be given")),
        false => Ok(texts.into_iter().map(typed_value).collect()),
    }
}

/// The run in the log. Labels about a run that is only in a file would be in a log that does not have its answers.
fn source(run: &str, global: &Global) -> Result<RunSource, CliError> {
    if select::names_a_file(global, run) {
        let file = printable(run, 300);
        let message = format!("{file} is a file, and labels are recorded about a run in the log");
        return Err(CliError::usage(message)
            .hint("import it first, with `retold import FILE`, then label `latest`"));
    }
    select::source(global, run)
}

/// Who decides, and under which name.
fn scorer(args: &Args) -> Result<Scorer, CliError> {
    let (by, name) = (args.by.trim(), args.name.as_deref().unwrap_or(&args.by).trim());
    match by.is_empty() || name.is_empty() {
        true => Err(CliError::usage("--by and --name need a name that is not empty")
            .hint("--by ada, for example")),
        false => Ok(Scorer::person(by, name)),
    }
}

/// Asks the person about one answer after the other.
fn by_hand(
    args: &Args,
    source: &RunSource,
    scorer: &Scorer,
    values: Vec<Value>,
    output: &Output,
) -> Result<LabelSession, CliError> {
    let mut reader = source.checked_reader()?;
    let person = args.by.trim();
    let known = (!args.again).then_some((person, &*scorer.name));
    let mut answers = unlabelled_answers(&mut reader, source.run, known, args.call.as_ref())?;
    let all = answers.len();
    answers.truncate(args.most.unwrap_or(all));
    let asking = Asking {
        run: source.run,
        person: person.to_owned(),
        values,
        question: args.question,
        json: output.is_json(),
    };
    let session = asking.all(&mut reader, &answers)?;
    // With --again, answers may have been labelled before: those are not left.
    let left = match args.again {
        true => None,
        false => Some((all - session.scores.len()) as u64),
    };
    Ok(LabelSession { left, ..session })
}
