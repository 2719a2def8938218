//! The least that a proxy does, for comparison: axum in front, reqwest behind, and, if it keeps what
//! passes, one SQLite row per exchange, durable before the answer is sent. It knows no API, hashes
//! nothing and could replay nothing, so a recorder cannot be faster than it on the same machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use bytes::Bytes;
use reqwest::Client;
use rusqlite::Connection;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A request, its answer, and who waits until they are on disk.
type Row = (Bytes, Bytes, oneshot::Sender<()>);

#[derive(Clone)]
struct Proxy {
    http: Client,
    url: String,
    rows: Option<Sender<Row>>,
}

/// A proxy in front of an upstream, which keeps what passes in a file if one is named.
pub(crate) async fn bare_proxy(upstream: SocketAddr, file: Option<&Path>) -> SocketAddr {
    let rows = file.map(|file| {
        let db = Connection::open(file).unwrap();
        let (sender, receiver) = channel();
        std::thread::spawn(move || store(&db, &receiver));
        sender
    });
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = Client::builder().no_proxy().build().unwrap();
    let url = format!("http://{upstream}/openai/chat/completions");
    let router = Router::new().route("/openai/chat/completions", post(pass)).with_state(Proxy {
        http,
        url,
        rows,
    });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

async fn pass(
    State(proxy): State<Proxy>,
    body: Bytes,
) -> ([(axum::http::HeaderName, &'static str); 1], Bytes) {
    let request = proxy.http.post(&proxy.url).header(CONTENT_TYPE, "application/json");
    let answer = request.body(body.clone()).send().await.unwrap().bytes().await.unwrap();
    if let Some(rows) = &proxy.rows {
        let (done, durable) = oneshot::channel();
        rows.send((body, answer.clone(), done)).unwrap();
        durable.await.unwrap();
    }
    ([(CONTENT_TYPE, "application/json")], answer)
}

/// Everything that waits goes into one transaction, as in the log.
fn store(db: &Connection, rows: &Receiver<Row>) {
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.pragma_update(None, "synchronous", "FULL").unwrap();
    db.execute_batch("CREATE TABLE e (id INTEGER PRIMARY KEY, request BLOB, answer BLOB)").unwrap();
    let mut insert = db.prepare("INSERT INTO e (request, answer) VALUES (?1, ?2)").unwrap();
    while let Ok(first) = rows.recv() {
        let mut waiting = Vec::new();
        db.execute_batch("BEGIN").unwrap();
        for (request, answer, done) in std::iter::once(first).chain(rows.try_iter()) {
            insert.execute((&request[..], &answer[..])).unwrap();
            waiting.push(done);
        }
        db.execute_batch("COMMIT").unwrap();
        for done in waiting {
            let _ = done.send(());
        }
    }
}
