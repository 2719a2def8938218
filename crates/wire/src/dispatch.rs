//! Where the answer to a request comes from: the record, an equal request, or the upstream.

use std::sync::Arc;

use hyper::Response;
use hyper::body::Incoming as IncomingBody;
use hyper::http::Method;
use retold::log::LogError;
use retold::model::providers::{self, Problem};
use retold::run::OverBudget;
use tokio::sync::oneshot;

use crate::answered_by::{AnsweredBy, Source};
use crate::body::{Bodies, Unread, answer_unread};
use crate::incoming::Incoming;
use crate::key::Key;
use crate::limits::{BODY_PACE, LEAST_OF_BODY};
use crate::lock::lock;
use crate::nearest::nearest;
use crate::nearest_match::{NearestMatch, Why};
use crate::open_tools::to_run;
use crate::outlet::{Outgoing, Outlet};
use crate::refusal::{closing, end_of_run, rejection};
use crate::replay_queue::ReplayTurn;
use crate::session::Session;
use crate::websocket::{Upgrade, is_an_upgrade};
use crate::wire_request::WireRequest;
use crate::{play, relay, websocket};

/// Reads the body of a request, and answers it.
pub(crate) async fn ask(
    session: Arc<Session>,
    mut incoming: Incoming,
    body: IncomingBody,
    bodies: &Bodies,
    upgrade: Option<Upgrade>,
) -> Response<Outgoing> {
    if is_an_upgrade(&incoming.headers) {
        if let Some(upgrade) = upgrade.filter(|_| websocket::is_recorded(&incoming)) {
            return websocket::accept(session, incoming, upgrade);
        }
        let said = "retold does not record WebSockets or other upgraded connections, such as realtime audio: \
             only WebSockets of the Responses API";
        let answer = refuse(&session, incoming, problem(426, "retold_upgrade", said)).await;
        return answer_unread(body, answer).await;
    }
    let (status, code, said) = match bodies.whole(body, session.longest_body).await {
        Ok(body) => {
            incoming.body = session.handed_urls.take_back(body);
            return answer(session, incoming, AnsweredBy::Upstream).await;
        }
        Err(Unread::TooLong) => {
            let said = format!(
                "a request of more than {} MiB is not recorded: RETOLD_LONGEST_BODY sets another limit",
                session.longest_body >> 20
            );
            (413, "retold_too_long", said)
        }
        Err(Unread::NotHttp(why)) => {
            (400, "retold_request", format!("the body of the request is not HTTP: {why}"))
        }
        Err(Unread::Left) => {
            let dialect = providers::at(&incoming.path);
            return closing(rejection(dialect, 400, "retold_request", "the request has no end"));
        }
        Err(Unread::Stalled) => {
            let (least, seconds) = (LEAST_OF_BODY >> 10, BODY_PACE.as_secs());
            let said =
                format!("the request has no end: less than {least} KiB of it came in {seconds} s");
            let dialect = providers::at(&incoming.path);
            return closing(rejection(dialect, 408, "retold_request", &said));
        }
    };
    closing(refuse(&session, incoming, problem(status, code, &said)).await)
}

/// Answers a request, a frame that asks, or a call of a tool.
pub(crate) async fn answer(
    session: Arc<Session>,
    mut incoming: Incoming,
    by: AnsweredBy,
) -> Response<Outgoing> {
    let is_tool = matches!(by, AnsweredBy::Program { .. });
    let working = if is_tool { session.work.begin() } else { session.begin_request() };
    let Some(working) = working else {
        return end_of_run(providers::at(&incoming.path));
    };
    if let Some(error) = session.recorder.failure() {
        let said = format!("retold cannot record: {error}");
        return rejection(providers::at(&incoming.path), 500, "retold_log", &said);
    }
    if let Some(part) = lock(&session.part).as_ref() {
        incoming.put_in(part);
    }
    let asked = match incoming.wire_request(&session.rules) {
        Ok(asked) => asked,
        Err(error) => {
            let said = error.to_string();
            let problem = Problem { status: 400, code: "retold_request", message: &said };
            return refusal(&session, &incoming, problem).await;
        }
    };
    let dialect = asked.dialect;
    let read = match session.queue.read(&asked.key.call) {
        Ok(read) => read,
        Err(error) => return rejection(asked.dialect, 500, "retold_log", &error.to_string()),
    };
    // A tool has effects, and is called as often as it is called.
    if session.upstreams.is_some()
        && !is_tool
        && let Some(place) = session.queue.wait_for_answer(&asked.key).await
    {
        return play::send_shared(&session, &asked, place).await;
    }
    let equal = match session.queue.may_have_equal(&asked.key) {
        false => None,
        true => match equal_to(&session, &asked).await {
            Ok(equal) => equal,
            Err(error) => return rejection(asked.dialect, 500, "retold_log", &error.to_string()),
        },
    };
    let mut turn = equal.unwrap_or_else(|| session.queue.take(&asked.key, asked.retry));
    if matches!(by, AnsweredBy::Program { is_live: true }) {
        turn = match turn {
            // A new run has its own result, under the same number.
            ReplayTurn::Recorded(ticket, _)
                if session.upstreams.is_some() && ticket.request.is_none() =>
            {
                ReplayTurn::Live(ticket)
            }
            // A replay records nothing.
            _ if session.upstreams.is_none() => return to_run(None),
            turn => turn,
        };
    }
    match turn {
        ReplayTurn::Recorded(ticket, attempt) => {
            play::send_recorded(&session, &asked, ticket, attempt, read).await
        }
        ReplayTurn::Live(ticket) => {
            // Look-ups, such as a list of models, cost nothing.
            if incoming.method == Method::POST
                && let Err(over) = session.budget.check(&asked.request)
            {
                return unaffordable(&session, &asked, over);
            }
            let (waiting, answer) = Outlet::channel();
            let (given, source) = match by {
                AnsweredBy::Upstream => (None, Source::Upstream),
                AnsweredBy::Socket(socket) => (None, Source::Socket(socket)),
                AnsweredBy::Program { .. } => {
                    let (given, source) = oneshot::channel();
                    (Some(given), Source::Program(source))
                }
            };
            let relayed =
                relay::relay(session.clone(), working, incoming, source, asked, ticket, waiting);
            // The answer is read to its end even if the client leaves.
            tokio::spawn(relayed);
            if let Some(given) = given {
                return to_run(Some(session.tools.open(given, answer)));
            }
            answer.await.unwrap_or_else(|_| {
                rejection(dialect, 500, "retold_error", "retold lost this request: this is a bug")
            })
        }
        ReplayTurn::Nothing => missing(&session, &asked, incoming.stack()).await,
    }
}

/// The turn of a request that has nothing left under its own key, if it is equal to one that has.
async fn equal_to(
    session: &Arc<Session>,
    asked: &WireRequest,
) -> Result<Option<ReplayTurn>, LogError> {
    let (session, asked) = (session.clone(), asked.clone());
    // It may have to read all requests of the run.
    let looked = tokio::task::spawn_blocking(move || {
        let Session { equivalents, rules, prompts, library, queue, .. } = &*session;
        queue.take_any(&equivalents.of(&asked, rules, prompts, library)?, asked.retry)
    });
    looked.await.unwrap_or(Ok(None))
}

/// Refuses a request before it is asked.
pub(crate) async fn refuse(
    session: &Arc<Session>,
    incoming: Incoming,
    problem: Problem<'_>,
) -> Response<Outgoing> {
    let Some(_working) = session.begin_request() else {
        return end_of_run(providers::at(&incoming.path));
    };
    refusal(session, &incoming, problem).await
}

/// The response to a request that is not asked: it is recorded, or in the record already.
async fn refusal(
    session: &Arc<Session>,
    incoming: &Incoming,
    problem: Problem<'_>,
) -> Response<Outgoing> {
    let dialect = providers::at(&incoming.path);
    let answer = rejection(dialect, problem.status, problem.code, problem.message);
    if session.recorder.failure().is_some() {
        return answer;
    }
    let Ok(asked) = incoming.asked_without_body(&session.rules, problem.code) else {
        return answer;
    };
    let Ok(read) = session.queue.read(&asked.key.call) else { return answer };
    match session.queue.take(&asked.key, Some(0)) {
        ReplayTurn::Recorded(ticket, attempt) => {
            play::send_recorded(session, &asked, ticket, attempt, read).await
        }
        ReplayTurn::Live(ticket) => {
            relay::refused_here(session, &asked, ticket, &problem).await;
            answer
        }
        ReplayTurn::Nothing => {
            // What failed may be left out of the replay.
            if !session.queue.skips_errors() {
                session.counts.add_miss(miss_of(
                    session,
                    &asked,
                    Why::Refused(problem.message.to_owned()),
                ));
            }
            answer
        }
    }
}

/// The response to a request that may cost too much: nothing is recorded, so that the run can be continued.
fn unaffordable(session: &Session, asked: &WireRequest, over: OverBudget) -> Response<Outgoing> {
    session.queue.share(&asked.key, None);
    let said = format!("retold asks nothing more: {over}");
    session.counts.change(|summary| {
        summary.unaffordable += 1;
        summary.over_budget.get_or_insert(over);
    });
    rejection(asked.dialect, 402, "retold_budget", &said)
}

/// A request that is not recorded.
async fn missing(
    session: &Arc<Session>,
    asked: &WireRequest,
    stack: Option<String>,
) -> Response<Outgoing> {
    if asked.request.tool().is_none()
        && let Some(place) = session.queue.shared_answer(&asked.key)
    {
        return play::send_shared(session, asked, place).await;
    }
    let not_compared = || miss_of(session, asked, Why::NotCompared);
    let mut miss = if session.counts.compares_a_miss() {
        let (session, asked) = (session.clone(), asked.clone());
        let compared = tokio::task::spawn_blocking(move || {
            let is_used_up = |key: &Key| session.queue.is_used_up(key);
            nearest(&asked, &session.rules, &session.prompts, &session.library, &is_used_up)
        });
        // If the log cannot be read, the next answer reports it.
        compared.await.ok().and_then(Result::ok).unwrap_or_else(not_compared)
    } else {
        not_compared()
    };
    miss.is_chance_recorded = session.is_chance_recorded;
    miss.stack = stack;
    let said = format!("retold replay: {miss}");
    session.counts.add_miss(miss);
    rejection(asked.dialect, 404, "retold_not_recorded", &said)
}

/// A miss that is not compared with the recorded requests.
fn miss_of(session: &Session, asked: &WireRequest, why: Why) -> NearestMatch {
    NearestMatch {
        call: asked.key.call.clone(),
        asked: asked.request_line(),
        why,
        look: None,
        is_chance_recorded: false,
        stack: None,
        rules: String::new(),
        lacks_key: session.rules.lacks_key().map(str::to_owned),
    }
}

/// A problem with a request.
pub(crate) fn problem<'a>(status: u16, code: &'static str, message: &'a str) -> Problem<'a> {
    Problem { status, code, message }
}
