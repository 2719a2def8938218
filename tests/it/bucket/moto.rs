//! A simulation of S3 on loopback.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::server::Received;

/// A server with a bucket, which ends when dropped.
pub(super) struct Moto {
    server: Child,
    pub(super) address: SocketAddr,
}

/// What it answered.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Moto {
    pub(super) fn with_bucket(name: &str) -> Self {
        // Nobody else takes the port in the moment between.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let program = concat!(env!("RETOLD_ROOT"), "/target/clients/moto/bin/moto_server");
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &address.port().to_string()]);
        let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moto = Moto { server, address };
        for _ in 0..600 {
            if TcpStream::connect(address).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(moto.ask("PUT", &format!("/{name}"), Vec::new()).status, 200, "the bucket");
        moto
    }

    /// Asks it for something. It wants a signature, and does not look at it.
    pub(super) fn ask(&self, method: &str, target: &str, body: Vec<u8>) -> Answered {
        let (method, target) = (method.to_owned(), target.to_owned());
        let signature = "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260101/us-east-1/s3/aws4_request, \
                         SignedHeaders=host, Signature=00";
        let headers = vec![("authorization".to_owned(), signature.to_owned())];
        pass_on(self.address, &Received { method, target, headers, body })
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Sends a request on a connection of its own, and reads the whole answer.
pub(super) fn pass_on(address: SocketAddr, request: &Received) -> Answered {
    let Received { method, target, headers, body } = request;
    let mut head = format!("{method} {target} HTTP/1.1\r\nconnection: close\r\n");
    head.push_str(&format!("content-length: {}\r\n", body.len()));
    for (name, value) in headers.iter().filter(|(name, _)| !is_of_connection(name)) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if request.header("host").is_none() {
        head.push_str(&format!("host: {address}\r\n"));
    }
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&[head.as_bytes(), b"\r\n", body].concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let body = answer.split_off(end + 4);
    let head = String::from_utf8(answer).unwrap();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let headers: Vec<(String, String)> = headers.collect();
    assert!(headers.iter().all(|(name, _)| name != "transfer-encoding"), "{head}");
    Answered { status, headers, body }
}

/// Whether a header is about a connection, and not about what is sent through it.
pub(super) fn is_of_connection(name: &str) -> bool {
    ["connection", "content-length", "keep-alive"].contains(&name)
}
