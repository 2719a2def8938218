//! A log on a disk that loses power at any moment: whatever was synced is there, and whatever was
//! not may be there in part, in any order. Everything that was acknowledged is then in the log, and
//! no loss is reported.
//!
//! A process writes two runs while all its file operations are recorded (`recorder.c`). From these
//! the files are rebuilt as the disk may hold them at some moment: each 512-byte sector written
//! since the last sync of its file is there or not, at random; the same applies to lengths, and to
//! names until their folder is synced. `scripts/power-loss` does this a thousand times.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::Rng;
use retold::content::Content;
use retold::event::NewEvent;
use retold::id::{RunId, Seq, Time};
use retold::log::{Backend, Log, SqliteBackend, SqliteOptions, marks};
use retold::run::rng_for;

use crate::support::child;
use crate::support::logs::{Folder, open, problems};

const SECTOR: usize = 512;

/// How many commits a run waits for: enough to overwrite the WAL several times.
const COMMITS: i64 = 240;

/// How many disk images are checked.
#[expect(clippy::disallowed_methods, reason = "how the script asks for more")]
fn images() -> usize {
    std::env::var("RETOLD_TEST_IMAGES").map_or(60, |n| n.parse().unwrap())
}

/// The recorded process.
#[test]
fn child() {
    let Some(path) = child::task() else { return };
    let log = open(Path::new(&path));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut rng = rng_for(1, "texts");
    let mut writers = [1, 2].map(|n| log.begin(RunId([n; 8])).unwrap());
    for n in 0..COMMITS {
        // The second run starts later.
        let upto = if n < COMMITS / 3 { 1 } else { 2 };
        for writer in &mut writers[..upto] {
            for _ in 0..rng.next_u64() % 3 {
                writer.submit(event(&mut rng, n)).unwrap();
            }
            let (seq, stored) = writer.submit_durable(event(&mut rng, n)).unwrap();
            runtime.block_on(stored.wait()).unwrap();
            child::say(&format!("{} {seq}", writer.run()));
        }
    }
    drop(writers);
    child::say("ended");
}

fn event(rng: &mut ChaCha12Rng, n: i64) -> NewEvent {
    let text: String = (0..200 + rng.next_u64() % 3000)
        .map(|_| char::from(b'a' + (rng.next_u32() % 26) as u8))
        .collect();
    let mut event = NewEvent::new("Occurred", Time(1_700_000_000_000 + n));
    event.body = format!("{{\"causes\":[],\"fact\":{n}}}").into();
    event.content = Some(Content::from(text.as_str()));
    event
}

/// The operations, in order.
enum Done {
    Made(PathBuf),
    Wrote(PathBuf, usize, Vec<u8>),
    Cut(PathBuf, usize),
    Synced(PathBuf),
    Removed(PathBuf),
    Said(String),
}

/// Records a process that writes a log.
fn recorded(log: &Path, tools: &Path) -> Vec<Done> {
    let (recorder, trace) = (tools.join("recorder.so"), tools.join("trace"));
    let source = concat!(env!("RETOLD_ROOT"), "/tests/it/support/recorder.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&recorder, Path::new(source)])
        .arg("-ldl")
        .status()
        .expect("this test needs a C compiler: scripts/test installs one");
    assert!(built.success());
    let mut process = child::start_with(
        "power_loss::child",
        log.to_str().unwrap(),
        &tools.join("said"),
        |command| {
            command
                .env("LD_PRELOAD", &recorder)
                .env("RECORDER_TRACE", &trace)
                .env("RECORDER_FILES", log);
        },
    );
    process.wait();
    assert_eq!(process.said().last().unwrap(), "ended");
    read(&std::fs::read(trace).unwrap())
}

fn read(mut trace: &[u8]) -> Vec<Done> {
    fn take<'a>(trace: &mut &'a [u8], length: usize) -> &'a [u8] {
        let (taken, rest) = trace.split_at(length);
        *trace = rest;
        taken
    }
    fn number(trace: &mut &[u8]) -> usize {
        u64::from_ne_bytes(take(trace, 8).try_into().unwrap()) as usize
    }
    let mut all = Vec::new();
    while !trace.is_empty() {
        let kind = take(&mut trace, 1)[0];
        let length = number(&mut trace);
        let name = PathBuf::from(std::str::from_utf8(take(&mut trace, length)).unwrap());
        let offset = number(&mut trace);
        let length = number(&mut trace);
        let data = take(&mut trace, length).to_vec();
        all.push(match kind {
            b'C' => Done::Made(name),
            b'W' => Done::Wrote(name, offset, data),
            b'T' => Done::Cut(name, offset),
            b'S' => Done::Synced(name),
            b'U' => Done::Removed(name),
            b'A' => Done::Said(String::from_utf8_lossy(&data).into_owned()),
            other => panic!("{other}"),
        });
    }
    all
}

/// A file: what is certain to be on disk, and the operations since.
#[derive(Default)]
struct OnDisk {
    bytes: Vec<u8>,
    since: Vec<Since>,
    /// Whether its name is on disk, and whether it should be.
    named: bool,
    exists: bool,
}

enum Since {
    Wrote(usize, Vec<u8>),
    Cut(usize),
}

impl OnDisk {
    fn sync(&mut self) {
        for since in std::mem::take(&mut self.since) {
            match since {
                Since::Wrote(at, bytes) => overwrite(&mut self.bytes, at, &bytes),
                Since::Cut(length) => self.bytes.resize(length, 0),
            }
        }
    }

    /// What may be found after a power loss.
    fn left(&self, rng: &mut ChaCha12Rng) -> Option<Vec<u8>> {
        let named =
            if self.named == self.exists { self.named } else { rng.next_u32().is_multiple_of(2) };
        if !named {
            return None;
        }
        // Sometimes nearly everything is there, sometimes nearly nothing.
        let share = [1, 8, 15][rng.next_u32() as usize % 3];
        let mut bytes = self.bytes.clone();
        for since in &self.since {
            match since {
                Since::Wrote(at, written) => {
                    let mut from = 0;
                    while from < written.len() {
                        let upto = (SECTOR - (at + from) % SECTOR + from).min(written.len());
                        if rng.next_u32() % 16 < share {
                            overwrite(&mut bytes, at + from, &written[from..upto]);
                        }
                        from = upto;
                    }
                }
                Since::Cut(length) if rng.next_u32().is_multiple_of(2) => bytes.resize(*length, 0),
                Since::Cut(_) => {}
            }
        }
        Some(bytes)
    }
}

fn overwrite(bytes: &mut Vec<u8>, at: usize, written: &[u8]) {
    bytes.resize(bytes.len().max(at + written.len()), 0);
    bytes[at..at + written.len()].copy_from_slice(written);
}

/// A disk, and what the process has acknowledged.
#[derive(Default)]
struct Disk {
    files: BTreeMap<PathBuf, OnDisk>,
    acknowledged: BTreeMap<RunId, Seq>,
}

impl Disk {
    fn then(&mut self, done: &Done) {
        match done {
            Done::Made(name) => self.files.entry(name.clone()).or_default().exists = true,
            Done::Wrote(name, at, bytes) => {
                self.of(name).since.push(Since::Wrote(*at, bytes.clone()));
            }
            Done::Cut(name, length) => self.of(name).since.push(Since::Cut(*length)),
            Done::Synced(name) => match self.files.get_mut(name) {
                Some(file) => file.sync(),
                // The folder: its file names are on disk now.
                None => {
                    self.files.values_mut().for_each(|file| file.named = file.exists);
                    self.files.retain(|_, file| file.exists);
                }
            },
            Done::Removed(name) => self.of(name).exists = false,
            Done::Said(text) => {
                for line in text.lines().filter_map(|line| line.strip_prefix('@')) {
                    if let Some((run, seq)) = line.split_once(' ') {
                        let seq = Seq(seq.parse().unwrap());
                        self.acknowledged.insert(run.parse().unwrap(), seq);
                    }
                }
            }
        }
    }

    fn of(&mut self, name: &Path) -> &mut OnDisk {
        self.files.get_mut(name).unwrap_or_else(|| panic!("{} was never created", name.display()))
    }
}

#[test]
fn after_a_power_loss_everything_acknowledged_is_there_and_no_loss_is_reported() {
    let (original, tools) = (Folder::new(), tempfile::tempdir().unwrap());
    let done = recorded(&original.path(), tools.path());
    let commits = done
        .iter()
        .filter(|done| matches!(done, Done::Said(text) if text.starts_with('@')))
        .count();
    assert!(commits as i64 >= COMMITS, "{commits}");
    let overwritten = done
        .iter()
        .filter(|done| matches!(done, Done::Wrote(name, 0, bytes) if bytes.len() == 32 && name.to_str().unwrap().ends_with("-wal")))
        .count();
    assert!(overwritten > 3, "the WAL was restarted {overwritten} times");

    let mut rng = rng_for(1, "moments without power");
    let moments: Vec<usize> = (0..images()).map(|_| rng.next_u64() as usize % done.len()).collect();
    let moments: BTreeSet<(usize, usize)> =
        moments.into_iter().enumerate().map(|(n, at)| (at, n)).collect();
    let (mut disk, mut at) = (Disk::default(), 0);
    let (mut behind, mut ahead, mut torn) = (0, 0, 0);
    for (moment, n) in &moments {
        while at <= *moment {
            disk.then(&done[at]);
            at += 1;
        }
        let mut rng = rng_for(*n as u64, "what is left");
        let found = look_at(&disk, &mut rng, &original.path());
        behind += usize::from(found.marks_older);
        ahead += usize::from(found.more_than_acknowledged);
        torn += usize::from(found.torn);
    }
    eprintln!(
        "{} images after {} operations: nothing acknowledged is missing, and no loss is reported; {torn} with a torn \
         WAL, {behind} with marks older than the log, {ahead} with events that were never acknowledged",
        moments.len(),
        done.len()
    );
    assert!(torn > 0 && behind > 0, "{torn}, {behind}");
}

/// The result of checking one image.
struct Found {
    torn: bool,
    marks_older: bool,
    more_than_acknowledged: bool,
}

fn look_at(disk: &Disk, rng: &mut ChaCha12Rng, original: &Path) -> Found {
    let folder = Folder::new();
    let mut torn = false;
    for (name, file) in &disk.files {
        let Some(bytes) = file.left(rng) else { continue };
        let ending = name.to_str().unwrap().strip_prefix(original.to_str().unwrap()).unwrap();
        torn |= ending == "-wal" && !file.since.is_empty();
        std::fs::write(format!("{}{ending}", folder.path().display()), bytes).unwrap();
    }
    let mut found = Found { torn, marks_older: false, more_than_acknowledged: false };
    let acknowledged = &disk.acknowledged;
    if !folder.path().exists() {
        assert!(acknowledged.is_empty(), "the file is not there");
        return found;
    }
    if SqliteBackend::is_only_begun(&folder.path()) {
        assert!(acknowledged.is_empty(), "the file is empty");
        return found;
    }
    let marks = marks(&folder.path());
    let backend = SqliteBackend::open(&folder.path(), SqliteOptions::default()).unwrap();
    assert_eq!(backend.info().losses, [], "after {acknowledged:?}");
    let log = Log::new(std::sync::Arc::new(backend));
    let mut reader = log.reader().unwrap();
    let runs: BTreeMap<RunId, Seq> =
        reader.runs().unwrap().into_iter().map(|run| (run.run, run.head.seq)).collect();
    for (run, seq) in acknowledged {
        let last = runs.get(run).unwrap_or_else(|| panic!("run {run} is missing"));
        assert!(last >= seq, "run {run} ends at {last}, but {seq} was acknowledged");
        found.more_than_acknowledged |= last > seq;
    }
    for (run, seq) in &runs {
        found.marks_older |= marks.iter().all(|mark| mark.run != *run || mark.head.seq < *seq);
    }
    assert_eq!(problems(reader.as_mut()), []);
    found
}
