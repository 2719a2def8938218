//! The page of `retold serve`, asked over HTTP and looked at in a browser.

mod agreement;
mod browser;
mod changed;
pub(crate) mod damaged;
mod distrusted;
mod doubted;
mod guarded;
mod hostile;
mod live;
mod merged;
mod nothing_left;
mod outcome;
mod pages;
mod prompts;
mod searched;
mod states;
mod swept;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use retold::exchange::read_recording;
use retold::id::{RunId, Seq};
use retold::jsonl::JsonlReader;
use retold::log::{Append, Committer, Head, Log, Reader};
use serde_json::Value;

use crate::support::cli::Place;
use crate::support::logs::again;
use crate::support::studies::STUDIES;
use crate::support::waiting::{end, soon};

/// A server, stopped when dropped.
pub(crate) struct Served {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub(super) host: String,
    /// What the address that was printed has.
    pub(super) token: String,
}

/// An answer of a server.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

/// The text of a cell in a run's table, by the row and the heading of the column.
pub(crate) fn cell<'a>(table: &'a Value, row: usize, heading: &str) -> &'a str {
    let columns = table["columns"].as_array().unwrap().iter();
    let at = columns.into_iter().position(|column| column["heading"] == heading).unwrap();
    table["rows"][row]["cells"][at]["text"].as_str().unwrap()
}

impl Served {
    /// Serves a log of a folder.
    pub(crate) fn log(place: &Place, log: &str) -> Self {
        Served::with(place, &["--log", log, "serve", "--listen", "127.0.0.1:0", "--quiet"])
    }

    pub(crate) fn with(place: &Place, args: &[&str]) -> Self {
        Served::of(place.command().args(args))
    }

    /// The server that a command starts.
    pub(crate) fn of(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://");
        let opened = address.and_then(|address| address.split_once("/?token="));
        let (host, token) = opened.unwrap_or_else(|| panic!("{line:?}"));
        Served { host: host.to_owned(), token: token.to_owned(), child }
    }

    /// Sends a request of somebody who knows the token, and reads the answer to its end.
    pub(super) fn raw(&self, request: &str) -> Answer {
        let token = format!("\r\nX-Retold-Token: {}\r\n", self.token);
        self.stranger(&request.replacen("\r\n", &token, 1))
    }

    /// Sends a request as it is.
    pub(super) fn stranger(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(super) fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        let Served { host, .. } = self;
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        ))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    /// A page as HTML, once it is complete.
    pub(crate) fn html(&self, path: &str) -> String {
        soon(path, || {
            let answer = self.get(path);
            (answer.status != 202).then(|| {
                assert_eq!(answer.status, 200, "{path}\n{}", answer.body);
                answer.body
            })
        })
    }

    /// A page as JSON, once it is complete.
    pub(crate) fn json(&self, path: &str) -> Value {
        soon(path, || {
            let answer = self.ask("GET", path, "Accept: application/json\r\n");
            (answer.status != 202).then(|| {
                assert_eq!(answer.status, 200, "{path}\n{}", answer.body);
                assert!(answer.head.contains("content-type: application/json"), "{}", answer.head);
                serde_json::from_str(&answer.body).unwrap()
            })
        })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // As by Ctrl-C: it removes what it has made to read a damaged log.
        end(&mut self.child);
    }
}

/// Our recordings.
pub(super) const RECORDINGS: [&str; 5] = [
    "adventure_small.jsonl",
    "deliberation_small.jsonl.zst",
    "game24_small.jsonl",
    "public_goods_small.jsonl",
    "society_small.jsonl",
];

pub(crate) fn recording(name: &str) -> String {
    format!("{}/recordings/{name}", env!("RETOLD_ROOT"))
}

/// A folder with a log that has all recordings.
pub(super) fn imported() -> Place {
    let place = Place::new();
    for name in RECORDINGS {
        place.ok(&format!("--log all.db import {}", recording(name)));
    }
    place
}

/// A folder with a log that has a run of each study, as this release records them.
pub(super) fn recorded() -> Place {
    let place = Place::new();
    for study in &STUDIES {
        place.ok(&format!("--log all.db {}", study.run()));
    }
    place
}

/// The ids of the runs of a server, the last first.
pub(super) fn runs(served: &Served) -> Vec<String> {
    let runs = served.json("/");
    let runs = runs["runs"].as_array().unwrap();
    runs.iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

/// The id of the last run of an experiment.
pub(super) fn run_of(served: &Served, experiment: &str) -> String {
    let runs = served.json("/");
    let runs = runs["runs"].as_array().unwrap();
    let found = runs.iter().find(|run| run["experiment"] == experiment).unwrap();
    found["run"].as_str().unwrap().to_owned()
}

/// A recorded run that is written again, bit by bit.
pub(crate) struct Feeding {
    from: Box<dyn Reader>,
    pub(super) run: RunId,
    /// As long as it is open, the newest events are in the WAL alone.
    to: Box<dyn Committer>,
    head: Head,
}

impl Feeding {
    pub(crate) fn new(name: &str, log: &Path) -> Self {
        let recording = read_recording(JsonlReader::open(recording(name)).unwrap()).unwrap();
        let from = recording.log.reader().unwrap();
        let to = Log::in_file(log).unwrap().backend().committer().unwrap();
        Feeding { from, run: recording.run, to, head: Head::START }
    }

    /// Writes the next events; returns the seq of the last.
    pub(crate) fn feed(&mut self, most: usize) -> u64 {
        let stored = self.from.events(self.run, self.head.seq, most).unwrap();
        let events: Vec<_> = stored.iter().map(|event| again(self.from.as_mut(), event)).collect();
        let append = Append::new(self.run, self.head, events);
        self.head = append.events.last().unwrap().head();
        self.to.commit(&[append]).unwrap();
        self.head.seq.0
    }

    /// Writes what is left.
    pub(super) fn finish(&mut self) -> u64 {
        self.feed(usize::MAX)
    }

    /// How many events the run has in the end.
    pub(super) fn events(&mut self) -> u64 {
        self.from.events(self.run, Seq(0), usize::MAX).unwrap().len() as u64
    }
}
