//! Whatever goes into a log comes back unchanged, and every backend computes the same chain.

use proptest::prelude::*;
use retold::content::Content;
use retold::event::chain::{DOMAIN, GENESIS};
use retold::event::{
    AnswerReused, AttemptDetails, AttemptFailed, BatchEnded, BatchPlanned, BatchStep, Because,
    ClientLeft, DecidedBy, DecisionDetails, DecisionMade, Event, EventsLost, FactOccurred,
    FoldedState, ForkedFrom, Labels, LookedAt, MarkRecorded, NewEvent, RequestSent,
    ResponseDetails, ResponseReceived, RunFinished, RunOutcome, RunResumed, RunStarted, StateMark,
    StoredEvent,
};
use retold::id::{
    CallPath, EventHash, EventsRoot, OutcomeDigest, OutputDigest, RunId, Seq, StateDigest, Time,
};
use retold::log::{Append, Backend, Head, MemoryBackend, expand, externalise};
use retold::prompt::{CanonicalError, Request};
use serde_json::{Map, Value, json};

use crate::support::logs::{Folder, events};

const RUN: RunId = RunId([3; 8]);

/// Text with everything that is awkward in SQL, JSON and C.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just(String::new()),
        Just("\0".to_owned()),
        "text:[0-9]{0,3}.{0,80}",
        "[\0'\"\\\\%;\u{202e}\u{1F600}a\n]{0,100}",
    ]
}

/// Any JSON that has a canonical form.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..=1 << 53).prop_map(Value::from),
        (-1e15..1e15_f64).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        text().prop_map(Content::from),
        prop::collection::vec(any::<u32>(), 0..6)
            .prop_map(|bits| Content::Vector(bits.into_iter().map(f32::from_bits).collect())),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    (any_json(), any_json(), text(), any::<bool>()).prop_map(|(a, b, name, chat)| {
        let mut body = match chat {
            true => json!({"messages": [{"role": "user", "content": a}, b], "temperature": 0.5}),
            false => json!({"input": [a.to_string(), 0.5]}),
        };
        body["model"] = name.clone().into();
        body[format!("x{name}")] = b;
        Request::from_body(body).unwrap()
    })
}

/// What is kept besides an answer.
fn details() -> impl Strategy<Value = ResponseDetails> {
    let count = || prop::option::of(0..1_u64 << 53);
    let words = || prop::option::of(text());
    let numbers = (count(), count(), count(), count(), prop::option::of(-1e9..1e9_f64));
    (numbers, (words(), words(), words(), words()), any_json(), prop::option::of(any_json()))
        .prop_map(|(numbers, words, extra, label)| {
            let (prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost) = numbers;
            let (finish_reason, model, id, service_tier) = words;
            ResponseDetails {
                batch: prompt_tokens.filter(|count| count % 2 == 0),
                cached_tokens,
                completion_tokens,
                cost,
                extra: Map::from_iter([("refusal".to_owned(), whole(extra))]),
                finish_reason,
                system_fingerprint: id.clone(),
                id,
                label: label.map(whole).filter(|label| !label.is_null()),
                latency_ms: prompt_tokens.unwrap_or_default(),
                model,
                prompt_tokens,
                reasoning_tokens,
                service_tier,
            }
        })
}

fn labels() -> impl Strategy<Value = Labels> {
    prop::collection::btree_map(text(), text(), 0..4)
}

fn event() -> impl Strategy<Value = (Event, Option<Request>)> {
    let seq = || (1..500_u64).prop_map(Seq);
    let none = |event: Event| (event, None);
    prop_oneof![
        (text(), 0..=1_u64 << 53, any_json(), any_json(), text(), any::<[Option<bool>; 2]>())
            .prop_map(move |(experiment, seed, settings, model, program, [fork, before])| {
                let before = before.map(|early| Seq(if early { 3 } else { 1 << 40 }));
                let forked_from = fork.map(|retry_failed| ForkedFrom {
                    before,
                    retry_failed,
                    run: RunId([7; 8]),
                    without: before,
                });
                let (settings, model) = (whole(settings), whole(model));
                let merged_from =
                    before.map_or_else(Vec::new, |_| vec![RunId([8; 8]), RunId([9; 8])]);
                none(Event::RunStarted(RunStarted {
                    experiment,
                    seed,
                    settings,
                    model,
                    program,
                    forked_from,
                    merged_from,
                }))
            }),
        (any_json(), text(), any::<bool>(), any_json()).prop_map(
            move |(model, program, retry_failed, settings)| {
                let (model, settings) = (whole(model), whole(settings));
                none(Event::RunResumed(RunResumed { model, program, retry_failed, settings }))
            }
        ),
        (request(), any::<u32>(), labels()).prop_map(|(request, sample, labels)| {
            let (call, prompt) = (CallPath::new("a/\u{1F600}b").unwrap(), request.hash());
            let because = Because::default();
            let sent = RequestSent { call, sample, prompt, because, labels };
            (Event::RequestSent(sent), Some(request))
        }),
        (seq(), 0..=1_u64 << 53, prop::option::of(0..=1_u64 << 53)).prop_map(
            move |(request, after_ms, bytes)| {
                none(Event::ClientLeft(ClientLeft { request, after_ms, bytes }))
            }
        ),
        (any::<[u8; 32]>(), text()).prop_map(move |(digest, name)| {
            none(Event::MarkRecorded(MarkRecorded { digest: StateDigest(digest), name }))
        }),
        (0..=1_u64 << 53, 0..=1_u64 << 53, prop::collection::vec(text(), 0..3)).prop_map(
            move |(answered, failed, figures)| {
                none(Event::LookedAt(LookedAt { answered, failed, figures }))
            }
        ),
        (
            seq(),
            any::<[u8; 32]>(),
            any::<[u8; 8]>(),
            prop::collection::vec((0..9_u64, 9..20_u64), 0..3)
        )
            .prop_map(move |(seq, hash, run, lost)| {
                let head = Head { seq, hash: EventHash(hash) };
                none(Event::EventsLost(EventsLost { head, lost, run: RunId(run) }))
            }),
        (
            0..9_u64,
            text(),
            prop::option::of(text()),
            prop::collection::vec((1..9_u64, 9..20_u64), 0..3)
        )
            .prop_map(move |(number, text, error, seqs)| {
                let planned = BatchPlanned {
                    bytes: number,
                    digest: text.clone(),
                    endpoint: text.clone(),
                    model: text.clone(),
                    nonce: text.clone(),
                    number,
                    seqs,
                    server: text.clone(),
                };
                let ended = BatchEnded { error, files: vec![text.clone()], number, status: text };
                let is_even = number.is_multiple_of(2);
                none(Event::Batch(match is_even {
                    true => BatchStep::Planned(planned),
                    false => BatchStep::Ended(ended),
                }))
            }),
        (seq(), content(), details()).prop_map(move |(request, content, details)| {
            none(Event::ResponseReceived(ResponseReceived { request, content, details }))
        }),
        (seq(), text(), any::<bool>(), prop::option::of(any::<u16>()), prop::option::of(text()))
            .prop_map(move |(request, error, gave_up, status, http)| {
                let (attempt, failure) = (3, "server".to_owned());
                let details = AttemptDetails {
                    attempt,
                    batch: None,
                    error,
                    gave_up,
                    failure,
                    from: None,
                    http: http.map(|body| json!({"body": body, "status": 503})),
                    retry_after_ms: None,
                    status,
                };
                none(Event::AttemptFailed(AttemptFailed { request, details }))
            }),
        (seq(), content(), seq(), prop::option::of(text()), details()).prop_map(
            move |(request, content, from_seq, unreadable, details)| {
                let from_run = RUN;
                none(Event::AnswerReused(AnswerReused {
                    request,
                    content,
                    from_run,
                    from_seq,
                    unreadable,
                    details,
                }))
            }
        ),
        (seq(), text(), any_json(), prop::option::of(text()), prop::collection::vec(text(), 0..3))
            .prop_map(move |(response, parser, value, reasoning, warnings)| {
                let by = DecidedBy {
                    name: (parser.len() % 2 == 1).then(|| parser.clone()),
                    method: parser.clone(),
                    parser: serde_json::json!({"name": parser}),
                };
                let details =
                    DecisionDetails { choice: None, reasoning, value: whole(value), warnings };
                none(Event::DecisionMade(DecisionMade { response, by, details }))
            }),
        (prop::collection::btree_set(1..400_u64, 0..30), any_json()).prop_map(
            move |(causes, fact)| {
                let causes = causes.into_iter().map(Seq).collect();
                none(Event::Occurred(FactOccurred { causes, fact: whole(fact) }))
            }
        ),
        (
            any::<[u8; 32]>(),
            "finished|abandoned|of a later release",
            any::<bool>(),
            prop::collection::vec(text(), 0..3)
        )
            .prop_map(move |(digest, outcome, digests, names)| none(Event::RunFinished({
                let names = || names.iter().cloned();
                let entries = || names().map(|name| (name, StateDigest(digest))).collect();
                let mark = |name| StateMark { entries: entries(), name };
                RunFinished {
                    outputs: digests
                        .then(|| names().map(|name| (name, OutputDigest(digest))).collect()),
                    state: digests.then(|| FoldedState {
                        end: entries(),
                        marks: names().map(mark).collect(),
                    }),
                    ..RunFinished::new(
                        RunOutcome::from(outcome),
                        OutcomeDigest(digest),
                        EventsRoot(digest),
                    )
                }
            }))),
    ]
}

/// Every other question declares some of what happened before it.
fn declaring(mut given: Vec<(Event, Option<Request>)>) -> Vec<(Event, Option<Request>)> {
    for (before, (event, _)) in (0_u64..).zip(&mut given) {
        if let Event::RequestSent(sent) = event
            && sent.sample.is_multiple_of(2)
        {
            sent.because = Because::new((1..=before).filter(|seq| seq % 3 != 0).map(Seq));
        }
    }
    given
}

/// As JSON reads it back: a double without a fraction is an integer.
fn whole(value: Value) -> Value {
    serde_json::from_str(&retold::prompt::canonical(&value).unwrap()).unwrap()
}

/// Equal as far as the log stores them: vectors are compared by their bits.
fn same(a: &Event, b: &Event) -> bool {
    // A vector with NaN is not equal to itself.
    format!("{a:?}") == format!("{b:?}")
}

/// The chain computed independently: from the columns, with a JSON object built here.
fn independent_hash(stored: &StoredEvent, previous: [u8; 32]) -> [u8; 32] {
    let mut object = Map::new();
    let body: Value = serde_json::from_str(&stored.body).unwrap();
    object.insert("body".into(), body);
    object.insert("kind".into(), json!(stored.kind));
    object.insert("run".into(), json!(stored.run));
    object.insert("seq".into(), json!(stored.seq));
    object.insert("time".into(), json!(stored.time));
    object.insert("version".into(), json!(stored.version));
    let optional = [
        ("call", stored.call.as_ref().map(|x| json!(x))),
        ("sample", stored.sample.map(|x| json!(x))),
        ("prompt", stored.prompt.map(|x| json!(x))),
        ("cause", stored.cause.map(|x| json!(x))),
    ];
    for (name, value) in optional {
        object.extend(value.map(|value| (name.to_owned(), value)));
    }
    if let Some(content) = &stored.content {
        let name = if matches!(content, Content::Text(_)) { "content" } else { "vector" };
        object.insert(name.into(), json!(blake3::hash(&content.bytes()).to_hex().as_str()));
    }
    let bytes = serde_json_canonicalizer::to_vec(&object).unwrap();
    *blake3::hash(&[DOMAIN, &previous, &bytes].concat()).as_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn events_survive_and_backends_agree(given in prop::collection::vec(event(), 1..12)) {
        let given = declaring(given);
        let rows = || -> Vec<NewEvent> {
            let row = |(n, (event, request)): (usize, &(Event, Option<Request>))| {
                NewEvent::from_event(event, Time(n as i64 * 7 - 3), request.clone()).unwrap()
            };
            given.iter().enumerate().map(row).collect()
        };
        let folder = Folder::new();
        let (memory, sqlite) = (MemoryBackend::new(), folder.log());
        let append = [Append::new(RUN, Head::START, rows())];
        memory.committer().unwrap().commit(&append).unwrap();
        sqlite.backend().committer().unwrap().commit(&append).unwrap();
        let runs = |backend: &dyn Backend| backend.reader().unwrap().runs().unwrap();
        prop_assert_eq!(runs(&memory), runs(sqlite.backend().as_ref()));
        let mut reader = sqlite.reader().unwrap();
        let mut previous = GENESIS.0;
        let (a, b) = (events(memory.reader().unwrap().as_mut(), RUN), events(reader.as_mut(), RUN));
        prop_assert_eq!(a.len(), given.len());
        prop_assert_eq!(b.len(), given.len());
        for (((event, request), a), b) in given.iter().zip(&a).zip(&b) {
            prop_assert!(same(event, &a.event().unwrap()), "{:?}\n{:?}", event, a);
            prop_assert!(same(event, &b.event().unwrap()), "{:?}\n{:?}", event, b);
            prop_assert_eq!(a.hash, b.hash);
            previous = independent_hash(b, previous);
            prop_assert_eq!(b.hash.0, previous);
            if let Some(request) = request {
                let found = reader.request(request.hash()).unwrap().unwrap();
                prop_assert_eq!(found.canonical(), request.canonical());
            }
        }
        prop_assert_eq!(reader.check(None).unwrap(), []);
    }

    #[test]
    fn a_request_survives_storing_its_texts_separately(request in request()) {
        let mut texts: Vec<String> = Vec::new();
        let skeleton = externalise(&request, &mut |text| -> Result<String, CanonicalError> {
            texts.push(text.to_owned());
            Ok((texts.len() - 1).to_string())
        })
        .unwrap();
        let back = expand(&skeleton, &mut |id| texts.get(id.parse::<usize>().ok()?).cloned());
        let back = back.unwrap();
        prop_assert_eq!(back.canonical(), request.canonical());
        prop_assert!(texts.iter().all(|text| text.len() >= 64 || text.starts_with("text:")));
        let again = externalise(&request, &mut |_| Ok::<_, CanonicalError>("0".to_owned())).unwrap();
        let again: Value = serde_json::from_str(&again).unwrap();
        prop_assert_eq!(times("text:0", &again), texts.len());
    }
}

/// How often a text occurs as a value, not counting keys.
fn times(text: &str, value: &Value) -> usize {
    match value {
        Value::String(found) => usize::from(found == text),
        Value::Array(items) => items.iter().map(|item| times(text, item)).sum(),
        Value::Object(map) => map.values().map(|item| times(text, item)).sum(),
        _ => 0,
    }
}
