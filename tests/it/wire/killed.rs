//! The recorder is killed under load, and nothing that a client has received whole is lost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;

use super::upstream::stream;
use super::{KEY, program, retold, with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// How many questions the program asks, and how many at a time.
const QUESTIONS: u64 = 60;
const TOGETHER: usize = 4;

/// Answers differ from attempt to attempt, slowly enough to be killed in the middle.
fn upstream(asked: Arc<Mutex<BTreeMap<String, usize>>>) -> Server {
    Server::handler(move |received| {
        let body = received.json();
        let question = body["messages"][0]["content"].as_str().unwrap().to_owned();
        let times = {
            let mut asked = asked.lock().unwrap();
            let times = asked.entry(question.clone()).or_default();
            *times += 1;
            *times
        };
        if body["stream"] != true {
            return Reply::chat(&format!("{question}, {times}"))
                .slow_body(Duration::from_millis(3));
        }
        let events = stream(&format!("{question}, {times}"), times);
        let ends = (1..events.len()).filter(|at| at % 400 == 0).collect();
        let reply = Reply::new(200, events).header("content-type", "text/event-stream");
        reply.chunks(ends, Duration::from_millis(1))
    })
}

/// `RETOLD_TEST_KILLS=100 cargo test wire::killed` tries more.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
#[expect(clippy::disallowed_methods, reason = "how a person asks for a longer test")]
fn what_a_client_received_whole_is_in_the_log_of_a_killed_recorder() {
    let kills: u64 = std::env::var("RETOLD_TEST_KILLS").map_or(4, |n| n.parse().unwrap());
    let (mut killed, mut received_in_all) = (0, 0);
    for seed in 0..kills {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let place = Place::new();
        let asked = Arc::new(Mutex::new(BTreeMap::new()));
        let upstream = upstream(asked.clone());
        let (python, script) = (super::python::python(), program("steady.py"));
        let command = [python.as_str(), script.to_str().unwrap()];
        let file = place.path("received.jsonl");
        let count = QUESTIONS.to_string();
        let set = [("COUNT", count.as_str()), ("RECEIVED", file.to_str().unwrap())];
        let mut recording = retold(&place, "record --quiet", &command);
        recording.env("OPENAI_BASE_URL", upstream.base_url()).env("OPENAI_API_KEY", KEY).envs(set);
        recording.stderr(std::process::Stdio::null());
        let mut recording = recording.spawn().unwrap();
        // Anywhere between the first question and the last, however fast the machine is.
        let question = random.next_u64() % QUESTIONS;
        while (asked.lock().unwrap().len() as u64) < question
            && recording.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random.next_u64() % 3000));
        let unfinished = recording.try_wait().unwrap().is_none();
        recording.kill().unwrap();
        recording.wait().unwrap();
        killed += u64::from(unfinished);
        // The program notices that the server is gone.
        let ended = place.path("received.jsonl.end");
        // It may have been killed before it started the program, which opens the file first.
        let noticed = (0..3000).any(|round| {
            std::thread::sleep(Duration::from_millis(10));
            ended.exists() || round > 500 && !file.exists()
        });
        assert!(noticed, "seed {seed}: the program goes on");
        let received = std::fs::read_to_string(&file).unwrap_or_default();
        let received: Vec<Value> =
            received.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        received_in_all += received.len();
        if place.json("log").0["runs"].as_array().is_none_or(|runs| runs.is_empty()) {
            continue;
        }
        let recorded = bodies(&place);
        for line in &received {
            let (n, body) = (line[0].as_u64().unwrap(), line[1].as_str().unwrap());
            assert!(recorded.contains(&body.to_owned()), "seed {seed}: question {n} is lost");
        }
        // It may have been killed between the end of its run and its own.
        if !unfinished || place.json("log").0["runs"][0]["outcome"] == "finished" {
            continue;
        }
        std::fs::remove_file(&file).unwrap_or_default();
        let resumed = with(&place, "record --resume latest", &upstream.base_url(), &command, &set);
        assert_eq!(resumed.code, 0, "seed {seed}: {}", resumed.err);
        let asked = asked.lock().unwrap();
        let twice = asked.values().filter(|times| **times > 1).count();
        assert!(twice <= TOGETHER, "seed {seed}: {twice} questions were asked again");
        assert_eq!(asked.len() as u64, QUESTIONS);
        // What was answered is answered with the same again.
        let again = std::fs::read_to_string(&file).unwrap();
        for line in &received {
            assert!(
                again.lines().any(|it| serde_json::from_str::<Value>(it).unwrap() == *line),
                "seed {seed}"
            );
        }
        drop(asked);
        place.ok("verify");
    }
    eprintln!(
        "{killed} of {kills} recorders were killed under load; {received_in_all} answers had been received"
    );
    assert!(killed > 0);
}

/// The bodies of all recorded answers.
fn bodies(place: &Place) -> Vec<String> {
    let log = place.json("log latest --most 100000").0;
    let events = log["events"].as_array().unwrap();
    let answers = events.iter().filter(|event| event["kind"] == "ResponseReceived");
    answers
        .map(|event| {
            let http = &event["body"]["extra"]["http"];
            http["body"].as_str().unwrap_or(event["content"].as_str().unwrap()).to_owned()
        })
        .collect()
}
