//! Answers with more than a text: the parser sees all of it, asks again, and several are asked for
//! at once.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::event::ForkedFrom;
use retold::id::{CallPath, RunId};
use retold::log::Log;
use retold::model::{Answerer, Ask, Failure, FailureKind, Model, ModelInfo, Response, Usage};
use retold::parse::{FoundValue, ParsedAnswer, Parser, ParserSpec, WholeAnswer};
use retold::run::{
    Answer, Experiment, Finish, Mode, Question, Report, RetriedAnswer, Reuse, Run, Setup, Stop,
    Talk, Unusable, execute,
};
use serde_json::{Value, json};

use crate::support::logs::{assert_sound, facts};
use crate::support::mixed::{Fact, chat, fact, numbers};
use crate::support::oracle::dice;
use crate::support::trial::{Trial, memory, stop_of};

/// Decides about whole answers: which tool is called, what is refused, or otherwise the length of
/// the text.
struct Moves(ParserSpec);

impl Moves {
    fn new() -> Arc<Self> {
        Arc::new(Moves(ParserSpec { name: "moves".into(), params: Value::Null, version: 1 }))
    }
}

impl Parser for Moves {
    type Value = String;

    fn spec(&self) -> &ParserSpec {
        &self.0
    }

    fn decided_by(&self, method: &'static str) -> Arc<str> {
        format!("{{\"method\":\"{method}\",\"parser\":{{\"name\":\"moves\",\"version\":1}}}}")
            .into()
    }

    fn methods(&self) -> Vec<&'static str> {
        vec!["tool_call", "refusal", "cut_off", "text"]
    }

    fn parse(&self, text: &str) -> ParsedAnswer<String> {
        let FoundValue { value, reasoning, warnings } =
            FoundValue::plain(format!("{} bytes", text.len()));
        ParsedAnswer { method: "text", value, reasoning, warnings }
    }

    fn parse_whole(&self, answer: WholeAnswer<'_>) -> ParsedAnswer<String> {
        let name = answer.tool_calls().next().and_then(|call| call.name);
        let (method, value) = match (name, answer.refusal()) {
            (Some(name), _) => ("tool_call", name.to_owned()),
            (None, Some(refusal)) => ("refusal", refusal.to_owned()),
            (None, None) if answer.is_cut_off() => ("cut_off", String::new()),
            (None, None) => return self.parse(answer.text),
        };
        ParsedAnswer { method, value, ..self.parse("") }
    }

    fn accepts(&self, parsed: &ParsedAnswer<String>) -> bool {
        parsed.method == "tool_call"
    }
}

/// Calls a tool, refuses, says something, says nothing, or is cut off, depending on its dice; in an
/// order drawn from a seed.
struct Talkative {
    order: u64,
    fails_at: Option<&'static str>,
}

fn reply(ask: Ask<'_>) -> Response {
    let kind = dice(ask, "kind") % 5;
    let mut response = Response::text(["", "", "hello", "", "hel"][kind as usize]);
    let extra = match kind {
        0 => {
            json!({"tool_calls": [{"function": {"name": format!("move_{}", dice(ask, "n") % 7)}}]})
        }
        1 => json!({"refusal": "I will not."}),
        2 => json!({"logprobs": {"content": [{"token": "hello", "logprob": -0.5}]}}),
        _ => json!({}),
    };
    response.extra = extra.as_object().unwrap().clone();
    response.finish_reason = Some(if kind == 4 { "length" } else { "stop" }.to_owned());
    response.id = Some(format!("answer-{}", dice(ask, "id")));
    let usage = Usage {
        prompt_tokens: Some(3),
        cached_tokens: Some(2),
        cost: Some(0.25),
        ..Usage::default()
    };
    response.usage = Some(usage);
    response
}

impl Model for Talkative {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "talkative".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        async move {
            if self.order > 0 {
                let wait = dice(ask, &format!("order {}", self.order)) % 1000;
                tokio::time::sleep(Duration::from_millis(wait)).await;
            }
            if self.fails_at.is_some_and(|at| ask.call.as_str().starts_with(at)) {
                return Err(Failure::new(FailureKind::Unauthorized, "no more"));
            }
            Ok(reply(ask))
        }
        .boxed()
    }
}

fn model(order: u64) -> Answerer {
    Arc::new(Talkative { order, fails_at: None })
}

fn question(call: &str, text: &str) -> Question<Moves> {
    Question::new(CallPath::new(call).unwrap(), chat(text), Moves::new())
}

/// Everything that an experiment can see of an answer.
fn seen(answer: &Answer<String>) -> Value {
    let Answer { value, method, warnings, .. } = answer;
    let usage = answer.usage().unwrap();
    json!({"value": value, "method": method, "warnings": warnings, "text": answer.content.text(),
        "id": answer.details.id, "extra": answer.extra(), "cached": usage.cached_tokens,
        "cost": usage.cost, "empty": answer.is_empty(), "cut_off": answer.is_cut_off()})
}

/// Rounds in which all players of several games move at once, after one question that is asked
/// until the answer is a move.
struct Rounds;

impl Experiment for Rounds {
    type Event = Value;
    type State = Vec<Value>;

    fn apply(state: &mut Vec<Value>, event: &Value) {
        state.push(event.clone());
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let RetriedAnswer { answer, accepted, sample, refused } =
            run.ask_valid(question("opening", "Open."), 4).await?;
        let answer = answer.expect("it answers");
        let opened = json!({"accepted": accepted, "sample": sample, "refused": refused, "answer": seen(&answer)});
        run.record(opened, &[answer.decision])?;

        let shared =
            (0..3).map(|i| question(&format!("shared/{i}"), "The same.").reuse(Reuse::Shared));
        for answer in run.ask_all(shared).await? {
            let answer = answer.expect("it answers");
            run.record(seen(&answer), &[answer.decision])?;
        }

        let games: Vec<u32> = (0..4).collect();
        run.converse_all(games, async |talk: &mut Talk<Self>, game| {
            let mut last = String::new();
            for round in 0..3 {
                let moves = (0..5).map(|player| {
                    question(&format!("game/{game}/{round}/{player}"), &format!("{last} Move."))
                });
                let answers = talk.ask_all(moves.collect::<Vec<_>>()).await?;
                let answers = answers.iter().flatten().collect::<Vec<_>>();
                last = answers
                    .iter()
                    .map(|answer| answer.value.as_str())
                    .collect::<Vec<_>>()
                    .join(" ");
                let causes: Vec<_> = answers.iter().map(|answer| answer.decision.clone()).collect();
                talk.record(json!(answers.iter().map(|a| seen(a)).collect::<Vec<_>>()), &causes);
                let again = question(&format!("game/{game}/{round}/again"), &last);
                let tried = talk.ask_valid(again, 3).await?;
                let said = match tried.into_used() {
                    Ok(answer) => json!({"used": seen(&answer)}),
                    Err(Unusable::Refused { last, refused }) => {
                        json!({"refused": refused, "last": seen(&last)})
                    }
                    Err(failed) => json!(failed.to_string()),
                };
                talk.record(said, &[]);
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    fn report(&self, state: &Vec<Value>) -> Report {
        Report { json: json!(state), ..Report::default() }
    }
}

async fn recorded(order: u64) -> (Trial, Value) {
    let trial = Trial::in_memory(model(order));
    let ended = trial.go(Mode::Record, &Rounds).await;
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    (trial, ended.report.json)
}

#[tokio::test(start_paused = true)]
async fn decisions_about_whole_answers_do_not_depend_on_the_order_of_arrival() {
    let (first, report) = recorded(0).await;
    let digest = first.replay(&Rounds).await;
    let methods = report.to_string();
    for method in ["tool_call", "refusal", "text", "cut_off"] {
        assert!(methods.contains(&format!("\"method\":\"{method}\"")), "{method} in {methods}");
    }
    for order in 1..8 {
        let (trial, same) = recorded(order).await;
        assert_eq!(same, report, "order {order}");
        assert_eq!(trial.replay(&Rounds).await, digest, "order {order}");
        assert_sound(&trial.log);
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_sees_of_an_answer_what_the_run_has_seen() {
    let (trial, report) = recorded(0).await;
    let ended = trial.go(Mode::Replay, &Rounds).await;
    assert_eq!(ended.report.json, report, "usage, ids and parts included");
    let again = trial.go(Mode::Resume, &Rounds).await;
    assert_eq!(again.report.json, report);
    let recorded = trial.with_model(model(0));
    assert_eq!(recorded.go(Mode::Replay, &Rounds).await.progress.blank, ended.progress.blank);
    assert!(ended.progress.blank > 0 && ended.progress.cut_off > 0, "{:?}", ended.progress);
}

#[tokio::test(start_paused = true)]
async fn a_run_stopped_anywhere_continues_with_the_same_moves() {
    let (whole, report) = recorded(0).await;
    let digest = whole.replay(&Rounds).await;
    for (order, at) in
        [(1, "opening"), (2, "shared/0"), (3, "game/0/1"), (4, "game/2/0/3"), (5, "game/3/2/again")]
    {
        let stopping: Answerer = Arc::new(Talkative { order, fails_at: Some(at) });
        let trial = Trial::in_memory(stopping);
        let stop = stop_of(trial.go(Mode::Record, &Rounds).await);
        assert!(matches!(stop, Stop::Model { .. }), "{at}: {stop:?}");
        let ended = trial.with_model(model(order + 1)).go(Mode::Resume, &Rounds).await;
        assert_eq!((ended.outcome_digest, ended.report.json), (digest, report.clone()), "{at}");
        assert_eq!(trial.replay(&Rounds).await, digest, "{at}");
    }
}

/// What is in flight when something stops a dialogue is recorded, and none of it is paid for twice.
#[tokio::test(start_paused = true)]
async fn moves_that_were_under_way_when_another_failed_are_kept() {
    let stopping: Answerer = Arc::new(Talkative { order: 3, fails_at: Some("game/0/0/4") });
    let trial = Trial::in_memory(stopping);
    stop_of(trial.go(Mode::Record, &Rounds).await);
    let asked = |trial: &Trial| {
        let events = facts(&trial.log, trial.run);
        let sent = |event: &&retold::event::Event| matches!(event, retold::event::Event::RequestSent(sent) if sent.call.as_str().starts_with("game/0/0/"));
        events.iter().filter(sent).count()
    };
    assert_eq!(asked(&trial), 5, "all moves of the round");
    trial.with_model(model(1)).go(Mode::Resume, &Rounds).await;
    let again = asked(&trial);
    assert!(again > 5, "the one that stopped the run, and those after it");
}

async fn forked(log: &Log, parent: &Trial) -> (Trial, Value) {
    let of = ForkedFrom { before: None, retry_failed: false, run: parent.run, without: None };
    let run = RunId([9; 8]);
    let mut setup = Setup::record(log, run, "test", model(5)).seed(7);
    setup.started.forked_from = Some(of);
    let ended = execute(&Rounds, setup).await.unwrap();
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(ended.progress.live, 0, "everything is shared");
    (Trial { run, ..Trial::new(log, 9, model(5)) }, ended.report.json)
}

#[tokio::test(start_paused = true)]
async fn a_fork_decides_about_whole_answers_as_its_parent_did_also_without_it() {
    let (parent, report) = recorded(2).await;
    let (fork, same) = forked(&parent.log, &parent).await;
    assert_eq!(same, report);
    let events = facts(&fork.log, fork.run);
    let reused = events.iter().filter_map(|event| match event {
        retold::event::Event::AnswerReused(reused) => Some(reused),
        _ => None,
    });
    assert!(
        reused.clone().all(|reused| reused.details.id.is_some() && reused.details.latency_ms == 0)
    );
    assert!(reused.count() > 60);
    // A log that has only the fork.
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut text = String::new();
    let line = &mut |line: &str| {
        text.push_str(line);
        text.push('\n');
        Ok::<(), retold::log::LogError>(())
    };
    retold::exchange::export_recording(fork.log.reader().unwrap().as_mut(), fork.run, line)
        .unwrap();
    std::fs::write(file.path(), text).unwrap();
    let lines = retold::jsonl::JsonlReader::open(file.path()).unwrap();
    let recording = retold::exchange::read_recording(lines).unwrap();
    let alone = memory();
    retold::exchange::import_recording(alone.backend().as_ref(), &recording).unwrap();
    let ended = Trial::new(&alone, 9, model(5)).go(Mode::Replay, &Rounds).await;
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(ended.report.json, report);
}

/// A decision about more than the text is shown with what it was made from.
#[test]
fn snapshots_of_whole_answers_show_what_was_decided_about() {
    let folder = tempfile::tempdir().unwrap();
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "Move."}]});
    let call = json!([{"function": {"name": "castle"}}]);
    let responses = [
        json!({"content": null, "tool_calls": call}),
        json!({"content": "", "refusal": "I will not."}),
        json!({"content": "Let us s", "finish_reason": "length"}),
        json!({"content": "hello", "logprobs": [1]}),
    ];
    let lines = responses.map(|response| json!({"request": request, "response": response}));
    let lines = lines.map(|line| format!("{line}\n")).concat();
    std::fs::write(folder.path().join("answers.jsonl"), lines).unwrap();
    let of = |parser: &Moves| {
        let (file, snaps) = (folder.path().join("answers.jsonl"), folder.path().join("snaps"));
        retold::snapshot::of_file(&file, &snaps, parser).unwrap()
    };
    let moves = Moves::new();
    let seen = of(&moves);
    let texts = seen.written.iter().map(|path| std::fs::read_to_string(path).unwrap());
    insta::assert_snapshot!(texts.collect::<String>());
    assert!(of(&moves).is_unchanged());
}

/// Asks once, with a limit.
struct Once(u32);

impl Experiment for Once {
    type Event = Fact;
    type State = Vec<Fact>;

    fn apply(state: &mut Vec<Fact>, event: &Fact) {
        state.push(event.clone());
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let call = CallPath::new("once")?;
        let question = Question::new(call, chat("A number?"), numbers(1));
        let tried = run.ask_valid(question, self.0).await?;
        let said = if tried.accepted { "found" } else { "given up" };
        let value = tried.accepted_answer().map_or(-1, |answer| answer.value);
        run.record(fact(said, value), &[])?;
        run.record(fact("sample", tried.sample.into()), &[])
    }

    fn report(&self, state: &Vec<Fact>) -> Report {
        Report { json: json!(state), ..Report::default() }
    }
}

/// Gives a number only at the given sample.
struct Late(u32);

impl Model for Late {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "late".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let text = if ask.sample < self.0 { "none yet" } else { "42" };
        async move { Ok(Response::text(text)) }.boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_chain_accepts_what_it_found_and_refuses_its_last_resort() {
    for (late, most, said) in [
        (0, 1, json!([{"what": "found", "n": 42}, {"what": "sample", "n": 0}])),
        (2, 5, json!([{"what": "found", "n": 42}, {"what": "sample", "n": 2}])),
        (2, 3, json!([{"what": "found", "n": 42}, {"what": "sample", "n": 2}])),
        (3, 3, json!([{"what": "given up", "n": -1}, {"what": "sample", "n": 2}])),
    ] {
        let trial = Trial::in_memory(Arc::new(Late(late)));
        let ended = trial.go(Mode::Record, &Once(most)).await;
        assert_eq!(ended.report.json, said, "{late} of {most}");
        assert_eq!(ended.progress.decisions, u64::from(most.min(late + 1)));
        assert_eq!(trial.replay(&Once(most)).await, ended.outcome_digest);
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_no_answers_is_refused() {
    let trial = Trial::in_memory(Arc::new(Late(0)));
    let stop = stop_of(trial.go(Mode::Record, &Once(0)).await);
    let said = "the experiment made an invalid limit of answers: a question is asked at least once";
    assert_eq!(stop.to_string(), said);
    assert_eq!(facts(&trial.log, trial.run).len(), 1, "nothing was asked");
}
