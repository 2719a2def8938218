//! `retold diff`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::runs::run_figures::leading;
use crate::select::{self, RunSelection};
use crate::views::alike::{alike, and_others, shorten};
use crate::views::differing::where_they_differ;
use crate::views::facts::{EXCERPT, facts_text, more};
use crate::views::run_figures;
use retold::compare::{
    CallDifference, CallPlace, ChangedCalls, Comparison, DecisionPlace, LaneDifference,
    PromptChange, RunSide, SettingDifference, compare_each,
};
use retold::escaping::{inert_lines, printable};
use retold::event::{Event, ForkedFrom, RunStarted};
use retold::id::{RunId, Seq};
use retold::log::Reader;
use retold::members::Members;
use retold::run::StateDifference;
use retold_figures::FigureTable;

/// Compare two runs: prompts, answers, decisions, facts and state.
///
/// Calls are aligned by name and sample, facts by the call that caused them, so the two need not be
/// of equal length: a fork and its parent, two runs of one config, two imports, or two runs of one
/// program. Unnamed calls of programs are named after their prompts; those that only one run has are aligned by the words
/// that they share, and samples of a named call that only one run has in their order.
///
/// Shows each change of the prompts once, with its words and the number of calls that have it, the first difference of each
/// other lane (a participant, a dialogue, a puzzle), and the figures that `stats` leads with, of both runs with 95 % intervals, their difference and its p.
/// If the runs have the same seed, what clusters of the same name have in common cancels out. With other
/// seeds, these may be different people, and the difference is unpaired. Exit code 1 if anything
/// differs but settings and versions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The first run (first digits of its id, its name, or `latest`) or a recording's file.
    one: String,
    /// The second run or recording.
    other: String,
    /// How many settings, changes, lanes and facts to list as text; --json lists all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
}

/// A comparison, with what is read of both logs to show it.
struct ComparedRuns {
    comparison: Comparison,
    /// Each change of prompts.
    changes: Vec<PromptChange>,
    /// Of each lane: how the prompts differ, or what else does.
    lanes: Vec<LaneDiff>,
    figures: Vec<FigureTable>,
    started: [RunStarted; 2],
}

/// How the first call of a lane differs, as text.
struct LaneDiff {
    place: usize,
    diff: String,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { one, other, most } = args;
    let (one, other) = (select::to_read(global, &one)?, select::to_read(global, &other)?);
    gate::show_runs([one, other], output, |[one, other]| {
        let compared = compare_runs([one, other], global)?;
        if output.is_json() {
            output.object(&compared.json()?)?;
        } else {
            output.text(&compared.text(most))?;
        }
        let differs = !compared.comparison.is_identical();
        Ok(if differs { Status::Difference } else { Status::Fine })
    })
}

fn compare_runs(runs: [RunSelection; 2], global: &Global) -> Result<ComparedRuns, CliError> {
    let [one, other] = &runs;
    let (mut first, mut second) = (one.checked_reader()?, other.checked_reader()?);
    let started =
        [select::run_start(&mut first, one.run)?, select::run_start(&mut second, other.run)?];
    let mut changed = ChangedCalls::default();
    let comparison = compare_each(
        RunSide { reader: &mut first, run: one.run },
        RunSide { reader: &mut second, run: other.run },
        &mut |compared| changed.note(&compared),
    )?;
    let changes = changed.changes(&comparison, &mut first, &mut second)?;
    let mut lanes = Vec::new();
    for (place, lane) in comparison.lanes.iter().enumerate() {
        let diff = diff_text(lane, &mut first, one.run, &mut second, other.run)?;
        lanes.push(LaneDiff { place, diff });
    }
    let figures = leading(&runs, global)?;
    Ok(ComparedRuns { comparison, changes, lanes, figures, started })
}

/// How a call differs: the diff of its prompts, or both answers, or both decisions.
fn diff_text(
    lane: &LaneDifference,
    one: &mut dyn Reader,
    first: RunId,
    other: &mut dyn Reader,
    second: RunId,
) -> Result<String, CliError> {
    match lane.what {
        CallDifference::Prompt => {
            let difference = Comparison::difference(lane, one, other)?;
            Ok(difference.map_or_else(String::new, |difference| difference.diff()))
        }
        CallDifference::Answer | CallDifference::Decision => {
            let at = |run: RunId, place: &Option<CallPlace>| {
                let CallPlace { end, decision, .. } = place.as_ref()?;
                match lane.what {
                    CallDifference::Answer => Some((run, (*end)?)),
                    _ => decision.map(|DecisionPlace { run, seq }| (run, seq)),
                }
            };
            let one = excerpt(one, at(first, &lane.one))?;
            let other = excerpt(other, at(second, &lane.other))?;
            Ok(format!("-{one}\n+{other}\n"))
        }
        CallDifference::OnlyInOne | CallDifference::OnlyInOther => Ok(String::new()),
    }
}

/// A line about an answer or a decision.
fn excerpt(reader: &mut dyn Reader, at: Option<(RunId, Seq)>) -> Result<String, CliError> {
    let Some((run, seq)) = at else { return Ok("(none)".to_owned()) };
    let events = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?;
    let event = events.first().and_then(|stored| stored.event().ok());
    Ok(match event {
        Some(Event::ResponseReceived(answer)) => printable(answer.content.text(), EXCERPT),
        Some(Event::AnswerReused(answer)) => printable(answer.content.text(), EXCERPT),
        Some(Event::AttemptFailed(failed)) => {
            format!("(failed: {})", printable(&failed.details.error, EXCERPT))
        }
        Some(Event::DecisionMade(made)) => {
            let value = printable(&made.details.value.to_string(), EXCERPT);
            format!("{value} ({})", printable(&made.by.method, 60))
        }
        _ => format!("(seq {seq})"),
    })
}

impl ComparedRuns {
    fn is_simulated(&self) -> bool {
        self.started.iter().any(RunStarted::is_simulated)
    }

    fn json(&self) -> Result<Value, CliError> {
        let comparison = &self.comparison;
        let mut object = serde_json::to_value(comparison).map_err(|e| {
            CliError::new(Status::Io, format!("the result cannot be written as JSON: {e}"))
        })?;
        for LaneDiff { place, diff } in &self.lanes {
            if let Some(lane) = object.pointer_mut(&format!("/lanes/{place}")) {
                lane.set("diff", json!(diff));
            }
        }
        object.set("changes", json!(self.changes));
        object.set("identical", json!(comparison.is_identical()));
        object.set("first", json!(comparison.first()));
        object.set("figures", json!(self.figures));
        object.set("simulated", json!(self.is_simulated()));
        Ok(object)
    }

    fn text(&self, most: usize) -> String {
        let Comparison { one, other, settings, calls, lanes_alike, facts, .. } = &self.comparison;
        let [first, second] = &self.started;
        let mut text = format!(
            "first:  run {one}, {}\nsecond: run {other}, {}\n",
            printable(&first.experiment, 60),
            printable(&second.experiment, 60)
        );
        if let Some(ForkedFrom { before, without, .. }) =
            second.forked_from.filter(|parent| parent.run == *one)
        {
            let before = before.map_or_else(String::new, |seq| format!(", before its seq {seq}"));
            let without = without
                .map_or_else(String::new, |seq| format!(", without the answer to its seq {seq}"));
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(text, "the second is a fork of the first{before}{without}");
        }
        if self.is_simulated() {
            text.push_str(select::SIMULATED);
        }
        self.settings(settings, most, &mut text);
        let _ = writeln!(
            text,
            "\n{} in the first run, {} in the second, {} in both",
            count_of(calls.one, "call"),
            group_digits(calls.other),
            group_digits(calls.both)
        );
        let _ = writeln!(
            text,
            "of those in both: {} with the same prompt, {} also with the same answer",
            group_digits(calls.same_prompt),
            group_digits(calls.same_answer)
        );
        let _ = writeln!(
            text,
            "of {} decided in both: {} with the same value, {} also by the same method",
            group_digits(calls.decided),
            group_digits(calls.same_value),
            group_digits(calls.same_decision)
        );
        let _ = writeln!(
            text,
            "{} with the same calls, {} with different ones",
            count_of(*lanes_alike, "lane"),
            group_digits(self.lanes.len() as u64)
        );
        text.push_str(&run_figures::decider_notes(&self.comparison.deciders));
        // What comes first may have led to the rest: what a tool gave is in the next prompt.
        let first_change = self.changes.iter().map(|change| change.one.request).min();
        let is_before = |lane: &LaneDifference| {
            let place = lane.one.as_ref().or(lane.other.as_ref());
            first_change.zip(place).is_some_and(|(first, place)| place.request < first)
        };
        self.lanes(is_before, most, &mut text);
        self.changes(most, &mut text);
        self.lanes(|lane| !is_before(lane), most, &mut text);
        facts_text(facts, ["in the first run", "in the second"], most, &mut text);
        self.ends(&mut text);
        text.push('\n');
        match self.figures.is_empty() {
            true => {
                text.push_str("no figures: they need decisions that are numbers or a few names\n")
            }
            false => text.push_str(&run_figures::tables(&self.figures)),
        }
        text
    }

    fn settings(&self, settings: &[SettingDifference], most: usize, text: &mut String) {
        if settings.is_empty() {
            text.push_str("settings: the same\n");
            return;
        }
        let _ = writeln!(text, "{}", counted_differing(settings.len(), "setting"));
        let value = |value: &Option<Value>| match value {
            Some(value) => value.to_string(),
            None => "(not there)".to_owned(),
        };
        for SettingDifference { path, one, other } in settings.iter().take(most) {
            let [one, other] = where_they_differ(&value(one), &value(other), 80);
            let _ = writeln!(text, "  {}: {one} -> {other}", printable(path, 120));
        }
        more(settings.len(), most, text);
    }

    /// Each change of prompts once, with its words.
    fn changes(&self, most: usize, text: &mut String) {
        for PromptChange { words, calls, call, sample, one, other } in
            self.changes.iter().take(most)
        {
            let have = if *calls == 1 { "has" } else { "have" };
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "\n{} {have} another prompt: {}",
                count_of(*calls, "call"),
                words.of
            );
            for line in shorten(&inert_lines(&words.text())).lines() {
                let _ = writeln!(text, "  {line}");
            }
            let first = if *calls == 1 { "it is" } else { "the first of them is" };
            let (one, other) = (one.request, other.request);
            let _ = writeln!(text, "{first} {call}#{sample} (seq {one} and seq {other})");
        }
        if self.changes.len() > most {
            let more = self.changes.len() - most;
            let _ = writeln!(text, "\nand {more} more changes of prompts: --most N or --json");
        }
    }

    fn lanes(&self, has: impl Fn(&LaneDifference) -> bool, most: usize, text: &mut String) {
        let others = self.lanes.iter().filter(|shown| {
            let lane = &self.comparison.lanes[shown.place];
            // Prompts are shown by their changes.
            lane.what != CallDifference::Prompt && has(lane)
        });
        let others: Vec<&LaneDiff> = others.collect();
        let groups = alike(&others, |shown| self.key(shown));
        let all = groups.len();
        for group in groups.into_iter().take(most) {
            let Some((first, others)) = group.split_first() else { continue };
            let lane = &self.comparison.lanes[first.place];
            let LaneDifference { lane: name, call, sample, what, one, other, differing } = lane;
            let seqs = match (one, other) {
                (Some(one), Some(other)) => {
                    format!("seq {} and seq {}", one.request, other.request)
                }
                (Some(one), None) => format!("seq {}", one.request),
                (None, other) => other.map_or_else(String::new, |o| format!("seq {}", o.request)),
            };
            let _ = writeln!(
                text,
                "\nlane {}: {call}#{sample} {} ({seqs}); {} in this lane",
                printable(name, 80),
                says(*what),
                counted_differing(usize::try_from(*differing).unwrap_or(usize::MAX), "call")
            );
            text.push_str(&shorten(&first.diff));
            let others: Vec<String> = others
                .iter()
                .map(|other| &self.comparison.lanes[other.place])
                .map(|lane| format!("{}#{}", lane.call, lane.sample))
                .collect();
            text.push_str(&and_others(&others));
        }
        if all > most {
            let _ =
                writeln!(text, "\nand {} more kinds of difference: --most N or --json", all - most);
        }
    }

    /// What distinguishes a kind of difference from others.
    fn key(&self, shown: &LaneDiff) -> String {
        let what = self.comparison.lanes[shown.place].what;
        match what {
            CallDifference::OnlyInOne => "-only in the first".to_owned(),
            CallDifference::OnlyInOther => "+only in the second".to_owned(),
            _ => shown.diff.clone(),
        }
    }

    fn ends(&self, text: &mut String) {
        let Comparison { state, outcome, .. } = &self.comparison;
        match state {
            None => {
                text.push_str("state: not compared: at least one of the runs did not record it\n")
            }
            Some(differences) if differences.is_empty() => text.push_str("state: the same\n"),
            Some(differences) => {
                for StateDifference { mark, entry, .. } in differences {
                    let mark = mark.as_ref().map(|mark| printable(mark, 60));
                    let entry = entry.as_ref().map(|entry| printable(entry, 60));
                    let _ = match (entry, mark) {
                        (Some(entry), Some(mark)) => {
                            writeln!(text, "state: {entry} differs from mark {mark}")
                        }
                        (Some(entry), None) => {
                            writeln!(text, "state: {entry} differs at the end")
                        }
                        // Marks after one that only one run has cannot be paired.
                        (None, mark) => writeln!(
                            text,
                            "state: the runs do not have the same marks from {} on; after that, \
                             only the end is compared",
                            mark.as_deref().unwrap_or("the first")
                        ),
                    };
                }
            }
        }
        let _ = writeln!(text, "outcome digests: {}", outcome.says());
    }
}

fn says(what: CallDifference) -> &'static str {
    match what {
        CallDifference::Prompt => "has another prompt",
        CallDifference::Answer => "has the same prompt and another answer",
        CallDifference::Decision => "has the same answer and another decision",
        CallDifference::OnlyInOne => "is only in the first run",
        CallDifference::OnlyInOther => "is only in the second run",
    }
}

fn counted_differing(n: usize, noun: &str) -> String {
    let differ = if n == 1 { "differs" } else { "differ" };
    format!("{} {differ}", count_of(n as u64, noun))
}
