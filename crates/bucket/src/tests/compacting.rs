//! Runs that were compacted.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use proptest::prelude::*;
use retold::audit::{Target, audit};
use retold::event::NewEvent;
use retold::exchange::{Recording, import_recording};
use retold::id::{CallPath, RunId, Seq, Time};
use retold::log::ledger::Ledger;
use retold::log::{
    Backend, CheckedReader, Index, Log, LogError, Reader, SharedBackend, verify_all,
};
use retold::parse::Parsers;
use retold::run::abandon;

use super::exchanges::{append, exchanges, recorded};
use super::faulty::FaultyStore;
use super::{memory, objects, open, removed, replaced, some, started};
use crate::{BucketBackend, CompactionResult};

/// The objects of a folder of the log.
pub(super) fn within(store: &Arc<dyn ObjectStore>, folder: &str) -> Vec<Path> {
    let is_in = |path: &Path| path.as_ref().starts_with(&format!("lab/{folder}/"));
    objects(store).into_iter().filter(is_in).collect()
}

/// Removes the segments, as a rule of the store does some time after a run was compacted.
pub(super) fn expired(store: &Arc<dyn ObjectStore>) {
    let segments = within(store, "runs");
    assert!(!segments.is_empty());
    for segment in segments {
        removed(store, &segment);
    }
}

pub(super) fn made(result: CompactionResult) -> (u64, u64) {
    match result {
        CompactionResult::Made { segments, merged, .. } => (segments, merged),
        other => panic!("{other:?}"),
    }
}

/// Compares everything that two readers say of a run.
pub(super) fn read_the_same(ours: &dyn Backend, theirs: &dyn Backend, run: RunId) {
    let (mut ours, mut theirs) = (ours.reader().unwrap(), theirs.reader().unwrap());
    let all = theirs.events(run, Seq(0), usize::MAX).unwrap();
    let head = |reader: &mut dyn Reader| {
        reader.runs().unwrap().into_iter().find(|head| head.run == run).unwrap()
    };
    assert_eq!(head(ours.as_mut()), head(theirs.as_mut()));
    // In order, somewhere, and beyond the end.
    let mut after = Seq(0);
    while let Some(last) = ours.events(run, after, 100).unwrap().last() {
        let (from, to) = (after.0 as usize, last.seq.0 as usize);
        assert_eq!(ours.events(run, after, to - from).unwrap(), all[from..to]);
        after = last.seq;
    }
    assert_eq!(after, all.last().unwrap().seq);
    for event in all.iter().step_by(37) {
        assert_eq!(ours.events(run, Seq(event.seq.0 - 1), 1).unwrap(), std::slice::from_ref(event));
        let Some(prompt) = event.prompt else { continue };
        assert_eq!(ours.request(prompt).unwrap(), theirs.request(prompt).unwrap());
        assert_eq!(ours.model(prompt).unwrap(), theirs.model(prompt).unwrap());
        assert!(ours.request_part(prompt).unwrap().is_some());
        for digits in [6, 8, 11, 64] {
            let prefix = &prompt.to_string()[..digits];
            let found: BTreeSet<_> = ours.prompts(prefix, 9).unwrap().into_iter().collect();
            assert_eq!(found, theirs.prompts(prefix, 9).unwrap().into_iter().collect());
        }
    }
    assert!(ours.prompts("not hex", 9).unwrap().is_empty());
    let said = |reader: &mut dyn Reader| {
        let index = Index::open(reader, run).unwrap();
        let call = CallPath::new("vote/p_00017").unwrap();
        let causes = (1..=index.end().0).map(Seq).collect();
        let calls = index.calls(reader, &call).unwrap();
        (
            index.end(),
            index.census(reader).unwrap(),
            calls,
            index.caused_by(reader, &causes).unwrap(),
        )
    };
    assert_eq!(said(ours.as_mut()), said(theirs.as_mut()));
}

pub(super) fn is_sound(backend: &dyn Backend) {
    let (runs, problems) = verify_all(backend.reader().unwrap().as_mut()).unwrap();
    assert_eq!(problems, []);
    assert!(runs.iter().all(|run| run.finding.is_none()), "{runs:?}");
}

fn copied(from: &SharedBackend, run: RunId, to: &dyn Backend) -> u64 {
    let head = from.reader().unwrap().runs().unwrap().into_iter().find(|it| it.run == run);
    let recording = Recording { run, log: from.clone(), head: head.unwrap().head };
    import_recording(to, &recording).unwrap().added
}

fn a_run_is_the_same_after(store: &Arc<dyn ObjectStore>) {
    let backend = open(store);
    let (log, run) = recorded(&backend, 300, 7);
    started(&backend, RunId([9; 8]));
    assert_eq!(backend.compact(RunId([9; 8])).unwrap(), CompactionResult::Unfinished);
    let (segments, merged) = made(backend.compact(run).unwrap());
    assert_eq!(segments as usize, within(store, &format!("runs/{run}")).len());
    assert_eq!(merged as usize, within(store, "compacted").len() - 1);
    assert!((2..20).contains(&merged) && segments > 80, "{segments} {merged}");
    // Whoever has read it before, whoever comes now, and after the segments are gone.
    read_the_same(&backend, log.as_ref(), run);
    assert_eq!(backend.compact(run).unwrap(), CompactionResult::Known);
    let later = open(store);
    assert_eq!(later.compact(run).unwrap(), CompactionResult::Known);
    read_the_same(&later, log.as_ref(), run);
    is_sound(&later);
    for segment in within(store, &format!("runs/{run}")) {
        removed(store, &segment);
    }
    let later = open(store);
    read_the_same(&later, log.as_ref(), run);
    is_sound(&later);
    assert_eq!(later.reader().unwrap().events(RunId([9; 8]), Seq(0), 9).unwrap().len(), 3);
    // It is copied from there, and back into another log.
    let shared: SharedBackend = Arc::new(later);
    let there: SharedBackend = Arc::new(open(&memory()));
    let end = log.reader().unwrap().runs().unwrap()[0].head;
    assert_eq!(copied(&shared, run, there.as_ref()), end.seq.0);
    read_the_same(there.as_ref(), log.as_ref(), run);
    assert_eq!(copied(&there, run, shared.as_ref()), 0);
}

#[test]
fn a_compacted_run_is_read_as_before_in_memory_and_in_a_folder() {
    a_run_is_the_same_after(&memory());
    let folder = tempfile::tempdir().unwrap();
    a_run_is_the_same_after(
        &(Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap()) as _),
    );
}

#[test]
fn a_run_that_was_compacted_can_go_on() {
    let store = memory();
    let backend = open(&store);
    let (_, run) = recorded(&backend, 100, 5);
    made(backend.compact(run).unwrap());
    expired(&store);
    let backend = open(&store);
    let log = Log::new(Arc::new(backend));
    let mut writer = log.go_on(run).unwrap();
    let resumed = NewEvent {
        body: r#"{"model":{},"program":"test"}"#.into(),
        ..NewEvent::new("RunResumed", Time(1_700_000_000_000))
    };
    let facts = some("Occurred", 0..30);
    for event in std::iter::once(resumed).chain(facts) {
        writer.submit(event).unwrap();
    }
    drop(writer);
    futures::executor::block_on(abandon(&log, run)).unwrap();
    let head = log.reader().unwrap().runs().unwrap()[0].head;
    assert_eq!(head, open(&store).reader().unwrap().runs().unwrap()[0].head);
    let length = |backend: &BucketBackend| {
        let mut reader = CheckedReader::new(backend.reader().unwrap());
        assert_eq!(reader.events(run, Seq(head.seq.0 - 2), 9).unwrap().len(), 2);
        Index::open(&mut reader, run).unwrap().end()
    };
    // Its first event is in the compaction, and its last one in a segment.
    assert_eq!(length(&open(&store)), head.seq);
    let (runs, problems) = verify_all(open(&store).reader().unwrap().as_mut()).unwrap();
    assert_eq!(problems, []);
    assert_eq!((runs[0].events, &runs[0].finding), (head.seq.0, &None));
    // It is compacted again, as a whole.
    let backend = open(&store);
    made(backend.compact(run).unwrap());
    expired(&store);
    for backend in [backend, open(&store)] {
        assert_eq!(length(&backend), head.seq);
        assert_eq!(backend.compact(run).unwrap(), CompactionResult::Known);
    }
}

#[test]
fn an_open_log_finds_a_compaction_when_it_lists_its_runs_again() {
    let store = memory();
    let (_, run) = recorded(&open(&store), 100, 5);
    let reading = open(&store);
    let first = reading.as_of_now().reader().unwrap().events(run, Seq(0), 20).unwrap();
    made(open(&store).compact(run).unwrap());
    expired(&store);
    let after = first.last().unwrap().seq;
    let next = reading.as_of_now().reader().unwrap().events(run, after, 1000).unwrap();
    assert_eq!((first.len() + next.len()) as u64, next.last().unwrap().seq.0);
}

/// All objects with their bytes.
pub(super) fn contents(store: &Arc<dyn ObjectStore>) -> Vec<(Path, Vec<u8>)> {
    let with_bytes = |path: Path| {
        let bytes = removed(store, &path);
        replaced(store, &path, bytes.clone());
        (path, bytes)
    };
    objects(store).into_iter().map(with_bytes).collect()
}

#[test]
fn a_compaction_that_was_interrupted_is_continued_and_does_not_count_before_its_end() {
    let whole = memory();
    let (log, run) = recorded(&open(&whole), 300, 7);
    let before = contents(&whole);
    made(open(&whole).compact(run).unwrap());
    let after = contents(&whole);
    let new: Vec<_> = after.iter().filter(|object| !before.contains(object)).collect();
    for left in 0..new.len() {
        let store = memory();
        for (path, bytes) in before.iter().chain(new[..left].iter().copied()) {
            replaced(&store, path, bytes.clone());
        }
        let backend = open(&store);
        is_sound(&backend);
        read_the_same(&backend, log.as_ref(), run);
        made(open(&store).compact(run).unwrap());
        assert_eq!(contents(&store), after, "with {left} of its objects");
    }
}

#[test]
fn two_that_compact_one_run_at_once_write_the_same_objects() {
    for seed in 0..8 {
        let bare = memory();
        let (log, run) = recorded(&open(&bare), 60, 5);
        let failing: Arc<dyn ObjectStore> = Arc::new(FaultyStore::failing(bare.clone(), seed));
        let barrier = Barrier::new(2);
        let compact = |store: &Arc<dyn ObjectStore>| {
            let backend = open(store);
            barrier.wait();
            backend.compact(run).unwrap()
        };
        std::thread::scope(|scope| {
            let both = [&bare, &failing].map(|store| scope.spawn(|| compact(store)));
            for thread in both {
                assert!(thread.join().unwrap() != CompactionResult::Unfinished);
            }
        });
        expired(&bare);
        is_sound(&open(&bare));
        read_the_same(&open(&bare), log.as_ref(), run);
    }
}

#[test]
fn a_run_that_is_not_there_or_damaged_is_not_compacted() {
    let store = memory();
    let backend = open(&store);
    let missing = backend.compact(RunId([1; 8])).unwrap_err();
    assert!(matches!(missing, LogError::NoSuchRun { .. }), "{missing}");
    let (_, run) = recorded(&backend, 60, 5);
    removed(&store, &within(&store, "runs")[5]);
    let damaged = open(&store).compact(run).unwrap_err();
    assert!(matches!(damaged, LogError::Corrupt { .. }), "{damaged}");
    assert!(within(&store, "compacted").is_empty());
}

#[test]
fn a_copy_is_compacted_when_it_is_of_a_finished_run() {
    let (log, run) = exchanges(100);
    let store = memory();
    let backend = open(&store);
    copied(&log, run, &backend);
    made(backend.compact(run).unwrap());
    expired(&store);
    read_the_same(&open(&store), log.as_ref(), run);
    is_sound(&open(&store));
}

#[test]
fn a_store_that_fails_is_read_too() {
    let bare = memory();
    let (log, run) = recorded(&open(&bare), 100, 5);
    made(open(&bare).compact(run).unwrap());
    expired(&bare);
    for store in [FaultyStore::failing(bare.clone(), 1), FaultyStore::failing(bare.clone(), 2)] {
        let store: Arc<dyn ObjectStore> = Arc::new(store);
        read_the_same(&open(&store), log.as_ref(), run);
    }
}

#[test]
fn one_call_among_thousands_is_shown_with_few_requests() {
    let bare = memory();
    let (log, run) = recorded(&open(&bare), 4000, 1000);
    made(open(&bare).compact(run).unwrap());
    let call = |n: u64| Target::Call(CallPath::new(format!("vote/p_{n:05}")).unwrap(), None);
    for n in [17, 1234, 3999] {
        let counting = Arc::new(FaultyStore::counting(bare.clone()));
        let store: Arc<dyn ObjectStore> = counting.clone();
        let backend =
            BucketBackend::open(store.clone(), Path::from("lab"), "memory://lab").unwrap();
        let backend = backend.as_of_now();
        let mut reader = CheckedReader::new(backend.reader().unwrap());
        assert_eq!(reader.runs().unwrap().len(), 1);
        // The marker, the list of the ledger's objects, and the last one.
        assert_eq!(counting.reads(), 3);
        let found = audit(&mut reader, run, &call(n), &Parsers::default()).unwrap();
        // What else asks for the runs, and for the ledger.
        assert_eq!(backend.reader().unwrap().runs().unwrap().len(), 1);
        assert!(Ledger::read(backend.reader().unwrap().as_mut()).unwrap().mismatch(run).is_none());
        let requests = counting.reads();
        let mut whole = CheckedReader::new(log.reader().unwrap());
        let due = audit(&mut whole, run, &call(n), &Parsers::default()).unwrap();
        assert_eq!(format!("{found:?}"), format!("{due:?}"));
        // Directories are read in small pieces in tests.
        assert!(requests <= 5, "{n}: {requests}");
        // A look-up by its hash, for which a bucket has no index.
        let prompt = reader.events(run, Seq(2 * n + 1), 1).unwrap()[0].prompt.unwrap();
        let mut reader = open(&store).reader().unwrap();
        assert_eq!(reader.prompts(&prompt.to_string()[..8], 2).unwrap(), [prompt]);
        assert!(reader.request(prompt).unwrap().is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// However its events were committed.
    #[test]
    fn a_compaction_has_the_same_bytes_whatever_the_segments_were(size in 1_usize..400) {
        let (log, run) = exchanges(300);
        let [one, other] = [size, 100].map(|size| {
            let store = memory();
            let backend = open(&store);
            append(&log, run, &backend, size);
            made(backend.compact(run).unwrap());
            let is_part = |path: &Path| path.as_ref().contains("/compacted/") && path.as_ref().ends_with(".zst");
            contents(&store).into_iter().filter(|(path, _)| is_part(path)).collect::<Vec<_>>()
        });
        prop_assert!(one == other && one.len() > 1);
    }
}
