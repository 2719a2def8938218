//! A server that answers chat requests immediately, in a process of its own: raw TCP that keeps
//! connections alive. It reads a request to its end, does not look into it, and sends an answer
//! that was never sent before.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::study::filler;

/// The text of an answer, in bytes.
pub(crate) const ANSWER: usize = 400;

/// A server that ends with this value.
pub(crate) struct Server {
    process: Child,
    pub(crate) base_url: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .arg("http-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Server { process, base_url: format!("http://{}/v1", address.trim()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

/// Serves until standard input ends.
pub(crate) fn child() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listener = tokio.block_on(TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))));
    let listener = listener.unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::thread::spawn(move || tokio.block_on(serve(listener)));
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

async fn serve(listener: TcpListener) {
    let number = Arc::new(AtomicU64::new(0));
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let number = number.clone();
        tokio::spawn(async move {
            // A client that disconnects during a request is not an error here.
            let _ = converse(stream, &number).await;
        });
    }
}

async fn converse(mut stream: TcpStream, number: &AtomicU64) -> std::io::Result<()> {
    let steps = filler(1, ANSWER - 60);
    let mut request = Vec::with_capacity(8192);
    loop {
        let end = loop {
            match whole(&request) {
                Some(end) => break end,
                None if stream.read_buf(&mut request).await? == 0 => return Ok(()),
                None => {}
            }
        };
        request.drain(..end);
        let number = number.fetch_add(1, Ordering::Relaxed);
        stream.write_all(reply(number, &steps).as_bytes()).await?;
    }
}

/// Where the first request ends, if all of it has arrived.
fn whole(bytes: &[u8]) -> Option<usize> {
    let head = memchr::memmem::find(bytes, b"\r\n\r\n")? + 4;
    let name = b"content-length: ";
    let at = memchr::memmem::find(&bytes[..head], name).unwrap() + name.len();
    let length = bytes[at..].split(|b| *b == b'\r').next().unwrap();
    let length: usize = std::str::from_utf8(length).unwrap().parse().unwrap();
    (bytes.len() >= head + length).then_some(head + length)
}

/// What a real service sends around a text.
fn reply(number: u64, steps: &str) -> String {
    let body = format!(
        "{{\"id\":\"chatcmpl-{number:016}\",\"object\":\"chat.completion\",\"created\":1735689600,\
         \"model\":\"gpt-4-0613\",\"choices\":[{{\"index\":0,\"message\":{{\"role\":\"assistant\",\
         \"content\":\"Steps {number:016}: {steps}\\nAnswer: (10 - 4) * (5 - 1) = 24\",\
         \"refusal\":null}},\"logprobs\":null,\"finish_reason\":\"stop\"}}],\
         \"usage\":{{\"prompt_tokens\":412,\"completion_tokens\":163,\"total_tokens\":575}},\
         \"system_fingerprint\":null}}\n"
    );
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
