//! Decides about answers that are in no run: a text, or a line each.

mod decision;
mod line;
mod queue;
mod streamed;

use std::path::Path;

use serde_json::json;

use crate::error::{CliError, Status};
use crate::output::Output;
use crate::parser::ParserArgs;
use decision::{Deciding, LineDecision, LineOutcome};
use line::AnswerLine;
use retold::encoding::decode;
use retold::jsonl::{JsonlProblem, read_whole};
use retold::model::Response;
use retold::parse::Parsers;
use retold_study::parser_file::ParserFile;
use streamed::Answers;

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// Decides about the text of a file, as one answer.
pub(super) fn whole(
    file: &Path,
    args: &ParserArgs,
    parsers: &Parsers,
    output: &Output,
) -> Result<Status, CliError> {
    let parser_file = args.file()?;
    let mut deciding = deciding(args, parser_file.as_ref(), parsers)?;
    let answer = Some(Response::text(answer(file)?));
    let outcome = deciding.one(&AnswerLine { answer, ..AnswerLine::default() })?;
    let LineOutcome::Decided(decisions) = outcome else { return Ok(Status::Fine) };
    match (output.is_json(), &parser_file) {
        (true, None) => output.object(&decisions.last().map(LineDecision::object))?,
        (true, Some(_)) => {
            let decisions: Vec<_> = decisions.iter().map(LineDecision::object).collect();
            output.object(&json!({"decisions": decisions, "left": 0, "without_answer": 0}))?;
        }
        (false, _) => {
            let texts = decisions.iter().map(LineDecision::text).collect::<Vec<_>>();
            output.text(&texts.join("\n"))?;
        }
    }
    Ok(Status::Fine)
}

/// Decides about the answers in the lines of a file, some at the same time.
pub(super) fn lines(
    file: &Path,
    args: &ParserArgs,
    jobs: Option<u16>,
    parsers: &Parsers,
    output: &Output,
) -> Result<Status, CliError> {
    let parser_file = args.file()?;
    let make = || deciding(args, parser_file.as_ref(), parsers);
    streamed::run(Answers { file, parser: args, jobs }, &make, output)
}

fn deciding<'a>(
    args: &ParserArgs,
    file: Option<&'a ParserFile>,
    parsers: &Parsers,
) -> Result<Deciding<'a>, CliError> {
    match file {
        Some(file) => Ok(Deciding::file(file)),
        None => Deciding::parser(args, parsers),
    }
}

/// How a file is called in messages.
fn name_of(file: &Path) -> String {
    match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

/// Reads a whole file as one answer.
fn answer(file: &Path) -> Result<String, CliError> {
    let bytes = read_whole(file, LONGEST).map_err(|e| {
        let is_long = matches!(e.problem, JsonlProblem::TooLarge { .. });
        let error = CliError::from(e);
        if is_long { error.hint("--jsonl reads one answer per line") } else { error }
    })?;
    decode(bytes).map_err(|e| CliError::usage(e.sentence(&name_of(file))))
}
