//! What every page says about a run.

use std::sync::Arc;

use retold::escaping::printable;
use retold::event::{Event, RunStarted};
use retold::exchange::{DECISIONS, EXCHANGES};
use retold::id::{RunId, Seq, Time};
use retold::log::{LogError, Reader, RunHead};
use retold::run::run_start;
use retold_wire::PROGRAM;
use serde::Serialize;

use crate::job::JobState;
use crate::site::Site;
use retold_archive::{Damage, ledger_mismatch, without_end};

/// A run, as lists and headings show it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunInfo {
    /// Its id.
    pub(crate) run: String,
    /// The first digits of its id.
    pub(crate) short: String,
    /// `study`, `program`, `imported`, `exchanges`, `accepted`, or `unknown` if it cannot be read.
    pub(crate) kind: &'static str,
    /// The experiment that recorded it.
    pub(crate) experiment: String,
    /// The name that its user gave it.
    pub(crate) name: Option<String>,
    /// When it began.
    pub(crate) started: String,
    /// How long it took, or has taken so far; `None` if that is not known.
    pub(crate) milliseconds: Option<i64>,
    /// How many events it has.
    pub(crate) events: u64,
    /// The kind of model.
    pub(crate) model: String,
    /// Whether a program made its answers up.
    pub(crate) simulated: bool,
    /// `finished`, `abandoned`, `running`, `unfinished` or `damaged`. A run without an end is running while a process has
    /// it open to record.
    pub(crate) outcome: String,
    /// The run that it is a fork of, or whose answers it decides about.
    pub(crate) from: Option<String>,
    /// The shards that it is merged from.
    pub(crate) merged_from: Vec<String>,
    /// Which of these, in words that its id follows.
    pub(crate) came_by: Option<&'static str>,
    /// The program that recorded it.
    pub(crate) program: String,
    /// The seed of its random choices, if there are any.
    pub(crate) seed: Option<u64>,
    /// The hash of its last event.
    pub(crate) head: String,
}

impl RunInfo {
    /// Whether a process of this machine is recording it.
    pub(crate) fn is_running(&self) -> bool {
        self.outcome == "running"
    }

    /// Whether more events may come.
    pub(crate) fn can_grow(&self) -> bool {
        matches!(&*self.outcome, "unfinished" | "running" | "waiting")
    }
}

/// Something that a reader has to know before anything else.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Notice {
    /// `danger`, `warning` or `info`.
    pub(crate) level: &'static str,
    /// What.
    pub(crate) text: String,
    /// For damage: the first event that cannot be trusted.
    pub(crate) from: Option<u64>,
    /// The run that it is about, if that is another one.
    pub(crate) of: Option<String>,
}

impl Notice {
    /// From which event on a run cannot be trusted.
    pub(crate) fn distrust(damage: &Damage, run: &str) -> Self {
        let sentence = damage.distrust(run).replacen("from", "From", 1);
        Notice { from: Some(damage.seq.0), ..Notice::danger(format!("{sentence}.")) }
    }

    /// Answers are made up.
    pub(crate) fn simulated() -> Self {
        Notice::warning("Simulated: a program made these answers up. They are not data.")
    }

    pub(crate) fn info(text: impl Into<String>) -> Self {
        Notice::new("info", text)
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Notice::new("warning", text)
    }

    pub(crate) fn danger(text: impl Into<String>) -> Self {
        Notice::new("danger", text)
    }

    fn new(level: &'static str, text: impl Into<String>) -> Self {
        Notice { level, text: text.into(), from: None, of: None }
    }
}

/// Describes a run without reading all of it.
pub(crate) fn run_info(site: &Site, reader: &mut dyn Reader, head: &RunHead) -> RunInfo {
    let is_damaged = site.damage(head).is_some();
    let RunHead { run, started: at, head } = head;
    let first = run_start(reader, *run);
    let last = reader.events(*run, Seq(head.seq.0.saturating_sub(1)), 1);
    let last = last.ok().and_then(|mut events| events.pop());
    let milliseconds = last.as_ref().filter(|_| *at != Time(0)).map(|last| last.time.0 - at.0);
    let last = last.and_then(|last| last.event().ok());
    let outcome = match (&first, &last) {
        _ if is_damaged => "damaged".to_owned(),
        (Err(_), _) => "damaged".to_owned(),
        (_, Some(Event::RunFinished(finished))) => printable(finished.outcome.as_str(), 20),
        // Its end is missing.
        _ if reader.events(*run, head.seq, 1).is_err() => "damaged".to_owned(),
        _ => match site.source.backend() {
            Ok(log) => without_end(log.as_ref(), *run, last.as_ref()).to_owned(),
            Err(_) => "unfinished".to_owned(),
        },
    };
    let short = run.short(8);
    // When a run began of which nothing is left is not known.
    let started = if *at == Time(0) { "?".to_owned() } else { at.to_string() };
    let (run, events) = (run.to_string(), head.seq.0);
    let head = head.hash.to_string();
    let Ok(first) = first else {
        return RunInfo {
            run,
            short,
            kind: "unknown",
            experiment: "?".to_owned(),
            name: None,
            started,
            milliseconds,
            events,
            model: "?".to_owned(),
            simulated: false,
            outcome,
            from: None,
            merged_from: Vec::new(),
            came_by: None,
            program: "?".to_owned(),
            seed: None,
            head,
        };
    };
    let came_by = match (&first.forked_from, experiment_kind(&first)) {
        (Some(_), _) => Some("a fork of"),
        (None, "accepted") => Some("about"),
        _ => None,
    };
    let parent = first.forked_from.map(|parent| parent.run.to_string());
    let of = first.settings["of"]["run"].as_str().map(|of| printable(of, 40));
    let RunStarted { experiment, model, program, .. } = &first;
    let kind = experiment_kind(&first);
    let name = site.studies.run_name(&first);
    RunInfo {
        run,
        short,
        kind,
        experiment: experiment.clone(),
        name,
        started,
        milliseconds,
        events,
        model: model["kind"].as_str().unwrap_or("?").to_owned(),
        simulated: first.is_simulated(),
        outcome,
        from: parent.or(of.filter(|_| kind == "accepted")),
        merged_from: first.merged_from.iter().map(RunId::to_string).collect(),
        came_by,
        program: program.clone(),
        seed: first.drawn_from(),
        head,
    }
}

/// What recorded a run.
fn experiment_kind(started: &RunStarted) -> &'static str {
    match started.experiment.as_str() {
        PROGRAM if started.settings["imported"].is_object() => "imported",
        PROGRAM => "program",
        EXCHANGES => "exchanges",
        DECISIONS => "accepted",
        _ => "study",
    }
}

/// The runs of the log; a list that cannot be read is a notice.
pub(crate) fn run_heads(reader: &mut dyn Reader, notices: &mut Vec<Notice>) -> Vec<RunHead> {
    reader.runs().unwrap_or_else(|error| {
        notices.push(Notice::danger(format!("The runs cannot be read: {error}")));
        Vec::new()
    })
}

/// The problems of the log or a run, as far as they are known by now, and the first event that cannot be trusted.
pub(crate) fn notices(site: &Arc<Site>, head: Option<&RunHead>) -> Result<Vec<Notice>, LogError> {
    let mut notices = Vec::new();
    let archive = site.source.archive()?;
    // Damage to a run is reported with the run.
    for finding in archive.findings().iter().filter(|finding| finding.run.is_none()) {
        let text = format!("This log is damaged. {finding}");
        notices.push(Notice { from: finding.seq.map(|seq| seq.0), ..Notice::danger(text) });
    }
    notices.extend(archive.note().map(Notice::warning));
    notices.extend(archive.warning().map(Notice::warning));
    let Some(head) = head else { return Ok(notices) };
    if site.is_being_read(head.run) {
        notices.push(Notice::warning("This run is still being read, event by event."));
    }
    if let Some(damage) = &site.damage(head) {
        let mut notice = Notice::distrust(damage, "this run");
        if damage.last_good().is_some() {
            notice.text.push_str(" What comes before it matches its hashes.");
        }
        notices.push(notice);
    }
    let doubt = ledger_mismatch(archive.backend().as_ref(), head.run)?;
    notices
        .extend(doubt.map(|fault| Notice::danger(format!("This run cannot be trusted: {fault}."))));
    Ok(notices)
}

/// The problems of runs, for a page that is about several: each names its run.
pub(crate) fn dangers<'a>(
    site: &Site,
    heads: impl IntoIterator<Item = &'a RunHead>,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    for head in heads {
        let (short, of) = (head.run.short(8), Some(head.run.to_string()));
        if let Some(damage) = site.damage(head) {
            notices.push(Notice { of, ..Notice::distrust(&damage, &format!("run {short}")) });
        }
    }
    notices
}

/// Which decisions about the answers of a run are in force, if any were accepted since: one notice.
pub(crate) fn effective_decisions(site: &Arc<Site>, head: &RunHead, runs: usize) -> Option<Notice> {
    let JobState::Done(found) = site.effective_decisions(head, runs) else { return None };
    let sentences = found.lines().into_iter().map(|line| {
        let mut chars = line.chars();
        let first = chars.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(chars).chain(['.']).collect::<String>()
    });
    let text = sentences.collect::<Vec<String>>().join(" ");
    // The run that is linked: the last of those that replace others, or the one that is replaced.
    let about = found.decides_about.as_ref().map(|of| of.run).filter(|_| !found.is_elsewhere);
    let of = found.accepted.last().map(|last| last.run).or(about);
    let of = of.map(|run| run.to_string());
    (!text.is_empty()).then(|| Notice { of, ..Notice::info(text) })
}
