//! Compactions of which parts were lost.

use retold::log::{Backend, Fault, LogError, SegmentFault};

use super::compacting::{contents, expired, is_sound, made, read_the_same, within};
use super::exchanges::recorded;
use super::{memory, open, removed, replaced};
use crate::CompactionResult;

fn fault(error: LogError) -> SegmentFault {
    match error {
        LogError::Corrupt { fault, .. } => match *fault {
            Fault::Segment(fault) => fault,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_part_that_is_missing_is_written_again() {
    let store = memory();
    let (log, run) = recorded(&open(&store), 900, 7);
    made(open(&store).compact(run).unwrap());
    let whole = contents(&store);
    let parts: Vec<_> = within(&store, "compacted")
        .into_iter()
        .filter(|path| path.as_ref().ends_with(".zst"))
        .collect();
    assert!(parts.len() > 2);
    for lost in [&parts[..1], &parts[1..3]] {
        for part in lost {
            removed(&store, part);
        }
        let backend = open(&store);
        let mended = CompactionResult::Mended { parts: lost.len() as u64 };
        assert_eq!(backend.compact(run).unwrap(), mended);
        assert_eq!(contents(&store), whole);
        read_the_same(&backend, log.as_ref(), run);
        is_sound(&backend);
        assert_eq!(backend.compact(run).unwrap(), CompactionResult::Known);
    }
    // It is read from the compaction again.
    expired(&store);
    read_the_same(&open(&store), log.as_ref(), run);
}

#[test]
fn a_part_that_was_changed_is_not_overwritten() {
    let store = memory();
    let (_, run) = recorded(&open(&store), 300, 7);
    made(open(&store).compact(run).unwrap());
    let whole = contents(&store);
    let part = within(&store, "compacted").remove(1);
    let mut bytes = removed(&store, &part);
    let size = bytes.len();
    bytes.truncate(10);
    replaced(&store, &part, bytes);
    let refused = fault(open(&store).compact(run).unwrap_err());
    let SegmentFault::Changed { object, why } = refused else { panic!("{refused}") };
    assert_eq!(
        (object, why),
        (part.to_string(), format!("it has 10 bytes, and its directory says {size}"))
    );
    // Once it has been deleted, it is written again.
    removed(&store, &part);
    assert_eq!(open(&store).compact(run).unwrap(), CompactionResult::Mended { parts: 1 });
    assert_eq!(contents(&store), whole);
}

#[test]
fn a_part_that_is_missing_with_its_segments_is_named() {
    let store = memory();
    let (_, run) = recorded(&open(&store), 300, 7);
    made(open(&store).compact(run).unwrap());
    expired(&store);
    let part = within(&store, "compacted").remove(1);
    removed(&store, &part);
    let missing = SegmentFault::Missing { object: part.to_string() };
    assert_eq!(fault(open(&store).compact(run).unwrap_err()), missing);
    assert!(open(&store).reader().unwrap().runs().unwrap().len() == 1);
}
