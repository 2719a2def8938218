//! The experiment itself.

use std::sync::Arc;

use retold::id::CallPath;
use retold::members::Members;
use retold::parse::StrategyParser;
use retold::prompt::{Message, Role};
use retold::run::{Experiment, Question, Report, Run, Stop};
use retold_study::config::ConfigProblem;
use retold_study::error::StudyError;
use retold_study::parser_file::written_parser;
use retold_study::template::{TemplateError, Templates};
use serde_json::{Value, json};

use crate::config::{JudgeSettings, JudgedAnswer};
use crate::judging::{JudgeCall, Judging};
use crate::state::{JudgeTally, Judged};
use crate::verdicts::Verdicts;

/// The name of the template in messages.
const TEMPLATE: &str = "judge";

/// The most answers of the judge for each judged one.
const MOST_SAMPLES: u32 = 1000;

/// The most judges.
const MOST_JUDGES: usize = 100;

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
        if settings.judges.len() > MOST_JUDGES {
            let message = format!("there are at most {MOST_JUDGES} judges");
            return Err(ConfigProblem::new("judges", message).into());
        }
        if let Some(unnamed) = settings.judges.iter().position(|it| it.model.trim().is_empty()) {
            let key = format!("judges[{unnamed}].model");
            return Err(ConfigProblem::new(&key, "the name of the model is empty").into());
        }
        if let Some(rule) = settings.rule {
            rule.check(&settings.verdicts)?;
        }
        let parser = Arc::new(written_parser(&settings.name, &settings.strategies)?);
        let text = settings.template.clone();
        let templates = Templates::new([(TEMPLATE.to_owned(), text)]).map_err(in_template)?;
        let judge = Judge { settings, templates, parser };
        let needed: &[&str] = match judge.settings.verdicts {
            Verdicts::Pair => &["first", "second"],
            Verdicts::Values(_) | Verdicts::Scale(_) => &["answer"],
        };
        let has = |name: &&&str| judge.templates.variables(TEMPLATE).contains(**name);
        if let Some(name) = needed.iter().find(|name| !has(name)) {
            let reason = format!("it has no {{{name}}}");
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
            judge.prompt(answer, false).map_err(in_template)?;
        }
        Ok(judge)
    }

    fn prompt(&self, answer: &JudgedAnswer, is_swapped: bool) -> Result<String, TemplateError> {
        let JudgedAnswer { call, sample, labels, question, text, other, .. } = answer;
        let verdict = self.settings.verdicts.question(self.settings.is_structured());
        let mut values = json!({"question": question, "call": call, "sample": sample,
            "labels": labels, "verdict": verdict});
        match other {
            Some(other) => {
                let (first, second) =
                    if is_swapped { (&other.text, text) } else { (text, &other.text) };
                values.set("first", first.as_str().into());
                values.set("second", second.as_str().into());
            }
            None => values.set("answer", text.as_str().into()),
        }
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
        let settings = &self.settings;
        let models = settings.models();
        let mut questions = Vec::new();
        for JudgeCall { judge, is_swapped, sample } in JudgeCall::each(settings) {
            let mut call = format!("judge/{}", answer.seq);
            if !settings.judges.is_empty() {
                call.push_str(&format!("/{}", judge + 1));
            }
            if is_swapped {
                call.push_str("/swapped");
            }
            let message = Message::new(Role::User, self.prompt(answer, is_swapped)?);
            let mut request = settings.request.chat(vec![message]);
            models[judge].clone_into(&mut request.model);
            let request = request.into_request()?;
            let question = Question::new(CallPath::new(call)?, request, self.parser.clone());
            questions.push(question.sample(sample).labels(answer.labels.clone()));
        }
        Ok(questions)
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
        let JudgeSettings { answers, .. } = &self.settings;
        run.expect(answers.len() as u64 * u64::from(self.settings.calls_each()));
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
                    Some(answer) => open.insert(Judging::new(answer, &self.settings)),
                    None => return Ok(()),
                },
            };
            judging.add(answered);
            if judging.is_complete()
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
