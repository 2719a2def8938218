//! Unmodified programs: recorded against a server that streams, fails and answers each repeat
//! differently, and replayed without it.

mod any_shape;
mod apis;
mod before_files;
mod body_urls;
mod budgets;
mod chance;
mod commands;
mod crowds;
mod curl;
mod departures;
mod descendants;
mod destinations;
mod diffs;
mod docs;
mod done_without;
mod endings;
mod frozen;
mod guarded;
mod in_process;
mod intercepted;
mod invented;
mod kept_alive;
mod keys;
mod killed;
mod label_columns;
mod labels;
mod led;
mod libraries;
mod long_bodies;
mod mishaps;
mod misses;
mod node;
mod past_failures;
mod progress;
mod proxies;
mod python;
mod random;
mod redactions;
mod reports;
mod samples;
mod tools;
mod trouble;
mod truths;
mod upstream;
mod versions;
mod watched;
mod websockets;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::cli::{Place, Said};
use crate::support::server::Server;

/// A key that cannot be mistaken for anything else.
const KEY: &str = "sk-live-0123456789abcdefSECRET";

/// Where programs find others.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A program of this folder.
fn program(name: &str) -> PathBuf {
    Path::new(env!("RETOLD_ROOT")).join("tests/it/wire/programs").join(name)
}

/// Runs `retold` with a program after `--`.
fn retold(place: &Place, args: &str, program: &[&str]) -> Command {
    let mut command = place.command();
    command.args(args.split_whitespace()).arg("--").args(program);
    command.env("PATH", PATH);
    command
}

/// Runs `retold` on a program whose requests go to this base URL, with more variables set.
fn with(place: &Place, args: &str, base_url: &str, program: &[&str], set: &[(&str, &str)]) -> Said {
    let mut command = retold(place, args, program);
    command.env("OPENAI_BASE_URL", base_url).env("OPENAI_API_KEY", KEY);
    Said::ended(command.envs(set.iter().copied()))
}

/// Records a program whose requests go to this base URL.
pub(crate) fn record(place: &Place, args: &str, base_url: &str, program: &[&str]) -> Said {
    record_with(place, args, base_url, program, &[])
}

fn record_with(
    place: &Place,
    args: &str,
    url: &str,
    program: &[&str],
    set: &[(&str, &str)],
) -> Said {
    with(place, &format!("record {args}"), url, program, set)
}

/// Replays a program where there is no network but loopback, and no key.
pub(crate) fn replay(place: &Place, args: &str, program: &[&str]) -> Said {
    replay_with(place, args, program, &[])
}

fn replay_with(place: &Place, args: &str, program: &[&str], set: &[(&str, &str)]) -> Said {
    let inner = retold(place, &format!("replay {args}"), program);
    let mut command = Command::new("/usr/bin/unshare");
    place.shut_off(&mut command);
    command.args([
        "--net",
        "--map-root-user",
        "sh",
        "-c",
        "ip link set lo up && exec \"$@\"",
        "sh",
    ]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.env("PATH", PATH).envs(set.iter().copied());
    Said::ended(&mut command)
}

/// Records a program against a server that fails now and then, stops the server, and replays the
/// program: it prints the same, and asks for all that was recorded. Returns what it printed when it
/// was recorded.
fn again(place: &Place, program: &[&str], upstream: Server, set: &[(&str, &str)]) -> Said {
    let recorded = record_with(place, "", &upstream.base_url(), program, set);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    let received = upstream.received();
    drop(upstream);
    let tried_again = |request: &crate::support::server::Received| {
        request.header("x-stainless-retry-count").is_some_and(|count| count != "0")
    };
    assert!(received.iter().any(tried_again), "nothing was tried again: {}", recorded.err);
    assert!(recorded.err.contains("failed attempt"), "{}", recorded.err);
    assert_no_key(place, &recorded);
    let replayed = replay(place, "latest", program);
    assert_eq!(replayed.out, recorded.out, "{}", replayed.err);
    let left = replayed.err.contains("never asked");
    assert_eq!((replayed.code, left), (0, false), "{}", replayed.err);
    place.ok("verify");
    recorded
}

/// The key is in nothing that was written or said.
fn assert_no_key(place: &Place, said: &Said) {
    let log = std::fs::read(place.path("retold.db")).unwrap();
    let wal = std::fs::read(place.path("retold.db-wal")).unwrap_or_default();
    for bytes in [&log, &wal, said.out.as_bytes(), said.err.as_bytes()] {
        assert!(memchr::memmem::find(bytes, KEY.as_bytes()).is_none());
    }
}
