//! The experiment itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use retold::id::CallPath;
use retold::parse::StrategyParser;
use retold::prompt::{Message, Role};
use retold::run::{Answer, CallFailed, DecisionRef, Experiment, Question, Report, Run, Stop};
use retold_study::config::ConfigProblem;
use retold_study::error::StudyError;
use retold_study::parser_file::written_parser;
use retold_study::template::{TemplateError, Templates};
use serde_json::{Value, json};

use crate::config::{JudgeSettings, JudgedAnswer};
use crate::state::{JudgeTally, Judged};

/// The name of the template in messages.
const TEMPLATE: &str = "judge";

/// The most answers of the judge for each judged one.
const MOST_SAMPLES: u32 = 1000;

/// Asks a model about each answer, and reads its verdict.
pub struct Judge {
    settings: JudgeSettings,
    templates: Templates,
    parser: Arc<StrategyParser<(), Value>>,
}

impl Judge {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: JudgeSettings) -> Result<Self, StudyError> {
        settings.request.check()?;
        if settings.name.trim().is_empty() {
            return Err(ConfigProblem::new("name", "what is decided needs a name").into());
        }
        if settings.samples == 0 || settings.samples > MOST_SAMPLES {
            let message = format!("a judge is asked from 1 to {MOST_SAMPLES} times");
            return Err(ConfigProblem::new("samples", message).into());
        }
        let parser = Arc::new(written_parser(&settings.name, &settings.strategies)?);
        let text = settings.template.clone();
        let templates = Templates::new([(TEMPLATE.to_owned(), text)]).map_err(in_template)?;
        let judge = Judge { settings, templates, parser };
        if !judge.templates.variables(TEMPLATE).contains("answer") {
            let reason = "it has no {answer}".to_owned();
            return Err(in_template(TemplateError { name: TEMPLATE.to_owned(), reason }));
        }
        Ok(judge)
    }

    /// The same for a new run: there is something to judge, and every prompt can be made.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn for_new_run(settings: JudgeSettings) -> Result<Self, StudyError> {
        let judge = Judge::new(settings)?;
        for answer in &judge.settings.answers {
            judge.prompt(answer).map_err(in_template)?;
        }
        Ok(judge)
    }

    fn prompt(&self, answer: &JudgedAnswer) -> Result<String, TemplateError> {
        let JudgedAnswer { call, sample, labels, question, text, .. } = answer;
        let verdict = self.settings.verdicts.question();
        let values = json!({"answer": text, "question": question, "call": call,
            "sample": sample, "labels": labels, "verdict": verdict});
        let prompt = self.templates.render(TEMPLATE, values)?;
        Ok(match self.templates.variables(TEMPLATE).contains("verdict") {
            true => prompt,
            false => format!("{}\n\n{verdict}", prompt.trim_end()),
        })
    }

    fn questions(
        &self,
        answer: &JudgedAnswer,
    ) -> Result<Vec<Question<StrategyParser<(), Value>>>, Stop> {
        let call = CallPath::new(format!("judge/{}", answer.seq))?;
        let message = Message::new(Role::User, self.prompt(answer)?);
        let request = self.settings.request.chat(vec![message]).into_request()?;
        let question = |n| {
            let question = Question::new(call.clone(), request.clone(), self.parser.clone());
            question.sample(n).labels(answer.labels.clone())
        };
        Ok((0..self.settings.samples).map(question).collect())
    }
}

fn in_template(error: TemplateError) -> StudyError {
    StudyError::part("template", error)
}

impl Experiment for Judge {
    type Event = Judged;
    type State = JudgeTally;

    fn apply(state: &mut JudgeTally, event: &Judged) {
        state.add(event);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let JudgeSettings { answers, samples, .. } = &self.settings;
        run.expect(answers.len() as u64 * u64::from(*samples));
        let mut questions = Vec::new();
        for answer in answers {
            questions.extend(self.questions(answer)?);
        }
        let mut due = answers.iter();
        let mut open: Option<Judging<'_>> = None;
        run.ask_each(questions, |run, answered| {
            let judging = match &mut open {
                Some(judging) => judging,
                None => match due.next() {
                    Some(answer) => open.insert(Judging::new(answer)),
                    None => return Ok(()),
                },
            };
            judging.add(answered);
            if judging.asked == *samples
                && let Some(judging) = open.take()
            {
                let (judged, causes) = judging.into_judged(&self.settings);
                run.record(judged, &causes)?;
            }
            Ok(())
        })
        .await
    }

    fn report(&self, state: &JudgeTally) -> Report {
        state.report(&self.settings.name)
    }
}

/// The samples of one judged answer, as they arrive.
struct Judging<'a> {
    answer: &'a JudgedAnswer,
    asked: u32,
    samples: Vec<Value>,
    causes: Vec<DecisionRef>,
    warnings: BTreeSet<String>,
}

impl<'a> Judging<'a> {
    fn new(answer: &'a JudgedAnswer) -> Self {
        let (samples, causes, warnings) = (Vec::new(), Vec::new(), BTreeSet::new());
        Judging { answer, asked: 0, samples, causes, warnings }
    }

    fn add(&mut self, answered: Result<Answer<Value>, CallFailed>) {
        self.asked += 1;
        if let Ok(answered) = answered {
            self.samples.push(answered.value);
            self.causes.push(answered.decision);
            self.warnings.extend(answered.warnings);
        }
    }

    fn into_judged(self, settings: &JudgeSettings) -> (Judged, Vec<DecisionRef>) {
        let Judging { answer, asked, samples, causes, warnings } = self;
        let JudgedAnswer { seq, call, sample, .. } = answer;
        let unanswered = asked - samples.len() as u32;
        let verdict = settings.verdicts.of_samples(&samples);
        let (answer, call, sample) = (*seq, call.clone(), *sample);
        let warnings = warnings.into_iter().collect();
        (Judged { answer, call, sample, samples, unanswered, verdict, warnings }, causes)
    }
}
