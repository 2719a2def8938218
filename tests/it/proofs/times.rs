//! Times from outside: an authority signs when a seal existed, and its reply is checked without a network.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::seals::key;
use crate::support::cli::{Place, assert_said};

/// What an authority answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// The time of a request.
    Honest,
    /// Its reply to the first request, again and again.
    Old,
    /// Something else.
    Nonsense,
    /// That it is not in the mood.
    Unwilling,
}

/// A time-stamp authority on loopback, made of `openssl ts`: it signs the time of this machine.
pub(super) struct Authority {
    folder: TempDir,
    pub(super) url: String,
}

const CONFIG: &str = "\
[tsa]
default_tsa = here
[here]
serial = serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_chain = no
";

impl Authority {
    pub(super) fn honest() -> Self {
        Authority::start(Manner::Honest)
    }

    fn start(manner: Manner) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tsa.cnf"), CONFIG).unwrap();
        std::fs::write(folder.path().join("serial"), "01\n").unwrap();
        let made = Command::new("openssl")
            .current_dir(folder.path())
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args([
                "-nodes", "-keyout", "key", "-out", "certificate", "-subj", "/CN=Time", "-days",
                "2",
            ])
            .args(["-addext", "extendedKeyUsage=critical,timeStamping"])
            .output();
        let made = made.unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/tsr", listener.local_addr().unwrap());
        let at = folder.path().to_owned();
        std::thread::spawn(move || {
            let mut first = None;
            for stream in listener.incoming() {
                answer(stream.unwrap(), &at, manner, &mut first);
            }
        });
        Authority { folder, url }
    }

    pub(super) fn certificate(&self) -> PathBuf {
        self.folder.path().join("certificate")
    }
}

/// Answers one request.
fn answer(
    mut stream: TcpStream,
    folder: &std::path::Path,
    manner: Manner,
    first: &mut Option<Vec<u8>>,
) {
    let mut received = Vec::new();
    let body = loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).unwrap();
        received.extend_from_slice(&piece[..read]);
        let head = received.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = head {
            let text = String::from_utf8_lossy(&received[..end]).to_lowercase();
            assert!(text.contains("content-type: application/timestamp-query"), "{text}");
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap().trim().parse().unwrap();
            if received.len() >= end + 4 + length {
                break received[end + 4..].to_vec();
            }
        }
    };
    let reply = match manner {
        Manner::Nonsense => b"good morning".to_vec(),
        // The whole of a PKIStatusInfo with the status 2, rejection (RFC 3161, 2.4.2).
        Manner::Unwilling => vec![0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x02],
        Manner::Honest | Manner::Old => {
            std::fs::write(folder.join("query"), &body).unwrap();
            let signed = Command::new("openssl")
                .current_dir(folder)
                .args(["ts", "-reply", "-config", "tsa.cnf", "-section", "here"])
                .args([
                    "-queryfile", "query", "-signer", "certificate", "-inkey", "key", "-out",
                    "reply",
                ])
                .output()
                .unwrap();
            assert!(signed.status.success(), "{}", String::from_utf8_lossy(&signed.stderr));
            std::fs::read(folder.join("reply")).unwrap()
        }
    };
    let reply = match manner {
        Manner::Old => first.get_or_insert(reply).clone(),
        _ => reply,
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/timestamp-reply\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        reply.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&reply)).unwrap();
}

/// A text without what differs between two runs of a test.
fn without_variables(text: &str, authorities: &[&Authority]) -> String {
    let mut text = text.to_owned();
    for authority in authorities {
        let folder = authority.folder.path().display().to_string();
        text = text.replace(&authority.url, "URL").replace(&folder, "AUTHORITY");
    }
    for (pattern, name) in [
        ("[0-9a-f]{64}", "[hash]"),
        ("SHA256:[A-Za-z0-9+/]{43}", "[key]"),
        (r"20\d\d-\d\d-\d\dT[0-9:.]+Z", "[time]"),
    ] {
        text = regex::Regex::new(pattern).unwrap().replace_all(&text, name).into_owned();
    }
    text
}

fn said(place: &Place, commands: &[String]) -> String {
    let said = |args: &String| {
        let words: Vec<&str> = args.split_whitespace().collect();
        place.shown(args, &place.with_path(&words))
    };
    commands.iter().map(said).collect()
}

#[test]
fn an_authority_signs_when_a_seal_existed() {
    let (place, authority) = (Place::with_run(), Authority::honest());
    key(&place, "mine");
    let (log, _) = place.json("log");
    let run = log["runs"][0]["run"].as_str().unwrap().to_owned();
    let certificate = authority.certificate().display().to_string();
    let other = Authority::honest();
    let others = other.certificate().display().to_string();
    let url = &authority.url;
    let seal = format!("{run}.seal");
    place.ok("audit latest solve/0#1 --proof proof.json");
    let mut shown = said(
        &place,
        &[
            format!("verify seal latest --key mine --time {url} --authority {certificate}"),
            format!("verify latest --seal {seal} --signer mine.pub --authority {certificate}"),
            format!("verify latest --seal {seal} --signer mine.pub"),
            format!("verify latest --seal {seal} --authority {others}"),
            format!(
                "verify proof proof.json --seal {seal} --signer mine.pub --authority {certificate}"
            ),
        ],
    );
    let (checked, code) = {
        let args = ["verify", "latest", "--seal", &seal, "--authority", &certificate, "--json"];
        let said = place.with_path(&args);
        (serde_json::from_str::<serde_json::Value>(&said.out).unwrap(), said.code)
    };
    assert_eq!(code, 0);
    let existed: jiff::Timestamp = checked["seal"]["existed_by"].as_str().unwrap().parse().unwrap();
    let began: jiff::Timestamp = log["runs"][0]["started"].as_str().unwrap().parse().unwrap();
    // The authority has no fractions of a second.
    assert!((0..600).contains(&(existed.as_second() - began.as_second())), "{checked}");
    // What comes before the time is what was signed, and a seal without a time is told apart.
    let text = place.read(&seal);
    let at = text.find("-----BEGIN TIME").unwrap();
    place.write("without.seal", &text[..at]);
    place.write("cut.seal", &text[..text.len() - 30]);
    place.write("changed.seal", text.replacen("events 22", "events 21", 1));
    place.write("moved.seal", text.replacen("\nU1NI", "\n\nU1NI", 1));
    shown.push_str(&said(
        &place,
        &[
            format!("verify latest --seal without.seal --authority {certificate}"),
            "verify latest --seal cut.seal".to_owned(),
            "verify latest --seal changed.seal".to_owned(),
            format!("verify latest --seal moved.seal --authority {certificate}"),
            "verify seal latest --key mine --output no.seal --authority x".to_owned(),
            format!("verify seal latest --key mine --output no.seal --time {url} --authority none.pem"),
            format!("verify seal latest --key mine --output no.seal --time {url} --authority {others}"),
            format!("verify seal latest --key mine --output no.seal --time {url}?key=1 --authority {others}"),
        ],
    ));
    assert_said!("times", without_variables(&shown, &[&authority, &other]));
    assert!(!place.path("no.seal").exists(), "nothing is half-written");
}

#[test]
fn an_authority_that_does_not_sign_is_named() {
    let place = Place::with_run();
    key(&place, "mine");
    let mut shown = String::new();
    for manner in [Manner::Nonsense, Manner::Unwilling, Manner::Old] {
        let authority = Authority::start(manner);
        let certificate = authority.certificate().display().to_string();
        let ask = |name: &str| {
            format!(
                "verify seal latest --key mine --output {name} --time {} --authority {certificate}",
                authority.url
            )
        };
        if manner == Manner::Old {
            assert_eq!(place.with_path(&ask("first.seal").split(' ').collect::<Vec<_>>()).code, 0);
        }
        let text = said(&place, &[ask("second.seal")]);
        shown.push_str(&without_variables(&text, &[&authority]));
        assert!(!place.path("second.seal").exists());
    }
    let nobody = "http://127.0.0.1:9/tsr";
    let ask = format!(
        "verify seal latest --key mine -o second.seal --time {nobody} --authority mine.pub"
    );
    shown.push_str(&said(&place, &[ask]));
    assert_said!("times_refused", shown);
}
