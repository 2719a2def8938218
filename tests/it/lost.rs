//! Whatever a damaged WAL, or a log that ends before its high-water mark, has lost is reported.

use std::fs;
use std::path::{Path, PathBuf};

use retold::exchange::{RescuedRun, lost_events, rescue_run};
use retold::id::{RunId, Seq};
use retold::log::{Backend, Finding, Log, LogError, SqliteBackend, SqliteOptions, marks};
use rusqlite::Connection;

use crate::support::logs::{Folder, assert_sound, events, row};

const RUN: RunId = RunId([1; 8]);

/// The sizes of the WAL's header and of a frame.
const HEADER: usize = 32;
const FRAME: usize = 24 + 16_384;

/// The files of a process that was killed after a number of commits.
struct Left {
    folder: Folder,
}

impl Left {
    fn by_a_process_killed_after(commits: u64) -> Self {
        let left = Left { folder: Folder::new() };
        let alive = Folder::new();
        let log = alive.log();
        let mut writer = log.begin(RUN).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for n in 0..commits {
            let (_, stored) = writer.submit_durable(row(n as i64)).unwrap();
            runtime.block_on(stored.wait()).unwrap();
        }
        left.take(&alive.path(), &["", "-wal", "-mark"]);
        left
    }

    /// Copies the files of a log as they are at this moment.
    fn take(&self, from: &Path, endings: &[&str]) {
        for ending in endings {
            fs::copy(beside(from, ending), self.file(ending)).unwrap();
        }
    }

    fn copy(&self) -> Self {
        let copy = Left { folder: Folder::new() };
        copy.take(&self.folder.path(), &["", "-wal", "-mark"]);
        copy
    }

    fn copy_without_mark(&self) -> Self {
        let copy = Left { folder: Folder::new() };
        copy.take(&self.folder.path(), &["", "-wal"]);
        copy
    }

    fn file(&self, ending: &str) -> PathBuf {
        beside(&self.folder.path(), ending)
    }

    fn flip(&self, byte: usize, bit: u32) {
        let mut wal = fs::read(self.file("-wal")).unwrap();
        wal[byte] ^= 1 << bit;
        fs::write(self.file("-wal"), wal).unwrap();
    }

    fn open(&self) -> Result<SqliteBackend, LogError> {
        SqliteBackend::open(&self.folder.path(), SqliteOptions::default())
    }

    /// Opens and closes it; returns what is reported.
    fn losses(&self) -> Vec<Finding> {
        match self.open() {
            Ok(backend) => {
                let refused = backend.committer().err();
                let lost = backend.info().losses;
                assert_eq!(matches!(refused, Some(LogError::Lost { .. })), !lost.is_empty());
                lost
            }
            Err(LogError::Lost { fault, .. }) => vec![Finding::of_file(*fault)],
            Err(other) => panic!("{other}"),
        }
    }

    fn last_seq(&self) -> Option<Seq> {
        let mut reader = self.open().unwrap().reader().unwrap();
        reader.runs().unwrap().first().map(|run| run.head.seq)
    }
}

fn beside(log: &Path, ending: &str) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Places in a WAL: every byte of its header, every field of each frame, and pages.
fn places(length: usize) -> Vec<usize> {
    let frames = (length - HEADER) / FRAME;
    let frame = |n: usize| {
        let fields = [3, 7, 8, 15, 16, 23, 24, 24 + 8191, FRAME - 1];
        fields.into_iter().map(move |field| HEADER + n * FRAME + field)
    };
    (0..HEADER).chain((0..frames).flat_map(frame)).collect()
}

#[test]
fn a_flipped_bit_anywhere_in_the_wal_of_a_killed_process_is_reported() {
    let left = Left::by_a_process_killed_after(6);
    let length = fs::metadata(left.file("-wal")).unwrap().len() as usize;
    assert_eq!(left.copy().losses(), []);
    let places = places(length);
    let (mut whole, mut by_frame) = (0, 0);
    for (n, place) in places.iter().enumerate() {
        let damaged = left.copy();
        damaged.flip(*place, n as u32 % 8);
        let evidence = fs::read(damaged.file("-wal")).unwrap();
        let lost = damaged.losses();
        assert!(!lost.is_empty(), "byte {place}: silent");
        whole += usize::from(lost.iter().any(|p| p.fault.to_string().contains("header")));
        by_frame += usize::from(lost.iter().any(|p| p.fault.to_string().contains("frame")));
        // Reading and looking again changes nothing and makes no second copy.
        if damaged.open().is_ok() {
            let log = Log::new(std::sync::Arc::new(damaged.open().unwrap()));
            let _ = events(log.reader().unwrap().as_mut(), RUN);
        }
        assert_eq!(fs::read(damaged.file("-wal")).unwrap(), evidence, "byte {place}");
        assert_eq!(fs::read(damaged.file("-wal.damaged-1")).unwrap(), evidence, "byte {place}");
        assert!(!damaged.file("-wal.damaged-2").exists());
    }
    assert!(whole >= HEADER && by_frame > places.len() / 3, "{whole}, {by_frame}");
}

#[test]
fn a_flipped_bit_is_reported_without_a_mark_if_later_transactions_follow() {
    let left = Left::by_a_process_killed_after(6);
    let length = fs::metadata(left.file("-wal")).unwrap().len() as usize;
    assert_eq!(
        left.copy_without_mark().losses(),
        [],
        "nothing is claimed of a log that was copied without its mark"
    );
    // The first half of the file is before the last two transactions.
    for (n, place) in places(length).into_iter().enumerate().filter(|(_, p)| *p < length / 2) {
        let damaged = left.copy_without_mark();
        damaged.flip(place, n as u32 % 8);
        assert!(!damaged.losses().is_empty(), "byte {place}: silent");
    }
}

/// A WAL that is cut off after an unfinished transaction, or has the remains of one: exactly what
/// had been acknowledged is reported as lost.
#[test]
fn a_torn_wal_is_damage_only_if_the_mark_is_not_reached() {
    let left = Left::by_a_process_killed_after(5);
    let wal = fs::read(left.file("-wal")).unwrap();
    let frames = (wal.len() - HEADER) / FRAME;
    for length in (0..=frames).map(|n| HEADER + n * FRAME + FRAME / 2).chain([0, 20, HEADER]) {
        let cut = &wal[..length.min(wal.len())];
        let unmarked = left.copy_without_mark();
        fs::write(unmarked.file("-wal"), cut).unwrap();
        assert_eq!(unmarked.losses(), [], "{length}");
        if length < wal.len() {
            let marked = left.copy();
            fs::write(marked.file("-wal"), cut).unwrap();
            assert!(!marked.losses().is_empty(), "{length}");
        }
    }
    for more in [vec![0; FRAME], vec![7; FRAME / 3], wal[wal.len() - FRAME..].to_vec()] {
        let longer = left.copy();
        fs::write(longer.file("-wal"), [&wal[..], &more].concat()).unwrap();
        assert_eq!(longer.losses(), [], "{} more bytes", more.len());
    }
}

#[test]
fn a_loss_is_reported_by_run_and_seq_and_the_rest_makes_a_new_run() {
    let left = Left::by_a_process_killed_after(6);
    let length = fs::metadata(left.file("-wal")).unwrap().len() as usize;
    left.flip(length - 1, 0);
    let marked = marks(&left.folder.path());
    assert_eq!((marked[0].run, marked[0].head.seq), (RUN, Seq(6)));
    let lost = left.losses();
    let named = lost.iter().find(|problem| problem.run == Some(RUN)).unwrap();
    assert_eq!(named.seq, Some(Seq(6)));
    let what = "the run ends at seq 5, before its high-water mark of seq 6: 1 event is lost";
    assert_eq!(named.fault.to_string(), what);
    assert_eq!(left.last_seq(), Some(Seq(5)), "the rest can be read");
    let other = Folder::new();
    let log = other.log();
    let rescue = || rescue_run(&left.open().unwrap(), RUN, log.backend().as_ref()).unwrap();
    let rest = rescue();
    assert_eq!((rest.kept, rest.lost, rest.was_there), (5, 1, false));
    assert_sound(&log);
    let named = lost_events(log.reader().unwrap().as_mut(), rest.run).unwrap().unwrap();
    assert_eq!((named.run, named.head.seq, named.lost), (RUN, Seq(6), vec![(6, 6)]));
    assert_eq!(rescue(), RescuedRun { was_there: true, ..rest }, "it is copied once");
    assert_eq!(left.losses(), lost, "nothing was changed");
}

#[test]
fn everything_in_a_wal_with_a_damaged_header_is_reported() {
    let left = Left::by_a_process_killed_after(4);
    left.flip(17, 3);
    let lost = left.losses();
    assert!(
        lost[0].fault.to_string().contains("its header does not match its checksum"),
        "{lost:?}"
    );
}

/// Everything in the WAL was already merged into the file: only the copy is lost.
#[test]
fn damage_to_a_wal_that_was_already_merged_loses_nothing() {
    let alive = Folder::new();
    let log = alive.log();
    let mut writer = log.begin(RUN).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for n in 0..6 {
        let (_, stored) = writer.submit_durable(row(n)).unwrap();
        runtime.block_on(stored.wait()).unwrap();
    }
    let merge = "PRAGMA wal_checkpoint(PASSIVE)";
    alive.sql().query_row(merge, [], |_| Ok(())).unwrap();
    let left = Left { folder: Folder::new() };
    left.take(&alive.path(), &["", "-wal", "-mark"]);
    left.flip(HEADER + FRAME + 100, 5);
    let lost = left.losses();
    assert!(!lost.is_empty() && lost.iter().all(|problem| problem.run.is_none()), "{lost:?}");
    assert_eq!(left.last_seq(), Some(Seq(6)), "all of it can be read");
}

#[test]
fn an_older_copy_of_a_log_ends_before_its_mark() {
    let folder = Folder::new();
    let log = folder.log();
    drop(log.begin(RUN).unwrap());
    let write = |log: &Log, run: RunId, n: i64| {
        let mut writer = log.begin(run).or_else(|_| log.go_on(run)).unwrap();
        writer.submit(row(n)).unwrap();
    };
    write(&log, RUN, 1);
    write(&log, RUN, 2);
    drop(log);
    folder.sql().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let older = fs::read(folder.path()).unwrap();
    let log = folder.log();
    write(&log, RUN, 3);
    write(&log, RunId([2; 8]), 1);
    drop(log);
    fs::write(folder.path(), older).unwrap();
    let backend = SqliteBackend::open(&folder.path(), SqliteOptions::default()).unwrap();
    let lost: Vec<_> =
        backend.info().losses.iter().map(|p| (p.run.unwrap(), p.seq.unwrap())).collect();
    assert_eq!(lost, [(RUN, Seq(3)), (RunId([2; 8]), Seq(1))]);
    assert!(
        backend.info().losses[1]
            .fault
            .to_string()
            .starts_with("the run is missing; its high-water mark is seq 1")
    );
}

/// Removing a log and creating another one in its place is not a loss.
#[test]
fn a_new_log_in_place_of_a_removed_one_has_lost_nothing() {
    let folder = Folder::new();
    let mut writer = folder.log().begin(RUN).unwrap();
    writer.submit(row(1)).unwrap();
    drop(writer);
    fs::remove_file(folder.path()).unwrap();
    let log = folder.log();
    assert_eq!(log.backend().losses(), []);
    let mut writer = log.begin(RunId([2; 8])).unwrap();
    writer.submit(row(1)).unwrap();
    drop(writer);
    assert_eq!(marks(&folder.path()).len(), 1);
    assert_sound(&log);
}

/// SQLite deletes the WAL of an empty file.
#[test]
fn the_wal_of_an_emptied_file_is_kept() {
    let left = Left::by_a_process_killed_after(3);
    fs::write(left.folder.path(), "").unwrap();
    let wal = fs::read(left.file("-wal")).unwrap();
    assert!(left.losses()[0].fault.to_string().starts_with("the file is empty or missing"));
    assert!(!SqliteBackend::is_only_begun(&left.folder.path()));
    assert_eq!(fs::read(left.file("-wal")).unwrap(), wal);
    fs::remove_file(left.folder.path()).unwrap();
    let made = SqliteBackend::open_or_create(&left.folder.path(), SqliteOptions::default());
    assert!(matches!(made, Err(LogError::Lost { .. })));
    assert_eq!(fs::read(left.file("-wal")).unwrap(), wal);
}

/// Opening a log whose WAL is being overwritten again and again reports no damage.
#[test]
fn a_log_that_is_being_written_has_lost_nothing() {
    let folder = Folder::new();
    let log = folder.log();
    let mut writer = log.begin(RUN).unwrap();
    let path = folder.path();
    let done = std::sync::atomic::AtomicBool::new(false);
    let opened = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut opened = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let backend = SqliteBackend::open(&path, SqliteOptions::default()).unwrap();
                assert_eq!(backend.info().losses, []);
                opened += 1;
            }
            opened
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for n in 0..400 {
            let (_, stored) = writer.submit_durable(row(n)).unwrap();
            runtime.block_on(stored.wait()).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        looking.join().unwrap()
    });
    assert!(opened > 3, "{opened}");
    drop(writer);
    assert_sound(&log);
}

/// Other programs may use the log of a run for their own purposes: that is not taken for a loss.
#[test]
fn other_programs_may_merge_the_wal() {
    let left = Left::by_a_process_killed_after(4);
    let db = Connection::open(left.folder.path()).unwrap();
    let _: i64 = db.query_row("SELECT count(*) FROM events", [], |r| r.get(0)).unwrap();
    drop(db);
    assert!(!left.file("-wal").exists());
    assert_eq!(left.losses(), []);
    assert_eq!(left.last_seq(), Some(Seq(4)));
}
