//! Work that may take longer than a page should: it is done in the background, and the page shows its
//! progress.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use retold::run::clock::Stopwatch;

use crate::background::{Background, WAIT_TIMEOUT, lock};
use crate::job_error::JobError;

/// How much finished work is kept, unless it is large.
const MOST_KEPT: usize = 16;

/// How far some work has come.
pub(crate) enum JobState<T> {
    /// So many steps are done.
    Running(u64),
    /// It is done.
    Done(Arc<T>),
    /// It could not be done.
    Failed(Arc<JobError>),
}

impl<T> Clone for JobState<T> {
    fn clone(&self) -> Self {
        match self {
            JobState::Running(done) => JobState::Running(*done),
            JobState::Done(result) => JobState::Done(result.clone()),
            JobState::Failed(why) => JobState::Failed(why.clone()),
        }
    }
}

/// Work in the background.
struct Job<T> {
    background: Arc<Background<JobState<T>>>,
    begun: Stopwatch,
}

/// Reports how far some work has come.
pub(crate) struct JobProgress<T>(Arc<Background<JobState<T>>>);

impl<T> JobProgress<T> {
    pub(crate) fn at(&self, done: u64) {
        *self.0.state() = JobState::Running(done);
    }
}

/// All work of one kind, by its subject.
pub(crate) struct Jobs<K, T> {
    jobs: Mutex<BTreeMap<K, Job<T>>>,
    /// How much finished work is kept.
    most: usize,
}

impl<K, T> Default for Jobs<K, T> {
    fn default() -> Self {
        Jobs::keeping(MOST_KEPT)
    }
}

impl<K, T> Jobs<K, T> {
    /// Work whose results take much memory, so that only some are kept.
    pub(crate) fn keeping(most: usize) -> Self {
        Jobs { jobs: Mutex::default(), most }
    }
}

impl<K: Ord + Clone, T: Send + Sync + 'static> Jobs<K, T> {
    /// The result of some work, which is begun if it was not yet. Waits a moment for its end.
    pub(crate) fn stand(
        &self,
        key: K,
        work: impl FnOnce(&JobProgress<T>) -> Result<T, JobError> + Send + 'static,
    ) -> JobState<T> {
        self.within(WAIT_TIMEOUT, key, work)
    }

    /// The same, with another time to wait.
    pub(crate) fn within(
        &self,
        timeout: Duration,
        key: K,
        work: impl FnOnce(&JobProgress<T>) -> Result<T, JobError> + Send + 'static,
    ) -> JobState<T> {
        let background = {
            let mut jobs = lock(&self.jobs);
            match jobs.get(&key) {
                Some(job) => job.background.clone(),
                None => {
                    if jobs.len() >= self.most {
                        let oldest = jobs.iter().max_by_key(|(_, job)| job.begun.elapsed());
                        let oldest = oldest.map(|(key, _)| key.clone());
                        oldest.and_then(|key| jobs.remove(&key));
                    }
                    let background = Arc::new(Background::new(JobState::Running(0)));
                    let begun = Stopwatch::start();
                    jobs.insert(key, Job { background: background.clone(), begun });
                    let progress = JobProgress(background.clone());
                    background.begin(
                        move || work(&progress),
                        |stand, result| {
                            *stand = match result {
                                Ok(result) => JobState::Done(Arc::new(result)),
                                Err(why) => JobState::Failed(Arc::new(why)),
                            };
                        },
                    );
                    background
                }
            }
        };
        background.wait_while(timeout, |stand| matches!(stand, JobState::Running(_))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_has_failed() {
        let jobs: Jobs<u8, ()> = Jobs::default();
        let stand = jobs.within(Duration::from_secs(300), 1, |_| panic!("of a test"));
        assert!(matches!(stand, JobState::Failed(why) if matches!(*why, JobError::Panicked)));
    }
}
