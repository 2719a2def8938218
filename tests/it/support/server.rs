//! A loopback HTTP server that misbehaves on request.
//!
//! It runs on a thread of its own, with its own clock, so that it serves tests with paused time as
//! well as tests that start the real program.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) target: String,
    /// In order, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Whether a study asks which models there are.
    fn asks_for_models(&self) -> bool {
        let path = self.target.split('?').next().unwrap_or("");
        let is_study = self.header("user-agent").is_some_and(|agent| agent.starts_with("retold/"));
        self.method == "GET" && path.ends_with("/models") && is_study
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What to answer, and how badly.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    manner: Manner,
}

/// How a reply is sent.
#[derive(Debug, Clone)]
enum Manner {
    Whole,
    /// The connection is reset (RST) before the first byte.
    Reset,
    /// The connection is reset after this many bytes of the body.
    ResetAfter(usize),
    /// The connection is closed after this many bytes of the body.
    CutAfter(usize),
    /// Half the body, a wait, then the rest.
    SlowBody(Duration),
    /// A wait before the first byte.
    SlowStart(Duration),
    /// Its length is not announced: the body ends with the connection.
    Unannounced,
    /// Chunks that end here, with a pause after each; whether the end of the body is sent.
    Chunks(Vec<usize>, Duration, bool),
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Reply { status, headers, body: body.into(), manner: Manner::Whole }
    }

    /// A chat completion with this text.
    pub(crate) fn chat(text: &str) -> Self {
        let body = serde_json::json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test-model-1",
            "choices": [{
                "index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": text}
            }],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        });
        Reply::new(200, body.to_string())
    }

    /// An error as OpenAI writes it.
    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        let error = serde_json::json!({"error": {"message": message, "type": code, "code": code}});
        Reply::new(status, error.to_string())
    }

    /// The text of a chat completion.
    pub(crate) fn text(&self) -> String {
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        body["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    }

    /// The body.
    pub(crate) fn body_json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Adds a header, or replaces the one with this name.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(n, _)| n != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn reset() -> Self {
        Reply { manner: Manner::Reset, ..Reply::new(200, "") }
    }

    pub(crate) fn reset_after(self, bytes: usize) -> Self {
        Reply { manner: Manner::ResetAfter(bytes), ..self }
    }

    pub(crate) fn cut_after(self, bytes: usize) -> Self {
        Reply { manner: Manner::CutAfter(bytes), ..self }
    }

    pub(crate) fn slow_body(self, wait: Duration) -> Self {
        Reply { manner: Manner::SlowBody(wait), ..self }
    }

    pub(crate) fn slow_start(self, wait: Duration) -> Self {
        Reply { manner: Manner::SlowStart(wait), ..self }
    }

    /// In chunks that end at these places, with a pause after each.
    pub(crate) fn chunks(self, ends: Vec<usize>, pause: Duration) -> Self {
        Reply { manner: Manner::Chunks(ends, pause, true), ..self }
    }

    /// The same, but the connection is closed without the end of the body.
    pub(crate) fn cut_chunks(self, ends: Vec<usize>) -> Self {
        Reply { manner: Manner::Chunks(ends, Duration::from_millis(5), false), ..self }
    }

    pub(crate) fn unannounced(self) -> Self {
        Reply { manner: Manner::Unannounced, ..self }
    }
}

type Handler = Box<dyn FnMut(&Received) -> Reply + Send>;

struct Shared {
    handler: Mutex<Handler>,
    /// What a study is told that asks for the list of models, of which nothing else is told.
    models: Mutex<Reply>,
    received: Mutex<Vec<Received>>,
}

/// A server on a port of its own, which ends when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    _stop: oneshot::Sender<()>,
}

impl Server {
    /// Answers the n-th request with the n-th reply, and with 599 when there are no more.
    pub(crate) fn script(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut replies = replies.into_iter().collect::<Vec<_>>().into_iter();
        Server::handler(move |_| {
            replies.next().unwrap_or_else(|| Reply::new(599, "no more replies"))
        })
    }

    /// Answers each request as the function says.
    pub(crate) fn handler(handler: impl FnMut(&Received) -> Reply + Send + 'static) -> Self {
        Server::on(SocketAddr::from(([127, 0, 0, 1], 0)), handler)
    }

    /// The same at a given address, once it is free.
    pub(crate) fn on(
        address: SocketAddr,
        handler: impl FnMut(&Received) -> Reply + Send + 'static,
    ) -> Self {
        let bound = (0..500).find_map(|_| {
            let listener = std::net::TcpListener::bind(address).ok();
            if listener.is_none() {
                std::thread::sleep(Duration::from_millis(10));
            }
            listener
        });
        let listener = bound.unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            handler: Mutex::new(Box::new(handler)),
            models: Mutex::new(Reply::error(404, "not_found", "no list")),
            received: Mutex::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let serving = shared.clone();
        std::thread::spawn(move || {
            super::block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, serving) => {}
                }
            });
        });
        Server { address, shared, _stop: stop }
    }

    /// Lists models, as OpenAI and Anthropic do and as Gemini does.
    pub(crate) fn with_models(self, names: &[&str]) -> Self {
        let data = names.iter().map(|name| serde_json::json!({"id": name, "object": "model"}));
        let models = names.iter().map(|name| serde_json::json!({"name": format!("models/{name}")}));
        let (data, models) = (data.collect::<Vec<_>>(), models.collect::<Vec<_>>());
        let list = serde_json::json!({"object": "list", "data": data, "models": models});
        *self.shared.models.lock().unwrap() = Reply::new(200, list.to_string());
        self
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far, in the order in which they were complete.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }
}

/// A base URL without a server, and the socket that keeps its port from being taken.
pub(crate) fn nobody() -> (String, TcpSocket) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    (format!("http://{}/v1", socket.local_addr().unwrap()), socket)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let shared = shared.clone();
        // A client that disconnects ends its connection, not the server.
        tokio::spawn(async move { drop(serve(stream, &shared).await) });
    }
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        let reply = if request.asks_for_models() {
            shared.models.lock().unwrap().clone()
        } else {
            let reply = (shared.handler.lock().unwrap())(&request);
            shared.received.lock().unwrap().push(request);
            reply
        };
        if !send(&mut stream, &reply).await? {
            return Ok(());
        }
    }
    Ok(())
}

async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> std::io::Result<Option<Received>> {
    let head = loop {
        if let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
            let head: Vec<u8> = buffer.drain(..end + 4).collect();
            break String::from_utf8_lossy(&head).into_owned();
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while buffer.len() < length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = buffer.drain(..length).collect();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    Ok(Some(Received { method, target, headers, body }))
}

/// Sends a reply; returns whether the connection can be used again.
async fn send(stream: &mut TcpStream, reply: &Reply) -> std::io::Result<bool> {
    let Reply { status, headers, body, manner } = reply;
    if let Manner::SlowStart(wait) = manner {
        tokio::time::sleep(*wait).await;
    }
    if let Manner::Reset = manner {
        stream.set_zero_linger()?;
        return Ok(false);
    }
    let mut head = format!("HTTP/1.1 {status} Status\r\n");
    match manner {
        Manner::Unannounced => head.push_str("connection: close\r\n"),
        Manner::Chunks(..) => head.push_str("transfer-encoding: chunked\r\n"),
        _ => head.push_str(&format!("content-length: {}\r\n", body.len())),
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    if let Manner::Chunks(ends, pause, whole) = manner {
        return send_chunks(stream, body, (ends, *pause), *whole).await;
    }
    let (first, rest) = match manner {
        Manner::ResetAfter(n) | Manner::CutAfter(n) => body.split_at(*n),
        Manner::SlowBody(_) => body.split_at(body.len() / 2),
        _ => (&body[..], &b""[..]),
    };
    stream.write_all(first).await?;
    stream.flush().await?;
    match manner {
        Manner::CutAfter(_) => return Ok(false),
        Manner::ResetAfter(_) => {
            // Let the first part arrive: a reset discards what is still on its way.
            tokio::time::sleep(Duration::from_millis(50)).await;
            stream.set_zero_linger()?;
            return Ok(false);
        }
        Manner::SlowBody(wait) => tokio::time::sleep(*wait).await,
        _ => {}
    }
    stream.write_all(rest).await?;
    Ok(!matches!(manner, Manner::Unannounced))
}

/// Sends the chunks of a body; returns whether the connection can be used again.
async fn send_chunks(
    stream: &mut TcpStream,
    body: &[u8],
    (ends, pause): (&[usize], Duration),
    whole: bool,
) -> std::io::Result<bool> {
    stream.set_nodelay(true)?;
    let mut from = 0;
    for end in ends.iter().copied().chain(whole.then_some(body.len())) {
        if end > from {
            let chunk =
                [format!("{:x}\r\n", end - from).as_bytes(), &body[from..end], b"\r\n"].concat();
            stream.write_all(&chunk).await?;
            stream.flush().await?;
            tokio::time::sleep(pause).await;
        }
        from = from.max(end);
    }
    if whole {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    Ok(whole)
}
