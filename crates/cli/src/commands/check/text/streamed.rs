//! Many answers, one per line: each is printed before the next one is there, in the order of the lines.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use super::decision::{Deciding, LineOutcome, SkipReason};
use super::line::{AnswerLine, Read};
use super::name_of;
use super::queue::Queue;
use crate::error::{CliError, Status};
use crate::output::{Output, count_of};
use crate::parser::ParserArgs;
use retold::escaping::{inert_json, inert_lines};
use retold::jsonl::JsonlReader;

/// How many lines a program decides about together, and how many bytes: more tell better whether its
/// decisions depend on their order, and all of them are in memory.
const TOGETHER: (usize, usize) = (10_000, 32 << 20);

/// Makes what decides, once for each thread.
type Make<'a, 'b> = &'b (dyn Fn() -> Result<Deciding<'a>, CliError> + Sync);

/// The output for some lines.
#[derive(Default)]
struct PrintedLines {
    texts: Vec<String>,
    left: Vec<SkipReason>,
    decided: u64,
    /// Why the next line is not printed.
    error: Option<CliError>,
}

/// The totals of the lines printed so far.
#[derive(Default)]
struct PrintedTotals {
    decided: u64,
    without_answer: u64,
    embeddings: u64,
    without_parser: u64,
}

/// Answers to be parsed, a line each.
pub(super) struct Answers<'a> {
    pub(super) file: &'a Path,
    pub(super) parser: &'a ParserArgs,
    /// How many lines are parsed at the same time, if that is given.
    pub(super) jobs: Option<u16>,
}

/// Parses the lines of a file.
pub(super) fn run(
    answers: Answers<'_>,
    make: Make<'_, '_>,
    output: &Output,
) -> Result<Status, CliError> {
    // Errors in the options are reported before anything is read.
    let first = make()?;
    let lines = JsonlReader::open(answers.file)?;
    let mut said = PrintedTotals::default();
    let name = &*name_of(answers.file);
    match answers.parser.parser_cmd {
        Some(_) => together(first, lines, name, &mut said, output)?,
        None => {
            let cores = thread::available_parallelism().map_or(1, NonZero::get);
            let jobs = answers.jobs.map_or(cores, usize::from);
            in_order((first, make), lines, name, jobs, &mut said, output)?;
        }
    }
    said.end(name, answers.parser, output)
}

/// Decides about as many lines together as fit.
fn together(
    mut deciding: Deciding<'_>,
    lines: JsonlReader,
    name: &str,
    said: &mut PrintedTotals,
    output: &Output,
) -> Result<(), CliError> {
    let mut lines = lines.peekable();
    while lines.peek().is_some() && output.is_read() {
        let (mut some, mut bytes, mut error) = (Vec::new(), 0, None);
        while error.is_none()
            && some.len() < TOGETHER.0
            && bytes < TOGETHER.1
            && let Some(read) = lines.next()
        {
            bytes += read.as_ref().map_or(0, |(_, text)| text.len());
            match AnswerLine::new(read, name) {
                Ok(line) => some.push(line),
                Err(wrong) => error = Some(wrong),
            }
        }
        let outcomes = deciding.all(&some)?;
        let mut printed = PrintedLines { error, ..PrintedLines::default() };
        for (line, outcome) in some.iter().zip(&outcomes) {
            printed.add(line, outcome, output.is_json());
        }
        said.print(printed, output)?;
    }
    Ok(())
}

/// Decides about lines on some threads, and prints them in their order.
fn in_order<'a>(
    (first, make): (Deciding<'a>, Make<'a, '_>),
    lines: JsonlReader,
    name: &str,
    jobs: usize,
    said: &mut PrintedTotals,
    output: &Output,
) -> Result<(), CliError> {
    let json = output.is_json();
    let queue = Arc::new(Queue::new(jobs));
    // It may wait for its next line when everything else has ended, so nothing waits for it.
    let reading = queue.clone();
    thread::spawn(move || {
        for read in lines {
            if !reading.push(read) {
                return;
            }
        }
        reading.end();
    });
    // A parser keeps its computed results to itself, so each thread has its own parser.
    let mut all = vec![first];
    for _ in 1..jobs {
        all.push(make()?);
    }
    thread::scope(|scope| {
        let _closed = queue.closed_at_end();
        let (sender, printed) = mpsc::channel();
        for mut deciding in all {
            let (queue, sender) = (&queue, sender.clone());
            scope.spawn(move || {
                while let Some(taken) = queue.take() {
                    let printed = decide_lines(&mut deciding, taken.lines, name, json);
                    if sender.send((taken.number, printed, taken.weight)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // Others may be done before the one that comes next.
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (number, printed, weight) in printed {
            early.insert(number, (printed, weight));
            while let Some((printed, weight)) = early.remove(&next) {
                said.print(printed, output)?;
                queue.release(weight);
                next += 1;
                if !output.is_read() {
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}

fn decide_lines(
    deciding: &mut Deciding<'_>,
    lines: Vec<Read>,
    name: &str,
    json: bool,
) -> PrintedLines {
    let mut printed = PrintedLines::default();
    for read in lines {
        let decided = AnswerLine::new(read, name).and_then(|line| {
            let outcome = deciding.one(&line)?;
            printed.add(&line, &outcome, json);
            Ok(())
        });
        if let Err(error) = decided {
            printed.error = Some(error);
            return printed;
        }
    }
    printed
}

impl PrintedLines {
    fn add(&mut self, line: &AnswerLine, outcome: &LineOutcome, json: bool) {
        match outcome {
            LineOutcome::Decided(decisions) => self.decided += decisions.len() as u64,
            LineOutcome::Left(left) => self.left.push(*left),
        }
        match json {
            true => {
                let objects = outcome.objects(line).into_iter();
                self.texts.extend(objects.map(|it| inert_json(&it.to_string())));
            }
            false => self.texts.extend(outcome.texts(line).iter().map(|it| inert_lines(it))),
        }
    }
}

impl PrintedTotals {
    /// Prints some lines, as whole lines of JSON or as texts with a blank line between them.
    fn print(&mut self, printed: PrintedLines, output: &Output) -> Result<(), CliError> {
        let PrintedLines { texts, left, decided, error } = printed;
        let mut text = String::new();
        for (at, one) in texts.iter().enumerate() {
            match output.is_json() {
                true => text.extend([one, "\n"]),
                false if self.decided == 0 && at == 0 => text.push_str(one),
                false => text.extend(["\n", one]),
            }
        }
        if !text.is_empty() {
            output.raw(&text)?;
        }
        self.decided += decided;
        for left in left {
            *match left {
                SkipReason::NoAnswer => &mut self.without_answer,
                SkipReason::Embedding => &mut self.embeddings,
                SkipReason::NoParser => &mut self.without_parser,
            } += 1;
        }
        error.map_or(Ok(()), Err)
    }

    /// Reports the lines that were left, when all lines are read.
    fn end(self, name: &str, parser: &ParserArgs, output: &Output) -> Result<Status, CliError> {
        let PrintedTotals { decided, without_answer, embeddings, without_parser } = self;
        if decided + without_parser == 0 && output.is_read() {
            let what = if embeddings > 0 { "only embeddings" } else { "no answers" };
            return Err(CliError::usage(format!("{name} has {what}: there is nothing to parse")));
        }
        if output.is_json() {
            return Ok(Status::Fine);
        }
        let mut text = String::new();
        let mut add = |n: u64, what: String| {
            if n > 0 {
                let begin = if decided == 0 && text.is_empty() { "" } else { "\n" };
                text.push_str(&format!("{begin}{what}\n"));
            }
        };
        if parser.parsers.is_some() {
            let answers = count_of(without_parser, "answer");
            add(without_parser, format!("left alone: {answers} that no parser is for"));
            let lines = count_of(without_answer + embeddings, "line");
            add(without_answer + embeddings, format!("left alone: {lines} without a text"));
        } else {
            add(embeddings, format!("left alone: {}", count_of(embeddings, "embedding")));
            let have = if without_answer == 1 { "line has" } else { "lines have" };
            add(without_answer, format!("{without_answer} {have} an error and no answer"));
        }
        output.text(&text)?;
        Ok(Status::Fine)
    }
}
