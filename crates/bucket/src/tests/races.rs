//! Two writers of one run.

use std::sync::Arc;
use std::sync::Barrier;

use object_store::ObjectStore;
use retold::id::{RunId, Seq};
use retold::log::{Append, Backend, Head, LogError, verify_all};

use super::faulty::FaultyStore;
use super::{end, memory, open, some, started};

/// Two processes go on with one run at the same moment, five commits each.
fn race(store: &Arc<dyn ObjectStore>, run: RunId, head: Head) -> [Result<(), LogError>; 2] {
    let barrier = Barrier::new(2);
    let go_on = |who: i64| {
        let backend = open(store);
        let mut committer = backend.committer().unwrap();
        let _lease = backend.lease(run)?;
        let mut head = head;
        barrier.wait();
        for n in 0..5 {
            let numbers = who * 1000 + n..who * 1000 + n + 1;
            let append = Append::new(run, head, some("Occurred", numbers));
            committer.commit(std::slice::from_ref(&append))?;
            head = end(&append);
        }
        Ok(())
    };
    let go_on = &go_on;
    std::thread::scope(|scope| {
        let both = [1, 2].map(|who| scope.spawn(move || go_on(who)));
        both.map(|thread| thread.join().unwrap())
    })
}

#[test]
fn of_two_writers_one_goes_on_and_the_other_says_why_not() {
    for n in 0..1000_u64 {
        // In every fourth race the store fails, too.
        let bare = memory();
        let store: Arc<dyn ObjectStore> = match n % 4 {
            0 => Arc::new(FaultyStore::failing(bare.clone(), n)),
            _ => bare.clone(),
        };
        let run = RunId(n.to_be_bytes());
        let head = started(&open(&store), run);
        let results = race(&store, run, head);
        let failed: Vec<&LogError> = results.iter().filter_map(|r| r.as_ref().err()).collect();
        let [error] = failed[..] else { panic!("{n}: {results:?}") };
        match error {
            LogError::InUse { run: of, holder } => {
                assert_eq!(*of, run);
                assert!(holder.starts_with(" (process "), "{n}: {holder}");
            }
            // The other was done before this one looked where the run ends.
            LogError::Conflict { run: of, .. } => assert_eq!(*of, run),
            other => panic!("{n}: {other}"),
        }
        let backend = open(&bare);
        let mut reader = backend.reader().unwrap();
        let events = reader.events(run, Seq(0), 100).unwrap();
        assert_eq!(events.len(), 3 + 5, "{n}: all of one, nothing of the other");
        let (runs, problems) = verify_all(reader.as_mut()).unwrap();
        assert!(problems.is_empty(), "{n}: {problems:?}");
        let findings: Vec<_> = runs.iter().filter_map(|run| run.finding.as_ref()).collect();
        assert!(findings.is_empty(), "{n}: {findings:?}");
    }
}
