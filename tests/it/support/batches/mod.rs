//! The batch APIs of OpenAI (and Azure, where it is the same), Anthropic and Gemini, as strict as they are published, on a
//! loopback port of the test's own process: what was uploaded, created and paid for outlives every client that is killed.
//!
//! It also answers live requests, by the same function, so that a run by batch can be compared with a live one.

mod answers;
mod anthropic;
mod batch;
mod counts;
mod fates;
mod files;
mod gemini;
mod gemini_files;
mod multipart;
mod openai;
mod openai_files;
mod openai_lines;
mod routes;
mod troubles;
mod world;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::server::{Received, Reply, Server};
pub(crate) use answers::{Answer, Asked, Refusal, echo, study};
pub(crate) use counts::Counts;
pub(crate) use fates::Fate;
pub(crate) use routes::Kind;
use troubles::Troubles;
pub(crate) use troubles::{Trouble, What};
pub(crate) use world::Options;
use world::World;

/// A running fake. It ends when dropped.
pub(crate) struct BatchFake {
    server: Server,
    world: Arc<Mutex<World>>,
    troubles: Arc<Mutex<Troubles>>,
}

impl BatchFake {
    /// A fake that echoes, and its base URL, without `/v1`.
    pub(crate) fn start() -> (String, Self) {
        BatchFake::with(Options::default(), echo())
    }

    /// A fake with other options and answers, and its base URL, without `/v1`.
    pub(crate) fn with(options: Options, answer: Answer) -> (String, Self) {
        let world = Arc::new(Mutex::new(World::new(options, answer)));
        let troubles = Arc::new(Mutex::new(Troubles::default()));
        let shared = (world.clone(), troubles.clone());
        let server = Server::handler(move |received| reply(received, &shared.0, &shared.1));
        (format!("http://{}", server.address()), BatchFake { server, world, troubles })
    }

    /// Its base URL, without `/v1`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Lets time pass.
    pub(crate) fn advance(&self, seconds: i64) {
        self.world.lock().unwrap().advance(seconds);
    }

    /// Changes options while the fake runs.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Options)) {
        change(&mut self.world.lock().unwrap().options);
    }

    /// Decides how the n-th batch ends, from 0, before or after it is created.
    pub(crate) fn decide(&self, batch: usize, fate: Fate) {
        self.world.lock().unwrap().fates.insert(batch, fate);
    }

    /// Adds a request that goes wrong.
    pub(crate) fn trouble(&self, trouble: Trouble) {
        self.troubles.lock().unwrap().add(trouble);
    }

    /// Calls this while a request vanishes, its reply is lost, or a reply is sent that a test waits for: the test can kill its client
    /// there.
    pub(crate) fn on_trouble(&self, hook: impl FnMut() + Send + 'static) {
        self.troubles.lock().unwrap().hook = Some(Box::new(hook));
    }

    /// Everything that was counted so far.
    pub(crate) fn counts(&self) -> Counts {
        self.world.lock().unwrap().counts()
    }

    /// The requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.server.received()
    }
}

/// Answers a request, unless it is one that goes wrong.
fn reply(received: &Received, world: &Mutex<World>, troubles: &Mutex<Troubles>) -> Reply {
    let Some(route) = routes::route(received) else {
        return Reply::error(404, "not_found", "Not found");
    };
    let what = troubles.lock().unwrap().next(route.kind);
    let mut world_now = world.lock().unwrap();
    world_now.begin(received, &route);
    let act = |world: &mut World| match route.api {
        routes::Api::OpenAi => openai::reply(world, &route, received),
        routes::Api::Anthropic => anthropic::reply(world, &route, received),
        routes::Api::Gemini => gemini::reply(world, &route, received),
    };
    match what {
        None => act(&mut world_now),
        Some(What::Refused(status)) => {
            let refusal = Refusal::new(status, "refused for a test");
            let reply = match route.api {
                routes::Api::OpenAi => openai::refuse(&refusal, None),
                routes::Api::Anthropic => anthropic::refuse(&refusal),
                routes::Api::Gemini => gemini::refuse(&refusal),
            };
            reply.header("retry-after", "0")
        }
        Some(what) => {
            let reply = (what != What::Vanished).then(|| act(&mut world_now));
            drop(world_now);
            troubles.lock().unwrap().interrupt();
            match (what, reply) {
                (What::Answered, Some(reply)) => reply,
                (What::Halfway, Some(reply)) => reply.slow_body(Duration::from_secs(1)),
                _ => Reply::reset(),
            }
        }
    }
}
