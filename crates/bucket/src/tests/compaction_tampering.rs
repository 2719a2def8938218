//! Compactions that somebody changed.

use std::sync::{Arc, OnceLock};

use object_store::ObjectStore;
use object_store::path::Path;
use proptest::prelude::*;
use retold::id::Seq;
use retold::log::{Backend, verify_all};

use super::compacting::{expired, within};
use super::exchanges::recorded;
use super::{memory, open, removed, replaced};

/// Everything that verification says about a log.
fn said(store: &Arc<dyn ObjectStore>) -> String {
    let (runs, problems) = verify_all(open(store).reader().unwrap().as_mut()).unwrap();
    let findings = runs.iter().filter_map(|run| run.finding.as_ref()).chain(&problems);
    findings.map(|finding| format!("{finding}\n")).collect()
}

/// A log with a compacted run.
fn compacted() -> Arc<dyn ObjectStore> {
    let store = memory();
    let backend = open(&store);
    let (_, run) = recorded(&backend, 200, 20);
    backend.compact(run).unwrap();
    store
}

fn directory(store: &Arc<dyn ObjectStore>) -> Path {
    within(store, "compacted").pop().unwrap()
}

fn changed(store: &Arc<dyn ObjectStore>, object: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = removed(store, object);
    change(&mut bytes);
    replaced(store, object, bytes);
}

#[test]
fn segments_that_a_compaction_stands_for_may_be_gone_but_not_changed() {
    for count in [1, 3, usize::MAX] {
        let store = compacted();
        within(&store, "runs")
            .iter()
            .take(count)
            .for_each(|segment| drop(removed(&store, segment)));
        assert_eq!(said(&store), "");
    }
    let store = compacted();
    let segments = within(&store, "runs");
    changed(&store, &segments[3], |bytes| bytes[9] ^= 1);
    assert!(said(&store).starts_with(&format!("the object {} was changed", segments[3])));
    // A segment of the same place, but of another history.
    let store = compacted();
    let other = memory();
    let backend = open(&other);
    let (log, run) = super::exchanges::exchanges(210);
    super::exchanges::append(&log, run, &backend, 20);
    let theirs = removed(&other, &within(&other, "runs")[3]);
    let ours = within(&store, "runs")[3].clone();
    changed(&store, &ours, |bytes| *bytes = theirs);
    assert!(said(&store).contains(ours.as_ref()), "{}", said(&store));
}

#[test]
fn a_segment_of_it_that_is_cut_off_or_has_more_bytes_or_is_missing_is_named() {
    for is_expired in [false, true] {
        let whole = compacted();
        if is_expired {
            expired(&whole);
        }
        let parts = within(&whole, "compacted");
        let last = &parts[parts.len() - 2];
        type Change = fn(&mut Vec<u8>);
        let changes: [(Change, &str); 4] = [
            (|bytes| bytes.truncate(bytes.len() / 2), "was changed: it is cut off"),
            (|bytes| bytes.clear(), "was changed: it is cut off"),
            (|bytes| bytes.extend(b"{}"), "was changed: it is cut off"),
            (|bytes| bytes[100] ^= 1, "was changed: its bytes do not have the hash at its end"),
        ];
        for (change, why) in changes {
            let bytes = removed(&whole, last);
            replaced(&whole, last, bytes.clone());
            changed(&whole, last, change);
            let said = said(&whole);
            assert!(said.contains(&format!("the object {last} {why}")), "{said}");
            replaced(&whole, last, bytes);
        }
        let bytes = removed(&whole, last);
        assert!(said(&whole).contains(&format!("the object {last} is missing")));
        replaced(&whole, last, bytes);
        // Two in each other's place.
        let (one, other) = (removed(&whole, &parts[0]), removed(&whole, last));
        replaced(&whole, &parts[0], other);
        replaced(&whole, last, one);
        let said = said(&whole);
        assert!(
            said.contains(&format!("seq 1: the object {} holds the segment of run ", parts[0])),
            "{said}"
        );
    }
}

#[test]
fn without_its_directory_a_run_is_what_its_segments_are() {
    let store = compacted();
    removed(&store, &directory(&store));
    assert_eq!(said(&store), "");
    expired(&store);
    assert!(said(&store).contains("run "), "{}", said(&store));
}

/// There is one source of events, and no other is tried.
#[test]
fn a_directory_that_was_changed_is_named_and_nothing_else_is_read() {
    let store = compacted();
    let directory = directory(&store);
    changed(&store, &directory, |bytes| bytes[100] ^= 1);
    let why = "was changed: its first line does not have the hash in its second";
    let reading = open(&store);
    let mut reader = reading.reader().unwrap();
    let run = reader.runs().unwrap()[0].run;
    assert_eq!(said(&store), format!("run {run}, seq 1: the object {directory} {why}\n"));
    assert!(reader.events(run, Seq(0), 1000).is_err());
    // Without it, the run is read from its own segments.
    removed(&store, &directory);
    assert_eq!(said(&store), "");
}

#[test]
fn a_directory_whose_lines_do_not_end_is_not_read_to_its_end() {
    let store = compacted();
    let directory = directory(&store);
    changed(&store, &directory, |bytes| *bytes = vec![b'{'; 1 << 20]);
    assert!(said(&store).contains("it has no end of its lines"), "{}", said(&store));
}

#[test]
fn an_object_that_is_not_of_a_compaction_is_named() {
    for name in ["lab/compacted/x", "lab/compacted/0707070707070707/0000000009/x.jsonl.zst"] {
        let store = compacted();
        replaced(&store, &Path::from(name), b"hello".to_vec());
        assert_eq!(said(&store), format!("the object {name} is not a part of a log\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whichever byte of whichever object is changed, and wherever one is cut off.
    #[test]
    fn no_change_of_a_compaction_is_overlooked(
        object in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
        cut in any::<bool>(),
    ) {
        static SOUND: OnceLock<Arc<dyn ObjectStore>> = OnceLock::new();
        let store = SOUND.get_or_init(|| {
            let store = compacted();
            expired(&store);
            store
        });
        let objects = within(store, "compacted");
        let object = object.get(&objects);
        let bytes = removed(store, object);
        replaced(store, object, bytes.clone());
        changed(store, object, |bytes| {
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] ^= 1_u8 << bit }
        });
        let said = said(store);
        replaced(store, object, bytes);
        prop_assert!(said.contains("compacted") || said.contains("run "), "{}", said);
    }
}
