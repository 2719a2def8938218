use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::event::{
    AnswerReused, AttemptDetails, AttemptFailed, Because, DecidedBy, DecisionDetails, DecisionMade,
    ForkedFrom, Labels, NewEvent, RequestSent, ResponseReceived, RunResumed, RunStarted,
};
use crate::id::Time;
use crate::log::{Append, Head, Log};
use crate::lookup::REMEMBERED;
use crate::model::{Price, PriceFile, Prices, Rate};
use crate::parse::Parsers;
use crate::prompt::Request;

const RUN: RunId = RunId([1; 8]);
const PARENT: RunId = RunId([2; 8]);
const OTHER: RunId = RunId([3; 8]);

/// A run while it is written down.
struct Written(Vec<NewEvent>);

impl Written {
    fn new() -> Self {
        let parent = ForkedFrom { before: None, retry_failed: false, run: PARENT, without: None };
        Written::begun(Some(parent), Vec::new())
    }

    fn begun(forked_from: Option<ForkedFrom>, merged_from: Vec<RunId>) -> Self {
        let started = RunStarted {
            forked_from,
            merged_from,
            ..RunStarted::new("test", 1, json!({}), json!({}))
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
        let sent = RequestSent { call, sample: 0, prompt, because, labels: Labels::default() };
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
        self.failed_as(request, failure, status, gave_up, None);
    }

    /// A failure that a program was sent, after which it may ask again.
    fn sent_failure(&mut self, request: Seq) {
        self.failed_as(request, "server", Some(500), false, Some(json!({"status": 500})));
    }

    fn failed_as(
        &mut self,
        request: Seq,
        failure: &str,
        status: Option<u16>,
        gave_up: bool,
        http: Option<Value>,
    ) {
        let details = AttemptDetails {
            attempt: 0,
            batch: None,
            error: format!("\u{1b}[31m{failure}"),
            gave_up,
            failure: failure.to_owned(),
            from: None,
            http,
            retry_after_ms: None,
            status,
        };
        self.add(&Event::AttemptFailed(AttemptFailed { request, details }), None);
    }

    fn resumed(&mut self) {
        let resumed = RunResumed {
            model: json!({}),
            program: "test".to_owned(),
            retry_failed: false,
            settings: json!(null),
        };
        self.add(&Event::RunResumed(resumed), None);
    }

    fn stored(self, log: &Log, run: RunId) {
        let append = Append::new(run, Head::START, self.0);
        log.backend().committer().unwrap().commit(&[append]).unwrap();
    }

    fn figures(self) -> Figures {
        self.figures_in(&Log::in_memory())
    }

    fn figures_in(self, log: &Log) -> Figures {
        self.stored(log, RUN);
        let mut reader = log.reader().unwrap();
        let price = |prompt, cached, completion| {
            Price(vec![Rate { prompt, cached, completion, ..Rate::default() }])
        };
        let models = [("a", price(1.0, Some(0.25), 10.0)), ("b", price(2.0, None, 20.0))];
        let models = models.map(|(name, price)| (name.to_owned(), price)).into();
        let prices = Prices::from(PriceFile { models, ..PriceFile::default() });
        let mut totals = Totals::read(reader.as_mut(), RUN, &prices).unwrap();
        totals.read_shards(reader.as_mut()).unwrap();
        totals.figures(&Parsers::default())
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
    assert_eq!(
        (cached.answers, cached.prompt_tokens, cached.dollars),
        (1, Some(400_000), Some(0.3))
    );
    let Tokens { prompt, counted, uncounted, .. } = figures.all.counts.tokens;
    assert_eq!((prompt, counted, uncounted), (Some(3 * million), 3, 2));
    let Tokens { cached, reasoning, .. } = figures.all.counts.tokens;
    assert_eq!((cached, reasoning), (Some(400_000), None), "nobody counted reasoning");
    assert_eq!(figures.models[UNNAMED].counts.tokens.prompt, None);
    // What a replay saves cannot be known either.
    assert_eq!((figures.replay.answers, figures.replay.dollars), (5, None));
    assert_eq!((figures.replay.prompt_tokens, figures.replay.uncounted), (Some(3 * million), 2));
    let reported = figures.all.counts.reported_as;
    assert_eq!(reported, [("b".to_owned(), 1)].into(), "the one that a server named");
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
    let Savings { within_run, from_parent, from_other_runs, .. } = &figures.all.saved;
    let saved = |part: &SavedPart| {
        (part.answers, part.prompt_tokens.unwrap(), part.completion_tokens.unwrap())
    };
    assert_eq!(saved(within_run), (1, 1000, 100));
    assert_eq!(saved(from_parent), (2, 2000, 200));
    assert_eq!(saved(from_other_runs), (3, 3000, 300));
    assert!((from_other_runs.dollars.unwrap() - 0.006).abs() < 1e-12);
    let calls = figures.all.counts.calls;
    assert_eq!((calls.asked, calls.answered, calls.reused), (7, 7, 6));
    assert_eq!(calls.text(), "7: 7 answered (of these 6 reused)");
    assert_eq!(figures.all.counts.attempts.made, 1);
    assert_eq!(figures.all.counts.tokens.prompt, Some(1000));
    assert_eq!((figures.replay.answers, figures.replay.prompt_tokens), (7, Some(7000)));
    // Another run like it would share its own answer, and ask for those of other runs.
    let anew = &figures.all.anew;
    assert_eq!(saved(anew), (6, 6000, 600));
    assert_eq!(figures.forked_from, Some(PARENT));
}

/// What a merged run has from its shards is counted once, whether it is summed up alone or with them.
#[test]
fn a_merged_run_has_its_own_numbers_and_apart_those_of_the_study() {
    let log = Log::in_memory();
    for (shard, model) in [(PARENT, "a"), (OTHER, "b")] {
        let mut run = Written::begun(None, Vec::new());
        let asked = run.asked("q/1", Some(model));
        run.failed(asked, "server", Some(500), false);
        run.answered(asked, tokens(1000, None, 100));
        run.stored(&log, shard);
    }
    let missing = RunId([4; 8]);
    let merged = |shards: &[RunId]| {
        let mut run = Written::begun(None, shards.to_vec());
        for shard in [PARENT, OTHER] {
            let asked = run.asked("q/1", Some("a"));
            run.reused(asked, shard, tokens(1000, None, 100));
        }
        let asked = run.asked("q/2", Some("a"));
        run.answered(asked, tokens(10, None, 1));
        run
    };
    let figures = merged(&[PARENT, OTHER]).figures_in(&log);
    assert_eq!((figures.all.counts.attempts.made, figures.all.counts.tokens.prompt), (1, Some(10)));
    let study = figures.with_shards.unwrap();
    assert_eq!((study.attempts.made, study.attempts.failed), (5, 2));
    assert_eq!((study.tokens.prompt, study.tokens.completion), (Some(2010), Some(201)));
    // 1,010 and 101 tokens of a at 1 and 10 dollars a million, 1,000 and 100 of b at 2 and 20.
    assert!((study.cost.dollars.unwrap() - 0.006_02).abs() < 1e-12, "{:?}", study.cost);
    assert_eq!(study.lines()[0], "this run and its 2 shards together");
    let alone = merged(&[PARENT, missing]).figures().with_shards.unwrap();
    assert_eq!((alone.shards, alone.of, alone.attempts.made), (0, 2, 1));
    assert_eq!(alone.lines()[0], "this run without its 2 shards, which cannot be read here");
    assert_eq!(Written::new().figures().with_shards, None);
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
    // A program may try again what was given up: then the call has its answer.
    let later = run.asked("q/4", Some("a"));
    run.failed(later, "server", Some(503), true);
    run.answered(later, ResponseDetails::default());
    let Figures { all, models, .. } = run.figures();
    let Calls { asked, answered, failed, open, .. } = all.counts.calls;
    assert_eq!((asked, answered, failed, open), (4, 2, 1, 1));
    assert_eq!((models["a"].counts.calls.failed, models["b"].counts.calls.open), (1, 1));
    assert_eq!((all.counts.attempts.made, all.counts.attempts.failed), (7, 5));
    let reasons = all.counts.attempts.reasons.iter();
    let reasons: Vec<_> =
        reasons.map(|r| (r.failure.as_str(), r.status, r.attempts, r.gave_up)).collect();
    assert_eq!(
        reasons,
        [
            ("rate_limited", Some(429), 2, 0),
            ("server", Some(500), 2, 1),
            ("server", Some(503), 1, 0)
        ]
    );
    assert_eq!(all.counts.attempts.reasons[0].example, "\\u{1b}[31mrate_limited");
}

/// A program that is sent a failure decides itself whether it asks again. If it does not, the call
/// has failed, and is not waiting for an answer.
#[test]
fn a_program_that_was_sent_nothing_but_failures_has_a_failed_call() {
    let mut run = Written::new();
    let answered = run.asked("chat/1", Some("a"));
    run.sent_failure(answered);
    run.answered(answered, tokens(1, None, 1));
    let failed = run.asked("chat/2", Some("a"));
    run.sent_failure(failed);
    run.sent_failure(failed);
    run.asked("embed/1", Some("b"));
    let figures = run.figures();
    let ends = |calls: Calls| (calls.asked, calls.answered, calls.failed, calls.open);
    assert_eq!(ends(figures.all.counts.calls), (3, 1, 1, 1));
    assert_eq!(ends(figures.models["a"].counts.calls), (2, 1, 1, 0));
    assert_eq!(ends(figures.kinds["chat"].calls), (2, 1, 1, 0));
    assert_eq!(ends(figures.kinds["embed"].calls), (1, 0, 0, 1));
    assert_eq!(figures.kinds["chat"].attempts.failed, 3);
}

#[test]
fn tokens_that_nobody_counted_are_unknown_and_not_0() {
    let mut run = Written::new();
    let asked = run.asked("q", Some("a"));
    run.answered(asked, ResponseDetails::default());
    let asked = run.asked("q", Some("a"));
    run.reused(asked, PARENT, ResponseDetails::default());
    // A server that counts the prompt alone.
    let asked = run.asked("embed", Some("b"));
    let details = ResponseDetails { prompt_tokens: Some(7), ..ResponseDetails::default() };
    run.answered(asked, details);
    let figures = run.figures();
    let of = |tokens: Tokens| (tokens.prompt, tokens.completion, tokens.counted, tokens.uncounted);
    assert_eq!(of(figures.kinds["q"].tokens), (None, None, 0, 1));
    assert_eq!(of(figures.kinds["embed"].tokens), (Some(7), None, 1, 0));
    let saved = |part: SavedPart| (part.answers, part.prompt_tokens, part.completion_tokens);
    assert_eq!(saved(figures.all.saved.from_parent), (1, None, None));
    assert_eq!(saved(figures.all.saved.within_run), (0, Some(0), Some(0)), "nothing is 0 tokens");
    assert_eq!(saved(figures.replay), (3, Some(7), None));
    assert_eq!(figures.replay.uncounted, 2);
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
    let Calls { asked, answered, open, .. } = figures.all.counts.calls;
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
        let by = DecidedBy { name: None, method: method.to_owned(), parser };
        let warnings = warnings.iter().map(|warning| (*warning).to_owned()).collect();
        let details = DecisionDetails { choice: None, reasoning: None, value: json!(4), warnings };
        run.add(&Event::DecisionMade(DecisionMade { response, by, details }), None);
    };
    let vote = || json!({"name": "vote", "version": 1, "params": {}});
    decide(vote(), "tag", &[]);
    decide(vote(), "number", &["odd"]);
    decide(vote(), "tag", &[]);
    decide(json!({"name": "program", "version": 1, "params": {"name": "score"}}), "llm", &[]);
    let figures = run.figures();
    let vote = &figures.all.counts.parsers["vote@1"];
    assert_eq!((vote.decisions, vote.with_warnings, vote.found), (3, 1, None));
    let methods = vote.methods.iter().map(|m| (m.method.as_str(), m.decisions));
    assert_eq!(methods.collect::<Vec<_>>(), [("tag", 2), ("number", 1)]);
    assert!((vote.methods[0].share - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(figures.all.counts.parsers["reported by the program: score"].decisions, 1);
}

/// A fallback must not pass as an answer, whoever wrote the parser.
#[test]
fn the_default_of_a_parser_file_and_of_a_program_is_a_last_resort() {
    let of_file = json!({"name": "stance", "version": 7, "params": {"parser_file": {}}});
    let of_program = json!({"name": "program", "params": {"name": "stance"}, "version": 1});
    for (parser, name) in [(of_file, "stance@7"), (of_program, "reported by the program: stance")] {
        let stance = defaults_of(&parser).remove(name).unwrap();
        assert_eq!(stance.found, Some(0.25));
        let methods = stance.methods.iter().map(|m| (m.method.as_str(), m.is_last_resort));
        assert_eq!(methods.collect::<Vec<_>>(), [("default", true), ("stance_tag", false)]);
    }
}

/// What is counted of four decisions, three of which a parser or a program made for want of a value.
fn defaults_of(parser: &Value) -> BTreeMap<String, ParserFigures> {
    let mut run = Written::new();
    for method in ["stance_tag", "default", "default", "default"] {
        let asked = run.asked("q", Some("a"));
        let response = run.answered(asked, ResponseDetails::default());
        let by = DecidedBy { name: None, method: method.to_owned(), parser: parser.clone() };
        let details = DecisionDetails {
            choice: None,
            reasoning: None,
            value: json!(4),
            warnings: Vec::new(),
        };
        run.add(&Event::DecisionMade(DecisionMade { response, by, details }), None);
    }
    run.figures().all.counts.parsers
}

/// Decisions belong to the kind of call and the model of their answers, however much later they are
/// made.
#[test]
fn decisions_are_counted_by_kind_and_by_model() {
    let mut run = Written::new();
    let mut answers = Vec::new();
    for n in 0..3 * REMEMBERED {
        let (call, model) = [("ask/1", "a"), ("judge/1", "b")][n % 2];
        let asked = run.asked(call, Some(model));
        answers.push(run.answered(asked, ResponseDetails::default()));
    }
    for response in answers {
        let by = DecidedBy {
            name: None,
            method: "tag".to_owned(),
            parser: json!({"name": "vote", "version": 1, "params": {}}),
        };
        let details = DecisionDetails {
            choice: None,
            reasoning: None,
            value: json!(4),
            warnings: Vec::new(),
        };
        run.add(&Event::DecisionMade(DecisionMade { response, by, details }), None);
    }
    let figures = run.figures();
    let each = (3 * REMEMBERED / 2) as u64;
    assert_eq!(figures.all.counts.parsers["vote@1"].decisions, 2 * each);
    assert_eq!(figures.kinds["ask"].parsers["vote@1"].decisions, each);
    assert_eq!(figures.models["b"].counts.parsers["vote@1"].decisions, each);
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
    assert_eq!(figures.models[OTHERS].counts.calls.answered, 50);
    assert_eq!(figures.all.counts.tokens.prompt, Some(MOST as u64 + 50));
    assert!(figures.all.counts.attempts.reasons.len() <= MOST + 1);
    assert_eq!(figures.all.counts.attempts.failed, MOST as u64 + 50);
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
        let found = run.figures().all.counts.latency_ms;
        prop_assert_eq!(found.is_some(), !measured.is_empty());
        if let Some(Latency { measured: n, p50, p90, p99, max }) = found {
            prop_assert_eq!(n, measured.len() as u64);
            let due = [rank(50), rank(90), rank(99), measured.last().copied()];
            prop_assert_eq!([p50, p90, p99, max].map(Some), due);
        }
    }
}
