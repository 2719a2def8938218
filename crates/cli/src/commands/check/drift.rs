//! Looks at whether a model still answers as it did: what is drawn for one, and what came of each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::error::CliError;
use crate::global::Global;
use crate::select::RunSource;
use retold::decide::{AnswerDecision, each_answer};
use retold::decided::{DecisionAbout, decisions_about};
use retold::escaping::printable;
use retold::id::{CallPath, PromptHash, RunId, Seq, Time};
use retold::log::{EventFault, Log, LogError};
use retold::parse::registry::Parsers;
use retold::parse::{AnyParser, ParserSpec};
use retold::prompt::{Api, Request, hash_of};
use retold::run::{how_it_ended, run_start};
use retold_drift::{
    ComparedAnswer, ComparedDecision, DrawnAnswer, DriftComparison, DriftSettings, NAME,
};

/// A decision in force about a recorded answer, and what can decide about new ones as it did.
struct OldDecision {
    value: Value,
    by: String,
    parser: Box<dyn AnyParser>,
}

/// The decisions in force about each answer of a run that a parser of this program made, by name.
type OldDecisions = BTreeMap<Seq, BTreeMap<String, OldDecision>>;

/// What is drawn for a look.
pub(super) struct DrawnLook(DriftSettings);

impl DrawnLook {
    /// Draws answers with a decision that can be made again: of each prompt one, before any has a second one.
    pub(super) fn draw(
        source: &RunSource,
        (sample, times, seed): (u32, u32, u64),
        global: &Global,
    ) -> Result<Self, CliError> {
        let run = source.run;
        let decided = old_decisions(source, global.studies.parsers())?;
        let mut by_prompt: BTreeMap<PromptHash, Vec<([u8; 32], DrawnAnswer)>> = BTreeMap::new();
        let mut reader = source.checked_reader()?;
        each_answer::<CliError>(&mut reader, run, |reader, answer| {
            if answer.choice.at > 0 || !decided.contains_key(&answer.seq) {
                return Ok(());
            }
            let request = reader.request(answer.prompt)?;
            let fault = EventFault::NoRequest { prompt: answer.prompt };
            let request = request.ok_or_else(|| LogError::corrupt(run, answer.seq, fault))?;
            if !can_be_asked(&request) {
                return Ok(());
            }
            let rank = hash_of(format!("{seed} {}", answer.seq).as_bytes());
            let drawn = DrawnAnswer {
                seq: answer.seq,
                call: answer.call,
                sample: answer.sample,
                labels: answer.labels,
                request: request.canonical().to_owned(),
            };
            by_prompt.entry(answer.prompt).or_default().push((rank, drawn));
            Ok(())
        })?;
        let mut all = Vec::new();
        for answers in by_prompt.values_mut() {
            answers.sort_by_key(|(rank, _)| *rank);
            let ranked = answers.drain(..).enumerate();
            all.extend(ranked.map(|(nth, (rank, drawn))| ((nth, rank), drawn)));
        }
        all.sort_by_key(|(order, _)| *order);
        all.truncate(sample as usize);
        let mut answers: Vec<DrawnAnswer> = all.into_iter().map(|(_, drawn)| drawn).collect();
        if answers.is_empty() {
            return Err(CliError::usage(format!(
                "run {run} has no answer that can be compared with new ones"
            ))
            .hint("it needs decisions of a parser of this program, about answers to chat requests")
            .hint(format!(
                "`retold check {} --parser NAME@VERSION --accept` makes such decisions",
                run.short(8)
            )));
        }
        answers.sort_by_key(|answer| answer.seq);
        Ok(DrawnLook(DriftSettings { of: run, seed, times, answers }))
    }

    pub(super) fn settings(&self) -> &DriftSettings {
        &self.0
    }
}

/// Whether a model can be asked a recorded request as it is: in the form that the studies' own requests have.
fn can_be_asked(request: &Request) -> bool {
    request.api() == Api::Chat && Request::from_body(request.body().clone()).is_ok()
}

fn old_decisions(source: &RunSource, parsers: &Parsers) -> Result<OldDecisions, CliError> {
    let mut found = OldDecisions::new();
    let mut reader = source.checked_reader()?;
    decisions_about(&mut reader, source.run, |DecisionAbout { answer, joined, .. }| {
        let (name, choice) = joined.made.subject();
        if !joined.in_force || choice > 0 {
            return;
        }
        let spec = serde_json::from_value::<ParserSpec>(joined.made.by.parser.clone());
        let Some(parser) = spec.ok().and_then(|spec| parsers.parser(&spec).ok()) else { return };
        let (value, by) = (joined.made.details.value.clone(), joined.made.by.made_by());
        let of = found.entry(answer).or_default();
        of.insert(name.to_owned(), OldDecision { value, by, parser });
    })?;
    Ok(found)
}

/// What came of one look.
pub(super) struct Look {
    pub(super) run: RunId,
    pub(super) began: Time,
    pub(super) decisions: Vec<DriftComparison>,
}

impl Look {
    /// It as a line of a list.
    pub(super) fn line(&self) -> String {
        let Look { run, began, decisions } = self;
        let each =
            decisions.iter().map(|of| format!("{} p = {:.4}", printable(&of.name, 40), of.p));
        format!("  {began}  run {}  {}\n", run.short(8), each.collect::<Vec<_>>().join(", "))
    }

    pub(super) fn json(&self) -> Value {
        let Look { run, began, decisions } = self;
        json!({"run": run, "began": began.to_string(), "decisions": decisions})
    }
}

/// All finished looks at a run, in their order.
pub(super) fn looks_at(
    log: &Log,
    source: &RunSource,
    global: &Global,
) -> Result<Vec<Look>, CliError> {
    let decided = old_decisions(source, global.studies.parsers())?;
    let (mut reader, mut looks) = (log.checked_reader()?, Vec::new());
    for head in log.reader()?.runs()? {
        let Ok(started) = run_start(&mut reader, head.run) else { continue };
        let settings = started.settings["experiment"].clone();
        let settings = serde_json::from_value::<DriftSettings>(settings);
        let of_this = settings.ok().filter(|it| started.experiment == NAME && it.of == source.run);
        let Some(settings) = of_this else { continue };
        if how_it_ended(&mut reader, head.run)?.is_none() {
            continue;
        }
        let decisions = compare(log, head.run, &settings, &decided)?;
        looks.push(Look { run: head.run, began: head.started, decisions });
    }
    Ok(looks)
}

/// Compares the new answers of a look with the old ones.
fn compare(
    log: &Log,
    run: RunId,
    settings: &DriftSettings,
    decided: &OldDecisions,
) -> Result<Vec<DriftComparison>, CliError> {
    let asked = settings.answers.iter().map(|drawn| {
        CallPath::new(format!("again/{}", drawn.seq)).map(|call| (call, drawn.seq)).ok()
    });
    let asked: BTreeMap<CallPath, Seq> = asked.flatten().collect();
    let mut found: BTreeMap<&String, BTreeMap<Seq, ComparedAnswer>> = BTreeMap::new();
    let mut reader = log.checked_reader()?;
    each_answer::<CliError>(&mut reader, run, |_, answer| {
        let Some(seq) = asked.get(&answer.call).filter(|_| answer.choice.at == 0) else {
            return Ok(());
        };
        for (name, old) in decided.get(seq).into_iter().flatten() {
            let new = AnswerDecision::by(old.parser.as_ref(), answer.whole()).value;
            let of = found.entry(name).or_default();
            let none = || ComparedAnswer { old: old.value.clone(), new: Vec::new() };
            of.entry(*seq).or_insert_with(none).new.push(new);
        }
        Ok(())
    })?;
    let by = |name: &String| {
        let of = decided.values().find_map(|of| of.get(name));
        of.map(|old| old.by.clone()).unwrap_or_default()
    };
    let decisions = found.into_iter().map(|(name, answers)| {
        let answers = answers.into_values().collect();
        ComparedDecision { name: name.clone(), by: by(name), answers }
    });
    Ok(DriftComparison::of_look(&decisions.collect::<Vec<_>>(), settings.seed))
}
