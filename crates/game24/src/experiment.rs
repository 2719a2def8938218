//! The experiment itself.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::NAME;
use super::config::Settings;
use super::puzzles::{Puzzle, numbers_in, shows};
use super::samples::Samples;
use super::state::{Graded, Tally};
use crate::parse::{self as game24, GAME24};
use retold::id::{CallPath, IdError};
use retold::parse::Parser;
use retold::parse::registry::RegistryError;
use retold::prompt::{Message, Request, Role};
use retold::run::{
    Answer, CallFailed, DecisionRef, Experiment, OutputError, OutputFile, Question, Report, Run,
    RunRecord, Stop,
};
use retold_study::template::Templates;

/// The version of the parser that a setting names.
pub(super) fn version(parser: &str) -> Result<u32, String> {
    GAME24.resolve(parser).map_err(|e| match e {
        RegistryError::UnknownName { name, .. } => {
            format!("{name} does not parse answers of {NAME}")
        }
        e => e.to_string(),
    })
}

/// Asks every puzzle so many times, and grades what the parser finds.
#[derive(Debug)]
pub struct Game24 {
    pub(super) settings: Settings,
    version: u32,
    templates: Templates,
}

impl Game24 {
    /// The experiment of some settings.
    ///
    /// # Errors
    /// What in the settings cannot be executed.
    pub fn new(settings: Settings) -> Result<Self, String> {
        Game24::checked(settings).map_err(|(_, message)| message)
    }

    /// As [`Game24::new`], for settings that nobody has asked with yet: every prompt is tried. The error names the
    /// key of a config, too.
    pub(super) fn tried(settings: Settings) -> Result<Self, (&'static str, String)> {
        let game = Game24::checked(settings)?;
        // Examples in a template may have the numbers of a puzzle: these are numbers that it has not.
        let known = numbers_in(&game.settings.template.text);
        let numbers: Vec<i64> = (1..100).rev().filter(|n| !known.contains(n)).take(4).collect();
        let other = Puzzle { row: 0, numbers, spelt: None };
        let prompt = game.prompt(&other).map_err(|e| ("template", e))?;
        if !shows(&prompt, &other.numbers) {
            return Err(("template", game.has_no_input()));
        }
        for puzzle in &game.settings.puzzles {
            game.prepare(puzzle).map_err(|stop| ("request", stop.to_string()))?;
        }
        Ok(game)
    }

    fn checked(settings: Settings) -> Result<Self, (&'static str, String)> {
        let samples = settings.samples.check(settings.puzzles.len());
        samples.map_err(|wrong| ("samples", wrong.to_string()))?;
        let version = version(&settings.parser).map_err(|e| ("parser", e))?;
        let template = &settings.template;
        let templates = Templates::new([(template.name.clone(), template.text.clone())]);
        let templates = templates.map_err(|e| ("template", e.to_string()))?;
        let game = Game24 { templates, version, settings };
        let first = game.settings.puzzles.first();
        let first = first.ok_or(("puzzles", "there are no puzzles".to_owned()))?;
        let prompt = game.prompt(first).map_err(|e| ("template", e))?;
        if !prompt.contains(&first.text()) && !shows(&prompt, &first.numbers) {
            return Err(("template", game.has_no_input()));
        }
        Ok(game)
    }

    fn has_no_input(&self) -> String {
        format!("template {}: it has no {{input}}", self.settings.template.name)
    }

    /// The experiment of recorded settings.
    ///
    /// # Errors
    /// What in them does not fit.
    pub fn from_settings(settings: &Value) -> Result<Self, String> {
        Game24::new(Settings::deserialize(settings).map_err(|e| e.to_string())?)
    }

    fn prompt(&self, puzzle: &Puzzle) -> Result<String, String> {
        let name = &self.settings.template.name;
        let values = json!({"input": puzzle.text(), "numbers": puzzle.numbers});
        self.templates.render(name, values).map_err(|e| e.to_string())
    }

    fn request(&self, puzzle: &Puzzle) -> Result<Request, Stop> {
        let invalid = |reason| Stop::Invalid { what: "prompt", reason };
        let message = Message::new(Role::User, self.prompt(puzzle).map_err(invalid)?);
        Ok(self.settings.request.chat(vec![message]).into_request()?)
    }

    /// The call and the request of a puzzle.
    pub(super) fn question(&self, puzzle: &Puzzle) -> Result<(CallPath, Request), Stop> {
        Ok((Game24::call(puzzle)?, self.request(puzzle)?))
    }

    pub(super) fn parser(&self, puzzle: &Puzzle) -> Result<game24::Game24Parser, Stop> {
        let params = game24::Params { numbers: puzzle.numbers.clone() };
        Ok(game24::parser(self.version, params)?)
    }
}

/// What is wrong with settings in which a config's word still stands.
pub(super) const NOT_COUNTED: &str =
    "samples: recorded stands for numbers, and these are not counted";

/// All that the questions of one puzzle share.
struct Prepared {
    call: CallPath,
    request: Request,
    parser: Arc<game24::Game24Parser>,
}

impl Game24 {
    fn prepare(&self, puzzle: &Puzzle) -> Result<Prepared, Stop> {
        let (request, parser) = (self.request(puzzle)?, Arc::new(self.parser(puzzle)?));
        Ok(Prepared { call: Game24::call(puzzle)?, request, parser })
    }

    pub(super) fn call(puzzle: &Puzzle) -> Result<CallPath, IdError> {
        CallPath::new(format!("solve/{}", puzzle.row))
    }
}

impl Experiment for Game24 {
    type Event = Graded;
    type State = Tally;

    fn apply(state: &mut Tally, event: &Graded) {
        state.add(event);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let Settings { puzzles, samples, .. } = &self.settings;
        if *samples == Samples::Recorded {
            return Err(Stop::Invalid { what: "settings", reason: NOT_COUNTED.to_owned() });
        }
        run.expect((0..puzzles.len()).map(|place| u64::from(samples.of(place))).sum());
        // Templates were tried out when the experiment was made; a puzzle that cannot be prepared
        // stops the run before its first question.
        let prepared = puzzles.iter().map(|p| self.prepare(p)).collect::<Result<Vec<_>, Stop>>()?;
        let questions = prepared.iter().enumerate().flat_map(|(place, p)| {
            let question =
                |n| Question::new(p.call.clone(), p.request.clone(), p.parser.clone()).sample(n);
            (0..samples.of(place)).map(question)
        });
        let mut places = puzzles.iter().zip(&prepared).enumerate();
        let mut current: Option<Grading> = None;
        let (mut done, all) = (0, u32::try_from(puzzles.len()).unwrap_or(u32::MAX));
        run.ask_each(questions, |run, answer| {
            let grading = match &mut current {
                Some(grading) => grading,
                None => {
                    let Some((place, (puzzle, prepared))) = places.next() else { return Ok(()) };
                    let parser = prepared.parser.clone();
                    current.insert(Grading::new(puzzle, parser, samples.of(place)))
                }
            };
            grading.add(answer);
            if grading.graded.samples == grading.due
                && let Some(Grading { graded, causes, .. }) = current.take()
            {
                run.record(graded, &causes)?;
                done += 1;
                run.mark_step("puzzle", done, all)?;
            }
            Ok(())
        })
        .await
    }

    fn report(&self, state: &Tally) -> Report {
        state.report()
    }

    fn outputs(
        &self,
        state: &Tally,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        self.tables(state, record)
    }
}

/// The samples of one puzzle, as they come in.
struct Grading {
    parser: Arc<game24::Game24Parser>,
    graded: Graded,
    causes: Vec<DecisionRef>,
    /// How many there will be.
    due: u32,
}

impl Grading {
    fn new(puzzle: &Puzzle, parser: Arc<game24::Game24Parser>, due: u32) -> Self {
        let graded = Graded { puzzle: puzzle.text(), row: puzzle.row, ..Graded::default() };
        Grading { parser, graded, causes: Vec::new(), due }
    }

    fn add(&mut self, answer: Result<Answer<String>, CallFailed>) {
        let sample = self.graded.samples;
        self.graded.samples += 1;
        match answer {
            Ok(answer) => {
                let verdict = self.parser.verdict(&answer.value).unwrap_or("unjudged");
                self.graded.add(sample, verdict, answer.method);
                self.causes.push(answer.decision);
            }
            Err(_) => self.graded.unanswered.push(sample),
        }
    }
}
