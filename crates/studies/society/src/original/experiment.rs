//! The experiment: every turn of a log, parsed again.

use std::sync::Arc;

use serde_json::json;

use super::facts::OriginalFact;
use super::report;
use super::settings::{OriginalSettings, OriginalTurn, There};
use super::state::OriginalState;
use crate::experiment::version;
use crate::parse::{Action, ActionParams, ActionParser, parser};
use retold::id::CallPath;
use retold::prompt::{ChatRequest, Message, Role};
use retold::run::{Experiment, OutputError, OutputFile, Question, Report, Run, RunRecord, Stop};
use retold_study::at_once::at_once;
use retold_study::error::StudyError;
use retold_study::template::Templates;

/// The template's name.
const SITUATION: &str = "situation";

/// A society run by another program.
pub struct OriginalSociety {
    settings: OriginalSettings,
    templates: Templates,
    parser: Arc<ActionParser>,
}

impl OriginalSociety {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: OriginalSettings) -> Result<Self, StudyError> {
        let version = version(&settings.parser)?;
        let params = ActionParams { agents: settings.agents };
        let parser = parser(version, params).map_err(|e| StudyError::part("parser", e))?;
        let templates = Templates::new([(SITUATION.to_owned(), settings.template.clone())])?;
        Ok(OriginalSociety { settings, templates, parser: Arc::new(parser) })
    }

    fn question(&self, entry: &OriginalTurn) -> Result<Question<ActionParser>, Stop> {
        let OriginalTurn { run, epoch, turn, agent_id, persona, location, before, .. } = entry;
        let values = json!({
            "run": run, "epoch": epoch, "turn": turn, "agent_id": agent_id, "persona": persona,
            "location": location, "energy": before.energy.to_string(),
            "influence": before.influence.to_string(),
        });
        let text = self.templates.render(SITUATION, values)?;
        let model = entry.model.clone();
        let messages = vec![Message::new(Role::User, text)];
        let request = ChatRequest { model, messages, ..ChatRequest::default() }.into_request()?;
        let question = Question::new(CallPath::new(entry.call())?, request, self.parser.clone());
        let question = question.label("run", run).label("epoch", epoch);
        // Other runs of the log have agents of the same names.
        Ok(question.label("agent", format!("{run}/{agent_id}")))
    }
}

impl Experiment for OriginalSociety {
    type Event = OriginalFact;
    type State = OriginalState;

    fn apply(state: &mut OriginalState, fact: &OriginalFact) {
        state.apply(fact);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let entries = &self.settings.entries;
        let turns = entries.iter().filter(|entry| entry.there != There::Died);
        let questions = at_once(turns.map(|e| self.question(e)), Question::request)?;
        run.expect(questions.len() as u64);
        let mut answers = run.ask_all(questions).await?.into_iter();
        for entry in entries {
            if entry.there == There::Died {
                run.record(death(entry), &[])?;
                continue;
            }
            let Some(answer) = answers.next() else { continue };
            match answer {
                Ok(answer) => run.record(turn_fact(entry, &answer.value), &[answer.decision])?,
                Err(failed) => {
                    let reason = failed.failure.to_string();
                    let action = Action::Rejected { reason, stated: None };
                    run.record(turn_fact(entry, &action), &[])?;
                }
            }
        }
        Ok(())
    }

    fn report(&self, state: &OriginalState) -> Report {
        report::report(&self.settings.source, state)
    }

    fn outputs(
        &self,
        state: &OriginalState,
        _: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        report::files(&self.settings.source, state)
    }
}

fn death(entry: &OriginalTurn) -> OriginalFact {
    let OriginalTurn { run, epoch, agent_id, .. } = entry.clone();
    OriginalFact::Died { run, epoch, agent_id }
}

/// The fact for a turn, given the parser's result for its answer.
fn turn_fact(entry: &OriginalTurn, action: &Action) -> OriginalFact {
    let OriginalTurn { run, epoch, agent_id, action_type, before, after, there, .. } =
        entry.clone();
    let done_there = there == There::Done;
    match action {
        Action::Rejected { reason, stated } => {
            let (reason, action) = (reason.clone(), stated.clone());
            OriginalFact::InvalidAction {
                action,
                run,
                epoch,
                agent_id,
                action_type,
                done_there,
                reason,
                before,
                after,
            }
        }
        _ => OriginalFact::Acted { run, epoch, agent_id, action_type, done_there, before, after },
    }
}
