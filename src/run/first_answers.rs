//! The first question to each model is asked alone, and so is the first whose turns do not alternate: a server that refuses
//! it would refuse all for the same reason.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::model::providers::alternating;
use crate::prompt::{Api, Request};

/// The models that have answered a run, and whose turn it is to ask the others.
#[derive(Default)]
pub(super) struct FirstAnswers(RefCell<BTreeMap<RequestShape, FirstAnswer>>);

/// The properties of a request that a server may refuse: the name of its model, and whether its turns alternate.
type RequestShape = (String, bool);

struct FirstAnswer {
    is_there: bool,
    turn: Arc<Semaphore>,
}

impl Default for FirstAnswer {
    fn default() -> Self {
        FirstAnswer { is_there: false, turn: Arc::new(Semaphore::new(1)) }
    }
}

impl FirstAnswers {
    /// Waits for the turn to ask what has not been answered yet; `None` if something of its shape has. Texts to be embedded
    /// are asked together, and need no turn.
    pub(super) async fn turn(&self, request: &Request) -> Option<OwnedSemaphorePermit> {
        if request.api() == Api::Embedding {
            return None;
        }
        let shape = shape(request);
        let turn = {
            let mut answers = self.0.borrow_mut();
            let first = answers.entry(shape.clone()).or_default();
            if first.is_there {
                return None;
            }
            first.turn.clone()
        };
        // The semaphore is never closed.
        let turn = turn.acquire_owned().await.ok();
        turn.filter(|_| !self.0.borrow().get(&shape).is_some_and(|first| first.is_there))
    }

    /// Takes in that a request was answered.
    pub(super) fn add(&self, request: &Request) {
        self.0.borrow_mut().entry(shape(request)).or_default().is_there = true;
    }

    /// Whether the model of a request has answered.
    pub(super) fn has_model(&self, request: &Request) -> bool {
        let asked = request.model().unwrap_or("");
        self.0.borrow().iter().any(|((model, _), first)| model == asked && first.is_there)
    }
}

fn shape(request: &Request) -> RequestShape {
    let alternates =
        request.body().as_object().is_some_and(|body| matches!(alternating(body), Ok(None)));
    (request.model().unwrap_or("").to_owned(), alternates)
}
