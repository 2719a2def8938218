//! Work that may take longer than a page should: it is done in the background, and the page shows its
//! progress.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use retold::run::clock::Stopwatch;

/// How long a page waits for work in the background.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// How much finished work is kept.
const MOST_KEPT: usize = 16;

/// How far some work has come.
pub(crate) enum Stand<T> {
    /// So many steps are done.
    Running(u64),
    /// It is done.
    Done(Arc<T>),
    /// It could not be done.
    Failed(String),
}

impl<T> Clone for Stand<T> {
    fn clone(&self) -> Self {
        match self {
            Stand::Running(done) => Stand::Running(*done),
            Stand::Done(result) => Stand::Done(result.clone()),
            Stand::Failed(why) => Stand::Failed(why.clone()),
        }
    }
}

/// Work in the background.
struct Job<T> {
    stand: Mutex<Stand<T>>,
    changed: Condvar,
    begun: Stopwatch,
}

/// Reports how far some work has come.
pub(crate) struct Progress<T>(Arc<Job<T>>);

impl<T> Progress<T> {
    pub(crate) fn at(&self, done: u64) {
        *locked(&self.0.stand) = Stand::Running(done);
    }
}

/// All work of one kind, by what it is about.
pub(crate) struct Jobs<K, T>(Mutex<BTreeMap<K, Arc<Job<T>>>>);

impl<K, T> Default for Jobs<K, T> {
    fn default() -> Self {
        Jobs(Mutex::default())
    }
}

impl<K: Ord + Clone, T: Send + Sync + 'static> Jobs<K, T> {
    /// The result of some work, which is begun if it was not yet. Waits a moment for its end.
    pub(crate) fn stand(
        &self,
        key: K,
        work: impl FnOnce(&Progress<T>) -> Result<T, String> + Send + 'static,
    ) -> Stand<T> {
        self.within(PATIENCE, key, work)
    }

    /// The same, with another time to wait.
    pub(crate) fn within(
        &self,
        patience: Duration,
        key: K,
        work: impl FnOnce(&Progress<T>) -> Result<T, String> + Send + 'static,
    ) -> Stand<T> {
        let job = {
            let mut jobs = locked(&self.0);
            match jobs.get(&key) {
                Some(job) => job.clone(),
                None => {
                    if jobs.len() >= MOST_KEPT {
                        let oldest = jobs.iter().max_by_key(|(_, job)| job.begun.elapsed());
                        let oldest = oldest.map(|(key, _)| key.clone());
                        oldest.and_then(|key| jobs.remove(&key));
                    }
                    let job = Arc::new(Job {
                        stand: Mutex::new(Stand::Running(0)),
                        changed: Condvar::new(),
                        begun: Stopwatch::start(),
                    });
                    jobs.insert(key, job.clone());
                    let progress = Progress(job.clone());
                    std::thread::spawn(move || {
                        // A page must not wait forever for work that has panicked.
                        let result = catch_unwind(AssertUnwindSafe(|| work(&progress)));
                        let stand = match result {
                            Ok(Ok(result)) => Stand::Done(Arc::new(result)),
                            Ok(Err(why)) => Stand::Failed(why),
                            Err(_) => Stand::Failed("an internal error ended it".to_owned()),
                        };
                        *locked(&progress.0.stand) = stand;
                        progress.0.changed.notify_all();
                    });
                    job
                }
            }
        };
        let held = locked(&job.stand);
        let is_running = |stand: &mut Stand<T>| matches!(stand, Stand::Running(_));
        let waited = job.changed.wait_timeout_while(held, patience, is_running);
        let (held, _) = waited.unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_has_failed() {
        let jobs: Jobs<u8, ()> = Jobs::default();
        let stand = jobs.within(Duration::from_secs(300), 1, |_| panic!("of a test"));
        assert!(matches!(stand, Stand::Failed(why) if why.contains("internal error")));
    }
}
