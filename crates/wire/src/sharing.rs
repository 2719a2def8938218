//! Answers that equal requests share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::asked::Key;
use crate::replay_queue::Place;
use crate::session::lock;

/// The answers that equal requests share, by what counts of a request.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    answers: Mutex<BTreeMap<Key, Shared>>,
}

/// What is known of the answer to a request.
#[derive(Debug, Clone)]
enum Shared {
    Asked(Arc<Notify>),
    Answered(Place),
}

impl Sharing {
    /// The answer that an equal request has got; waits for it if it is under way. `None` if this
    /// request is the first.
    pub(crate) async fn awaited(&self, key: &Key) -> Option<Place> {
        loop {
            let notify = {
                let mut answers = lock(&self.answers);
                match answers.get(key) {
                    Some(Shared::Answered(place)) => return Some(*place),
                    Some(Shared::Asked(notify)) => notify.clone(),
                    None => {
                        answers.insert(key.clone(), Shared::Asked(Arc::default()));
                        return None;
                    }
                }
            };
            let notified = notify.notified();
            // It may have been answered between looking and waiting.
            let still =
                lock(&self.answers).get(key).is_some_and(|it| matches!(it, Shared::Asked(_)));
            if still {
                notified.await;
            }
        }
    }

    /// The answer that an equal request has got already.
    pub(crate) fn answered(&self, key: &Key) -> Option<Place> {
        match lock(&self.answers).get(key) {
            Some(Shared::Answered(place)) => Some(*place),
            Some(Shared::Asked(_)) | None => None,
        }
    }

    /// Notes what became of a request; `None` if it failed.
    pub(crate) fn note(&self, key: &Key, place: Option<Place>) {
        let mut answers = lock(&self.answers);
        let before = match place {
            Some(place) => answers.insert(key.clone(), Shared::Answered(place)),
            None => answers.remove(key),
        };
        if let Some(Shared::Asked(notify)) = before {
            notify.notify_waiters();
        }
    }
}
