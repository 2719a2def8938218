//! Recorders and replayers, and the server that they are compared with.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use retold::event::RunStarted;
use retold::id::RunId;
use retold::log::{Log, SqliteBackend, SqliteOptions};
use retold::model::NamedUrl;
use retold::run::{Budget, Recorder};
use retold_wire::{
    Front, LONGEST_BODY, PROGRAM, Pace, Rules, Samples, Server, Session, SessionSetup, Upstreams,
};
use tokio::net::TcpListener;

pub(crate) const RUN: RunId = RunId([7; 8]);

/// The name of the upstream.
const UPSTREAM: &str = "openai";

/// What the upstream answers: a text of 400 bytes.
pub(crate) fn answer() -> String {
    let text = "I give ten of my twenty tokens. ".repeat(13);
    serde_json::json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "gpt-4o-mini",
        "choices": [{
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }],
        "usage": {"prompt_tokens": 250, "completion_tokens": 100, "total_tokens": 350},
    })
    .to_string()
}

/// A bare server that gives the same answer to every request.
pub(crate) async fn bare() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = bytes::Bytes::from(answer());
    let answer = move |_: bytes::Bytes| {
        let body = body.clone();
        async move { ([(CONTENT_TYPE, "application/json")], body) }
    };
    let router = Router::new().route("/openai/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// A recorder or replayer that is serving.
pub(crate) struct Serving {
    pub(crate) address: SocketAddr,
    session: Arc<Session>,
    server: tokio::task::JoinHandle<()>,
}

impl Serving {
    async fn new(setup: SessionSetup) -> Self {
        let session = Session::new(setup).unwrap();
        let server = Server::bind().await.unwrap();
        let address = server.address();
        let front = Front::new(session.clone(), vec![UPSTREAM.to_owned()]);
        let server = tokio::spawn(server.serve(Arc::new(front)));
        Serving { address, session, server }
    }

    /// Ends it, and the run that it records.
    pub(crate) async fn end(self) {
        self.server.abort();
        self.session.work.idle().await;
        self.session.end(true).await.unwrap();
    }
}

fn opened(log: &Path) -> Log {
    let backend = SqliteBackend::open_or_create(log, SqliteOptions::default()).unwrap();
    Log::new(Arc::new(backend))
}

/// A recorder of a new run.
pub(crate) async fn recorder(log: &Path, upstream: SocketAddr) -> Serving {
    let log = opened(log);
    let started = RunStarted::new(
        PROGRAM,
        0,
        serde_json::json!({"command": [], "upstreams": [UPSTREAM]}),
        serde_json::json!({}),
    );
    let recorder = Recorder::begin(&log, RUN, started).await.unwrap();
    let url = NamedUrl::from_user(format!("http://{upstream}/{UPSTREAM}"));
    let upstreams = Upstreams::new(&BTreeMap::from([(UPSTREAM.to_owned(), url)])).unwrap();
    Serving::new(SessionSetup {
        log,
        run: RUN,
        recorder: Some(recorder),
        samples: Samples::none(),
        rules: Rules::default(),
        upstreams: Some(upstreams),
        shared: false,
        holds: false,
        is_chance_recorded: false,
        budget: Budget::unlimited(),
        pace: Pace::AtOnce,
        longest_body: LONGEST_BODY,
    })
    .await
}

/// A replayer of the recorded run.
pub(crate) async fn replayer(log: &Path) -> Serving {
    let log = opened(log);
    let rules = Rules::default();
    let samples = Samples::open(&log, RUN, &rules, retold_wire::FailureReplay::Sent).unwrap();
    Serving::new(SessionSetup {
        log,
        run: RUN,
        recorder: None,
        samples,
        rules,
        upstreams: None,
        shared: false,
        holds: false,
        is_chance_recorded: false,
        budget: Budget::unlimited(),
        pace: Pace::AtOnce,
        longest_body: LONGEST_BODY,
    })
    .await
}
