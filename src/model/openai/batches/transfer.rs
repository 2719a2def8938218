//! Files up and down, in pieces: a batch may have hundreds of megabytes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use futures::stream::{self, Stream};
use reqwest::{Body, Method, Url};
use serde_json::Value;

use super::super::client::HttpClient;
use super::super::reply::HttpReply;
use super::reply::not_of_api;
use crate::model::{Failure, FailureKind, TimeIsUp, within};

/// How much of a file is sent at once, in bytes.
const PIECE: usize = 256 << 10;

/// The longest line of results, in bytes: a live answer may have a quarter of it.
const LONGEST_LINE: usize = 64 << 20;

/// A failure to read the file of lines, which is on this machine.
pub(super) fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(FailureKind::Rejected, format!("the lines of the batch cannot be read: {error}"))
}

/// The body that has a text, then a file, then another text; and its length.
pub(super) fn around_file(
    before: String,
    file: &Path,
    after: String,
) -> Result<(Body, u64), Failure> {
    let open = File::open(file).map_err(|e| unreadable(&e))?;
    let length = open.metadata().map_err(|e| unreadable(&e))?.len();
    let length = length + (before.len() + after.len()) as u64;
    let parts = stream::iter([Ok(before.into_bytes())]);
    let parts = stream::StreamExt::chain(parts, pieces(open));
    let parts = stream::StreamExt::chain(parts, stream::iter([Ok(after.into_bytes())]));
    Ok((Body::wrap_stream(parts), length))
}

/// The body that has the lines of a file as the items of a list; and its length.
pub(super) fn around_lines(before: &str, file: &Path, after: &str) -> Result<(Body, u64), Failure> {
    let open = File::open(file).map_err(|e| unreadable(&e))?;
    let length = open.metadata().map_err(|e| unreadable(&e))?.len();
    // Each line but the last has a comma in the place of its end, and the end of the last is left out.
    let length = (length + (before.len() + after.len()) as u64).saturating_sub(1);
    let mut lines = BufReader::new(open).split(b'\n').peekable();
    let lines = std::iter::from_fn(move || {
        let line = lines.next()?;
        let is_last = lines.peek().is_none();
        Some(line.map(|mut line| {
            line.extend((!is_last).then_some(b','));
            line
        }))
    });
    let (before, after) = (before.as_bytes().to_vec(), after.as_bytes().to_vec());
    let parts = std::iter::once(Ok(before)).chain(lines).chain(std::iter::once(Ok(after)));
    Ok((Body::wrap_stream(stream::iter(parts)), length))
}

fn pieces(file: File) -> impl Stream<Item = std::io::Result<Vec<u8>>> {
    stream::unfold(Some(file), |file| async move {
        let mut file = file?;
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece) {
            Ok(0) => None,
            Ok(length) => {
                piece.truncate(length);
                Some((Ok(piece), Some(file)))
            }
            Err(error) => Some((Err(error), None)),
        }
    })
}

impl HttpClient {
    /// The reply to a request, within the time limit of one attempt.
    pub(super) async fn in_time(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<HttpReply, Failure> {
        match within(self.timeout, self.send(request)).await {
            Ok(reply) => reply,
            Err(TimeIsUp) => {
                let (source, limit) = (&self.endpoint.source, self.timeout.as_secs_f64());
                let message = format!("{source} did not answer in full within {limit} s");
                Err(Failure::new(FailureKind::Timeout, message))
            }
        }
    }

    /// The JSON at a path below the server.
    pub(super) async fn get_json(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Value, Failure> {
        let reply = self.in_time(self.request(Method::GET, self.url_with(path, query))).await?;
        reply.into_value(&self.endpoint.secrets)
    }

    /// The JSON of the reply to a POST. Without a body, nothing is sent.
    pub(super) async fn post_json(
        &self,
        path: &[&str],
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let request = self.request(Method::POST, self.endpoint.url(path));
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        self.in_time(request).await?.into_value(&self.endpoint.secrets)
    }

    /// A URL below the server.
    pub(super) fn url_with(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.endpoint.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Reads a file of lines and passes on each. The time limit is that of each piece, not of the whole.
    pub(super) async fn each_line(
        &self,
        url: Url,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let request = self.request(Method::GET, url);
        let late = || {
            let message = format!("{} fell silent", self.endpoint.source);
            Failure::new(FailureKind::Timeout, message)
        };
        let sent = within(self.timeout, request.send()).await.map_err(|TimeIsUp| late())?;
        let mut response = sent.map_err(|e| self.not_sent(e))?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let body = response.bytes().await.map(Vec::from).unwrap_or_default();
            let reply = HttpReply::new(status.as_u16(), headers, body);
            return Err(reply.refusal(&self.endpoint.secrets));
        }
        let (mut rest, mut received) = (Vec::new(), 0_usize);
        loop {
            let piece = within(self.timeout, response.chunk()).await.map_err(|TimeIsUp| late())?;
            let piece = piece.map_err(|e| self.broke_off(status.as_u16(), received, e))?;
            let Some(piece) = piece else { break };
            received += piece.len();
            let mut piece = &piece[..];
            while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
                rest.extend_from_slice(&piece[..end]);
                piece = &piece[end + 1..];
                if !rest.trim_ascii().is_empty() {
                    each(rest.trim_ascii())?;
                }
                rest.clear();
            }
            rest.extend_from_slice(piece);
            if rest.len() > LONGEST_LINE {
                return Err(not_of_api(format_args!(
                    "a line has more than {} MiB",
                    LONGEST_LINE >> 20
                )));
            }
        }
        if rest.trim_ascii().is_empty() { Ok(()) } else { each(rest.trim_ascii()) }
    }
}

/// The items of a list that comes in pages; `each` says when it has seen enough.
pub(super) async fn each_page(
    client: &HttpClient,
    path: &[&str],
    query: &[(&str, &str)],
    items: &str,
    next: impl Fn(&Value) -> Option<(&'static str, String)>,
    mut each: impl FnMut(&Value) -> bool,
) -> Result<(), Failure> {
    let mut after: Option<(&'static str, String)> = None;
    loop {
        let mut whole = query.to_vec();
        whole.extend(after.as_ref().map(|(name, value)| (*name, value.as_str())));
        let page = client.get_json(path, &whole).await?;
        let listed = page[items].as_array().map_or(&[][..], Vec::as_slice);
        if !listed.iter().all(&mut each) {
            return Ok(());
        }
        // A server that names the same page again has no other.
        match next(&page).filter(|next| Some(next) != after.as_ref() && !listed.is_empty()) {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}
