//! Several processes that append to one log, on an idle core and together with busy processes, and
//! as many that insert into one bare SQLite file. All of them run on one core, with `taskset`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use retold::id::RunId;
use rusqlite::Connection;

use crate::append::{append, fill, insert_all};
use crate::study::filler;
use crate::{row, timed};

/// The number of events of all writers together.
const EVENTS: usize = 12_000;
const BYTES: usize = 1400;
/// How many rounds, of which the middle one counts.
const ROUNDS: usize = 3;

pub(crate) fn measure() {
    for busy in [0, 6] {
        let _busy: Vec<Busy> = (0..busy).map(|_| Busy::start()).collect();
        for writers in [1, 4, 12] {
            let (mut ours, mut bare) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                ours.push(together("ours", writers));
                bare.push(together("bare", writers));
            }
            let (ours, bare) = (middle(ours), middle(bare));
            row(
                &format!("{EVENTS} durable appends by {writers} processes beside {busy} busy ones"),
                &format!("{:.2} s", ours.as_secs_f64()),
                &format!("bare SQLite: {:.2} s", bare.as_secs_f64()),
                bare.as_secs_f64() / ours.as_secs_f64(),
            );
        }
    }
}

fn middle(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took[took.len() / 2]
}

/// A process that keeps a core busy until this is dropped.
struct Busy(Child);

impl Busy {
    fn start() -> Busy {
        Busy(on_one_core("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn on_one_core(program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0", program]);
    command
}

/// How long some writers take, from their start to the end of the last one.
fn together(kind: &str, writers: usize) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    if kind == "bare" {
        fill(&mut Connection::open(&path).unwrap());
    }
    let program = std::env::current_exe().unwrap();
    let (_, took) = timed(|| {
        let start = |number: usize| {
            let mut command = on_one_core(program.to_str().unwrap());
            command.args(["writers-child", kind, path.to_str().unwrap()]);
            command.args([number.to_string(), (EVENTS / writers).to_string()]);
            command.stdout(Stdio::null()).spawn().unwrap()
        };
        let children: Vec<Child> = (0..writers).map(start).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success(), "a writer gave up");
        }
    });
    took
}

/// One of the writers.
pub(crate) fn child(kind: &str, path: &Path, number: u8, events: usize) {
    let texts: Vec<String> =
        (0..events).map(|i| filler(u64::from(number) << 32 | i as u64, BYTES)).collect();
    if kind == "ours" {
        append(path, RunId([number; 8]), &texts);
        return;
    }
    let mut db = Connection::open(path).unwrap();
    db.busy_timeout(Duration::from_secs(600)).unwrap();
    insert_all(&mut db, &texts);
}
