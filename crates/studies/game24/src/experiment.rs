//! The experiment itself.

use std::sync::Arc;

use serde_json::json;

use super::config::{Settings, version};
use super::puzzles::{Puzzle, numbers_in, shows};
use super::samples::SampleCounts;
use super::state::{GradedPuzzle, Tally};
use crate::parse as game24;
use retold::id::{CallPath, IdError};
use retold::parse::Parser;
use retold::prompt::{Message, Request, Role};
use retold::run::{
    Answer, CallFailed, DecisionRef, Experiment, OutputError, OutputFile, Question, Report, Run,
    RunRecord, Stop,
};
use retold_study::error::StudyError;
use retold_study::template::{TemplateError, Templates};

/// Asks every puzzle several times, and grades the candidates that the parser finds.
#[derive(Debug)]
pub struct Game24 {
    pub(super) settings: Settings,
    version: u32,
    templates: Templates,
}

impl Game24 {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: Settings) -> Result<Self, StudyError> {
        if settings.samples == SampleCounts::Recorded {
            let uncounted =
                "\"recorded\" means as many as an answers file has, and there is none here";
            return Err(StudyError::part("samples", uncounted));
        }
        Game24::build(settings)
    }

    fn build(settings: Settings) -> Result<Self, StudyError> {
        settings.samples.check(settings.puzzles.len())?;
        let settings = settings.of_shard();
        let version = version(&settings.parser)?;
        let template = &settings.template;
        let templates = Templates::new([(template.name.clone(), template.text.clone())]);
        let templates = templates.map_err(in_template)?;
        let game = Game24 { templates, version, settings };
        let first = game.settings.puzzles.first();
        let first = first.ok_or_else(|| StudyError::part("puzzles", "there are no puzzles"))?;
        let prompt = game.prompt(first).map_err(in_template)?;
        if !prompt.contains(&first.text()) && !shows(&prompt, &first.numbers) {
            return Err(game.has_no_input());
        }
        Ok(game)
    }

    /// Like [`Game24::new`], for settings that have not been used yet: every prompt is tried, and
    /// the samples need not be counted yet.
    pub(super) fn try_out(settings: Settings) -> Result<Self, StudyError> {
        settings.request.check()?;
        let game = Game24::build(settings)?;
        // Examples in a template may contain the numbers of a puzzle, so other numbers are used
        // here.
        let known = numbers_in(&game.settings.template.text);
        let numbers: Vec<i64> = (1..100).rev().filter(|n| !known.contains(n)).take(4).collect();
        let other = Puzzle { row: 0, numbers, spelt: None };
        let prompt = game.prompt(&other).map_err(in_template)?;
        if !shows(&prompt, &other.numbers) {
            return Err(game.has_no_input());
        }
        for puzzle in &game.settings.puzzles {
            game.prepare(puzzle).map_err(|stop| StudyError::part("request", stop))?;
        }
        Ok(game)
    }

    fn has_no_input(&self) -> StudyError {
        let name = self.settings.template.name.clone();
        in_template(TemplateError { name, reason: "it has no {input}".to_owned() })
    }

    fn prompt(&self, puzzle: &Puzzle) -> Result<String, TemplateError> {
        let name = &self.settings.template.name;
        let values = json!({"input": puzzle.text(), "numbers": puzzle.numbers});
        self.templates.render(name, values)
    }

    fn request(&self, puzzle: &Puzzle) -> Result<Request, Stop> {
        let message = Message::new(Role::User, self.prompt(puzzle)?);
        Ok(self.settings.request.chat(vec![message]).into_request()?)
    }

    /// The call and the request of a puzzle.
    pub(super) fn question(&self, puzzle: &Puzzle) -> Result<(CallPath, Request), Stop> {
        Ok((Game24::call(puzzle)?, self.request(puzzle)?))
    }

    pub(super) fn parser(&self, puzzle: &Puzzle) -> Result<game24::Game24Parser, Stop> {
        let params = game24::PuzzleParams { numbers: puzzle.numbers.clone() };
        Ok(game24::parser(self.version, params)?)
    }
}

fn in_template(error: TemplateError) -> StudyError {
    StudyError::part("template", error)
}

/// What all questions about one puzzle have in common.
struct PuzzleQuestions {
    row: u64,
    call: CallPath,
    request: Request,
    parser: Arc<game24::Game24Parser>,
}

impl Game24 {
    fn prepare(&self, puzzle: &Puzzle) -> Result<PuzzleQuestions, Stop> {
        let (request, parser) = (self.request(puzzle)?, Arc::new(self.parser(puzzle)?));
        Ok(PuzzleQuestions { row: puzzle.row, call: Game24::call(puzzle)?, request, parser })
    }

    pub(super) fn call(puzzle: &Puzzle) -> Result<CallPath, IdError> {
        CallPath::new(format!("solve/{}", puzzle.row))
    }
}

impl Experiment for Game24 {
    type Event = GradedPuzzle;
    type State = Tally;

    fn apply(state: &mut Tally, event: &GradedPuzzle) {
        state.add(event);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let Settings { puzzles, samples, .. } = &self.settings;
        run.expect((0..puzzles.len()).map(|place| u64::from(samples.at(place))).sum());
        // Templates were tried when the experiment was created; a puzzle that cannot be prepared
        // stops the run before its first question.
        let prepared = puzzles.iter().map(|p| self.prepare(p)).collect::<Result<Vec<_>, Stop>>()?;
        let questions = prepared.iter().enumerate().flat_map(|(place, p)| {
            let question = move |n| {
                let question = Question::new(p.call.clone(), p.request.clone(), p.parser.clone());
                question.sample(n).label("puzzle", p.row)
            };
            (0..samples.at(place)).map(question)
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
                    current.insert(Grading::new(puzzle, parser, samples.at(place)))
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
        state.report(self.settings.puzzles.len())
    }

    fn outputs(
        &self,
        state: &Tally,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        self.tables(state, record)
    }
}

/// The samples of one puzzle, as they arrive.
struct Grading {
    parser: Arc<game24::Game24Parser>,
    graded: GradedPuzzle,
    causes: Vec<DecisionRef>,
    /// How many there will be.
    due: u32,
}

impl Grading {
    fn new(puzzle: &Puzzle, parser: Arc<game24::Game24Parser>, due: u32) -> Self {
        let graded =
            GradedPuzzle { puzzle: puzzle.text(), row: puzzle.row, ..GradedPuzzle::default() };
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
