//! The trace of a run: its phases, failures and cost so far, as lines on the console while it runs and in a log file that
//! stays.
//!
//! A study's own lines come from its [`Journal`]. At each mark, such as the end of a phase, a line has the answers, failures
//! and cost so far.

use std::time::Duration;

use crate::again::spell_commands;
use crate::error::{CliError, write_err};
use crate::global::Global;
use crate::output::{count_of, group_digits};
use crate::progress::ProgressDisplay;
use crate::runs::folder::{OutputFolder, with_mark};
use crate::runs::live::LiveFile;
use crate::runs::phase_files::PhaseFiles;
use retold::escaping::printable;
use retold::event::RunStarted;
use retold::id::{RunId, Time};
use retold::log::{Log, LogError};
use retold::model::Prices;
use retold::parse::Parsers;
use retold::run::{ExecutionResult, Finish, Journal, Mode, Progress, Stop, Update, clock};
use retold::totals::{Totals, dollars};
use retold_study::settings::ExperimentSettings;

/// Where a run's trace goes.
pub(crate) struct TraceTo {
    /// The lines of its study.
    journal: Option<Box<dyn Journal>>,
    /// `None` if it writes no folder.
    file: Option<LiveFile>,
    /// `None` if its study has none.
    phase_files: Option<PhaseFiles>,
    /// The run's name on the console, if there are others.
    label: Option<String>,
    /// The command that continues the run and waits longer for answers, without the program's name.
    longer: String,
    /// Whether only warnings are shown, because a person plays.
    is_played: bool,
}

/// The files that a run's study makes after each phase, if it writes a folder and there are any.
pub(crate) fn phase_files(
    experiment: &str,
    settings: &ExperimentSettings,
    folder: Option<&OutputFolder>,
    global: &Global,
) -> Result<Option<PhaseFiles>, CliError> {
    let Some(folder) = folder else { return Ok(None) };
    let names = journal(experiment, settings, global)?.map(|journal| journal.file_names());
    let names = names.filter(|names| !names.is_empty());
    Ok(names.map(|names| PhaseFiles::of(&folder.place(), names)))
}

fn journal(
    experiment: &str,
    settings: &ExperimentSettings,
    global: &Global,
) -> Result<Option<Box<dyn Journal>>, CliError> {
    global.studies.journal(experiment, settings).map_err(|e| CliError::usage(e.to_string()))
}

impl TraceTo {
    /// The trace of a run that is about to be executed. That of a resume continues its log file.
    pub(crate) fn new(
        experiment: &str,
        settings: &ExperimentSettings,
        folder: Option<&OutputFolder>,
        phase_files: Option<PhaseFiles>,
        mode: Mode,
        longer: String,
        global: &Global,
    ) -> Result<Self, CliError> {
        let journal = journal(experiment, settings, global)?;
        let file = folder.map(|folder| LiveFile::open(&folder.place(), mode)).transpose()?;
        Ok(TraceTo { journal, file, phase_files, label: None, longer, is_played: false })
    }

    /// The trace of a run that a person plays, who is not shown a log.
    pub(crate) fn of_play(longer: String) -> Self {
        let (journal, file, phase_files, label) = (None, None, None, None);
        TraceTo { journal, file, phase_files, label, longer, is_played: true }
    }

    /// Names the run in its lines on the console.
    pub(crate) fn with_label(self, label: Option<&str>) -> Self {
        TraceTo { label: label.map(str::to_owned), ..self }
    }
}

/// The trace of a run that is being executed.
pub(crate) struct Trace {
    to: TraceTo,
    console: ProgressDisplay,
    cost: CostSoFar,
    is_simulated: bool,
    /// When the execution began. What happened before was reported by an earlier one.
    since: Time,
    /// Whether it was said how to wait longer for answers.
    has_said_longer: bool,
}

impl Trace {
    pub(crate) fn new(to: TraceTo, console: ProgressDisplay, cost: CostSoFar) -> Self {
        let since = clock::now();
        Trace { to, console, cost, is_simulated: false, since, has_said_longer: false }
    }

    /// Reports what happens.
    pub(crate) fn take(&mut self, told: Update<'_>) {
        if let Update::TimedOut { call, sample, attempt, failure, again } = told {
            let what = format!("{call}#{sample}: {}", printable(&failure.message, 300));
            return self.timed_out(&printable(&what, 400), attempt, again);
        }
        if self.to.is_played {
            return;
        }
        let mut lines = match (&mut self.to.journal, told) {
            (Some(journal), told) => journal.lines(told),
            (None, Update::Began { run, started, time }) => began(run, started, time),
            (None, _) => String::new(),
        };
        let mut at = clock::now();
        match told {
            Update::Began { started, time, .. } => {
                self.is_simulated = started.is_simulated();
                if time < self.since {
                    lines = line(at, "INFO", "resumed");
                }
            }
            Update::Fact { time, .. } => at = time,
            Update::Marked { time, name, progress } => {
                let name = printable(&name.replace('_', " "), 100);
                let so_far = self.so_far(&progress);
                lines.push_str(&line(time, "INFO", &format!("{name}: {so_far} so far")));
                self.write_files();
            }
            _ => {}
        }
        self.say(at, &lines);
    }

    /// Reports a dropped attempt; once, also how to wait longer.
    fn timed_out(&mut self, what: &str, attempt: u32, again: Option<Duration>) {
        let next = match again {
            Some(wait) => format!("the next begins in {:.0} s", wait.as_secs_f64().ceil()),
            None => "the call has failed".to_owned(),
        };
        let now = clock::now();
        let dropped = format!("{what}; attempt {} is dropped, and {next}", attempt + 1);
        let mut lines = line(now, "WARNING", &dropped);
        if !std::mem::replace(&mut self.has_said_longer, true) {
            let longer = &self.to.longer;
            lines.push_str(&spell_commands(&format!(
                "  hint: if the model needs longer, stop with Ctrl-C, and `retold {longer}` goes on with a longer time-out\n"
            )));
        }
        if let Some(file) = &mut self.to.file {
            file.write(&lines);
        }
        self.console.warning(&self.label_lines(lines));
    }

    /// Reports how the execution ended.
    pub(crate) fn report_end(&mut self, ended: &ExecutionResult) {
        if self.to.is_played {
            return;
        }
        let so_far = self.so_far(&ended.progress);
        let (level, what) = match &ended.finish {
            Finish::Finished => ("INFO", "finished".to_owned()),
            Finish::Stopped(Stop::Interrupted) => ("WARNING", "interrupted".to_owned()),
            Finish::Stopped(stop @ (Stop::Reached { .. } | Stop::Held)) => {
                ("INFO", printable(&stop.to_string(), 500))
            }
            Finish::Stopped(stop) => {
                ("ERROR", format!("stopped: {}", printable(&stop.to_string(), 500)))
            }
            Finish::EndOfRecord | Finish::Rehearsed(_) => ("WARNING", "unfinished".to_owned()),
            Finish::Closed(outcome) => ("WARNING", outcome.as_str().to_owned()),
        };
        let now = clock::now();
        self.say(now, &line(now, level, &format!("{what}: {so_far}")));
    }

    fn say(&mut self, at: Time, lines: &str) {
        if at < self.since {
            return;
        }
        if let Some(file) = &mut self.to.file {
            file.write(lines);
        }
        self.console.lines(&self.label_lines(lines.to_owned()));
    }

    /// Lines with the name of the run, if there are others.
    fn label_lines(&self, lines: String) -> String {
        match &self.to.label {
            None => lines,
            Some(label) => lines.lines().map(|line| format!("{label}: {line}\n")).collect(),
        }
    }

    /// The files of the phase that has just ended.
    fn write_files(&self) {
        let TraceTo { journal: Some(journal), phase_files: Some(place), .. } = &self.to else {
            return;
        };
        match journal.files() {
            Ok(files) => place.replace(&with_mark(files, self.is_simulated)),
            Err(e) => write_err(&format!("warning: {e}\n")),
        }
    }

    /// Answers, failures and cost, in words.
    fn so_far(&mut self, progress: &Progress) -> String {
        let answers = count_of(progress.exchanges, "answer");
        let failed = group_digits(progress.failed);
        let cost = match self.is_simulated {
            true => None,
            false => self.cost.dollars().ok().flatten(),
        };
        let cost = cost.map_or_else(String::new, |cost| format!(", {}", dollars(Some(cost))));
        format!("{answers}, {failed} failed{cost}")
    }
}

/// The cost of a run, read from its log as it grows.
pub(crate) struct CostSoFar {
    log: Log,
    totals: Totals,
}

impl CostSoFar {
    pub(crate) fn new(log: Log, run: RunId, prices: &Prices) -> Self {
        CostSoFar { log, totals: Totals::new(run, prices) }
    }

    /// In US dollars; `None` if that is not known.
    fn dollars(&mut self) -> Result<Option<f64>, LogError> {
        let mut reader = self.log.reader()?;
        while self.totals.read_on(reader.as_mut())? {}
        let cost = self.totals.figures(&Parsers::default()).all.cost;
        Ok(cost.dollars.filter(|_| cost.is_complete))
    }
}

/// The first line about a run whose study has no journal.
fn began(run: RunId, started: &RunStarted, time: Time) -> String {
    let RunStarted { experiment, program, seed, model, .. } = started;
    let (experiment, kind) =
        (printable(experiment, 100), model["kind"].as_str().unwrap_or("unknown"));
    let mut lines = line(
        time,
        "INFO",
        &format!("{experiment}: run {run} of {program}, seed {seed}, model {kind}"),
    );
    if started.is_simulated() {
        lines.push_str(&line(time, "WARNING", crate::select::SIMULATED.trim_end()));
    }
    lines
}

fn line(time: Time, level: &str, message: &str) -> String {
    format!("{time} {level} {message}\n")
}
