//! Asks the model: one question with its retries. Each attempt and the answer are recorded.

use std::rc::Rc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

use super::because::places;
use super::clock::Stopwatch;
use super::core::{Core, Exchanged, UnparsedAnswer, call_failed};
use super::details::AnswerDetails;
use super::follow::Update;
use super::history::{RecordedEnd, Text};
use super::network::{AttemptTurn, FailureVerdict, NetworkBlame};
use super::question::{CallFailed, QuestionCore, Reuse};
use super::recorder::{attempt_details, response_event};
use super::stop::Stop;
use crate::event::{
    AnswerReused, AttemptDetails, AttemptFailed, Event, RequestSent, SharedFailure,
};
use crate::id::{RunId, Seq};
use crate::log::Durable;
use crate::model::{
    Ask, Failure, FailureKind, Model, Permit, Refusal, Response, TimeIsUp, UNREADABLE, within,
};
use crate::prompt::{Api, Request};

/// The tracing target for outages and for answers that were not waited for, which the user should always see.
pub const OUTAGES: &str = "retold::outages";

/// The right to make one attempt; returned when dropped.
struct AttemptRight<'a> {
    turn: AttemptTurn<'a>,
    /// Shared by texts that are embedded together.
    #[expect(dead_code, reason = "held for its drop")]
    permit: Rc<Permit>,
    /// The turn to ask a model that has not answered yet.
    #[expect(dead_code, reason = "held for its drop")]
    alone: Option<OwnedSemaphorePermit>,
}

impl Core {
    /// The end of a question: the recorded one, or the model's answer now.
    pub(super) async fn exchange(&self, asked: &QuestionCore) -> Result<Exchanged, Stop> {
        match self.look_up(asked)? {
            Some(exchanged) => Ok(exchanged),
            None => self.live(asked).await,
        }
    }

    /// Takes the answer of a fork or a merged run from a parent, or asks the model, after [`Core::look_up`] found
    /// nothing.
    pub(super) async fn live(&self, asked: &QuestionCore) -> Result<Exchanged, Stop> {
        let inherited = match self.parent.borrow_mut().as_mut() {
            Some(parents) => parents.take(asked)?,
            None => None,
        };
        let exchanged = match inherited {
            Some((from, recorded)) => self.inherit(asked, from, recorded).await?,
            None => self.ask_model(asked).await?,
        };
        self.count(asked, &exchanged);
        Ok(exchanged)
    }

    /// Records the outcome that another run has at this address: its answer, or its failure.
    async fn inherit(
        &self,
        asked: &QuestionCore,
        from: RunId,
        recorded: RecordedEnd,
    ) -> Result<Exchanged, Stop> {
        let RecordedEnd { request, seq, result } = recorded;
        match result {
            Ok(Text { content, beside }) => {
                let answered = UnparsedAnswer { request, seq, content, beside };
                Ok(Ok(self.reuse(asked, from, answered).await?))
            }
            // It fails as it failed there; otherwise the beginning would not be shared.
            Err(failure) => {
                let sent = self.record_question(asked)?;
                let details = AttemptDetails {
                    from: Some(SharedFailure { run: from, seq }),
                    ..attempt_details(0, &failure, true)
                };
                self.fail(sent, details)?.wait().await?;
                Ok(Err(call_failed(asked, failure)))
            }
        }
    }

    async fn ask_model(&self, asked: &QuestionCore) -> Result<Exchanged, Stop> {
        let model = self.setup.model.as_ref().filter(|_| !self.is_left_to_shards());
        let Some(model) = model else { return Err(self.nobody_answers(asked)) };
        if self.holds(model.as_ref(), asked) {
            return self.hold(asked);
        }
        match asked.reuse {
            Reuse::Exact => self.put_to_model(model.as_ref(), asked).await,
            Reuse::Shared => self.ask_or_share(model.as_ref(), asked).await,
        }
    }

    /// True if only the shards of a merged run may answer the question asked now.
    fn is_left_to_shards(&self) -> bool {
        let is_merged = self.parent.borrow().as_ref().is_some_and(|parents| parents.are_shards);
        is_merged && !self.phases.is_past_shards()
    }

    /// Why a question remains unanswered for which no model may be asked.
    fn nobody_answers(&self, asked: &QuestionCore) -> Stop {
        if self.parent.borrow().is_none() {
            return Stop::EndOfRecord;
        }
        let QuestionCore { call, sample, labels, .. } = asked.clone();
        Stop::NotInShards { call, sample, labels }
    }

    /// Waits for the first question with the same prompt, and shares its answer. Asks the model
    /// only if this is the first, or if all earlier ones failed.
    async fn ask_or_share(
        &self,
        model: &dyn Model,
        asked: &QuestionCore,
    ) -> Result<Exchanged, Stop> {
        let cell = self.shared.cell(asked.prompt());
        let mut is_own = false;
        let ask = async || {
            is_own = true;
            // Neither a failed call nor a stopped run leaves anything to share.
            match self.put_to_model(model, asked).await {
                Ok(Ok(answered)) => Ok(answered),
                Ok(Err(failed)) => Err(Ok(failed)),
                Err(stop) => Err(Err(stop)),
            }
        };
        match cell.get_or_try_init(ask).await {
            Ok(own) if is_own => Ok(Ok(own.clone())),
            Ok(earlier) => Ok(Ok(self.reuse(asked, self.setup.run, earlier.clone()).await?)),
            Err(ended) => ended.map(Err),
        }
    }

    /// Asks a model until it answers or another attempt would be pointless.
    async fn put_to_model(
        &self,
        model: &dyn Model,
        asked: &QuestionCore,
    ) -> Result<Exchanged, Stop> {
        if !self.setup.mode.writes() {
            return self.try_on_model(model, asked).await;
        }
        let QuestionCore { call, sample, request, .. } = asked;
        let mut permit = self.permit(request).await?;
        let sent = self.record_question(asked)?;
        let mut retry = self.setup.retry.start();
        let mut blamed = NetworkBlame::default();
        let mut attempt = 0;
        loop {
            let ask = Ask { request, call, sample: *sample, attempt };
            self.update(|p| p.model_calls += 1);
            let watch = Stopwatch::start();
            let limit = self.setup.throttle.limits().timeout();
            let attempted = async {
                within(limit, model.answer(ask)).await.unwrap_or_else(|TimeIsUp| {
                    let message = format!("no answer within {} s", limit.as_secs_f64());
                    Err(Failure::new(FailureKind::Timeout, message))
                })
            };
            let failure = match self.setup.throttle.watch(attempted).await {
                Ok(response) => {
                    self.got_through();
                    self.first_answers.add(request);
                    let readable = !response.extra.contains_key(UNREADABLE);
                    self.budget.count(request, &response, readable);
                    return Ok(Ok(self.receive(sent, response, watch.elapsed()).await?));
                }
                Err(failure) => failure,
            };
            tracing::warn!(%call, sample, attempt, %failure, "attempt failed");
            let refusal = Refusal::of(&failure, request).filter(|_| model.may_refuse());
            let stops = failure.kind.stops_the_run() || refusal.is_some();
            let verdict = if self.network.concerns(&failure) {
                self.network.record_failure(&permit.turn, &mut blamed)
            } else {
                if failure.kind != FailureKind::Timeout {
                    self.got_through();
                }
                FailureVerdict::OfTheCall
            };
            let wait = match verdict {
                _ if stops => None,
                FailureVerdict::TooMany(_) => None,
                FailureVerdict::OfTheNetwork(wait) => Some(wait),
                FailureVerdict::OfTheCall => retry.after(&failure),
            };
            let gave_up = verdict == FailureVerdict::OfTheCall && !stops && wait.is_none();
            let durable = self.fail(sent, attempt_details(attempt, &failure, gave_up))?;
            if failure.kind == FailureKind::Timeout {
                let sample = *sample;
                self.tell(Update::TimedOut {
                    call,
                    sample,
                    attempt,
                    failure: &failure,
                    again: wait,
                });
            }
            match wait {
                Some(wait) => {
                    self.say_outage(&failure, verdict);
                    // A waiting call lets others ask.
                    drop(permit);
                    self.pause(wait, &failure).await;
                    permit = self.permit(request).await?;
                    attempt += 1;
                }
                None => {
                    // Nothing new begins, because it would fail as well.
                    if refusal.is_some() || matches!(verdict, FailureVerdict::TooMany(_)) {
                        self.brake.pull();
                    }
                    durable.wait().await?;
                    if let FailureVerdict::TooMany(failures) = verdict {
                        let ever_answered = self.network.ever_answered();
                        return Err(Stop::Unreachable { failures, ever_answered, failure });
                    }
                    let CallFailed { call, sample, failure } = call_failed(asked, failure);
                    let model = request.model().unwrap_or("").to_owned();
                    return if let Some(refusal) = refusal {
                        let is_first = !self.first_answers.has_model(request);
                        Err(match refusal {
                            Refusal::LimitName if is_first => Stop::LimitName { model },
                            refusal => Stop::Refused { call, sample, model, refusal, failure },
                        })
                    } else if stops {
                        Err(Stop::Model { call, sample, failure })
                    } else {
                        Ok(Err(CallFailed { call, sample, failure }))
                    };
                }
            }
        }
    }

    /// Waits for the right to make one attempt, or until the run is asked to stop.
    async fn permit(&self, request: &Request) -> Result<AttemptRight<'_>, Stop> {
        let may_refuse = self.setup.model.as_ref().is_some_and(|model| model.may_refuse());
        let attempt = async {
            let alone = if may_refuse { self.first_answers.turn(request).await } else { None };
            let permit = match request.api() {
                Api::Chat | Api::Tool => Rc::new(self.setup.throttle.acquire().await),
                Api::Embedding => self.together.permit(&self.setup.throttle, request).await,
            };
            AttemptRight { turn: self.network.turn().await, permit, alone }
        };
        let attempt = tokio::select! {
            biased;
            () = self.brake.wait_for_pull() => return Err(Stop::Interrupted),
            attempt = attempt => attempt,
        };
        // Calls in flight are finished and recorded; nothing new begins.
        self.budget.check(request).inspect_err(|_| self.brake.pull())?;
        Ok(attempt)
    }

    /// Waits before the next attempt, or until the run is asked to stop.
    async fn pause(&self, wait: Duration, failure: &Failure) {
        let least = self.setup.retry.least_wait(failure, wait);
        self.brake.pause(least).await;
        tokio::select! {
            biased;
            () = self.brake.wait_for_pull() => {}
            () = self.setup.throttle.pause(wait - least) => {}
        }
    }

    fn got_through(&self) {
        if self.network.got_through() {
            tracing::warn!(target: OUTAGES, "the server answers again");
        }
    }

    /// Says once that the network seems to be out. A progress bar that does not move would not show
    /// that to the user.
    fn say_outage(&self, failure: &Failure, verdict: FailureVerdict) {
        if !matches!(verdict, FailureVerdict::OfTheNetwork(_)) || !self.network.is_worth_a_word() {
            return;
        }
        let most = self.setup.throttle.limits().max_connection_failures;
        tracing::warn!(
            target: OUTAGES,
            "{failure}; trying again, until {most} attempts in a row have failed"
        );
    }

    /// Records an answer; it is passed on only once it is on disk.
    async fn receive(
        &self,
        request: Seq,
        response: Response,
        latency: Duration,
    ) -> Result<UnparsedAnswer, Stop> {
        let received = response_event(request, response, latency);
        let content = received.content.clone();
        let beside = AnswerDetails::new(&content, received.details.clone());
        let (seq, durable) = self.submit_durable(&Event::ResponseReceived(received))?;
        durable.wait().await?;
        self.update(|p| p.live += 1);
        Ok(UnparsedAnswer { request, seq, content, beside })
    }

    /// Records that an answer of this run or of another answers a question.
    async fn reuse(
        &self,
        asked: &QuestionCore,
        from_run: RunId,
        shared: UnparsedAnswer,
    ) -> Result<UnparsedAnswer, Stop> {
        if !self.setup.mode.writes() {
            self.rehearsing.borrow_mut().withdraw(asked);
            return Ok(shared);
        }
        let UnparsedAnswer { request: _, seq: from_seq, content, beside } = shared;
        let request = self.record_question(asked)?;
        let reused = AnswerReused {
            request,
            content: content.clone(),
            from_run,
            from_seq,
            unreadable: beside.unreadable().map(str::to_owned),
            details: beside.details().as_ref().clone(),
        };
        let (seq, durable) = self.submit_durable(&Event::AnswerReused(reused))?;
        durable.wait().await?;
        Ok(UnparsedAnswer { request, seq, content, beside })
    }

    /// Records that a question is asked.
    pub(super) fn record_question(&self, asked: &QuestionCore) -> Result<Seq, Stop> {
        let QuestionCore { call, sample, request, reuse: _, because, labels } = asked;
        let (call, sample, prompt) = (call.clone(), *sample, request.hash());
        let (because, labels) = (places(because)?, labels.clone());
        let sent = Event::RequestSent(RequestSent { call, sample, prompt, because, labels });
        self.submit(&sent, Some(request.clone()))
    }

    fn fail(&self, request: Seq, details: AttemptDetails) -> Result<Durable, Stop> {
        let failed = Event::AttemptFailed(AttemptFailed { request, details });
        Ok(self.submit_durable(&failed)?.1)
    }
}
