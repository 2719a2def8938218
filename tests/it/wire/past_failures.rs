//! A run that is continued or forked gets past what failed: it is asked again, and only what the program
//! has lived with is sent to it again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::python::python;
use super::{KEY, program, record_with, replay_with, with};
use crate::support::cli::Place;
use crate::support::server::{Received, Reply, Server, nobody};

/// Asks three questions, and ends at the first error.
const ASK: &str = "
ask() {
    curl -sSf --max-time 20 $OPENAI_BASE_URL/chat/completions \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"'$1'\"}]}' && echo
}
set -e; ask a; ask b; ask c";

/// The question of a request.
fn question(received: &Received) -> String {
    received.json()["messages"][0]["content"].as_str().unwrap().to_owned()
}

/// What an API answers to a question.
fn answer(received: &Received) -> Reply {
    let text = format!("to {}", question(received));
    if received.target.ends_with("/v1/messages") {
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}});
        return Reply::new(200, message.to_string());
    }
    Reply::chat(&text)
}

/// A server that fails so often when it is asked `b`.
fn failing(times: usize, status: u16) -> Server {
    let left = Arc::new(AtomicUsize::new(times));
    let take = move || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
    Server::handler(move |received| {
        if question(received) == "b" && take().is_ok() {
            return Reply::error(status, "trouble", "try later").header("retry-after-ms", "1");
        }
        answer(received)
    })
}

fn asked(server: &Server) -> String {
    server.received().iter().map(question).collect()
}

/// Records a program that fails, goes on with it, and replays it without the server.
fn past(command: &str, program: &[&str], upstream: Server, set: &[(&str, &str)]) {
    let (place, url) = (Place::new(), upstream.base_url());
    let cut_off = record_with(&place, "", &url, program, set);
    assert_ne!(cut_off.code, 0, "{command}: {}{}", cut_off.out, cut_off.err);
    let failed = asked(&upstream);
    assert!(failed.starts_with("ab") && !failed.contains('c'), "{failed}");
    let gone_on = with(&place, &format!("{command} latest"), &url, program, set);
    assert_eq!(gone_on.code, 0, "{command}: {}{}", gone_on.out, gone_on.err);
    assert_eq!(asked(&upstream), format!("{failed}bc"), "{command}: {}", gone_on.err);
    assert!(gone_on.err.contains(", after 1 recorded answer from the log"), "{}", gone_on.err);
    drop(upstream);
    // The program that was run last has met no failure.
    let replayed = replay_with(&place, "latest", program, set);
    assert_eq!((replayed.code, replayed.out), (0, gone_on.out), "{command}: {}", replayed.err);
    assert!(replayed.err.contains("replayed 3 recorded answers of run"), "{}", replayed.err);
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
    place.ok("verify");
}

#[test]
fn what_failed_is_asked_again_whatever_its_status() {
    for status in [401, 402, 403, 408, 409, 429, 500, 503, 529] {
        for command in ["record --resume", "fork"] {
            past(command, &["sh", "-c", ASK], failing(1, status), &[]);
        }
    }
}

/// However often its SDK tries by itself.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn programs_with_real_sdks_get_past_a_failure() {
    let (python, script) = (python(), program("questions.py"));
    let program = [python.as_str(), script.to_str().unwrap()];
    for (sdk, status, retries, command) in [
        ("openai", 503, "0", "record --resume"),
        ("openai", 429, "2", "fork"),
        ("openai", 401, "2", "record --resume"),
        ("anthropic", 529, "1", "record --resume"),
        ("anthropic", 401, "0", "fork"),
    ] {
        let tries = match status {
            401 => 1,
            _ => retries.parse::<usize>().unwrap() + 1,
        };
        let upstream = failing(tries, status);
        let url = format!("http://{}", upstream.address());
        let set = [
            ("SDK", sdk),
            ("RETRIES", retries),
            ("ANTHROPIC_BASE_URL", url.as_str()),
            ("ANTHROPIC_API_KEY", KEY),
        ];
        past(command, &program, upstream, &set);
    }
}

/// The server was away, and then it refused once more: nothing of that is sent to the program again.
#[test]
fn a_run_is_continued_as_often_as_it_fails() {
    let (place, program) = (Place::new(), ["sh", "-c", ASK]);
    let (away, _socket) = nobody();
    let first = record_with(&place, "", &format!("{away}/v1"), &program, &[]);
    assert_eq!(first.code, 22, "{}", first.err);
    let upstream = failing(2, 503);
    let url = upstream.base_url();
    for due in ["ab", "abb"] {
        let again = with(&place, "record --resume latest", &url, &program, &[]);
        assert_eq!((again.code, asked(&upstream).as_str()), (22, due), "{}", again.err);
    }
    let last = with(&place, "record --resume latest", &url, &program, &[]);
    assert_eq!((last.code, asked(&upstream).as_str()), (0, "abbbc"), "{}", last.err);
    let (shown, _) = place.json("show latest");
    assert_eq!((&shown["exchanges"], &shown["failed_attempts"]), (&json!(3), &json!(3)));
    let attempts: Vec<Value> = place.json("log latest --most 100").0["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] == "AttemptFailed")
        .map(|event| event["body"]["attempt"].clone())
        .collect();
    assert_eq!(attempts, [0, 0, 1], "each is the next attempt of the same question");
    let forked = with(&place, "fork latest", &url, &program, &[]);
    assert_eq!((forked.code, &forked.out), (0, &last.out), "{}", forked.err);
    assert!(forked.err.contains("after 3 recorded answers from the log"), "{}", forked.err);
    drop(upstream);
    let replayed = replay_with(&place, "latest", &program, &[]);
    assert_eq!((replayed.code, replayed.out), (0, last.out), "{}", replayed.err);
    place.ok("verify");
}

/// A refusal of the request itself is what the program has lived with, and so is what came before an answer.
#[test]
fn a_program_meets_again_what_it_has_lived_with() {
    let place = Place::new();
    let statuses = [400, 200, 500, 429, 200, 503];
    let mut statuses = statuses.into_iter().chain(std::iter::repeat(200));
    let upstream = Server::handler(move |received| match statuses.next().unwrap() {
        200 => answer(received),
        status => Reply::error(status, "trouble", "no"),
    });
    let url = upstream.base_url();
    let ask = "
ask() {
    curl -sS --max-time 20 -o body -w '%{http_code} ' $OPENAI_BASE_URL/chat/completions \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"'$1'\"}]}'
}
ask a; ask b; ask c; ask c; ask c; ask d | tee last; test \"$(cat last)\" = '200 '";
    let program = ["sh", "-c", ask];
    let recorded = record_with(&place, "", &url, &program, &[]);
    assert_eq!((recorded.code, recorded.out.as_str()), (1, "400 200 500 429 200 503 "));
    let resumed = with(&place, "record --resume latest", &url, &program, &[]);
    assert_eq!((resumed.code, resumed.out.as_str()), (0, "400 200 500 429 200 200 "));
    let due = "recorded 1 answer as run";
    assert!(resumed.err.contains(due), "{}", resumed.err);
    let due = ", after 2 recorded answers and 3 failed attempts from the log";
    assert!(resumed.err.contains(due), "{}", resumed.err);
    let object = with(&place, "--json fork latest", &url, &program, &[]);
    let object: Value = serde_json::from_str(object.err.lines().last().unwrap()).unwrap();
    assert_eq!((&object["replayed"], &object["replayed_failed_attempts"]), (&json!(3), &json!(3)));
    assert_eq!(asked(&upstream), "abcccdd");
    // All that failed is asked again.
    let all = with(&place, "fork latest --retry-failed", &url, &program, &[]);
    assert_eq!((all.code, all.out.as_str()), (0, "200 200 200 200 200 200 "), "{}", all.err);
    assert_eq!(asked(&upstream), "abcccddacc");
    assert!(place.ok("show latest").contains("asking its failed calls again"));
    place.ok("verify");
}

/// A program whose SDK does not try again, but that asks once more by itself, has lived with the failure: the
/// answer that it then got was paid for, and is not asked for again. What retold itself said is left out.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_program_that_asks_once_more_by_itself_gets_its_answer_again() {
    let script = "
import openai, sys
client = openai.OpenAI(max_retries=0)
def ask(question, tries):
    for left in reversed(range(tries)):
        try:
            messages = [{'role': 'user', 'content': question}]
            reply = client.chat.completions.create(model='m', messages=messages)
            return print(reply.choices[0].message.content, flush=True)
        except openai.APIError as error:
            print(type(error).__name__, flush=True)
    sys.exit(1)
for question in 'abcd':
    ask(question, 1 if question == 'd' else 3)";
    let (place, python) = (Place::new(), python());
    let program = [python.as_str(), "-c", script];
    let upstream = Server::handler({
        let (mut b, mut c, mut d) = (0, 0, 0);
        move |received| match question(received).as_str() {
            "b" if {
                b += 1;
                b
            } == 1 =>
            {
                Reply::error(503, "trouble", "try later")
            }
            "c" if {
                c += 1;
                c
            } < 3 =>
            {
                Reply::reset()
            }
            "d" if {
                d += 1;
                d
            } == 1 =>
            {
                Reply::error(429, "trouble", "too many")
            }
            _ => answer(received),
        }
    });
    let url = upstream.base_url();
    let recorded = record_with(&place, "", &url, &program, &[]);
    assert_eq!(recorded.code, 1, "{}{}", recorded.out, recorded.err);
    assert_eq!(asked(&upstream), "abbcccd");
    let resumed = with(&place, "record --resume latest", &url, &program, &[]);
    let due = "to a\nInternalServerError\nto b\nto c\nto d\n";
    assert_eq!((resumed.code, resumed.out.as_str()), (0, due), "{}", resumed.err);
    assert_eq!(asked(&upstream), "abbcccdd", "{}", resumed.err);
    drop(upstream);
    let replayed = replay_with(&place, "latest", &program, &[]);
    assert_eq!((replayed.code, replayed.out), (0, resumed.out), "{}", replayed.err);
}

/// Asks `b` twice, and fails unless it is answered at last.
const ASK_ON: &str = "
ask() {
    curl -sS --max-time 20 -o body -w '%{http_code} ' $OPENAI_BASE_URL/chat/completions \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"'$1'\"}]}'
}
ask a; ask b; ask b | tee last; test \"$(cat last)\" = '200 '";

/// A replay sends what the program met that was run last, also where that was recorded before it was continued.
#[test]
fn a_replay_of_a_continued_run_leaves_out_what_was_not_sent_again() {
    for (statuses, flags, outs) in [
        // It was refused after it had been put off: the refusal alone is sent again.
        (&[200, 429, 404, 500, 200][..], "", &["200 429 404 ", "200 404 500 ", "200 404 200 "][..]),
        // All of it is asked again.
        (
            &[200, 503, 404, 200, 503, 200, 200],
            " --retry-failed",
            &["200 503 404 ", "200 200 503 ", "200 200 200 "],
        ),
    ] {
        let place = Place::new();
        let mut left = statuses.iter().copied();
        let upstream = Server::handler(move |received| match left.next().unwrap() {
            200 => answer(received),
            status => Reply::error(status, "trouble", "no"),
        });
        let (url, program) = (upstream.base_url(), ["sh", "-c", ASK_ON]);
        for (at, due) in outs.iter().enumerate() {
            let said = match at {
                0 => record_with(&place, "", &url, &program, &[]),
                _ => with(&place, &format!("record --resume latest{flags}"), &url, &program, &[]),
            };
            assert_eq!(said.out, *due, "{}", said.err);
            let replayed = replay_with(&place, "latest", &program, &[]);
            assert_eq!((replayed.code, &replayed.out), (said.code, &said.out), "{}", replayed.err);
            assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
        }
        place.ok("verify");
    }
}

/// What is left of a run, and what is left out of it, is named as what it is.
#[test]
fn failures_are_not_called_answers() {
    let place = Place::new();
    let upstream = failing(1, 401);
    let program = ["sh", "-c", &ASK.replace("set -e; ask a; ", "")];
    let recorded = record_with(&place, "", &upstream.base_url(), &program, &[]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    drop(upstream);
    let skipped = replay_with(&place, "latest --skip-errors", &program, &[]);
    assert_eq!(skipped.code, 1, "{}", skipped.err);
    for due in [
        "\n1 request was recorded with failures only:\n",
        "only failures are recorded, which were skipped\n",
    ] {
        assert!(skipped.err.contains(due), "{}", skipped.err);
    }
    let nothing = replay_with(&place, "latest", &["true"], &[]);
    assert_eq!(nothing.code, 0, "{}", nothing.err);
    assert!(nothing.err.contains("\n2 recorded requests were never asked: "), "{}", nothing.err);
    assert!(!nothing.err.contains("could see"), "{}", nothing.err);
}

#[test]
fn all_failures_are_asked_again_if_that_is_said() {
    let place = Place::new();
    let upstream = failing(1, 422);
    let (url, program) = (upstream.base_url(), ["sh", "-c", ASK]);
    let recorded = record_with(&place, "", &url, &program, &[]);
    assert_eq!(recorded.code, 22, "{}", recorded.err);
    let resumed = with(&place, "record --resume latest", &url, &program, &[]);
    assert_eq!((resumed.code, asked(&upstream).as_str()), (22, "ab"), "{}", resumed.err);
    let due = "after 1 recorded answer and 1 failed attempt from the log";
    assert!(resumed.err.contains(due), "{}", resumed.err);
    let due = "with --retry-failed, no recorded failure is sent to it again";
    assert!(resumed.err.contains(due), "{}", resumed.err);
    let resumed = with(&place, "record --resume latest --retry-failed", &url, &program, &[]);
    assert_eq!((resumed.code, asked(&upstream).as_str()), (0, "abbc"), "{}", resumed.err);
    let said = place.run("fork latest --retry-failed");
    assert_eq!(said.code, 2);
    let due = format!(" --retry-failed --upstream openai={url} -- ");
    assert!(said.err.contains(&due), "{}", said.err);
}
