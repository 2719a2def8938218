//! Many streams, cut wherever chance has it: inside characters, inside `data:`, inside line ends.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::upstream::stream;
use super::{program, record_with, replay_with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// The answer to a prompt `stream N`: of another length each, with characters of all lengths.
fn answer(n: u64) -> Vec<u8> {
    let text = "a\u{e4}\u{20ac}\u{1F600}\r\n\"data: ".repeat(1 + n as usize % 7);
    stream(&format!("{n} {text}"), n as usize)
}

fn sha256(bytes: &[u8]) -> String {
    use std::io::Write;
    let mut child = std::process::Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    out.split(' ').next().unwrap().to_owned()
}

/// `RETOLD_TEST_STREAMS=10000 cargo test wire::random` tries more.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
#[expect(clippy::disallowed_methods, reason = "how a person asks for a longer test")]
fn streams_come_through_whatever_their_chunks_are() {
    let count: u64 = std::env::var("RETOLD_TEST_STREAMS").map_or(200, |n| n.parse().unwrap());
    let place = Place::new();
    let upstream = Server::handler(|received| {
        let body = received.json();
        let n: u64 = body["messages"][0]["content"].as_str().unwrap()[7..].parse().unwrap();
        let body = answer(n);
        let mut random = ChaCha8Rng::seed_from_u64(n);
        let mut ends: Vec<usize> =
            (0..random.next_u64() % 20).map(|_| random.next_u64() as usize % body.len()).collect();
        ends.sort_unstable();
        Reply::new(200, body)
            .header("content-type", "text/event-stream")
            .chunks(ends, Duration::ZERO)
    });
    let (python, script) = (super::python::python(), program("streams.py"));
    let command = [python.as_str(), script.to_str().unwrap()];
    let set = [("COUNT", count.to_string())];
    let set: Vec<(&str, &str)> = set.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let recorded = record_with(&place, "", &upstream.base_url(), &command, &set);
    drop(upstream);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let replayed = replay_with(&place, "latest", &command, &set);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    for (said, what) in [(&recorded, "recorded"), (&replayed, "replayed")] {
        let lines: Vec<&str> = said.out.lines().collect();
        assert_eq!(lines.len() as u64, count + 1);
        // Each of the first ones, and all against each other below.
        for n in 0..count.min(50) {
            assert_eq!(lines[n as usize], sha256(&answer(n)), "{what} {n}");
        }
        let peaks: Vec<u64> =
            lines[count as usize].split(' ').map(|peak| peak.parse().unwrap()).collect();
        eprintln!(
            "{what}: {} kB after a tenth of {count} streams, {} kB after all",
            peaks[0], peaks[1]
        );
        assert!(peaks[1] < peaks[0] + 40_000, "{what}: {peaks:?}");
    }
    let digests =
        |out: &str| out.lines().take(count as usize).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(digests(&recorded.out), digests(&replayed.out));
}
