//! Programs that know nothing of batches: they are run layer by layer, and end as they end when they are asked at once.

use std::ffi::OsString;
use std::process::Command;

use crate::support::batches::{BatchFake, Fate, Kind, Options, echo};
use crate::support::cli::{Place, Said};

const ROOT: &str = env!("RETOLD_ROOT");

/// Runs a program with retold, and the flags of its command.
fn retold(place: &Place, fake: &BatchFake, args: &str, program: &[&str]) -> Said {
    let mut command = place.command();
    command.args(args.split_whitespace()).arg("--").args(program);
    said(&mut command, fake)
}

fn said(command: &mut Command, fake: &BatchFake) -> Said {
    command.env("OPENAI_BASE_URL", format!("{}/v1", fake.url()));
    command.env("OPENAI_API_KEY", "sk-of-the-program").env("PATH", search_path());
    Said::ended(command)
}

#[expect(clippy::disallowed_methods, reason = "programs are found where this process finds them")]
fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap()
}

fn last_line(said: &Said) -> &str {
    said.out.lines().last().unwrap_or_default()
}

/// A program prints what it prints when it is asked at once, by batch and in a replay of that.
fn same_by_batch(place: &Place, program: &[&str]) {
    let (_, live) = BatchFake::with(Options::default(), echo());
    let alone = retold(&Place::new(), &live, "record --quiet", program);
    assert_eq!(alone.code, 0, "{}{}", alone.out, alone.err);
    let (_, fake) = BatchFake::with(Options { per_get: 1800, ..Options::default() }, echo());
    let flags = "record --batch --wait --poll 0.01 --gather 2";
    let by_batch = retold(place, &fake, flags, program);
    assert_eq!(by_batch.code, 0, "{}{}", by_batch.out, by_batch.err);
    assert_eq!(last_line(&by_batch), last_line(&alone), "{}", by_batch.err);
    let counts = fake.counts();
    assert_eq!((counts.batches, counts.of(Kind::Live)), (2, 0), "{}", by_batch.err);
    assert!(counts.doubles().is_empty());
    assert_eq!(counts.paid_lines.len(), 52, "equal requests are samples of their own");
    let replayed = retold(place, &fake, "replay latest --quiet", program);
    assert_eq!((replayed.code, last_line(&replayed)), (0, last_line(&alone)), "{}", replayed.err);
    assert_eq!(fake.counts().all(), counts.all(), "a replay asks nobody");
    place.ok("verify");
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_program_in_python_is_run_in_layers() {
    let python = format!("{ROOT}/target/clients/python/bin/python");
    let script = format!("{ROOT}/tests/it/batches/programs/layers.py");
    same_by_batch(&Place::new(), &[&python, &script]);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_program_for_node_is_run_in_layers() {
    let place = Place::new();
    let packages = format!("{ROOT}/target/clients/node/node_modules");
    std::os::unix::fs::symlink(packages, place.path("node_modules")).unwrap();
    let script = place.path("layers.mjs");
    std::fs::copy(format!("{ROOT}/tests/it/batches/programs/layers.mjs"), &script).unwrap();
    same_by_batch(&place, &["node", script.to_str().unwrap()]);
}

/// Asks so many questions at once, with a client that knows no SDK, and prints the answers in their order.
fn shell(count: usize) -> String {
    format!(
        "for n in $(seq {count}); do curl -s -o answer-$n -H \"Authorization: Bearer $OPENAI_API_KEY\" \
         -H 'Content-Type: application/json' \
         -d \"{{\\\"model\\\":\\\"m\\\",\\\"messages\\\":[{{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"$n\\\"}}]}}\" \
         $OPENAI_BASE_URL/chat/completions & done; wait; cat $(seq -f answer-%g {count})"
    )
}

#[test]
fn a_program_that_waits_is_continued_by_a_later_command() {
    let place = Place::new();
    let (_, fake) = BatchFake::with(Options::default(), echo());
    let script = shell(12);
    let program = ["sh", "-c", script.as_str()];
    let said = retold(&place, &fake, "record --batch --gather 1", &program);
    assert_eq!(said.code, 75, "{}{}", said.out, said.err);
    assert!(said.err.contains("record --resume"), "{}", said.err);
    assert!(place.ok("log").contains("waiting"));
    // Without the flag as well: what a batch has is not asked a second time.
    let said = retold(&place, &fake, "record --resume latest --gather 1", &program);
    assert_eq!(said.code, 75, "{}{}", said.out, said.err);
    let is_asked_once = || {
        let counts = fake.counts();
        assert!(counts.doubles().is_empty() && counts.of(Kind::Live) == 0, "{counts:?}");
    };
    is_asked_once();
    fake.advance(4000);
    let said = retold(&place, &fake, "record --resume latest --gather 1", &program);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(said.out.matches("Answer ").count(), 12, "{}", said.out);
    is_asked_once();
    let replayed = retold(&place, &fake, "replay latest", &program);
    assert_eq!((replayed.code, &replayed.out), (0, &said.out), "{}", replayed.err);
    let log = std::fs::read(place.path("retold.db")).unwrap();
    assert!(memchr::memmem::find(&log, b"sk-of-the-program").is_none());
}

#[test]
fn a_line_that_is_refused_reaches_the_program_as_it_would_alone() {
    let place = Place::new();
    let (_, fake) = BatchFake::with(Options { per_get: 1800, ..Options::default() }, echo());
    fake.decide(0, Fate { errors: vec![(2, 400)], ..Fate::default() });
    let script = shell(12);
    let program = ["sh", "-c", script.as_str()];
    let flags = "record --batch --wait --poll 0.01 --gather 1";
    let said = retold(&place, &fake, flags, &program);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(said.out.matches("Answer ").count(), 11, "{}", said.out);
    assert!(said.out.contains("an error for a test"), "{}", said.out);
    let replayed = retold(&place, &fake, "replay latest", &program);
    assert_eq!((replayed.code, &replayed.out), (0, &said.out), "{}", replayed.err);
}

/// A line is made of what is stored: the model would be asked about a placeholder.
#[test]
fn what_is_not_stored_as_it_came_is_asked_at_once() {
    let place = Place::new();
    let (_, fake) = BatchFake::with(Options { per_get: 1800, ..Options::default() }, echo());
    let script = shell(12);
    let program = ["sh", "-c", script.as_str()];
    let flags = "record --batch --redact ^7$ --wait --poll 0.01 --gather 3";
    let said = retold(&place, &fake, flags, &program);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let counts = fake.counts();
    assert_eq!((counts.of(Kind::Live), counts.paid_lines.len()), (1, 11), "{}", said.err);
    assert!(counts.paid.keys().all(|asked| !asked.contains("redacted")), "{counts:?}");
    assert_eq!(said.out.matches("Answer ").count(), 12, "{}", said.out);
}

#[test]
fn a_program_that_asks_one_after_the_other_is_refused_unless_told() {
    let place = Place::new();
    let (_, fake) = BatchFake::with(Options { per_get: 1800, ..Options::default() }, echo());
    let script = shell(1);
    let program = ["sh", "-c", script.as_str()];
    let said = retold(&place, &fake, "record --batch --gather 1", &program);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("asks 1 request at a time"), "{}", said.err);
    assert_eq!(fake.counts().all(), 0, "nothing was sent");
    let said = retold(&place, &fake, "record --resume latest", &program);
    assert_eq!((said.code, fake.counts().of(Kind::Live)), (0, 1), "{}", said.err);
    let flags = "record --batch --least 1 --wait --poll 0.01 --gather 1";
    let said = retold(&place, &fake, flags, &program);
    assert_eq!((said.code, fake.counts().batches), (0, 1), "{}", said.err);
    let said = retold(&place, &fake, "record --batch --shared", &program);
    assert!(said.code == 2 && said.err.contains("contradict each other"), "{}", said.err);
}
