//! Several runs and several processes on one file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use retold::event::NewEvent;
use retold::id::{RunId, Seq};
use retold::log::{Append, LogError};
use retold::prompt::Request;
use serde_json::json;

use crate::support::child;
use crate::support::logs::{Folder, assert_sound, events, open, row};

const EVENTS: u64 = 1000;

/// What the other processes do: write a run, then hold its lease until they are asked to stop.
#[test]
fn child() {
    let Some(task) = child::task() else { return };
    let (path, run) = task.rsplit_once(' ').unwrap();
    let run: RunId = run.parse().unwrap();
    let log = open(Path::new(path));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut writer = log.begin(run).unwrap();
    child::say("begun");
    runtime.block_on(async {
        for n in 0..EVENTS {
            // Every tenth commit is awaited, so that the two processes take turns.
            if n % 10 == 0 {
                writer.submit_durable(row(n as i64)).unwrap().1.wait().await.unwrap();
            } else {
                writer.submit(row(n as i64)).unwrap();
            }
        }
        writer.submit_durable(row(-1)).unwrap().1.wait().await.unwrap();
    });
    child::say("written");
    std::thread::sleep(std::time::Duration::from_secs(600));
}

#[test]
fn two_processes_write_two_runs_and_a_lease_ends_with_its_process() {
    let folder = Folder::new();
    let path = folder.path();
    let log = folder.log();
    let runs = [RunId([1; 8]), RunId([2; 8])];
    let mut processes = runs.map(|run| {
        let said = path.with_extension(format!("said.{run}"));
        child::start("processes::child", &format!("{} {run}", path.display()), &said)
    });
    processes.iter().for_each(|process| process.hear("written"));
    for (run, process) in runs.iter().zip(&processes) {
        let error = log.go_on(*run).err().unwrap();
        let holder = format!(" (process {})", process.id());
        assert_eq!(error.to_string(), LogError::InUse { run: *run, holder }.to_string());
    }
    processes.iter_mut().for_each(child::Process::kill);
    let mut reader = log.reader().unwrap();
    for run in runs {
        assert_eq!(events(reader.as_mut(), run).len() as u64, EVENTS + 1);
        // The killed process left its lease file, which is not an obstacle.
        assert!(folder.lease(run).exists());
        let mut writer = log.go_on(run).unwrap();
        assert_eq!(writer.next_seq(), Seq(EVENTS + 2));
        writer.submit(row(7)).unwrap();
        drop(writer);
        assert!(!folder.lease(run).exists());
        assert_eq!(events(reader.as_mut(), run).len() as u64, EVENTS + 2);
    }
    assert_sound(&log);
}

#[tokio::test]
async fn a_run_can_continue_at_once_after_its_writer_is_gone() {
    let folder = Folder::new();
    let log = folder.log();
    let run = RunId([1; 8]);
    let mut writer = log.begin(run).unwrap();
    assert!(matches!(log.go_on(run), Err(LogError::InUse { .. })));
    for round in 0..20 {
        for n in 0..50 {
            writer.submit(row(n)).unwrap();
        }
        drop(writer);
        writer = log.go_on(run).unwrap();
        assert_eq!(writer.next_seq(), Seq((round + 1) * 50 + 1));
    }
    // A writer may outlive the log it came from.
    drop(log);
    writer.submit_durable(row(0)).unwrap().1.wait().await.unwrap();
}

#[tokio::test]
async fn many_runs_share_commits() {
    let folder = Folder::new();
    let log = folder.log();
    let mut writers: Vec<_> = (1..=20).map(|n| log.begin(RunId([n; 8])).unwrap()).collect();
    let mut last = Vec::new();
    for n in 0..100 {
        for writer in &mut writers {
            last.push(writer.submit_durable(row(n)).unwrap().1);
        }
    }
    for durable in last {
        durable.wait().await.unwrap();
    }
    let runs = log.reader().unwrap().runs().unwrap();
    assert_eq!(runs.len(), 20);
    assert!(runs.iter().all(|run| run.head.seq == Seq(100)));
    assert_sound(&log);
}

#[cfg(unix)]
#[test]
fn a_lease_is_the_same_by_every_name_of_the_log() {
    let folder = Folder::new();
    let log = folder.log();
    let run = RunId([1; 8]);
    let held = log.begin(run).unwrap();
    let link = folder.path().with_extension("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    let holder = format!(" (process {})", std::process::id());
    let refused = open(&link).begin(run).err().unwrap();
    assert_eq!(refused.to_string(), LogError::InUse { run, holder }.to_string());
    drop(held);
    open(&link).begin(run).unwrap();
}

#[test]
fn a_log_that_is_being_written_verifies() {
    let folder = Folder::new();
    let log = folder.log();
    let mut writer = log.begin(RunId([1; 8])).unwrap();
    let ask = |n: i64| {
        let text =
            format!("Question {n}, with a text that is long enough to be kept apart. ").repeat(3);
        let body = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
        NewEvent { prompt: Some(Request::from_body(body).unwrap()), ..row(n) }
    };
    let mut reader = log.reader().unwrap();
    let (mut n, mut verified) = (0, 0);
    let done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let verifying = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                assert_eq!(reader.check(None).unwrap(), []);
                verified += 1;
            }
            verified
        });
        while n < 6000 && !verifying.is_finished() {
            writer.submit(ask(n)).unwrap();
            n += 1;
            if n % 20 == 0 {
                std::thread::yield_now();
            }
        }
        drop(writer);
        done.store(true, Ordering::Relaxed);
        assert!(verifying.join().unwrap() > 1, "nothing was verified while it was written");
    });
    assert_sound(&log);
}

#[tokio::test]
async fn a_conflict_stores_nothing_and_harms_no_other_run() {
    let folder = Folder::new();
    let log = folder.log();
    let (ours, other) = (RunId([1; 8]), RunId([2; 8]));
    let mut writer = log.begin(ours).unwrap();
    let mut bystander = log.begin(other).unwrap();
    writer.submit_durable(row(1)).unwrap().1.wait().await.unwrap();
    // Another connection appends to the run despite the lease.
    let mut committer = log.backend().committer().unwrap();
    let head = log.reader().unwrap().runs().unwrap()[0].head;
    let append = Append::new(ours, head, [row(2)]);
    committer.commit(std::slice::from_ref(&append)).unwrap();
    let is_conflict = |error: &LogError| matches!(error, LogError::Conflict { run, seq } if (*run, *seq) == (ours, Seq(2)));
    assert!(is_conflict(&committer.commit(&[append]).unwrap_err()));

    let refused = writer.submit_durable(row(3)).unwrap().1;
    // The next event is refused with it, or immediately if the conflict is known by then.
    let also_refused = writer.submit_durable(row(4));
    let others: Vec<_> = (0..5).map(|n| bystander.submit_durable(row(n)).unwrap().1).collect();
    assert!(is_conflict(&refused.wait().await.unwrap_err()));
    let also = match also_refused {
        Ok((_, durable)) => durable.wait().await.unwrap_err(),
        Err(error) => error,
    };
    assert!(is_conflict(&also), "{also}");
    for durable in others {
        durable.wait().await.unwrap();
    }
    assert!(is_conflict(&writer.submit(row(5)).unwrap_err()), "nothing more is taken");
    let mut reader = log.reader().unwrap();
    assert_eq!(events(reader.as_mut(), ours).len(), 2);
    assert_eq!(events(reader.as_mut(), other).len(), 5);
    assert_sound(&log);
}
