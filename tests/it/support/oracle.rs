//! A model whose answers depend on the question alone, however long it takes to give them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::content::Content;
use retold::model::{Ask, Failure, Model, ModelInfo, Response};
use retold::prompt::Api;

/// What an attempt gets instead of an answer.
pub(crate) type Fault = fn(Ask<'_>) -> Option<Failure>;

/// Answers immediately, or after a time drawn from a seed.
pub(crate) struct Oracle {
    /// Seeds the order in which answers arrive; 0 means immediately.
    pub(crate) order: u64,
    /// The longest time that an answer takes.
    pub(crate) slow: Duration,
    pub(crate) fault: Fault,
    pub(crate) calls: AtomicU64,
}

impl Oracle {
    /// Answers immediately.
    pub(crate) fn prompt() -> Arc<Self> {
        Self::failing(|_| None)
    }

    /// Answers immediately, except for some faults.
    pub(crate) fn failing(fault: Fault) -> Arc<Self> {
        let (order, slow) = (0, Duration::ZERO);
        Arc::new(Oracle { order, slow, fault, calls: AtomicU64::new(0) })
    }

    /// Answers in an order drawn from a seed.
    pub(crate) fn shuffled(order: u64, slow: Duration, fault: Fault) -> Arc<Self> {
        Arc::new(Oracle { order, slow, fault, calls: AtomicU64::new(0) })
    }

    /// How often it was asked.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Eight bytes that depend on a question and a purpose.
pub(crate) fn dice(ask: Ask<'_>, purpose: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(ask.request.hash().as_bytes()).update(&ask.sample.to_le_bytes());
    hasher.update(ask.call.as_str().as_bytes()).update(b"\n").update(purpose.as_bytes());
    u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().unwrap())
}

/// The answer to a question.
pub(crate) fn answer(ask: Ask<'_>) -> Content {
    let n = dice(ask, "answer");
    if ask.request.api() == Api::Embedding {
        return Content::Vector((0..4).map(|i| (n >> i) as f32 / 3.0).collect());
    }
    match n % 10 {
        0 => "I would rather not say.".into(),
        1 => "".into(),
        _ => format!("I say {}.\nAnd \"that\" is \u{1F3B2} final.", n % 1000).into(),
    }
}

impl Model for Oracle {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "oracle".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            if self.order > 0 {
                let dice = dice(ask, &format!("order {} {}", self.order, ask.attempt));
                let share = (dice % 1000) as f64 / 1000.0;
                tokio::time::sleep(self.slow.mul_f64(share)).await;
            }
            match (self.fault)(ask) {
                Some(failure) => Err(failure),
                None => Ok(Response { content: answer(ask), ..Response::text("") }),
            }
        }
        .boxed()
    }
}
