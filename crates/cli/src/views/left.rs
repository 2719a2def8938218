//! Answers about which no new decision was made, and why.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::count_of;
use crate::parser::parser_list;
use crate::runs::program::next_command;
use crate::select::{self, RunSource};
use retold::decide::{REPORTED, SkippedAnswers, SkippedChoices};
use retold::event::{FUNCTION, JUDGE, PERSON};
use retold::id::CallPath;
use retold::model::NOT_READ;
use retold::parse::Parsers;
use retold_wire::ProgramSettings;

/// Whether the run was imported from files of another tool.
fn is_imported(source: &RunSource) -> bool {
    let started = || {
        let mut reader = source.log.reader().ok()?;
        select::run_start(reader.as_mut(), source.run).ok()
    };
    let settings = started().map(|started| started.settings);
    let settings = settings.and_then(|it| serde_json::from_value::<ProgramSettings>(it).ok());
    settings.is_some_and(|settings| settings.imported.is_some())
}

/// Why there was nothing to check.
pub(crate) fn nothing(
    source: &RunSource,
    left: &SkippedAnswers,
    only: Option<&CallPath>,
    parsers: &Parsers,
) -> CliError {
    let name = source.name();
    let SkippedAnswers {
        others,
        undecided,
        without_params,
        embeddings,
        not_read,
        not_chosen,
        choices,
        ..
    } = left;
    let compared = "--parser NAME@VERSION compares them with those of a parser";
    if !others.is_empty() && others.iter().all(|by| by.starts_with(REPORTED)) {
        if is_imported(source) {
            let message = format!("{name}: its decisions came with the file that was imported");
            return CliError::usage(message).hint(compared).hint(parser_list(parsers));
        }
        let message = format!("{name}: its decisions were made by the program itself");
        let replay = source.log.reader().ok().and_then(|mut reader| {
            let started = select::run_start(reader.as_mut(), source.run).ok()?;
            Some(next_command("replay", source.run, &[], &started))
        });
        let replay = replay.unwrap_or_else(|| "replay RUN -- CMD".to_owned());
        return CliError::usage(message)
            .hint(format!("`retold {replay}` makes them again"))
            .hint(compared)
            .hint(parser_list(parsers));
    }
    let is_scorer = |by: &String| {
        let name = by.split_once('@').map_or(by.as_str(), |(name, _)| name);
        [FUNCTION, PERSON, JUDGE].contains(&name)
    };
    if !others.is_empty() && others.iter().all(is_scorer) {
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let message = format!("{name}: no parser made its decisions, but {}", others.join(", "));
        return CliError::usage(message).hint(compared).hint(parser_list(parsers));
    }
    if *not_chosen > 0 {
        let answers = count_of(*not_chosen, "answer");
        return CliError::usage(format!("{name}: no parser of the file fits any of its {answers}"))
            .hint("the `for` of a parser names calls, models or prompts; `retold log RUN` lists the calls");
    }
    if !others.is_empty() {
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        return CliError::usage(format!(
            "{name}: its decisions were made by {}, not by the given parser",
            others.join(", ")
        ));
    }
    if *undecided > 0 {
        let answers = count_of(*undecided, "answer");
        return CliError::usage(format!("{name} has no decisions to check"))
            .hint(format!("--parser NAME@VERSION decides about its {answers}"))
            .hint(parser_list(parsers));
    }
    if *without_params > 0 {
        return CliError::usage(format!("{name} has no answers to the calls in --params-from"));
    }
    if choices.without > 0 {
        let last = choices.most.saturating_sub(1);
        return CliError::usage(format!(
            "{name}: no answer has the choice that --choice names: the highest number is {last}, counted from 0"
        ));
    }
    if *embeddings > 0 {
        let embeddings = count_of(*embeddings, "embedding");
        return CliError::usage(format!(
            "{name} has {embeddings} and no other answers: there is no text to decide about"
        ));
    }
    if *not_read > 0 {
        let answers = count_of(*not_read, "answer");
        return CliError::usage(format!(
            "{name} has {answers}, but retold does not read their API, so there is no text to parse"
        ))
        .hint("docs/apis.md lists the APIs that are read; of others, the whole body is kept");
    }
    match only {
        Some(call) => CliError::usage(format!("{name} has no answer to {call} or a call below it")),
        None => CliError::usage(format!("{name} has no answers: there is nothing to check")),
    }
}

/// The answers that were ignored, as JSON.
pub(crate) fn left_as_json(left: &SkippedAnswers) -> Value {
    let SkippedAnswers {
        others,
        by_others,
        undecided,
        without_params,
        embeddings,
        not_read,
        not_chosen,
        choices: SkippedChoices { choices, without, .. },
    } = left;
    json!({"decided_by_others": by_others, "others": others, "undecided": undecided,
        "without_params": without_params, "embeddings": embeddings, "not_read": not_read,
        "not_chosen": not_chosen, "other_choices": choices, "without_choice": without})
}

/// Adds which answers were ignored.
pub(crate) fn left_alone(out: &mut String, left: &SkippedAnswers) {
    let SkippedAnswers {
        others,
        by_others,
        undecided,
        without_params,
        embeddings,
        not_read,
        not_chosen,
        choices: SkippedChoices { choices, answers: several, without, most: _ },
    } = left;
    let answers = |n: &u64| count_of(*n, "answer");
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let all = [
        (by_others, format!("{} decided by {}", answers(by_others), others.join(", "))),
        (undecided, format!("{} without a decision", answers(undecided))),
        (without_params, format!("{} without settings", answers(without_params))),
        (not_chosen, format!("{} that no parser is for", answers(not_chosen))),
        (embeddings, count_of(*embeddings, "embedding")),
        (
            choices,
            format!(
                "{} of {}; --choice says which are parsed: first (the default), all, or the number of one",
                count_of(*choices, "other choice"),
                answers(several)
            ),
        ),
        (without, format!("{} without the choice that --choice names", answers(without))),
        (not_read, format!("{}, {NOT_READ}: their API is not described", answers(not_read))),
    ];
    for (_, what) in all.iter().filter(|(count, _)| **count > 0) {
        let _ = writeln!(out, "left alone: {what}");
    }
}
