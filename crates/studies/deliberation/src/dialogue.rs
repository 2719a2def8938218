//! A dialogue between a moderator and a participant.

use super::ask::{QuestionFailure, non_empty};
use super::calls::{self, LabelledCall};
use super::experiment::Deliberation;
use super::transcript::{DialogueTurn, Speaker, Transcript};
use retold::parse::text::moderator;
use retold::prompt::{Message, Request, Role};
use retold::run::{DecisionRef, SoFar, Source, Stop, Talk};

/// The parts of a dialogue that differ between clarification and challenge.
pub(super) struct Dialogue {
    /// `clarification/p_0007`: the prefix for its calls.
    pub(super) call: LabelledCall,
    /// The moderator's instructions.
    pub(super) moderator: String,
    /// The sources of these instructions.
    pub(super) moderator_from: Vec<Source>,
    /// The participant's instructions.
    pub(super) participant: String,
    /// The sources of these instructions.
    pub(super) participant_from: Vec<Source>,
    /// The most questions.
    pub(super) most: u32,
}

/// A finished dialogue, the decisions in it, and everything the participant has seen of it.
pub(super) type Held = Result<(Transcript, Vec<DecisionRef>, SoFar), QuestionFailure>;

impl Deliberation {
    /// Question and answer in turn, until the moderator says exactly `SATISFIED` or has asked the
    /// maximum number of questions. The closing word is not part of the transcript.
    pub(super) async fn hold(
        &self,
        talk: &mut Talk<Self>,
        dialogue: &Dialogue,
    ) -> Result<Held, Stop> {
        let Dialogue { call, moderator, participant, most, .. } = dialogue;
        let (mut transcript, mut causes) = (Transcript::new(), Vec::new());
        let mut asks: SoFar = dialogue.moderator_from.iter().collect();
        let mut answers: SoFar = dialogue.participant_from.iter().collect();
        for exchange in 1..=*most as usize {
            let request = self.turn(moderator, &transcript, Speaker::Moderator)?;
            let path = call.turn(exchange, Speaker::Moderator);
            let usable = |turn| (turn != moderator::ModeratorTurn::Nothing).then_some(turn);
            let parser = &self.parsers.moderator;
            let asked =
                self.ask_until_usable(talk, path, request, asks.sources(), parser, usable).await?;
            let question = match asked {
                Err(failed) => return Ok(Err(failed)),
                Ok((turn, decision)) => {
                    causes.push(decision.clone());
                    match turn {
                        moderator::ModeratorTurn::Says(content) => {
                            asks.replace_with(&decision);
                            asks.add(&decision);
                            answers.add(&decision);
                            content
                        }
                        moderator::ModeratorTurn::Satisfied | moderator::ModeratorTurn::Nothing => {
                            if transcript.is_empty() && self.needs_input() {
                                return Ok(Err(no_question(&call.call)));
                            }
                            break;
                        }
                    }
                }
            };
            transcript.push(DialogueTurn { role: Speaker::Moderator, content: question });
            let request = self.turn(participant, &transcript, Speaker::Participant)?;
            let path = call.turn(exchange, Speaker::Participant);
            let parser = &self.parsers.text;
            match self
                .ask_until_usable(talk, path, request, answers.sources(), parser, non_empty)
                .await?
            {
                Err(failed) => return Ok(Err(failed)),
                Ok((content, decision)) => {
                    answers.replace_with(&decision);
                    answers.add(&decision);
                    asks.add(&decision);
                    causes.push(decision);
                    transcript.push(DialogueTurn { role: Speaker::Participant, content });
                }
            }
        }
        Ok(Ok((transcript, causes, answers)))
    }

    /// The request for the next turn of one side, whose own turns have the assistant's role. The
    /// moderator's first turn is based only on the instructions.
    fn turn(&self, system: &str, so_far: &[DialogueTurn], side: Speaker) -> Result<Request, Stop> {
        let said = so_far.iter().map(|turn| {
            let role = if turn.role == side { Role::Assistant } else { Role::User };
            Message::new(role, turn.content.clone())
        });
        let messages = std::iter::once(Message::new(Role::System, system)).chain(said).collect();
        Ok(self.config.chat(messages)?)
    }
}

/// Why a dialogue without a question cannot be summarised or voted on.
fn no_question(dialogue: &str) -> QuestionFailure {
    let reason = "the moderator was satisfied before any question, so there is no dialogue";
    let call = calls::turn(dialogue, 1, Speaker::Moderator);
    QuestionFailure { call, sample: 0, reason: reason.to_owned() }
}
