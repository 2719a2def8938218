//! Embeddings requested at the same time count as one attempt, because they are sent as one
//! request.
//!
//! Each text is a question of its own. If each took a place among the attempts, no more texts could
//! be sent together than there are places, and every text would have to wait for the time between
//! two requests.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::sleep;

use crate::model::{EMBEDDINGS_TOGETHER, Permit, Throttle};
use crate::prompt::Request;

/// How long the first text of a group waits for others: short compared with any answer.
const WINDOW: Duration = Duration::from_millis(5);

/// The groups that can still be joined, by model.
#[derive(Default)]
pub(super) struct Together(RefCell<BTreeMap<String, Rc<EmbeddingGroup>>>);

#[derive(Default)]
struct EmbeddingGroup {
    members: Cell<usize>,
    /// The place that they share. If the member that waits for it gives up, another one waits
    /// instead.
    permit: OnceCell<Rc<Permit>>,
}

impl Together {
    /// Waits for a place, together with all questions that ask before it is available.
    pub(super) async fn permit(&self, throttle: &Throttle, request: &Request) -> Rc<Permit> {
        let model = request.model().unwrap_or("");
        let group = self.join(model);
        let permit = group.permit.get_or_init(|| async {
            sleep(WINDOW).await;
            let permit = throttle.acquire().await;
            // Later questions belong to the next group.
            let mut open = self.0.borrow_mut();
            if open.get(model).is_some_and(|open| Rc::ptr_eq(open, &group)) {
                open.remove(model);
            }
            Rc::new(permit)
        });
        permit.await.clone()
    }

    fn join(&self, model: &str) -> Rc<EmbeddingGroup> {
        let mut open = self.0.borrow_mut();
        let joined = open.get(model).filter(|group| group.members.get() < EMBEDDINGS_TOGETHER);
        let group = joined.cloned().unwrap_or_default();
        group.members.set(group.members.get() + 1);
        open.insert(model.to_owned(), group.clone());
        group
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use tokio::time::Instant;

    use super::*;
    use crate::model::Limits;
    use crate::prompt::EmbeddingRequest;

    fn request(model: &str) -> Request {
        let (model, input) = (model.to_owned(), "a text".to_owned());
        EmbeddingRequest { model, input, dimensions: None }.into_request().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_hundred_texts_take_one_place_and_one_interval() {
        let limits = Limits { concurrency: 1, min_interval_seconds: 3.0, ..Limits::default() };
        let throttle = Throttle::new(&limits).unwrap();
        let (together, start) = (Together::default(), Instant::now());
        let asked = (0..250).map(|_| async {
            let _place = together.permit(&throttle, &request("m")).await;
            start.elapsed().as_secs()
        });
        let mut begun = BTreeMap::new();
        join_all(asked).await.into_iter().for_each(|at| *begun.entry(at).or_insert(0) += 1);
        assert_eq!(begun, BTreeMap::from([(0, 100), (3, 100), (6, 50)]));
        assert!(together.0.borrow().is_empty(), "who comes now begins another group");
    }

    #[tokio::test(start_paused = true)]
    async fn models_do_not_share_a_slot_and_one_that_gives_up_frees_it() {
        let limits = Limits { concurrency: 1, ..Limits::default() };
        let throttle = Throttle::new(&limits).unwrap();
        let together = Together::default();
        let (one, other) = (request("one"), request("other"));
        let second = async {
            let place = together.permit(&throttle, &one).await;
            // The only place is taken, so another model's text has to wait.
            let wait = Duration::from_secs(1);
            let waited = tokio::time::timeout(wait, together.permit(&throttle, &other)).await;
            assert!(waited.is_err());
            drop(place);
        };
        let first = tokio::time::timeout(WINDOW / 2, together.permit(&throttle, &one));
        let (first, ()) = tokio::join!(first, second);
        assert!(first.is_err(), "it gave up while the group was waiting");
        let _place = together.permit(&throttle, &other).await;
    }
}
