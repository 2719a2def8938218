//! What the fakes answer: a function of the question, the same by batch and live.

use serde_json::{Value, json};

use super::by_id;
use super::openai::{content, get, line, lines, post, submit};
use crate::support::batches::{Asked, BatchFake, Options, Refusal, study};
use crate::support::cli::{Place, Said};
use crate::support::server::Server;
use crate::support::studies::{STUDIES, answers};

#[test]
fn equal_questions_can_have_an_answer_each_and_a_question_can_be_refused() {
    let answer = |asked: &Asked<'_>| {
        if asked.body["messages"][0]["content"] == "bad" {
            return Err(Refusal::new(400, "it is bad"));
        }
        Ok(json!({"endpoint": asked.endpoint, "id": asked.custom_id, "sample": asked.sample}))
    };
    let (url, fake) = BatchFake::with(Options::default(), Box::new(answer));
    let mut questions: Vec<_> = (0..4).map(|n| line(&format!("q{n}"), "m")).collect();
    for question in &mut questions[..3] {
        question["body"]["messages"][0]["content"] = json!("equal");
    }
    questions[3]["body"]["messages"][0]["content"] = json!("bad");
    let path = submit(&url, &lines(&questions));
    fake.advance(3720);
    let object = get(&url, &path).1;
    let answers = by_id(&content(&url, &object["output_file_id"]), "custom_id");
    for (n, (id, line)) in answers.iter().enumerate() {
        let due = json!({"endpoint": "chat/completions", "id": id, "sample": n});
        assert_eq!(line["response"]["body"], due);
    }
    let errors = by_id(&content(&url, &object["error_file_id"]), "custom_id");
    assert_eq!((answers.len(), errors.len()), (3, 1));
    let error = &errors[0].1["response"];
    assert_eq!(
        (&error["status_code"], &error["body"]["error"]["message"]),
        (&json!(400), &json!("it is bad"))
    );
    let mut body = questions[3]["body"].clone();
    assert_eq!(post(&url, "/v1/chat/completions", &body).0, 400);
    body["messages"][0]["content"] = json!("equal");
    assert_eq!(post(&url, "/v1/chat/completions", &body).1["sample"], 3);
    // Nobody pays for a question that was refused.
    assert_eq!(fake.counts().paid.values().collect::<Vec<_>>(), [&4]);
}

/// A study of which the fake answers live what the server of other tests answers.
#[test]
fn a_study_s_live_run_has_the_answers_of_the_simulated_model() {
    let small = &STUDIES[0];
    let server = Server::handler(answers(small.name));
    let due = small.digest(&server.base_url());
    let (url, fake) = BatchFake::with(Options::default(), study(small.name));
    let place = Place::new();
    let mut command = place.command();
    let run = format!("{} --base-url {url}/v1 --json", small.run());
    command.args(run.split_whitespace()).env("OPENAI_API_KEY", "sk-one");
    let said = Said::ended(&mut command);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let whole: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(whole["outcome_digest"], due, "{whole}");
    assert_eq!(fake.counts().paid.values().sum::<u64>(), 30);
}
