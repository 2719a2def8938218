//! The names of failed attempts, whether they are tried again, and which recorded ones are sent again.

use hyper::http::{HeaderMap, HeaderValue, StatusCode, header};
use retold::escaping::printable;
use retold::event::AttemptDetails;
use retold::id::Seq;
use retold::model::providers::Dialect;
use retold::model::{Failure, FailureKind};
use serde_json::Value;

use crate::decode::DecodeError;
use crate::replay_queue::Attempt;
use crate::transmission::{BodyEnd, Transmission};

/// What becomes of recorded attempts that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureReplay {
    /// They are sent again, as in a replay.
    Sent,
    /// They are left out of a replay.
    LeftOut,
    /// They are asked again, unless the program met them and then got an answer in the same call, or the server refused the
    /// request itself: the program's next request may depend on that.
    AskedAgain,
    /// All of them are asked again.
    AllAskedAgain,
}

/// The name of what tools speak, whose errors have a type and no meaningful status.
const TOOL: &str = "tool";

/// A recorded attempt that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailedAttempt {
    /// Nothing of it came from the upstream, which was not asked or could not be reached.
    Here,
    /// The upstream failed, or wanted another key or another time.
    Passing,
    /// The upstream refused the request itself.
    Refused,
}

impl FailedAttempt {
    pub(crate) fn new(details: &AttemptDetails, kept: &Transmission) -> Self {
        if details.status.is_none() && kept.end != Some(BodyEnd::BrokenOff) {
            FailedAttempt::Here
        } else if details.failure == FailureKind::Rejected.as_str()
            && details.status.is_some_and(|status| status >= 300)
        {
            FailedAttempt::Refused
        } else {
            FailedAttempt::Passing
        }
    }
}

impl FailureReplay {
    /// What becomes of them when a run is continued or forked: `all` says whether all of them are asked again.
    pub fn asked_again(all: bool) -> Self {
        if all { FailureReplay::AllAskedAgain } else { FailureReplay::AskedAgain }
    }

    /// Whether a question of which nothing is sent again is not asked again, either: the program itself asked
    /// once more after it had failed, and got an answer.
    pub(crate) fn skips(self, failed: Seq, answered: Option<Seq>) -> bool {
        self == FailureReplay::AskedAgain && Some(failed) < answered
    }

    /// Which of the attempts at a question are sent again. `answered` is the last question of the same call
    /// that was answered.
    pub(crate) fn select(
        self,
        attempts: Vec<(Attempt, Option<FailedAttempt>)>,
        answered: Option<Seq>,
    ) -> Vec<Attempt> {
        let is_answered = attempts.iter().any(|(attempt, _)| attempt.is_answer);
        // A question that was asked before the failure says nothing: it may be that of another thread.
        let is_followed = |seq: Seq| is_answered || Some(seq) < answered;
        let is_sent = |(attempt, failed): &(Attempt, Option<FailedAttempt>)| match (self, failed) {
            (_, None) | (FailureReplay::Sent, _) => true,
            (FailureReplay::LeftOut | FailureReplay::AllAskedAgain, _) => false,
            (FailureReplay::AskedAgain, Some(FailedAttempt::Here)) => false,
            (FailureReplay::AskedAgain, Some(FailedAttempt::Passing)) => {
                is_followed(attempt.place.seq)
            }
            (FailureReplay::AskedAgain, Some(FailedAttempt::Refused)) => true,
        };
        attempts.into_iter().filter(is_sent).map(|(attempt, _)| attempt).collect()
    }
}

/// What kind of failure a status is, in the words of our own runs.
pub(crate) fn failure_of(
    dialect: &dyn Dialect,
    status: StatusCode,
    body: &[u8],
    headers: &HeaderMap,
) -> Failure {
    let read: Option<Value> = serde_json::from_slice(body).ok();
    let error = read.as_ref().map(|body| &body["error"]);
    let code = error.and_then(|error| error["code"].as_str().or(error["type"].as_str()));
    let kind = FailureKind::of_status(status.as_u16(), code);
    let said = error.and_then(|error| error["message"].as_str().or(error.as_str()));
    // Cohere, Mistral and Amazon have their message alone.
    let said = said.or_else(|| read.as_ref()?["message"].as_str());
    let said = said.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned);
    let said = printable(said.trim(), 300);
    let raised = error.and_then(|error| error["type"].as_str());
    let message = if let Some(raised) = raised.filter(|_| dialect.name() == TOOL) {
        format!("{}: {said}", printable(raised, 100))
    } else if said.is_empty() {
        format!("HTTP {}", status.as_u16())
    } else {
        format!("HTTP {}: {said}", status.as_u16())
    };
    let seconds = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let seconds = seconds.and_then(|value| value.trim().parse::<f64>().ok());
    let retry_after =
        seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok());
    Failure { kind, status: Some(status.as_u16()), message, retry_after }
}

/// A failure that an answer says of itself although its status says that it is well.
pub(crate) fn inside(status: StatusCode, failure: Failure) -> Failure {
    let status = status.as_u16();
    let message = format!("an error inside HTTP {status}: {}", failure.message);
    Failure { status: Some(status), message, ..failure }
}

/// Whether SDKs try again after this.
pub(crate) fn reopens(kind: FailureKind, said: Option<&HeaderValue>) -> bool {
    match said.and_then(|value| value.to_str().ok()) {
        Some("true") => true,
        Some("false") => false,
        _ => matches!(
            kind,
            FailureKind::RateLimited
                | FailureKind::QuotaExhausted
                | FailureKind::Server
                | FailureKind::Timeout
                | FailureKind::Connection
                | FailureKind::Malformed
        ),
    }
}

/// An answer that cannot be read.
pub(crate) fn decode_failure(error: DecodeError) -> Failure {
    Failure::new(FailureKind::Malformed, error.to_string())
}

#[cfg(test)]
mod tests {
    use retold::id::RunId;
    use retold::model::providers::OTHER;

    use super::*;
    use crate::key::AttemptPlace;

    /// Which attempts are sent again: `h` failed here, `p` passing, `r` was refused, `a` is an answer.
    fn sent(failures: FailureReplay, attempts: &str, answered: Option<u64>) -> String {
        let attempt = |(seq, letter): (u64, char)| {
            let place = AttemptPlace { run: RunId([1; 8]), seq: Seq(seq) };
            let failed = match letter {
                'h' => Some(FailedAttempt::Here),
                'p' => Some(FailedAttempt::Passing),
                'r' => Some(FailedAttempt::Refused),
                _ => None,
            };
            let is_answer = failed.is_none();
            (Attempt { place, reopens: false, is_answer, departure: None }, failed)
        };
        let all = (0..).zip(attempts.chars()).map(attempt).collect();
        let sent = failures.select(all, answered.map(Seq)).into_iter();
        let letters = sent.map(|it| attempts.as_bytes()[it.place.seq.0 as usize]);
        letters.map(char::from).collect()
    }

    #[test]
    fn what_a_program_has_lived_with_is_sent_again() {
        for (attempts, due) in [
            ("ppa", "ppa"),
            ("hpa", "pa"),
            ("p", ""),
            ("pph", ""),
            ("r", "r"),
            ("pr", "r"),
            ("rp", "r"),
            ("ra", "ra"),
            ("h", ""),
        ] {
            assert_eq!(sent(FailureReplay::AskedAgain, attempts, None), due, "{attempts}");
            assert_eq!(sent(FailureReplay::Sent, attempts, None), attempts);
            let answers = attempts.replace(['h', 'p', 'r'], "");
            assert_eq!(sent(FailureReplay::LeftOut, attempts, None), answers);
            assert_eq!(sent(FailureReplay::AllAskedAgain, attempts, None), answers);
        }
        // A later question of the same call was answered: the program asked once more by itself.
        assert_eq!(sent(FailureReplay::AskedAgain, "pph", Some(5)), "pp");
        assert_eq!(sent(FailureReplay::AskedAgain, "pph", Some(1)), "p");
        assert_eq!(sent(FailureReplay::AllAskedAgain, "pp", Some(5)), "");
    }

    #[test]
    fn what_failed_is_told_apart_by_where_it_came_from() {
        let of = |failure: &Failure, end| {
            let details = AttemptDetails {
                attempt: 0,
                batch: None,
                error: failure.message.clone(),
                failure: failure.kind.as_str().to_owned(),
                gave_up: true,
                from: None,
                http: None,
                retry_after_ms: None,
                status: failure.status,
            };
            FailedAttempt::new(&details, &Transmission { end, ..Transmission::default() })
        };
        let said = |status: u16| {
            let status = StatusCode::from_u16(status).unwrap();
            of(&failure_of(&OTHER, status, b"", &HeaderMap::new()), None)
        };
        for passing in [401, 402, 403, 408, 409, 425, 429, 500, 503, 529] {
            assert_eq!(said(passing), FailedAttempt::Passing, "{passing}");
        }
        for refused in [307, 400, 404, 413, 422] {
            assert_eq!(said(refused), FailedAttempt::Refused, "{refused}");
        }
        let here = Failure::new(FailureKind::Connection, "cannot connect");
        assert_eq!(of(&here, None), FailedAttempt::Here);
        assert_eq!(of(&here, Some(BodyEnd::ClientLeft)), FailedAttempt::Here);
        assert_eq!(of(&here, Some(BodyEnd::BrokenOff)), FailedAttempt::Passing);
        let rejected = Failure::new(FailureKind::Rejected, "no");
        assert_eq!(of(&rejected, None), FailedAttempt::Here);
        assert_eq!(of(&inside(StatusCode::OK, rejected), None), FailedAttempt::Passing);
    }
}
