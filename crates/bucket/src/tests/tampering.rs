//! Objects that somebody changed, removed, exchanged or added.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use proptest::prelude::*;
use retold::id::{RunId, Seq};
use retold::log::{Append, Backend, LogError, verify_all};

use super::{end, memory, objects, open, removed, replaced, some, started, unbounded};
use crate::names::Names;
use crate::segment::decode;

const RUN: RunId = RunId([7; 8]);

/// A log with two runs, of which one has six segments.
fn sound() -> Arc<dyn ObjectStore> {
    let store = memory();
    let backend = open(&store);
    let mut head = started(&backend, RUN);
    let mut committer = backend.committer().unwrap();
    for n in 1..6 {
        let append = Append::new(RUN, head, some("Occurred", n * 3..n * 3 + 3));
        head = end(&append);
        committer.commit(&[append]).unwrap();
    }
    started(&backend, RunId([8; 8]));
    store
}

/// A segment of the first run, counted from 1: each has three events.
fn segment(number: u64) -> Path {
    Names::new(Path::from("lab")).segment(RUN, Seq(number * 3 - 2))
}

/// Everything that verification says about a log.
pub(super) fn said(store: &Arc<dyn ObjectStore>) -> String {
    let backend = open(store);
    let (runs, problems) = verify_all(backend.reader().unwrap().as_mut()).unwrap();
    let findings = runs.iter().filter_map(|run| run.finding.as_ref()).chain(&problems);
    findings.map(|finding| format!("{finding}\n")).collect()
}

#[test]
fn what_is_sound_is_not_complained_of() {
    assert_eq!(said(&sound()), "");
}

#[test]
fn a_segment_that_is_missing_is_named() {
    for number in 1..=5 {
        let store = sound();
        removed(&store, &segment(number));
        let said = said(&store);
        let first = (number - 1) * 3 + 1;
        assert!(said.contains(&format!("run {RUN}, seq {first}: the object ")), "{number}: {said}");
        assert!(said.contains("is missing"), "{said}");
        // What comes before it can be read.
        let read = open(&store).reader().unwrap().events(RUN, Seq(0), 100);
        match number {
            1 => assert!(matches!(read, Err(LogError::Corrupt { .. }))),
            _ => assert_eq!(read.unwrap().len() as u64, first - 1),
        }
    }
}

#[test]
fn segments_that_were_exchanged_are_named() {
    let store = sound();
    let (second, fourth) = (removed(&store, &segment(2)), removed(&store, &segment(4)));
    replaced(&store, &segment(2), fourth);
    replaced(&store, &segment(4), second);
    let said = said(&store);
    assert!(
        said.contains(&format!("holds the segment of run {RUN} that begins with event 10")),
        "{said}"
    );
}

#[test]
fn a_segment_that_is_there_twice_is_named() {
    let store = sound();
    let last = removed(&store, &segment(6));
    replaced(&store, &segment(6), last.clone());
    replaced(&store, &segment(7), last);
    let said = said(&store);
    assert!(
        said.contains(&format!("holds the segment of run {RUN} that begins with event 16")),
        "{said}"
    );
}

#[test]
fn an_object_of_the_ledger_that_is_missing_or_changed_is_named() {
    let store = sound();
    let ledger = Names::new(Path::from("lab")).ledger_object(1);
    let bytes = removed(&store, &ledger);
    assert!(said(&store).contains("is missing"), "{}", said(&store));
    // Nobody writes into the gap.
    let append = Append::new(RunId([9; 8]), retold::log::Head::START, some("Occurred", 0..1));
    let refused = open(&store).committer().unwrap().commit(&[append]).unwrap_err();
    assert!(matches!(refused, LogError::CorruptLedger { .. }), "{refused}");
    let mut changed = bytes.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    replaced(&store, &ledger, changed);
    assert!(!said(&store).is_empty());
    replaced(&store, &ledger, bytes);
    assert_eq!(said(&store), "");
}

#[test]
fn a_ledger_that_is_gone_is_named_and_nobody_starts_another() {
    let store = sound();
    for path in objects(&store).into_iter().filter(|path| path.as_ref().contains("/ledger/")) {
        removed(&store, &path);
    }
    assert!(said(&store).contains("the object lab/ledger/0000000000.jsonl.zst is missing\n"));
    assert_eq!(open(&store).reader().unwrap().runs().unwrap().len(), 2);
    let append = Append::new(RunId([9; 8]), retold::log::Head::START, some("Occurred", 0..1));
    let refused = open(&store).committer().unwrap().commit(&[append]).unwrap_err();
    assert!(matches!(refused, LogError::CorruptLedger { .. }), "{refused}");
}

#[test]
fn a_run_that_the_ledger_has_lost_is_named() {
    let store = sound();
    let backend = open(&store);
    let run = RunId([9; 8]);
    let head = started(&backend, run);
    let append = Append::new(run, head, some("Occurred", 3..4));
    backend.committer().unwrap().commit(&[append]).unwrap();
    let last = objects(&store).into_iter().rfind(|path| path.as_ref().contains("/ledger/"));
    removed(&store, &last.unwrap());
    assert_eq!(said(&store), format!("run {run} has segments, but the ledger does not name it\n"));
}

/// What comes after it can be read by those who skip it, and nothing else is said of it.
#[test]
fn a_segment_at_the_end_that_is_damaged_hides_only_itself() {
    for change in [|bytes: &mut Vec<u8>| bytes.truncate(9), |bytes: &mut Vec<u8>| bytes[40] ^= 1] {
        let store = sound();
        let mut bytes = removed(&store, &segment(6));
        change(&mut bytes);
        replaced(&store, &segment(6), bytes);
        let said = said(&store);
        assert!(said.starts_with(&format!("run {RUN}, seq 16: the object ")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        let backend = open(&store);
        assert_eq!(backend.reader().unwrap().events(RUN, Seq(0), 100).unwrap().len(), 15);
        let append = Append::new(
            RUN,
            backend.reader().unwrap().runs().unwrap()[0].head,
            some("Occurred", 0..1),
        );
        assert!(
            backend.committer().unwrap().commit(&[append]).is_err(),
            "nothing is written after it"
        );
    }
}

#[test]
fn what_comes_after_a_damaged_segment_can_be_read() {
    for (number, is_missing) in [(1, true), (3, true), (3, false), (5, true), (5, false)] {
        let store = sound();
        let mut bytes = removed(&store, &segment(number));
        if !is_missing {
            bytes[40] ^= 1;
            replaced(&store, &segment(number), bytes);
        }
        let backend = open(&store);
        let mut reader = backend.reader().unwrap();
        let last = Seq(number * 3);
        for before in [last.0 - 2, last.0 - 1] {
            let read = reader.events(RUN, Seq(before), 1);
            assert!(matches!(read, Err(LogError::Corrupt { .. })), "{number}: {read:?}");
        }
        let later = reader.events(RUN, last, 100).unwrap();
        assert_eq!(later.first().map(|event| event.seq), Some(last.next()), "{number}");
    }
}

/// A store lists nothing after such a name, so nobody knows what else there is.
#[test]
fn a_name_with_a_control_character_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    started(&open(&store), RUN);
    for below in ["runs/0707070707070707", "ledger"] {
        let name = folder.path().join("lab").join(below).join("\u{7}\u{1b}[31m");
        std::fs::write(&name, "x").unwrap();
        let refused = open(&store).reader().unwrap().runs().unwrap_err().to_string();
        assert!(refused.contains("\\u{7}\\u{1b}[31m"), "{refused:?}");
        assert!(refused.contains("not a part of a log: remove it"), "{refused:?}");
        std::fs::remove_file(&name).unwrap();
        assert_eq!(said(&store), "");
    }
}

#[test]
fn an_object_with_a_name_between_those_of_two_segments_is_named() {
    let store = sound();
    let object = Names::new(Path::from("lab")).segment(RUN, Seq(8));
    let third = removed(&store, &segment(3));
    replaced(&store, &segment(3), third.clone());
    for bytes in [b"hello".to_vec(), third] {
        replaced(&store, &object, bytes);
        let due = format!("run {RUN}, seq 10: the object {object} is not a part of a log\n");
        assert_eq!(said(&store), due);
    }
}

#[test]
fn what_a_system_leaves_in_folders_is_no_damage() {
    let store = sound();
    replaced(&store, &Path::from("lab/runs/0707070707070707/.DS_Store"), b"x".to_vec());
    assert_eq!(said(&store), "");
}

#[test]
fn an_object_that_is_not_of_a_log_is_named() {
    for name in ["lab/runs/notes.txt", "lab/runs/0707070707070707/1.jsonl.zst", "lab/ledger/x"] {
        let store = sound();
        replaced(&store, &Path::from(name), b"hello".to_vec());
        assert_eq!(said(&store), format!("the object {name} is not a part of a log\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whichever byte is changed, and wherever it is cut off.
    #[test]
    fn no_change_of_a_segment_is_overlooked(at in any::<prop::sample::Index>(), bit in 0..8_u8, cut in any::<bool>()) {
        let store = sound();
        let bytes = removed(&store, &segment(3));
        prop_assert!(decode("3", (RUN, Seq(7)), &bytes, unbounded()).is_ok());
        let mut changed = bytes;
        let at = at.index(changed.len());
        if cut { changed.truncate(at) } else { changed[at] ^= 1_u8 << bit }
        prop_assert!(decode("3", (RUN, Seq(7)), &changed, unbounded()).is_err());
    }

    #[test]
    fn decoding_ends_with_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(decode("3", (RUN, Seq(7)), &bytes, unbounded()).is_err());
    }
}

#[test]
fn an_object_of_the_ledger_is_compared_with_the_page_that_repeats_it() {
    let store = memory();
    for n in 0..10 {
        started(&open(&store), RunId([n; 8]));
    }
    let names = Names::new(Path::from("lab"));
    let mut bytes = removed(&store, &names.ledger_object(3));
    bytes[20] ^= 1;
    replaced(&store, &names.ledger_object(3), bytes);
    // Who reads the page of eight does not need it.
    assert_eq!(open(&store).reader().unwrap().runs().unwrap().len(), 10);
    let changed = "lab/ledger/0000000003.jsonl.zst was changed";
    assert!(said(&store).contains(changed), "{}", said(&store));
    let second = removed(&store, &names.ledger_object(2));
    replaced(&store, &names.ledger_object(3), second.clone());
    replaced(&store, &names.ledger_object(2), second);
    assert!(said(&store).contains(changed), "{}", said(&store));
}
