//! A proxy in front of a store: it counts what the store is asked, and may make it a bad day, on which requests are answered
//! with 503, connections are reset, and replies are lost.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rand_chacha::rand_core::Rng;
use retold::run::rng_for;

use super::moto::{is_of_connection, pass_on};
use crate::support::server::{Received, Reply, Server};

/// What becomes of a request that does not fare well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mishap {
    /// The store asks for fewer requests, and does nothing.
    SlowDown,
    /// The connection is reset before the store has the request.
    Reset,
    /// The store does what it is asked, and the reply is lost.
    LostReply,
    /// The store does what it is asked, and half the reply arrives.
    CutReply,
}

/// A sixth of all requests: each of these once in twenty-four, in an order that a seed gives.
const MISHAPS: [Mishap; 4] = [Mishap::SlowDown, Mishap::Reset, Mishap::LostReply, Mishap::CutReply];

/// What S3 says to those who ask too much (its API reference, "Error responses", `SlowDown`).
const SLOW_DOWN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>SlowDown</Code>\
                         <Message>Please reduce your request rate.</Message></Error>";

/// Stands before a store, and ends when dropped.
pub(super) struct FaultProxy {
    server: Server,
    met: Arc<Mutex<BTreeMap<Mishap, u32>>>,
    requests: Arc<AtomicU64>,
}

impl FaultProxy {
    /// One that has a bad day.
    pub(super) fn before(store: SocketAddr, seed: u64) -> Self {
        let mut rng = rng_for(seed, "mishaps");
        FaultProxy::with(store, move || MISHAPS.get((rng.next_u64() % 24) as usize).copied())
    }

    /// One that only counts.
    pub(super) fn counting(store: SocketAddr) -> Self {
        FaultProxy::with(store, || None)
    }

    fn with(
        store: SocketAddr,
        mut mishap: impl FnMut() -> Option<Mishap> + Send + 'static,
    ) -> Self {
        let met: Arc<Mutex<BTreeMap<Mishap, u32>>> = Arc::default();
        let requests = Arc::new(AtomicU64::new(0));
        let (meeting, counting) = (met.clone(), requests.clone());
        let server = Server::handler(move |request| {
            counting.fetch_add(1, Ordering::Relaxed);
            let mishap = mishap();
            if let Some(mishap) = mishap {
                *meeting.lock().unwrap().entry(mishap).or_default() += 1;
            }
            answered(store, request, mishap)
        });
        FaultProxy { server, met, requests }
    }

    /// How many requests there were since this was last asked.
    pub(super) fn requests(&self) -> u64 {
        self.requests.swap(0, Ordering::Relaxed)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// How often each of them has happened.
    pub(super) fn met(&self) -> BTreeMap<Mishap, u32> {
        self.met.lock().unwrap().clone()
    }
}

fn answered(store: SocketAddr, request: &Received, mishap: Option<Mishap>) -> Reply {
    match mishap {
        Some(Mishap::SlowDown) => return Reply::new(503, SLOW_DOWN),
        Some(Mishap::Reset) => return Reply::reset(),
        _ => {}
    }
    let mut answer = pass_on(store, request);
    let half = answer.body.len() / 2;
    let is_head = request.method == "HEAD";
    if is_head {
        // It says how large the object is, and nothing of it follows.
        let length = answer.headers.iter().find(|(name, _)| name == "content-length");
        answer.body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    }
    let headers = answer.headers.into_iter().filter(|(name, _)| !is_of_connection(name));
    let whole = headers.fold(Reply::new(answer.status, answer.body), |reply, (name, value)| {
        reply.header(&name, &value)
    });
    let whole = if is_head { whole.cut_after(0) } else { whole };
    match mishap {
        Some(Mishap::LostReply) => Reply::reset(),
        // Of an empty body, half is all.
        Some(Mishap::CutReply) if half == 0 => Reply::reset(),
        Some(Mishap::CutReply) => whole.cut_after(half),
        _ => whole,
    }
}
