use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::event::{
    AnswerReused, AttemptFailed, Because, DecidedBy, DecisionDetails, ForkedFrom, NewEvent,
    RequestSent, ResponseReceived, RunResumed,
};
use crate::id::Time;
use crate::log::{Append, Head, Log};
use crate::model::{Price, Prices};
use crate::parse::Parsers;
use crate::prompt::Request;

const RUN: RunId = RunId([1; 8]);
const PARENT: RunId = RunId([2; 8]);
const OTHER: RunId = RunId([3; 8]);

/// A run while it is written down.
struct Written(Vec<NewEvent>);

impl Written {
    fn new() -> Self {
        let started = RunStarted {
            experiment: "test".to_owned(),
            seed: 1,
            settings: json!({}),
            model: json!({}),
            program: "test".to_owned(),
            declares: false,
            forked_from: Some(ForkedFrom { before: None, retry_failed: false, run: PARENT }),
        };
        let mut written = Written(Vec::new());
        written.add(&Event::RunStarted(started), None);
        written
    }

    fn add(&mut self, event: &Event, request: Option<Request>) -> Seq {
        self.0.push(NewEvent::from_event(event, Time(0), request).unwrap());
        Seq(self.0.len() as u64)
    }

    fn asked(&mut self, call: &str, model: Option<&str>) -> Seq {
        let mut body = json!({"messages": [{"role": "user", "content": "?"}]});
        if let Some(model) = model {
            body["model"] = model.into();
        }
        let request = Request::from_body(body).unwrap();
        let call = CallPath::new(call).unwrap();
        let (prompt, because) = (request.hash(), Because::default());
        let sent = RequestSent { call, sample: 0, prompt, because };
        self.add(&Event::RequestSent(sent), Some(request))
    }

    fn answered(&mut self, request: Seq, details: ResponseDetails) -> Seq {
        let received = ResponseReceived { request, content: "4".into(), details };
        self.add(&Event::ResponseReceived(received), None)
    }

    fn reused(&mut self, request: Seq, from_run: RunId, details: ResponseDetails) {
        let (content, from_seq, unreadable) = ("4".into(), Seq(3), None);
        let reused = AnswerReused { request, content, from_run, from_seq, unreadable, details };
        self.add(&Event::AnswerReused(reused), None);
    }

    fn failed(&mut self, request: Seq, failure: &str, status: Option<u16>, gave_up: bool) {
        let details = AttemptDetails {
            attempt: 0,
            error: format!("\u{1b}[31m{failure}"),
            gave_up,
            failure: failure.to_owned(),
            http: None,
            retry_after_ms: None,
            status,
        };
        self.add(&Event::AttemptFailed(AttemptFailed { request, details }), None);
    }

    fn resumed(&mut self) {
        let resumed = RunResumed { model: json!({}), program: "test".to_owned() };
        self.add(&Event::RunResumed(resumed), None);
    }

    fn figures(self) -> Figures {
        let log = Log::in_memory();
        let append = Append::new(RUN, Head::START, self.0);
        log.backend().committer().unwrap().commit(&[append]).unwrap();
        let totals = Totals::read(log.reader().unwrap().as_mut(), RUN).unwrap();
        let price = |prompt, cached, completion| Price { prompt, cached, completion };
        let models = [("a", price(1.0, Some(0.25), 10.0)), ("b", price(2.0, None, 20.0))];
        let models = models.map(|(name, price)| (name.to_owned(), price)).into();
        totals.figures(&Prices { models }, &Parsers::default())
    }
}

fn tokens(prompt: u64, cached: Option<u64>, completion: u64) -> ResponseDetails {
    ResponseDetails {
        prompt_tokens: Some(prompt),
        cached_tokens: cached,
        completion_tokens: Some(completion),
        ..ResponseDetails::default()
    }
}

#[test]
fn a_model_without_a_price_is_named_and_its_answers_are_not_free() {
    let mut run = Written::new();
    let million = 1_000_000;
    for (model, details) in [
        (Some("a"), tokens(million, Some(400_000), 100_000)),
        (Some("a"), ResponseDetails::default()),
        (Some("x"), tokens(million, None, million)),
        (None, ResponseDetails { model: Some("b".to_owned()), ..tokens(million, None, 0) }),
        (None, ResponseDetails::default()),
    ] {
        let asked = run.asked("q", model);
        run.answered(asked, details);
    }
    let figures = run.figures();
    let Cost { dollars, is_complete, without_price, uncounted, .. } = &figures.all.cost;
    // Of a: 600,000 tokens at 1, 400,000 at 0.25 and 100,000 at 10; of b: a million at 2.
    assert_eq!(*dollars, Some(0.6 + 0.1 + 1.0 + 2.0));
    assert_eq!((*is_complete, *uncounted), (false, 1));
    assert_eq!(*without_price, [("x".to_owned(), 1), (UNNAMED.to_owned(), 1)].into());
    let cost = |model: &str| figures.models[model].cost.dollars;
    assert_eq!(
        [cost("a"), cost("b"), cost("x"), cost(UNNAMED)],
        [Some(1.7), Some(2.0), None, None]
    );
    let cached = figures.all.saved.provider_cached;
    assert_eq!((cached.answers, cached.prompt_tokens, cached.dollars), (1, 400_000, Some(0.3)));
    let Tokens { prompt, counted, uncounted, .. } = figures.all.tokens;
    assert_eq!((prompt, counted, uncounted), (3 * million, 3, 2));
    // What a replay saves cannot be known either.
    assert_eq!((figures.replay.answers, figures.replay.dollars), (5, None));
}

#[test]
fn answers_that_were_used_again_are_saved_and_not_paid() {
    let mut run = Written::new();
    let asked = run.asked("q/1", Some("a"));
    run.answered(asked, tokens(1000, None, 100));
    for (from, times) in [(RUN, 1), (PARENT, 2), (OTHER, 3)] {
        for _ in 0..times {
            let asked = run.asked("q/2", Some("a"));
            run.reused(asked, from, tokens(1000, None, 100));
        }
    }
    let figures = run.figures();
    let Saved { within_run, from_parent, from_other_runs, .. } = &figures.all.saved;
    let saved = |part: &SavedPart| (part.answers, part.prompt_tokens, part.completion_tokens);
    assert_eq!(saved(within_run), (1, 1000, 100));
    assert_eq!(saved(from_parent), (2, 2000, 200));
    assert_eq!(saved(from_other_runs), (3, 3000, 300));
    assert!((from_other_runs.dollars.unwrap() - 0.006).abs() < 1e-12);
    assert_eq!((figures.all.calls.asked, figures.all.calls.answered), (7, 7));
    assert_eq!(figures.all.attempts.made, 1);
    assert_eq!(figures.all.tokens.prompt, 1000);
    assert_eq!((figures.replay.answers, figures.replay.prompt_tokens), (7, 7000));
    assert_eq!(figures.forked_from, Some(PARENT));
}

#[test]
fn failed_attempts_are_counted_by_reason_and_calls_by_their_end() {
    let mut run = Written::new();
    let answered = run.asked("q/1", Some("a"));
    run.failed(answered, "rate_limited", Some(429), false);
    run.failed(answered, "rate_limited", Some(429), false);
    run.answered(answered, ResponseDetails::default());
    let failed = run.asked("q/2", Some("a"));
    run.failed(failed, "server", Some(500), false);
    run.failed(failed, "server", Some(500), true);
    let _open = run.asked("q/3", Some("b"));
    // A program may try again what was given up.
    let later = run.asked("q/4", Some("a"));
    run.failed(later, "server", Some(503), true);
    run.answered(later, ResponseDetails::default());
    let Figures { all, models, .. } = run.figures();
    let Calls { asked, answered, failed, open, .. } = all.calls;
    assert_eq!((asked, answered, failed, open), (4, 2, 1, 1));
    assert_eq!((models["a"].calls.failed, models["b"].calls.open), (1, 1));
    assert_eq!((all.attempts.made, all.attempts.failed), (7, 5));
    let reasons = all.attempts.reasons.iter();
    let reasons: Vec<_> =
        reasons.map(|r| (r.failure.as_str(), r.status, r.attempts, r.gave_up)).collect();
    assert_eq!(
        reasons,
        [
            ("rate_limited", Some(429), 2, 0),
            ("server", Some(500), 2, 1),
            ("server", Some(503), 1, 1)
        ]
    );
    assert_eq!(all.attempts.reasons[0].example, "\\u{1b}[31mrate_limited");
}

#[test]
fn a_call_that_is_asked_again_after_an_interruption_is_one_call() {
    let mut run = Written::new();
    let asked = run.asked("q/1", Some("a"));
    run.answered(asked, tokens(10, None, 1));
    run.asked("q/2", Some("a"));
    run.resumed();
    let again = run.asked("q/2", Some("a"));
    run.answered(again, tokens(10, None, 1));
    run.asked("q/3", Some("a"));
    run.resumed();
    let figures = run.figures();
    let Calls { asked, answered, open, .. } = figures.all.calls;
    assert_eq!((asked, answered, open), (3, 2, 1));
    // One answer was there the first time, and two the second time.
    assert_eq!((figures.resumed, figures.all.saved.resumed.answers), (2, 3));
}

#[test]
fn methods_are_counted_by_parser() {
    let mut run = Written::new();
    let mut decide = |parser: Value, method: &str, warnings: &[&str]| {
        let asked = run.asked("q", Some("a"));
        let response = run.answered(asked, ResponseDetails::default());
        let by = DecidedBy { method: method.to_owned(), parser };
        let warnings = warnings.iter().map(|warning| (*warning).to_owned()).collect();
        let details = DecisionDetails { reasoning: None, value: json!(4), warnings };
        run.add(&Event::DecisionMade(DecisionMade { response, by, details }), None);
    };
    let vote = || json!({"name": "vote", "version": 1, "params": {}});
    decide(vote(), "tag", &[]);
    decide(vote(), "number", &["odd"]);
    decide(vote(), "tag", &[]);
    decide(json!({"name": "program", "version": 1, "params": {"name": "score"}}), "llm", &[]);
    let figures = run.figures();
    let vote = &figures.parsers["vote@1"];
    assert_eq!((vote.decisions, vote.with_warnings, vote.found), (3, 1, None));
    let methods = vote.methods.iter().map(|m| (m.method.as_str(), m.decisions));
    assert_eq!(methods.collect::<Vec<_>>(), [("tag", 2), ("number", 1)]);
    assert!((vote.methods[0].share - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(figures.parsers["reported by the program: score"].decisions, 1);
}

#[test]
fn a_log_with_any_number_of_models_takes_no_more_memory() {
    let mut run = Written::new();
    for n in 0..MOST + 50 {
        let asked = run.asked("q", Some(&format!("model-{n}")));
        run.failed(asked, &format!("failure-{n}"), None, false);
        run.answered(asked, tokens(1, None, 1));
    }
    let figures = run.figures();
    assert_eq!(figures.models.len(), MOST + 1);
    assert_eq!(figures.models[OTHERS].calls.answered, 50);
    assert_eq!(figures.all.tokens.prompt, MOST as u64 + 50);
    assert!(figures.all.attempts.reasons.len() <= MOST + 1);
    assert_eq!(figures.all.attempts.failed, MOST as u64 + 50);
}

proptest! {
    /// The nearest rank, as it is defined: the smallest time that at least this share of the
    /// answers did not exceed.
    #[test]
    fn percentiles_are_of_the_nearest_rank(times in prop::collection::vec(0_u64..50, 1..200)) {
        let mut run = Written::new();
        for (n, latency_ms) in times.iter().enumerate() {
            let asked = run.asked("q", Some(["a", "b"][n % 2]));
            let latency_ms = *latency_ms;
            run.answered(asked, ResponseDetails { latency_ms, ..ResponseDetails::default() });
        }
        let mut measured: Vec<u64> = times.into_iter().filter(|time| *time > 0).collect();
        measured.sort_unstable();
        let rank = |percent: usize| {
            let enough = |time: &&u64| {
                let up_to = measured.iter().filter(|other| other <= time).count();
                up_to * 100 >= percent * measured.len()
            };
            measured.iter().find(enough).copied()
        };
        let found = run.figures().all.latency_ms;
        prop_assert_eq!(found.is_some(), !measured.is_empty());
        if let Some(Latency { measured: n, p50, p90, p99, max }) = found {
            prop_assert_eq!(n, measured.len() as u64);
            let due = [rank(50), rank(90), rank(99), measured.last().copied()];
            prop_assert_eq!([p50, p90, p99, max].map(Some), due);
        }
    }
}
