//! Which API and which operation a request is for.

use std::fmt::Write;

use crate::support::server::Received;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    OpenAi,
    Anthropic,
    Gemini,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Begins a resumable upload (Gemini).
    StartUpload,
    /// Sends a file, or a part of it.
    Upload,
    ListFiles,
    GetFile,
    DeleteFile,
    /// Reads results, whatever the API calls it.
    Results,
    Create,
    Get,
    List,
    Cancel,
    /// A question that is answered at once.
    Live,
}

/// An operation, and the id or the path that it names.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) api: Api,
    pub(super) kind: Kind,
    pub(super) id: String,
    /// The request has Azure's spelling.
    pub(super) azure: bool,
}

/// A path without its query.
pub(super) fn path(received: &Received) -> &str {
    received.target.split('?').next().unwrap_or_default()
}

/// A parameter of the query, decoded.
pub(super) fn parameter(received: &Received, name: &str) -> Option<String> {
    let (_, query) = received.target.split_once('?')?;
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(key, _)| *key == name)?.1;
    Some(decode(value))
}

fn decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let mut hex = String::new();
                for digit in rest.by_ref().take(2) {
                    write!(hex, "{}", char::from(digit)).unwrap();
                }
                bytes.push(u8::from_str_radix(&hex, 16).unwrap_or(b'?'));
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The operation that a request is for. OpenAI and Gemini have paths in common, which Gemini's key tells apart.
pub(super) fn route(received: &Received) -> Option<Route> {
    let (method, path) = (received.method.as_str(), path(received));
    let is_upload = path.starts_with("/upload/");
    let is_gemini = is_upload
        || path.contains("/v1beta/")
        || received.header("x-goog-api-key").is_some()
        || parameter(received, "key").is_some();
    if !is_gemini {
        return anthropic(method, path).or_else(|| openai(method, path));
    }
    let route = gemini(method, path)?;
    let starts = is_upload && parameter(received, "upload_id").is_none();
    Some(if starts { Route { kind: Kind::StartUpload, ..route } } else { route })
}

fn openai(method: &str, path: &str) -> Option<Route> {
    let azure = path.starts_with("/openai/");
    let rest = path.strip_prefix("/openai").unwrap_or(path);
    let rest = match rest.strip_prefix("/v1/") {
        Some(rest) => rest,
        None if azure => rest.strip_prefix('/')?,
        None => return None,
    };
    let parts: Vec<&str> = rest.split('/').collect();
    let (kind, id) = match (method, &parts[..]) {
        ("POST", ["files"]) => (Kind::Upload, ""),
        ("GET", ["files"]) => (Kind::ListFiles, ""),
        ("GET", ["files", id]) => (Kind::GetFile, *id),
        ("DELETE", ["files", id]) => (Kind::DeleteFile, *id),
        ("GET", ["files", id, "content"]) => (Kind::Results, *id),
        ("POST", ["batches"]) => (Kind::Create, ""),
        ("GET", ["batches"]) => (Kind::List, ""),
        ("GET", ["batches", id]) => (Kind::Get, *id),
        ("POST", ["batches", id, "cancel"]) => (Kind::Cancel, *id),
        ("POST", ["chat", "completions"] | ["responses" | "embeddings" | "completions"]) => {
            (Kind::Live, rest)
        }
        _ => return None,
    };
    Some(Route { api: Api::OpenAi, kind, id: id.to_owned(), azure })
}

fn anthropic(method: &str, path: &str) -> Option<Route> {
    let rest = path.strip_prefix("/v1/messages")?;
    let parts: Vec<&str> = rest.split('/').skip(1).collect();
    let (kind, id) = match (method, &parts[..]) {
        ("POST", []) => (Kind::Live, ""),
        ("POST", ["batches"]) => (Kind::Create, ""),
        ("GET", ["batches"]) => (Kind::List, ""),
        ("GET", ["batches", id]) => (Kind::Get, *id),
        ("GET", ["batches", id, "results"]) => (Kind::Results, *id),
        ("POST", ["batches", id, "cancel"]) => (Kind::Cancel, *id),
        _ => return None,
    };
    Some(Route { api: Api::Anthropic, kind, id: id.to_owned(), azure: false })
}

fn gemini(method: &str, path: &str) -> Option<Route> {
    let upload = path.strip_prefix("/upload");
    let download = path.strip_prefix("/download");
    let rest = upload.or(download).unwrap_or(path);
    let rest = rest.strip_prefix("/v1beta/").or_else(|| rest.strip_prefix("/v1/"))?;
    let (name, verb) = rest.split_once(':').unwrap_or((rest, ""));
    let kind = match (method, name.split('/').next()?, verb) {
        ("POST", "files", "") if upload.is_some() && name == "files" => Kind::Upload,
        ("GET", "files", "download") => Kind::Results,
        _ if upload.or(download).is_some() => return None,
        ("GET", "files", "") if name == "files" => Kind::ListFiles,
        ("GET", "files", "") => Kind::GetFile,
        ("DELETE", "files", "") => Kind::DeleteFile,
        ("POST", "models", "batchGenerateContent") => Kind::Create,
        ("POST", "models", "generateContent") => Kind::Live,
        ("GET", "batches", "") if name == "batches" => Kind::List,
        ("GET", "batches", "") => Kind::Get,
        ("POST", "batches", "cancel") => Kind::Cancel,
        _ => return None,
    };
    Some(Route { api: Api::Gemini, kind, id: name.to_owned(), azure: false })
}
