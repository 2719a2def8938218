//! Batches: the fakes of the three APIs, which the tests of retold's own client rely on, refuse and answer what the real ones
//! do, and the providers' SDKs work with them.

mod anthropic;
mod faults;
mod gemini;
mod kills;
mod openai;
mod programs;
mod questions;
mod scale;
mod sdks;
mod studies;

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A reply: its status and its body.
type Got = (u16, Value);

/// Sends a request; returns the head of the reply and its body, or nothing if there is no reply.
fn exchange(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<(String, String)> {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap());
    let mut stream = TcpStream::connect(host).unwrap();
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    // The server keeps connections open: what it says is as long as it says.
    let (mut reply, mut chunk) = (Vec::new(), [0; 65_536]);
    loop {
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        reply.extend_from_slice(&chunk[..read]);
        let Some(end) = memchr::memmem::find(&reply, b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&reply[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if reply.len() >= end + 4 + length.unwrap().parse::<usize>().unwrap() {
            let body = String::from_utf8(reply[end + 4..].to_vec()).unwrap();
            return Some((head, body));
        }
    }
}

/// Sends a request; a body that is not JSON is returned as a text.
fn send(method: &str, url: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Option<Got> {
    let (head, text) = exchange(method, url, headers, &body)?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

/// The lines of a file of results, by their ids.
fn by_id(text: &Value, id: &str) -> Vec<(String, Value)> {
    let lines = match text {
        // One line alone is JSON.
        Value::Object(_) => vec![text.clone()],
        _ => text.as_str().unwrap().lines().map(|it| serde_json::from_str(it).unwrap()).collect(),
    };
    let mut lines: Vec<(String, Value)> =
        lines.into_iter().map(|line| (line[id].as_str().unwrap().to_owned(), line)).collect();
    lines.sort_by(|a, b| a.0.cmp(&b.0));
    lines
}
