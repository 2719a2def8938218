//! A store that nobody here knows: one list of everything that was appended, in one file of the tests. It conforms
//! because it keeps to the trait, and a study, a check and an audit run on it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::conformance::conforms;
use retold::log::ledger::{LedgerEntry, LedgerHead};
use retold::log::{
    Append, Backend, Committer, Head, LastWriter, Lease, LeaseGuard, Log, LogError, Reader,
    RunHead, StoreIndex, StoreInfo, Turn,
};
use retold::prompt::Request;

use crate::support::logs::assert_sound;
use crate::support::mixed::Mixed;
use crate::support::oracle::Oracle;
use crate::support::trial::Trial;

#[derive(Debug, Clone, Default)]
struct ListStore(Arc<Mutex<Lists>>);

#[derive(Debug, Clone, Default)]
struct Lists {
    events: Vec<(StoredEvent, Option<Request>)>,
    ledger: Vec<LedgerEntry>,
    leases: BTreeSet<RunId>,
}

impl Lists {
    fn head(&self, run: RunId) -> Head {
        let last = self.events.iter().rev().find(|(event, _)| event.run == run);
        last.map_or(Head::START, |(event, _)| Head { seq: event.seq, hash: event.hash })
    }

    fn add(&mut self, append: &Append) -> Result<(), LogError> {
        let run = append.run;
        append.end_after(self.head(run))?;
        for event in &append.events {
            self.events.push((event.to_stored(run), event.event().prompt.clone()));
        }
        for (change, head) in append.ledger_changes() {
            let last = self.ledger.last().map_or(LedgerHead::START, LedgerEntry::ledger_head);
            self.ledger.push(LedgerEntry::after(last, change, run, head));
        }
        Ok(())
    }

    fn request(&self, prompt: PromptHash) -> Option<Request> {
        self.events.iter().find_map(|(_, request)| {
            request.as_ref().filter(|request| request.hash() == prompt).cloned()
        })
    }
}

impl ListStore {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap()
    }
}

#[derive(Debug)]
struct ListLease(ListStore, RunId);

impl LeaseGuard for ListLease {}

impl Drop for ListLease {
    fn drop(&mut self) {
        self.0.lists().leases.remove(&self.1);
    }
}

impl Backend for ListStore {
    fn info(&self) -> StoreInfo {
        StoreInfo { name: "a list".to_owned(), ..StoreInfo::default() }
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        match self.lists().leases.insert(run) {
            true => Ok(Lease::new(ListLease(self.clone(), run))),
            false => Err(LogError::InUse { run, holder: String::new() }),
        }
    }

    fn last_writer(&self, _run: RunId) -> Result<Option<LastWriter>, LogError> {
        Ok(None)
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        Ok(Box::new(ListCommitter { store: self.clone(), staged: Vec::new() }))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(self.clone()))
    }
}

struct ListCommitter {
    store: ListStore,
    staged: Vec<Append>,
}

impl Committer for ListCommitter {
    fn append(&mut self, append: &Append) -> Result<(), LogError> {
        self.staged.push(append.clone());
        Ok(())
    }

    fn flush(&mut self) -> Result<Turn, LogError> {
        let staged = std::mem::take(&mut self.staged);
        let mut lists = self.store.lists();
        let mut after = lists.clone();
        staged.iter().try_for_each(|append| after.add(append))?;
        *lists = after;
        Ok(Turn::Free)
    }
}

impl Reader for ListStore {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        let lists = self.lists();
        let first = lists.events.iter().filter(|(event, _)| event.seq == Seq(1));
        let head = |event: &StoredEvent| RunHead {
            run: event.run,
            started: event.time,
            head: lists.head(event.run),
        };
        Ok(first.map(|(event, _)| head(event)).collect())
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        let lists = self.lists();
        let of_run = lists.events.iter().map(|(event, _)| event).filter(|event| event.run == run);
        Ok(of_run.filter(|event| event.seq > after).take(limit).cloned().collect())
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        let lists = self.lists();
        let later = lists.ledger.iter().filter(|entry| entry.number > after);
        Ok(later.take(limit).cloned().collect())
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        Ok(self.lists().request(prompt))
    }

    fn index(&mut self) -> Option<&mut dyn StoreIndex> {
        None
    }
}

#[test]
fn a_third_store_conforms() {
    conforms(&ListStore::default());
}

#[tokio::test(start_paused = true)]
async fn an_experiment_runs_on_it_and_replays_from_it() {
    let log = Log::new(Arc::new(ListStore::default()));
    let (mixed, model) = (Mixed { people: 6 }, || Oracle::failing(|_| None));
    let expected = Trial::in_memory(model()).record(&mixed).await;
    let trial = Trial::new(&log, 1, model());
    assert_eq!(trial.record(&mixed).await, expected);
    assert_eq!(trial.replay(&mixed).await, expected);
    assert_sound(&log);
}
