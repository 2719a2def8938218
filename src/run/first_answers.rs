//! The first question to each model is asked alone: what a server refuses about it, it would refuse about all.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::prompt::{Api, Request};

/// The models that have answered a run, and whose turn it is to ask the others.
#[derive(Default)]
pub(super) struct FirstAnswers(RefCell<BTreeMap<String, FirstAnswer>>);

#[derive(Clone)]
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
    /// Waits for the turn to ask a model that has not answered yet; `None` if it has. Texts to be embedded are asked
    /// together, and need no turn.
    pub(super) async fn turn(&self, request: &Request) -> Option<OwnedSemaphorePermit> {
        if request.api() == Api::Embedding || self.has(request) {
            return None;
        }
        let turn = self.0.borrow_mut().entry(name(request)).or_default().turn.clone();
        // The semaphore is never closed.
        let turn = turn.acquire_owned().await.ok();
        turn.filter(|_| !self.has(request))
    }

    /// Takes in that the model has answered.
    pub(super) fn add(&self, request: &Request) {
        if !self.has(request) {
            self.0.borrow_mut().entry(name(request)).or_default().is_there = true;
        }
    }

    /// Whether the model of a request has answered.
    pub(super) fn has(&self, request: &Request) -> bool {
        self.0.borrow().get(request.model().unwrap_or("")).is_some_and(|first| first.is_there)
    }
}

fn name(request: &Request) -> String {
    request.model().unwrap_or("").to_owned()
}
