//! A rehearsal with a model: questions that are not recorded with the same prompt are asked, as in a run or fork, but
//! nothing is written.

use super::core::{Core, Exchanged, UnparsedAnswer, call_failed};
use super::details::{AnswerDetails, content_and_details, usage};
use super::dry_run::{DryRunSettings, Instead, NewCall, Rehearsing, usage_of};
use super::history::RecordedCall;
use super::question::QuestionCore;
use super::stop::Stop;
use crate::id::Seq;
use crate::model::{Ask, Destinations, Model, Usage};

impl Rehearsing {
    /// Counts a question, and returns its recorded answer if a fork would share it.
    pub(super) fn ask_model(
        &mut self,
        asked: &QuestionCore,
        found: Option<RecordedCall>,
        settings: &DryRunSettings,
    ) -> Option<RecordedCall> {
        // Its prompt is made from the answers that a run would get, so it is the real one.
        let made_from_new = false;
        let address = (asked.call.clone(), asked.sample);
        let Some(why) = self.note(asked, found.as_ref(), settings, made_from_new) else {
            let recorded = &found.as_ref()?.recorded;
            let (seq, used) = (recorded.seq, usage_of(recorded));
            self.count_use(asked, used.as_ref());
            self.addresses.insert(seq, address);
            return found;
        };
        self.put_to_model.insert(address, self.found.new.len());
        self.found.new.push(NewCall {
            call: asked.call.clone(),
            sample: asked.sample,
            why,
            follows_new: made_from_new,
            order: Destinations::default().order(&asked.request),
            bytes: asked.request.canonical().len() as u64,
            instead: None,
            failed: false,
        });
        None
    }

    /// Notes the tokens that the model's answer to a question used; returns the places of question and answer.
    fn note_answer(&mut self, asked: &QuestionCore, used: Option<Usage>) -> (Seq, Seq) {
        self.count_use(asked, used.as_ref());
        if let Some(call) = self.new_call(asked) {
            call.instead = Some(Instead { prompt: asked.prompt(), bytes: 0, usage: used });
        }
        let address = (asked.call.clone(), asked.sample);
        let (request, answer) = self.new_places();
        self.addresses.insert(answer, address);
        (request, answer)
    }

    /// The new call of a question that was put to the model.
    fn new_call(&mut self, asked: &QuestionCore) -> Option<&mut NewCall> {
        let place = self.put_to_model.get(&(asked.call.clone(), asked.sample)).copied()?;
        self.found.new.get_mut(place)
    }

    /// Notes that the model gave no answer to a question.
    fn note_failure(&mut self, asked: &QuestionCore) {
        if let Some(call) = self.new_call(asked) {
            call.failed = true;
        }
    }

    /// Takes a question back, because an earlier answer is shared with it.
    pub(super) fn withdraw(&mut self, asked: &QuestionCore) {
        let place = self.put_to_model.get(&(asked.call.clone(), asked.sample));
        self.withdrawn.extend(place.copied());
    }
}

impl Core {
    /// Asks a model with the retries of a run, but without its waits; nothing is recorded.
    pub(super) async fn try_on_model(
        &self,
        model: &dyn Model,
        asked: &QuestionCore,
    ) -> Result<Exchanged, Stop> {
        let QuestionCore { call, sample, request, .. } = asked;
        let mut retry = self.setup.retry.start();
        let mut attempt = 0;
        loop {
            if self.brake.is_pulled() {
                return Err(Stop::Interrupted);
            }
            let ask = Ask { request, call, sample: *sample, attempt };
            self.update(|p| p.model_calls += 1);
            match model.answer(ask).await {
                Ok(response) => {
                    self.update(|p| p.live += 1);
                    let (content, details) = content_and_details(response);
                    let beside = AnswerDetails::new(&content, details);
                    let used = usage(&beside.details());
                    let (request, seq) = self.rehearsing.borrow_mut().note_answer(asked, used);
                    return Ok(Ok(UnparsedAnswer { request, seq, content, beside }));
                }
                Err(failure) if retry.after(&failure).is_some() => attempt += 1,
                Err(failure) => {
                    self.rehearsing.borrow_mut().note_failure(asked);
                    return Ok(Err(call_failed(asked, failure)));
                }
            }
        }
    }
}
