//! When to try again: with a server, and as a law.

use std::time::Duration;

use proptest::prelude::*;
use retold::model::{Failure, FailureKind, Model, Response, RetryPolicy, RetryRule};

use super::{ask, chat, openai};
use crate::support::block_on;
use crate::support::server::{Reply, Server};

/// What a run does, reduced to the essentials: ask, and wait as the policy says. Waits are
/// recorded, not slept.
async fn persist(
    model: &dyn Model,
    policy: RetryPolicy,
) -> (Result<Response, Failure>, Vec<FailureKind>, Vec<Duration>) {
    let (request, mut retry) = (chat("2 + 2?"), policy.start());
    let (mut kinds, mut waits) = (vec![], vec![]);
    for attempt in 0.. {
        match ask(model, &request, attempt).await {
            Ok(response) => return (Ok(response), kinds, waits),
            Err(failure) => {
                kinds.push(failure.kind);
                match retry.after(&failure) {
                    Some(wait) => waits.push(wait),
                    None => return (Err(failure), kinds, waits),
                }
            }
        }
    }
    unreachable!()
}

fn policy() -> RetryPolicy {
    RetryPolicy {
        rule: RetryRule::Exponential,
        max_retries: 5,
        base_seconds: 1.0,
        max_seconds: 20.0,
        quota_seconds: 60.0,
    }
}

#[test]
fn passing_trouble_is_outlasted() {
    let server = Server::script([
        Reply::error(429, "rate_limit_exceeded", "slow down").header("retry-after", "7"),
        Reply::new(500, "oops"),
        Reply::reset(),
        Reply::chat("4").cut_after(20),
        Reply::new(200, "{"),
        Reply::chat("4"),
    ]);
    let (answer, kinds, waits) = block_on(persist(&openai(&server), policy()));
    assert_eq!(answer.unwrap().content.text(), "4");
    use FailureKind::{Connection, Malformed, RateLimited, Server as ServerFault};
    assert_eq!(kinds, [RateLimited, ServerFault, Connection, Connection, Malformed]);
    assert_eq!(waits[0], Duration::from_secs(7), "Retry-After");
    for (wait, least) in waits[1..].iter().zip([2.0, 4.0, 8.0, 16.0]) {
        assert!((least..=20.0).contains(&wait.as_secs_f64()), "{wait:?} {least}");
    }
    assert_eq!(server.received().len(), 6);
}

#[test]
fn a_rejected_request_is_not_repeated() {
    for reply in [Reply::new(400, ""), Reply::new(401, ""), Reply::new(404, "")] {
        let server = Server::script([reply]);
        let (answer, kinds, waits) = block_on(persist(&openai(&server), policy()));
        assert!(answer.is_err());
        assert_eq!((kinds.len(), waits.len(), server.received().len()), (1, 0, 1));
    }
}

#[test]
fn a_used_up_quota_is_tried_once_more_after_a_long_wait() {
    let quota = || Reply::error(429, "insufficient_quota", "no credit");
    let server = Server::script([quota(), quota(), Reply::chat("too late")]);
    let (answer, kinds, waits) = block_on(persist(&openai(&server), policy()));
    assert_eq!(answer.unwrap_err().kind, FailureKind::QuotaExhausted);
    assert_eq!((kinds.len(), waits), (2, vec![Duration::from_secs(60)]));
}

#[test]
fn two_calls_do_not_wait_equally_long() {
    let failure = Failure::new(FailureKind::Server, "m");
    let wait = || policy().start().after(&failure).unwrap();
    let waits: Vec<Duration> = (0..20).map(|_| wait()).collect();
    assert!(waits.iter().any(|w| *w != waits[0]), "no jitter: {waits:?}");
}

/// The rule of the society's document: after a rate limit 2^attempt seconds and up to one more at random, after any other
/// error one second, even if the same request will have the same error; three attempts in all.
#[test]
fn the_fixed_rule_waits_as_the_document_says() {
    let policy: RetryPolicy =
        serde_json::from_str(r#"{"rule": "fixed", "max_retries": 4, "base_seconds": 1}"#).unwrap();
    use FailureKind::{QuotaExhausted, RateLimited, Rejected, Server as ServerFault};
    let waits = |kinds: &[FailureKind]| -> Vec<f64> {
        let mut retry = policy.start();
        let wait = |kind: &FailureKind| retry.after(&Failure::new(*kind, "m"));
        kinds.iter().map_while(wait).map(|wait| wait.as_secs_f64()).collect()
    };
    for (kinds, least) in [
        ([RateLimited, RateLimited, RateLimited], [1.0, 2.0, 4.0]),
        ([Rejected, QuotaExhausted, RateLimited], [1.0, 2.0, 4.0]),
    ] {
        let waits = waits(&kinds);
        assert_eq!(waits.len(), 3);
        for ((kind, wait), least) in kinds.iter().zip(waits).zip(least) {
            let random = if *kind == Rejected { 0.0 } else { 1.0 };
            assert!((least..=least + random).contains(&wait), "{kind:?} {wait}");
        }
    }
    assert_eq!(waits(&[ServerFault; 9]), [1.0; 4]);
    let random: Vec<f64> = (0..20).map(|_| waits(&[RateLimited])[0]).collect();
    assert!(random.iter().any(|wait| *wait != random[0]), "no jitter: {random:?}");
    assert_eq!(waits(&[FailureKind::Left, FailureKind::NoAnswer]), Vec::<f64>::new());
}

#[test]
fn nonsense_in_a_policy_is_refused() {
    let said = |policy: RetryPolicy| policy.check().unwrap_err().to_string();
    assert_eq!(policy().check(), Ok(()));
    let all = [
        said(RetryPolicy { max_retries: 5000, ..policy() }),
        said(RetryPolicy { base_seconds: f64::NAN, ..policy() }),
        said(RetryPolicy { max_seconds: -1.0, ..policy() }),
        said(RetryPolicy { quota_seconds: f64::INFINITY, ..policy() }),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

fn kind() -> impl Strategy<Value = FailureKind> {
    use FailureKind::*;
    prop_oneof![
        Just(RateLimited),
        Just(QuotaExhausted),
        Just(Server),
        Just(Timeout),
        Just(Connection),
        Just(Malformed),
        Just(Rejected),
        Just(Unauthorized),
        Just(NoAnswer),
        Just(Left),
    ]
}

proptest! {
    /// For any settings, including those that `check` refuses, and any sequence of failures.
    #[test]
    fn waits_are_bounded_and_honour_the_provider(
        max_retries in 0usize..12,
        base_seconds in prop_oneof![0.0..500.0f64, any::<f64>()],
        max_seconds in prop_oneof![0.0..500.0f64, any::<f64>()],
        quota_seconds in 0.0..500.0f64,
        failures in prop::collection::vec((kind(), prop::option::of(0u64..1000)), 0..30),
    ) {
        let rule = RetryRule::Exponential;
        let policy = RetryPolicy { rule, max_retries, base_seconds, max_seconds, quota_seconds };
        let mut retry = policy.start();
        let (mut ordinary, mut quota) = (0, 0);
        let longest = Duration::try_from_secs_f64(max_seconds.clamp(0.0, 86_400.0))
            .unwrap_or_default();
        for (kind, asked) in failures {
            let asked = asked.map(Duration::from_secs);
            let mut failure = Failure::new(kind, "m");
            failure.retry_after = asked;
            let Some(wait) = retry.after(&failure) else { continue };
            prop_assert!(!matches!(
                kind,
                FailureKind::Rejected
                    | FailureKind::Unauthorized
                    | FailureKind::NoAnswer
                    | FailureKind::Untrusted
                    | FailureKind::Left
            ));
            prop_assert!(wait >= asked.unwrap_or_default().min(longest), "Retry-After");
            if kind == FailureKind::QuotaExhausted {
                quota += 1;
                prop_assert!(wait >= Duration::from_secs_f64(quota_seconds));
            } else {
                ordinary += 1;
                prop_assert!(wait <= longest);
            }
        }
        prop_assert!(ordinary <= max_retries && quota <= 1);
    }
}
