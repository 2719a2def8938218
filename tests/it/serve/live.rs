//! A run while it is recorded.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use retold::log::{Backend, SqliteBackend};
use rusqlite::Connection;
use serde_json::Value;

use super::{Feeding, Served, recording};
use crate::support::cli::Place;
use crate::support::tamper::without_triggers;

/// A stream of server-sent events.
struct Stream(BufReader<TcpStream>);

/// What was sent: the id and the data.
type Sent = (u64, Value);

impl Stream {
    fn open(served: &Served, path: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(&served.host).unwrap();
        let Served { host, token, .. } = served;
        let known = format!("Host: {host}\r\nX-Retold-Token: {token}\r\n");
        write!(stream, "GET {path} HTTP/1.1\r\n{known}{headers}\r\n").unwrap();
        Stream(BufReader::new(stream))
    }

    /// The next event; `None` at the end.
    fn next(&mut self) -> Option<Sent> {
        let mut id = None;
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(number) = line.strip_prefix("id: ") {
                id = Some(number.parse().unwrap());
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((id?, serde_json::from_str(data).unwrap()));
            } else if line == "0" {
                return None;
            }
        }
    }

    /// The rows up to an event.
    fn until(&mut self, seq: u64) -> Vec<u64> {
        let mut rows = Vec::new();
        loop {
            let (id, data) = self.next().unwrap();
            rows.extend(seqs(data["html"].as_str().unwrap()));
            assert_eq!(data["events"], id);
            if id >= seq {
                return rows;
            }
        }
    }
}

/// The events of which there are rows.
fn seqs(html: &str) -> Vec<u64> {
    html.split("id=\"e").skip(1).map(|at| at.split('"').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn events_are_sent_as_they_are_added_and_from_where_a_reader_was() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("retold.db"));
    let begun = feeding.feed(20);
    let served = Served::log(&place, "retold.db");
    let path = format!("/run/{}/live?after={begun}", feeding.run);
    let mut stream = Stream::open(&served, &path, "");
    let page = served.json("/run/latest");
    assert_eq!(page["run"]["outcome"], "unfinished");
    assert_eq!(page["live"], path);
    let seen = feeding.feed(15);
    assert_eq!(stream.until(seen), (begun + 1..=seen).collect::<Vec<_>>());
    // A browser that comes back says what it has seen.
    let mut again = Stream::open(&served, &path, &format!("Last-Event-ID: {}\r\n", seen - 5));
    assert_eq!(again.until(seen), (seen - 4..=seen).collect::<Vec<_>>());
    let mut facts =
        Stream::open(&served, &format!("/run/{}/live?after=0&kind=Occurred", feeding.run), "");
    let end = feeding.finish();
    assert_eq!(stream.until(end), (seen + 1..=end).collect::<Vec<_>>());
    assert!(stream.next().is_none(), "the run has ended");
    let facts = facts.until(end);
    let listed = served.json("/run/latest?kind=Occurred");
    assert_eq!(listed["matching"], facts.len());
    let page = served.json("/run/latest");
    assert_eq!((&page["run"]["outcome"], &page["live"]), (&"finished".into(), &Value::Null));
    assert_eq!(page["run"]["events"], end);
}

/// A run with more events than a page has opens on the last ones, where it is followed; it is running while somebody has
/// it open to record.
#[test]
fn a_long_run_opens_where_it_is_followed() {
    let place = Place::new();
    let log = place.path("retold.db");
    let mut feeding = Feeding::new("deliberation_small.jsonl.zst", &log);
    let seen = feeding.feed(150);
    let served = Served::log(&place, "retold.db");
    let page = served.json("/run/latest");
    let last = page["rows"].as_array().unwrap().last().unwrap();
    assert_eq!(last["seq"], seen);
    let live = page["live"].as_str().unwrap().to_owned();
    assert!(live.contains(&format!("after={seen}")), "{live}");
    let mut stream = Stream::open(&served, &live, "");
    let next = feeding.feed(30);
    assert_eq!(stream.until(next), (seen + 1..=next).collect::<Vec<_>>());
    assert!(served.html("/run/latest").contains("o-unfinished"));
    let backend = SqliteBackend::open_or_create(&log, Default::default()).unwrap();
    let lease = backend.lease(feeding.run).unwrap();
    assert_eq!(served.json("/run/latest")["run"]["outcome"], "running");
    assert!(served.html("/").contains("o-running"));
    // The commands have the same word.
    assert_eq!(place.json("log").0["runs"][0]["outcome"], "running");
    assert!(place.ok("stats latest").contains(", running\n"));
    let shown = place.ok("show latest");
    assert!(shown.contains("\nbeing recorded: ") && !shown.contains("unfinished"), "{shown}");
    assert_eq!(place.json("show latest").0["running"], true);
    // What has come out so far is shown when somebody asks for it; how many values there are, always.
    let page = served.json("/run/latest");
    assert_eq!(page["figures"].as_array().unwrap().len(), 0, "{page}");
    assert!(!page["counts_so_far"].as_array().unwrap().is_empty(), "{page}");
    assert!(served.html("/run/latest").contains("data-so-far"));
    assert!(served.html("/").contains("not over yet"));
    for page in ["/run/latest?so_far=1", "/run/latest/stats?so_far=1"] {
        let asked = served.json(page);
        assert!(!asked["figures"].as_array().unwrap().is_empty(), "{asked}");
        assert!(served.html(page).contains("That you looked is not recorded"), "{page}");
    }
    drop(lease);
    assert_eq!(served.json("/run/latest")["run"]["outcome"], "unfinished");
    // From its beginning, if that is asked for.
    assert_eq!(served.json("/run/latest?after=0")["rows"][0]["seq"], 1);
}

#[test]
fn what_is_in_memory_grows_with_the_run() {
    let place = Place::new();
    let mut feeding = Feeding::new("deliberation_small.jsonl.zst", &place.path("retold.db"));
    let all = feeding.events();
    feeding.feed(100);
    let served = Served::log(&place, "retold.db");
    let facts = |path: &str| served.json(path)["all_facts"].as_u64().unwrap();
    let matching = || served.json("/run/latest?kind=DecisionMade")["matching"].as_u64().unwrap();
    let before = (facts("/run/latest/state"), matching());
    assert_eq!(served.json("/run/latest/state")["end"], 100);
    feeding.finish();
    assert_eq!(served.json("/run/latest/state")["end"], all);
    let after = (facts("/run/latest/state"), matching());
    assert!(after.0 > before.0 && after.1 > before.1, "{before:?} {after:?}");
    // It was recorded before studies labelled their calls.
    assert_eq!(served.json("/run/latest?by=call")["table"]["all"], 128, "calls and samples");
}

/// An event is changed, and what a later one says is lost: only the latter cannot be read.
#[test]
fn a_damaged_run_is_not_followed_without_saying_where_its_damage_begins() {
    let place = Place::new();
    place.ok(&format!("import {}", recording("game24_small.jsonl")));
    let db = Connection::open(place.path("retold.db")).unwrap();
    let change = "UPDATE events SET time = time + 1 WHERE id = (1 << 32) + 8;
        DELETE FROM contents WHERE id = (SELECT content FROM events WHERE id > (1 << 32) + 12
            AND content IS NOT NULL ORDER BY id LIMIT 1)";
    without_triggers(&db, |db| db.execute_batch(change)).unwrap();
    drop(db);
    let (found, _) = place.json("verify");
    assert_eq!(found["problems"][0]["seq"], 8, "{found}");
    let served = Served::log(&place, "retold.db");
    let stream = Stream::open(&served, "/run/latest/live?after=0", "");
    let mut lines = stream.0.lines().map(Result::unwrap);
    let trouble = lines.find(|line| line.contains("\"error\"")).unwrap();
    assert!(trouble.contains("is damaged at seq 8: "), "{trouble}");
}
