//! The experiment itself.

use std::sync::Arc;

use retold::id::{CallPath, Seq};
use retold::parse::text::free_text::{self, FreeTextParser};
use retold::prompt::Request;
use retold::run::{Experiment, Question, Report, Run, Stop};
use retold_study::config::ConfigProblem;
use retold_study::error::StudyError;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::settings::{DrawnAnswer, DriftSettings};

/// The most new answers for each recorded one.
const MOST_TIMES: u32 = 1000;

/// Asks recorded prompts again.
pub struct Drift {
    settings: DriftSettings,
    requests: Vec<Request>,
    parser: Arc<FreeTextParser>,
}

/// A recorded prompt was asked again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedAgain {
    /// The seq of the recorded answer in its run.
    pub answer: Seq,
    /// How many new answers there are.
    pub answered: u32,
}

/// How much was asked again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct DriftTally {
    /// Recorded answers whose prompts were asked again.
    pub answers: u64,
    /// New answers.
    pub answered: u64,
}

impl Drift {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: DriftSettings) -> Result<Self, StudyError> {
        if settings.times == 0 || settings.times > MOST_TIMES {
            let message = format!("a prompt is asked again from 1 to {MOST_TIMES} times");
            return Err(ConfigProblem::new("times", message).into());
        }
        let request = |(at, drawn): (usize, &DrawnAnswer)| {
            Request::from_canonical(&drawn.request).map_err(|error| {
                let key = format!("answers[{at}].request");
                ConfigProblem::new(&key, error.to_string()).into()
            })
        };
        let requests = settings.answers.iter().enumerate().map(request);
        let requests = requests.collect::<Result<Vec<Request>, StudyError>>()?;
        let parser = free_text::parser().map_err(|error| StudyError::part("parser", error))?;
        Ok(Drift { settings, requests, parser: Arc::new(parser) })
    }
}

impl Experiment for Drift {
    type Event = AskedAgain;
    type State = DriftTally;

    fn apply(state: &mut DriftTally, event: &AskedAgain) {
        state.answers += 1;
        state.answered += u64::from(event.answered);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let DriftSettings { answers, times, .. } = &self.settings;
        run.expect(answers.len() as u64 * u64::from(*times));
        let mut questions = Vec::new();
        for (drawn, request) in answers.iter().zip(&self.requests) {
            let call = CallPath::new(format!("again/{}", drawn.seq))?;
            questions.extend((0..*times).map(|sample| {
                Question::new(call.clone(), request.clone(), self.parser.clone())
                    .sample(sample)
                    .labels(drawn.labels.clone())
            }));
        }
        let mut due = answers.iter();
        let (mut asked, mut causes) = (0, Vec::new());
        run.ask_each(questions, |run, answered| {
            asked += 1;
            causes.extend(answered.ok().map(|answer| answer.decision));
            if asked < *times {
                return Ok(());
            }
            if let Some(drawn) = due.next() {
                let answered = causes.len() as u32;
                run.record(AskedAgain { answer: drawn.seq, answered }, &causes)?;
            }
            asked = 0;
            causes.clear();
            Ok(())
        })
        .await
    }

    fn report(&self, state: &DriftTally) -> Report {
        let DriftTally { answers, answered } = state;
        let of = self.settings.of;
        let text = format!(
            "{answers} answers of run {of} were asked for again, with {answered} new answers\n"
        );
        let empty_because = (*answered == 0).then(|| "nothing was answered".to_owned());
        let json = json!({"of": of, "answers": answers, "answered": answered});
        Report { json, text, empty_because, failed: None }
    }
}
