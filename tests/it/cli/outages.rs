//! A network that is down: at the start, in the middle, for a while, and for one call alone.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::server::{Received, Reply, Server, nobody};
use crate::support::studies::{STUDIES, Small, answers};
use crate::support::waiting::ended;

const GOOD: &str = "Answer: (1 - 1) + 4 * 6 = 24";

/// How many attempts the log has that failed, and how many after which the call was given up.
fn attempts(place: &Place) -> (usize, usize) {
    let (log, _) = place.json("log latest");
    let events = log["events"].as_array().unwrap();
    let failed = events.iter().filter(|e| e["kind"] == "AttemptFailed");
    let (all, last): (Vec<_>, Vec<_>) =
        (failed.clone().collect(), failed.filter(|e| e["body"]["final"] == true).collect());
    (all.len(), last.len())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how long a person waits is what this is about")]
fn a_server_that_is_not_there_is_reported_within_seconds_and_ends_the_run() {
    let place = Place::new();
    let (base_url, _reserved) = nobody();
    let started = Instant::now();
    // These are the waits of every config: two seconds, doubled each time.
    let said = place.run(&format!(
        "run small.yaml --quiet --set retry.base_seconds=2 --set retry.max_seconds=120 \
         --base-url {base_url}"
    ));
    // With these waits alone it would take half an hour: the bound leaves room for a busy machine.
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert_said!("outages_nobody", place.shown("run small.yaml", &said));
    // No call has failed: each can be asked when the server is back.
    assert_eq!(attempts(&place), (20, 0));
    let server = Server::handler(|_| Reply::chat(GOOD));
    let (resumed, code) =
        place.json(&format!("run --resume latest --base-url {}", server.base_url()));
    assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    assert_eq!((&resumed["exchanges"], &resumed["failed_calls"]), (&6.into(), &0.into()));
    place.ok("verify");
}

#[test]
fn connections_that_break_stop_the_run_after_as_many_as_the_flag_says() {
    let place = Place::new();
    let mut asked = 0;
    let server = Server::handler(move |_| {
        asked += 1;
        if asked <= 3 { Reply::chat(GOOD) } else { Reply::reset() }
    });
    let args = format!(
        "run small.yaml --quiet --max-connection-failures 5 --base-url {}",
        server.base_url()
    );
    let said = place.run(&args);
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert_said!("outages_resets", place.shown("run small.yaml", &said));
    assert_eq!(server.received().len(), 3 + 5);
    assert_eq!(attempts(&place), (5, 0));
    let (resumed, code) =
        place.json(&format!("run --resume latest --base-url {}", server.base_url()));
    assert_eq!((code, &resumed["outcome"]), (4, &"stopped".into()), "{resumed}");
    assert_eq!(server.received().len(), 3 + 5 + 5, "the flag holds on resume, too");
    let mended = Server::handler(|_| Reply::chat(GOOD));
    let (resumed, code) =
        place.json(&format!("run --resume latest --base-url {}", mended.base_url()));
    assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    assert_eq!(mended.received().len(), 3, "nothing that was answered is asked again");
    place.ok("replay latest");
}

#[test]
fn a_short_outage_is_waited_out_and_said() {
    let place = Place::new();
    let mut asked = 0;
    let server = Server::handler(move |_| {
        asked += 1;
        if (3..7).contains(&asked) { Reply::reset() } else { Reply::chat(GOOD) }
    });
    let said = place.run(&format!(
        "run small.yaml --quiet --set retry.max_retries=0 --base-url {}",
        server.base_url()
    ));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_said!("outages_short", said.err);
    assert_eq!(attempts(&place), (4, 0));
}

/// A server that resets every connection on which a given puzzle is asked.
fn resets(puzzle: &'static str) -> Server {
    Server::handler(move |request| match String::from_utf8_lossy(&request.body).contains(puzzle) {
        true => Reply::reset(),
        false => Reply::chat(GOOD),
    })
}

#[test]
fn a_call_that_breaks_its_connection_while_others_are_answered_is_given_up() {
    let place = Place::new();
    // The second of ten puzzles; the other puzzles are answered meanwhile.
    let server = resets("1 1 11 11");
    let args = "run small.yaml --quiet --set puzzles.rows=0..10 --set samples=1 --concurrency 2";
    let said = place.run(&format!("{args} --base-url {}", server.base_url()));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let (_, given_up) = attempts(&place);
    assert_eq!(given_up, 1);
    assert_said!("outages_one_failed", said.err);
    // Only the failed call is asked again.
    let mended = Server::handler(|_| Reply::chat(GOOD));
    let fork = format!("fork latest --retry-failed --base-url {}", mended.base_url());
    let (forked, code) = place.json(&fork);
    assert_eq!((code, &forked["failed_calls"]), (0, &0.into()), "{forked}");
    assert_eq!((&forked["exchanges"], &forked["model_calls"]), (&10.into(), &1.into()));
    assert_eq!(mended.received().len(), 1);
    place.ok("replay latest");
    place.ok("verify");
    assert!(place.ok("show latest").contains("asking its failed calls again"));
    // Now no failed call is left.
    let said = place.run(&fork);
    assert_eq!(said.code, 2);
    assert_said!("outages_nothing_to_retry", said.err);
}

#[test]
fn a_share_of_failed_calls_can_be_declared_a_failure() {
    let place = Place::new();
    let refused = || {
        Server::handler(|request| {
            match String::from_utf8_lossy(&request.body).contains("1 1 11 11") {
                true => Reply::error(400, "bad", "No."),
                false => Reply::chat(GOOD),
            }
        })
    };
    let server = refused();
    let args = "run small.yaml --quiet --set puzzles.rows=0..4 --set samples=1";
    let args = format!("{args} --base-url {}", server.base_url());
    assert_eq!(place.run(&format!("{args} --max-failed 0.25")).code, 0, "just as many");
    let said = place.run(&format!("{args} --max-failed 0.2"));
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert_said!("outages_max_failed", said.err);
    // The run remembers the limit, and a flag overrides it.
    let resume = format!("run --resume latest --quiet --base-url {}", server.base_url());
    assert_eq!(place.run(&resume).code, 4);
    assert_eq!(place.run(&format!("{resume} --max-failed 1")).code, 0);
    let fork = format!("fork latest --quiet --retry-failed --base-url {}", server.base_url());
    assert_eq!(place.run(&fork).code, 4, "it failed again");
    let (object, code) = place.json(&format!("{args} --max-failed 0"));
    assert_eq!(code, 4);
    assert_eq!(object["error"], "1 of 4 calls failed, more than the 0 that --max-failed allows");
    let said = place.run(&format!("{args} --max-failed 2"));
    assert_eq!(said.code, 2);
    assert!(said.err.contains("\"max_failed\" must be a share from 0 to 1, not 2"), "{}", said.err);
}

#[test]
fn failed_calls_of_every_study_are_asked_again_and_nothing_else() {
    for study in &STUDIES {
        let place = Place::new();
        let answer = answers(study.name);
        let mut asked = 0;
        // Not too many: a deliberation in which all participants fail cannot continue.
        let server = Server::handler(move |received| {
            asked += 1;
            if asked % 9 == 8 { Reply::error(400, "bad", "No.") } else { answer(received) }
        });
        let (first, _) = place.json(&format!("{} --base-url {}", study.run(), server.base_url()));
        assert_eq!(first["outcome"], "finished", "{}: {first}", study.name);
        let failed = first["failed_calls"].as_u64().unwrap();
        assert!(failed > 0, "{}: {first}", study.name);
        let mended = Server::handler(answers(study.name));
        let fork = format!("fork latest --quiet --retry-failed --base-url {}", mended.base_url());
        let (forked, code) = place.json(&fork);
        assert_eq!((code, &forked["failed_calls"]), (0, &0.into()), "{}: {forked}", study.name);
        let asked = forked["model_calls"].as_u64().unwrap();
        assert!(asked >= failed, "{}: {forked}", study.name);
        // The fork shared every answer of the first run that it needed.
        let (log, _) = place.json("log latest");
        let events = log["events"].as_array().unwrap();
        let count = |kind: &str| events.iter().filter(|e| e["kind"] == kind).count() as u64;
        assert_eq!(count("ResponseReceived"), asked, "{}", study.name);
        assert!(count("AnswerReused") > 0, "{}", study.name);
        place.ok("replay latest");
        place.ok("verify");
    }
}

/// How long the server is away; the figure in docs/measurements.md is measured with 30.
#[expect(clippy::disallowed_methods, reason = "a test may be told how long to take")]
fn outage() -> Duration {
    let seconds = std::env::var("RETOLD_OUTAGE_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or(1.0))
}

/// A server that can leave and come back, and what it was asked.
struct Upstream {
    address: SocketAddr,
    experiment: &'static str,
    server: Option<Server>,
    /// Request bodies in order, over all its times.
    asked: Arc<Mutex<Vec<Vec<u8>>>>,
    count: Arc<AtomicUsize>,
}

impl Upstream {
    fn new(experiment: &'static str, number: u8) -> Self {
        // An address that clients do not use, so that no client can take the port while the server
        // is away.
        let address = SocketAddr::from(([127, 0, 9, number], 0));
        let (asked, count) = Default::default();
        let mut upstream = Upstream { address, experiment, server: None, asked, count };
        upstream.come();
        upstream.address = upstream.server.as_ref().unwrap().address();
        upstream
    }

    fn come(&mut self) {
        let (answer, asked, count) =
            (answers(self.experiment), self.asked.clone(), self.count.clone());
        let handler = move |received: &Received| {
            asked.lock().unwrap().push(received.body.clone());
            count.fetch_add(1, Ordering::SeqCst);
            answer(received).slow_start(Duration::from_millis(15))
        };
        self.server = Some(Server::on(self.address, handler));
    }

    fn leave(&mut self) {
        self.server = None;
    }

    /// How often each question was asked.
    fn questions(&self) -> BTreeMap<String, usize> {
        counted(self.asked.lock().unwrap().iter())
    }
}

/// How often each question occurs in some bodies. Which embeddings travel together varies.
fn counted<'a>(bodies: impl Iterator<Item = &'a Vec<u8>>) -> BTreeMap<String, usize> {
    let mut questions = BTreeMap::new();
    for body in bodies {
        let body: Value = serde_json::from_slice(body).unwrap();
        let texts = body["input"].as_array().cloned().unwrap_or_else(|| vec![Value::Null]);
        for text in texts {
            let mut question = body.clone();
            if !text.is_null() {
                question["input"] = text;
            }
            *questions.entry(question.to_string()).or_default() += 1;
        }
    }
    questions
}

/// How many calls are in flight at most.
const CONCURRENCY: usize = 4;

/// Records a study whose server goes away in the middle, and resumes it until it has finished.
/// Returns how often it stopped.
fn through_an_outage(study: &Small, number: u8) -> usize {
    let whole = Server::handler(answers(study.name));
    let digest = study.digest(&whole.base_url());
    let received = whole.received();
    let once = counted(received.iter().map(|received| &received.body));
    let all = received.len();

    let mut upstream = Upstream::new(study.name, number);
    let url = format!("http://{}/v1", upstream.address);
    let place = Place::new();
    let mut command = place.command();
    // Half of the runs wait for the server, half stop soon.
    let most = if number.is_multiple_of(2) { 20 } else { 4 };
    let limits = format!("--concurrency {CONCURRENCY} --max-connection-failures {most}");
    let args = format!("{} {limits} --base-url {url}", study.run());
    command.args(args.split_whitespace()).arg("--json");
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    // In the middle, at a different place for each run.
    let middle = all * usize::from(2 + number % 5) / 8;
    while upstream.count.load(Ordering::SeqCst) < middle {
        std::thread::sleep(Duration::from_millis(2));
    }
    upstream.leave();
    let coming = std::thread::spawn(move || {
        std::thread::sleep(outage());
        upstream.come();
        upstream
    });
    let mut said = Said::new(ended(child));
    let mut stops = 0;
    loop {
        let ended: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(ended["failed_calls"], 0, "{}: {ended}\n{}", study.name, said.err);
        if ended["outcome"] == "finished" {
            assert_eq!((said.code, &ended["outcome_digest"]), (0, &digest), "{}", study.name);
            break;
        }
        assert_eq!((said.code, &ended["outcome"]), (4, &"stopped".into()), "{}", said.err);
        assert!(said.err.contains("connection failures in a row"), "{}", said.err);
        stops += 1;
        assert!(stops < 100, "{}: it never ends", study.name);
        // The user checks on the run now and then.
        std::thread::sleep(outage() / 10);
        said = place.run(&format!("run --resume latest --quiet --json --base-url {url}"));
    }
    let upstream = coming.join().unwrap();
    assert_eq!(attempts(&place).1, 0, "no call was given up");
    place.ok("verify");
    place.ok("replay latest");
    // Questions asked more often than without the outage were in flight when the server left.
    let questions = upstream.questions();
    assert!(questions.keys().eq(once.keys()), "{}: the same questions", study.name);
    let more = questions.iter().map(|(question, n)| n.saturating_sub(once[question]));
    let more: usize = more.sum();
    assert!(more <= CONCURRENCY, "{}: {more} asked twice", study.name);
    stops
}

#[test]
fn runs_whose_server_leaves_in_the_middle_end_as_if_it_had_stayed() {
    let stopped: usize = std::thread::scope(|scope| {
        let run = |number: usize| {
            let study = &STUDIES[number % STUDIES.len()];
            scope.spawn(move || through_an_outage(study, number as u8 + 1))
        };
        let runs: Vec<_> = (0..20).map(run).collect();
        runs.into_iter().map(|run| run.join().unwrap()).filter(|stops| *stops > 0).count()
    });
    eprintln!("20 runs, server away for {:?}: {stopped} stopped and were resumed", outage());
}
