//! The server: which requests are allowed, and how pages are sent.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use retold_wire::{ConnectionSeat, Listening, Reach, RefusedRequest};
use tokio::sync::{Semaphore, mpsc};

use crate::page_token::{Admission, PageToken};
use crate::pages::{self, PageReply};
use crate::prompt_images::PromptImage;
use crate::query::Query;
use crate::site::Site;

/// How many connections are served at the same time.
const CONNECTIONS: usize = 256;

/// How many files each of them needs.
const FILES: usize = 1;

/// How many pages are made at the same time.
const PAGES: usize = 8;

/// How many pages follow a run at the same time.
const FOLLOWERS: usize = 64;

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);

/// How often a run that is followed is looked at.
const FOLLOWED: Duration = Duration::from_millis(200);

/// After how many looks without news a comment keeps the connection open.
const QUIET: u32 = 50;

/// Nothing is loaded from elsewhere, nothing inline is executed or applied, and no other page may
/// frame this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The answer to a request without the token.
const NO_TOKEN: &str = "this page wants its token: open the address that `retold serve` printed, with all that \
    is after ?token=. A program sends it in the header X-Retold-Token\n";

/// The headers of every answer.
const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// A server that is listening, and not serving yet.
pub struct SiteServer(Listening);

/// What all connections share.
struct ServerState {
    site: Arc<Site>,
    reach: Reach,
    token: Option<PageToken>,
    pages: Semaphore,
    followers: Arc<Semaphore>,
}

impl SiteServer {
    /// Listens at an address.
    ///
    /// # Errors
    /// If it is taken, or not one of this machine.
    pub async fn bind(address: SocketAddr) -> std::io::Result<Self> {
        Ok(SiteServer(Listening::at(address).await?))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Serves a site until it is dropped, to those who know the token if there is one.
    pub async fn serve(self, site: Arc<Site>, reach: Reach, token: Option<PageToken>) {
        let shared = Arc::new(ServerState {
            site,
            reach,
            token,
            pages: Semaphore::new(PAGES),
            followers: Arc::new(Semaphore::new(FOLLOWERS)),
        });
        let serve = |stream, seat| {
            let shared = shared.clone();
            async move {
                let _seat: ConnectionSeat = seat;
                let service = service_fn(move |request| {
                    let shared = shared.clone();
                    async move { Ok::<_, Infallible>(handle(&shared, request).await) }
                });
                let served = http1::Builder::new()
                    // The date of a clock before 1970 is none, and nobody needs it.
                    .auto_date_header(false)
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD)
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
                if let Err(error) = served {
                    tracing::debug!(%error, "a connection ended");
                }
            }
        };
        self.0.each(CONNECTIONS, FILES, serve).await;
    }
}

async fn handle(shared: &Arc<ServerState>, request: Request<Incoming>) -> Response<HttpBody> {
    let (parts, _) = request.into_parts();
    let (method, headers) = (&parts.method, &parts.headers);
    let checked = match *method {
        Method::GET | Method::HEAD => shared.reach.check(&parts.uri, headers),
        _ => {
            let reason = "this page is read-only: it answers GET and HEAD".to_owned();
            Err(RefusedRequest { status: 405, reason })
        }
    };
    let mut response = match checked {
        Ok(()) => respond(shared, &parts.uri, headers).await,
        Err(RefusedRequest { status, reason }) => {
            let mut response = plain(status, &format!("{reason}\n"));
            if status == 405 {
                let allow = HeaderValue::from_static("GET, HEAD");
                response.headers_mut().insert(header::ALLOW, allow);
            }
            // The body of a refused request is not read.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            response
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
    if method == Method::HEAD {
        *response.body_mut() = HttpBody::Whole(None);
    }
    response
}

/// Answers a request that knows the token.
async fn respond(
    shared: &Arc<ServerState>,
    uri: &hyper::Uri,
    headers: &HeaderMap,
) -> Response<HttpBody> {
    let Some(token) = &shared.token else { return page(shared, uri, headers).await };
    match token.admission(uri, headers) {
        Admission::Known => page(shared, uri, headers).await,
        Admission::First { to } => {
            let mut response = http_response(PageReply::Elsewhere(to));
            if let Ok(kept) = HeaderValue::from_str(token.new_cookie()) {
                response.headers_mut().insert(header::SET_COOKIE, kept);
            }
            response
        }
        Admission::Unknown => plain(403, NO_TOKEN),
    }
}

/// Makes a page on a thread for that, since it reads files.
async fn page(
    shared: &Arc<ServerState>,
    uri: &hyper::Uri,
    headers: &HeaderMap,
) -> Response<HttpBody> {
    let query = Query::new(uri.query());
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("");
    let json = query.get("format") == Some("json") || accepts.starts_with("application/json");
    let resumes = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    // The semaphore is never closed.
    let Ok(permit) = shared.pages.acquire().await else { return plain(503, "busy\n") };
    let (site, path) = (shared.site.clone(), uri.path().to_owned());
    let make = move || {
        site.source.begin_page();
        pages::answer(&site, &path, query, json)
    };
    let made = tokio::task::spawn_blocking(make).await;
    drop(permit);
    match made {
        Ok(PageReply::Follow(mut follow)) => {
            // A browser that lost its connection continues after the last event that it has.
            follow.after = resumes.unwrap_or(follow.after).max(follow.after);
            follow_run(shared, follow)
        }
        Ok(reply) => http_response(reply),
        Err(error) => {
            tracing::error!(%error, "a page could not be made");
            plain(500, "the page could not be made\n")
        }
    }
}

fn http_response(reply: PageReply) -> Response<HttpBody> {
    match reply {
        PageReply::Page { status, html } => with(status, "text/html; charset=utf-8", html.into()),
        PageReply::Json { status, text } => with(status, "application/json", text.into()),
        PageReply::Text { name, text } => {
            let mut response = with(200, "text/plain; charset=utf-8", text.into());
            let name: String =
                name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
            let disposition = format!("attachment; filename=\"{name}\"");
            if let Ok(disposition) = HeaderValue::from_str(&disposition) {
                response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
            }
            response
        }
        PageReply::Asset(asset) => {
            let mut response = with(200, asset.kind, Bytes::from_static(asset.bytes));
            let kept = HeaderValue::from_static("no-cache");
            response.headers_mut().insert(header::CACHE_CONTROL, kept);
            response
        }
        PageReply::Image(PromptImage { kind, bytes }) => with(200, kind, bytes.into()),
        PageReply::Elsewhere(to) => {
            let mut response = plain(303, "");
            if let Ok(to) = HeaderValue::from_str(&to) {
                response.headers_mut().insert(header::LOCATION, to);
            }
            response
        }
        // Handled by its caller.
        PageReply::Follow(_) => plain(500, ""),
    }
}

fn plain(status: u16, text: &str) -> Response<HttpBody> {
    with(status, "text/plain; charset=utf-8", text.to_owned().into())
}

fn with(status: u16, kind: &'static str, body: Bytes) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::Whole(Some(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// Sends the events of a run as they are added (server-sent events), until it ends or nobody
/// listens.
fn follow_run(shared: &Arc<ServerState>, mut follow: pages::Follow) -> Response<HttpBody> {
    let Ok(permit) = shared.followers.clone().try_acquire_owned() else {
        return plain(503, "too many pages follow runs\n");
    };
    let (sender, receiver) = mpsc::channel(4);
    let site = shared.site.clone();
    tokio::spawn(async move {
        let _permit = permit;
        let mut quiet = 0;
        loop {
            let looked = {
                let site = site.clone();
                tokio::task::spawn_blocking(move || {
                    let news = follow.look(&site);
                    (follow, news)
                })
                .await
            };
            let Ok((next, news)) = looked else { return };
            follow = next;
            let text = match news {
                Some(text) => text,
                None if quiet >= QUIET => ": nothing new\n\n".to_owned(),
                None => String::new(),
            };
            quiet = if text.is_empty() { quiet + 1 } else { 0 };
            if !text.is_empty() && sender.send(Bytes::from(text)).await.is_err() {
                return;
            }
            if follow.is_over || sender.is_closed() {
                return;
            }
            if !follow.has_more {
                tokio::time::sleep(FOLLOWED).await;
            }
        }
    });
    let mut response = with(200, "text/event-stream", Bytes::new());
    *response.body_mut() = HttpBody::Stream(receiver);
    response
}

/// The body of an answer.
enum HttpBody {
    Whole(Option<Bytes>),
    Stream(mpsc::Receiver<Bytes>),
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            HttpBody::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            HttpBody::Stream(receiver) => {
                receiver.poll_recv(context).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, HttpBody::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            HttpBody::Whole(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            HttpBody::Stream(_) => SizeHint::default(),
        }
    }
}
