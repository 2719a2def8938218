//! Embeddings: one address per text, many texts per request.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use retold::id::CallPath;
use retold::model::{Content, Failure, FailureKind, Limits, OpenAi, Response};
use retold::parse::text::vector;
use retold::prompt::EmbeddingRequest;
use retold::run::{Experiment, Question, Report, Run, Stop};
use serde_json::{Value, json};

use super::{ask_at, openai};
use crate::support::block_on;
use crate::support::server::{Received, Reply, Server};
use crate::support::trial::Trial;

fn texts(request: &Received) -> Vec<String> {
    match &request.json()["input"] {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().map(|t| t.as_str().unwrap().to_owned()).collect(),
        other => panic!("{other}"),
    }
}

/// The vector of a text is its number; the reply is in reverse order, to check that `index` is
/// used.
fn vectors(request: &Received) -> Reply {
    let texts = texts(request);
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .rev()
        .map(|(i, text)| json!({"index": i, "embedding": [text.parse::<f32>().unwrap(), 0.1]}))
        .collect();
    let body = json!({"data": data, "model": "e-1", "usage": {"prompt_tokens": 10 * texts.len()}});
    Reply::new(200, body.to_string())
}

async fn embed_all(model: &OpenAi, texts: &[String], name: &str) -> Vec<Result<Response, Failure>> {
    let asks = texts.iter().map(|text| async move {
        let request =
            EmbeddingRequest { model: name.into(), input: text.clone(), dimensions: None };
        let request = request.into_request().unwrap();
        ask_at(model, &request, &format!("embed/{text}"), 0, 0).await
    });
    join_all(asks).await
}

fn numbers(n: usize) -> Vec<String> {
    (0..n).map(|i| i.to_string()).collect()
}

#[test]
fn concurrent_texts_travel_together_and_come_back_to_their_own_call() {
    let server = Server::handler(vectors);
    let model = openai(&server);
    let answers = block_on(embed_all(&model, &numbers(250), "e"));
    for (i, answer) in answers.iter().enumerate() {
        let vector: Arc<[f32]> = [i as f32, 0.1].into();
        assert_eq!(answer.as_ref().unwrap().content, Content::Vector(vector));
    }
    let tokens: u64 =
        answers.iter().map(|a| a.as_ref().unwrap().usage.unwrap().prompt_tokens.unwrap()).sum();
    assert_eq!(tokens, 2500, "shares add up");
    // On a busy machine the wait for more texts may end early; there are never more than 100 in a
    // batch.
    let sizes: Vec<usize> = server.received().iter().map(|r| texts(r).len()).collect();
    assert_eq!(sizes.iter().max(), Some(&100), "{sizes:?}");
    assert!(sizes.len() < 25 && sizes.iter().sum::<usize>() == 250, "{sizes:?}");
    assert_eq!(server.received()[0].json()["encoding_format"], "float");
}

#[test]
fn a_text_alone_is_sent_as_it_was_asked() {
    let server = Server::handler(vectors);
    let answers = block_on(embed_all(&openai(&server), &numbers(1), "e"));
    assert!(answers[0].is_ok());
    assert_eq!(server.received()[0].json()["input"], "0");
    assert_eq!(server.received()[0].target, "/v1/embeddings");
}

#[test]
fn different_models_do_not_share_a_request() {
    let server = Server::handler(vectors);
    let model = openai(&server);
    block_on(async {
        let (texts, one, two) = (numbers(3), "one", "two");
        tokio::join!(embed_all(&model, &texts, one), embed_all(&model, &texts, two));
    });
    assert_eq!(server.received().len(), 2);
}

#[test]
fn a_failed_batch_is_a_failure_of_each_member() {
    let limited = Reply::error(429, "rate_limit", "slow down").header("retry-after", "3");
    let server = Server::script([limited]);
    let answers = block_on(embed_all(&openai(&server), &numbers(5), "e"));
    for answer in answers {
        let failure = answer.unwrap_err();
        assert_eq!(failure.kind, FailureKind::RateLimited);
        assert_eq!(failure.retry_after, Some(Duration::from_secs(3)));
    }
    assert_eq!(server.received().len(), 1);
}

#[test]
fn one_bad_text_does_not_fail_its_neighbours() {
    let server = Server::handler(|request| {
        let bad = texts(request).iter().any(|text| text == "13");
        if bad { Reply::error(400, "too_long", "too long") } else { vectors(request) }
    });
    let answers = block_on(embed_all(&openai(&server), &numbers(40), "e"));
    let failed: Vec<usize> = (0..40).filter(|i| answers[*i].is_err()).collect();
    assert_eq!(failed, [13]);
    assert_eq!(answers[13].as_ref().unwrap_err().kind, FailureKind::Rejected);
}

#[test]
fn a_caller_that_gives_up_does_not_take_others_along() {
    let server = Server::handler(vectors);
    let model = openai(&server);
    let answers = block_on(async {
        let texts = numbers(1);
        // Polled once, it joins the batch; when dropped, it leaves before the batch is sent.
        assert!(embed_all(&model, &texts, "e").now_or_never().is_none());
        embed_all(&model, &["1".to_owned()], "e").await
    });
    assert!(answers[0].is_ok());
    assert!(server.received().iter().all(|r| texts(r) == ["1"]));
}

/// Makes vectors of the given number of texts, all requested at once.
struct Embeds(usize);

impl Experiment for Embeds {
    type Event = String;
    type State = Vec<String>;

    fn apply(state: &mut Vec<String>, fact: &String) {
        state.push(fact.clone());
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let parser = Arc::new(vector::parser()?);
        let questions = numbers(self.0).into_iter().map(|input| {
            let call = CallPath::new(format!("embed/{input}")).unwrap();
            let request = EmbeddingRequest { model: "e".into(), input, dimensions: None };
            Question::new(call, request.into_request().unwrap(), parser.clone())
        });
        for answer in run.ask_all(questions).await? {
            let answer = answer.unwrap();
            run.record(format!("{:?}", answer.content), &[answer.decision])?;
        }
        Ok(())
    }

    fn report(&self, _state: &Vec<String>) -> Report {
        Report::default()
    }
}

/// A run has eight concurrent attempts, and a text that becomes a vector does not take one for
/// itself: texts travel a hundred at a time, as the deliberation document says.
#[test]
fn a_run_sends_a_hundred_texts_in_one_request() {
    let server = Server::handler(vectors);
    let limits = Limits { min_interval_seconds: 0.05, ..Limits::default() };
    assert_eq!(limits.concurrency, 8);
    let trial = Trial { limits, ..Trial::in_memory(Arc::new(openai(&server))) };
    let start = tokio::time::Instant::now();
    let digest = block_on(trial.record(&Embeds(250)));
    let waited = start.elapsed();
    let sizes: Vec<usize> = server.received().iter().map(|r| texts(r).len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 250);
    assert_eq!(sizes.iter().max(), Some(&100), "{sizes:?}");
    // On a busy machine the wait for more texts may end early.
    assert!((3..8).contains(&sizes.len()), "{sizes:?}");
    assert!(waited >= Duration::from_millis(100), "each request is throttled: {waited:?}");
    assert_eq!(block_on(trial.replay(&Embeds(250))), digest);
}
