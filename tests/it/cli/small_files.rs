//! Small files that stand for large ones, each read by the real program with at most 1 GB of address space and 20 s of
//! processor time, of which the kernel lets it have no more: it ends with a message that names what is too much, or with a result.
//! Of each limit there is a file that is just too much for it, and one that is just not.

use std::process::Command;

use serde_json::json;

use crate::support::bombs::{MB, add_segments, cassette, gzip, har, replace, vcr, zip};
use crate::support::cli::{Place, Said};

/// In kilobytes. All that a process maps counts: its own text, and what its threads may use of their stacks.
const MOST_ADDRESSES: u32 = 1 << 20;

/// In seconds.
const MOST_TIME: u32 = 20;

/// Runs the program under the limits.
#[track_caller]
fn limited(place: &Place, args: &str) -> Said {
    let mut command = Command::new("/bin/sh");
    place.shut_off(&mut command);
    // An arena of the allocator for each thread would take addresses that it does not use.
    command.env("MALLOC_ARENA_MAX", "2").env("PATH", "/usr/bin:/bin").arg("-c").arg(format!(
        "ulimit -c 0; ulimit -v {MOST_ADDRESSES}; ulimit -t {MOST_TIME}; exec {} {args}",
        env!("CARGO_BIN_EXE_retold")
    ));
    let said = Said::ended(&mut command);
    eprintln!(
        "exit {:>3}  {args}: {}",
        said.code,
        said.err.lines().next().unwrap_or("").get(..160).unwrap_or(&said.err)
    );
    assert!((0..=3).contains(&said.code), "{args}: {}{}", said.out, said.err);
    assert!(said.out.len() + said.err.len() < 200_000, "{args}: it says too much");
    said
}

/// A file that is too much: the command refuses it in these words.
#[track_caller]
fn refused(place: &Place, args: &str, words: &str) {
    let said = limited(place, args);
    assert!(said.code == 2 || said.code == 3, "{args}: exit {}", said.code);
    assert!(said.err.contains(words), "{args}: {}", said.err);
}

/// A file that is just not too much: nothing is said of a limit.
#[track_caller]
fn read(place: &Place, args: &str, limit: &str) {
    let said = limited(place, args);
    assert!(!said.err.contains(limit), "{args}: {}", said.err);
}

fn doubled(times: usize) -> String {
    replace((0..times).map(|_| ("You".to_owned(), "YouYou".to_owned())))
}

#[test]
fn cassettes_whose_rules_grow() {
    let place = Place::new();
    let grows = "the texts of a request grow to more than 16 times";
    place.write("double.yaml", cassette(&doubled(40), 2));
    refused(&place, "import --format cassette double.yaml", grows);
    // 3 bytes doubled 14 times are 49,152, and once more is too much.
    place.write("less.yaml", cassette(&doubled(14), 500));
    read(&place, "import --format cassette less.yaml", grows);
    place.write("more.yaml", cassette(&doubled(15), 1));
    refused(&place, "import --format cassette more.yaml", grows);
    let whole = (".*".to_owned(), "$0".repeat(1_000_000));
    place.write("whole.yaml", cassette(&replace([whole].into_iter()), 1));
    refused(&place, "import --format cassette whole.yaml", grows);
}

#[test]
fn cassettes_whose_patterns_are_large_or_many() {
    let place = Place::new();
    let large = |count: usize| {
        replace((0..count).map(|n| (format!(r"[\pL\pN]{{150}}x{n}"), "y".to_owned())))
    };
    let small = |count: usize| replace((0..count).map(|n| (format!("a{n}b"), "y".to_owned())));
    let too_much = "take more than 128 MiB";
    place.write("large.yaml", cassette(&large(2000), 2));
    refused(&place, "import --format cassette large.yaml", too_much);
    place.write("few.yaml", cassette(&large(10), 2));
    read(&place, "import --format cassette few.yaml", too_much);
    place.write("many.yaml", cassette(&small(100_000), 2));
    refused(&place, "import --format cassette many.yaml", too_much);
    place.write("fewer.yaml", cassette(&small(2000), 2));
    read(&place, "import --format cassette fewer.yaml", too_much);
}

#[test]
fn parser_files_within_their_other_limits() {
    let place = Place::with_run();
    let file = |parsers: usize, strategies: usize, one: &dyn Fn(usize) -> String| {
        let mut text = "parsers:\n".to_owned();
        for parser in 0..parsers {
            text.push_str(&format!("- name: p{parser}\n  strategies:\n"));
            for n in 0..strategies {
                text.push_str(&format!("  - {{method: m{n}, {}}}\n", one(n)));
            }
        }
        text
    };
    let too_much = "take more than 128 MiB";
    let options = json!((0..1000).map(|n| format!("o{n}")).collect::<Vec<_>>()).to_string();
    let files = [
        ("patterns.yaml", file(300, 100, &|n| format!("regex: 'value {n} is ([a-z]+)'"))),
        ("tags.yaml", file(300, 100, &|n| format!("tag: t{n}"))),
    ];
    let values = file(5, 100, &|_| format!("one_of: {options}"));
    place.write("values.yaml", values);
    refused(&place, "check latest --parsers values.yaml", "at most 250,000 values");
    place.write("aliases.yaml", format!("parsers:\n- &a {{name: p}}\n{}", "- *a\n".repeat(200)));
    refused(&place, "check latest --parsers aliases.yaml", "by aliases too often");
    place.write("levels.yaml", format!("parsers: {}{}", "[".repeat(64), "]".repeat(64)));
    refused(&place, "check latest --parsers levels.yaml", "at most 64 deep");
    for (name, text) in files {
        assert!(text.len() < 4 * MB, "{name}: {}", text.len());
        place.write(name, text);
        refused(&place, &format!("check latest --parsers {name}"), too_much);
    }
    place.write("fewer.yaml", file(20, 100, &|n| format!("regex: 'value {n} is ([a-z]+)'")));
    read(&place, "check latest --parsers fewer.yaml", too_much);
    place.write("nested.yaml", file(1, 1, &|_| "regex: '((a{99}){99}){99}'".to_owned()));
    refused(&place, "check latest --parsers nested.yaml", "it repeats too much");
    place.write("deep.yaml", file(1, 1, &|_| format!("regex: '{}'", "(".repeat(5000))));
    refused(&place, "check latest --parsers deep.yaml", "not a regular expression");
}

#[test]
fn folder_logs_whose_segments_unpack() {
    let place = Place::new();
    let made = |name: &str| {
        place.ok(&format!(
            "run small.yaml --quiet --no-outputs --log file://{}",
            place.path(name).display()
        ));
        format!("--log file://{}", place.path(name).display())
    };
    let commands =
        ["log", "show latest", "verify", "stats latest", "check latest", "replay latest"];
    // As much was allowed eight times over.
    let log = made("one");
    add_segments(&place, "one", [140 * MB].into_iter());
    for command in commands {
        let said = limited(&place, &format!("{command} {log}"));
        assert!(
            command != "verify"
                || said.err.contains("more than a segment may have")
                || said.out.contains("more than a segment may have"),
            "{}{}",
            said.out,
            said.err
        );
    }
    // Each of them is allowed, and all together are not.
    let log = made("many");
    add_segments(&place, "many", (0..8).map(|_| 60 * MB));
    for command in commands {
        let said = limited(&place, &format!("{command} {log}"));
        let words = "unpacks to more than 64 MiB and more than 100 times its size";
        assert!(
            command != "verify" || format!("{}{}", said.out, said.err).contains(words),
            "{}{}",
            said.out,
            said.err
        );
    }
    // Just not too much.
    let log = made("less");
    add_segments(&place, "less", [30 * MB].into_iter());
    for command in ["log", "show latest", "verify"] {
        read(&place, &format!("{command} {log}"), "unpacks to more than");
    }
    // The ledger.
    let log = made("ledger");
    let lines = "{\"content\":\"x\"}\n".repeat(20 * MB);
    let object = zstd::bulk::compress(lines.as_bytes(), 3).unwrap();
    let next = std::fs::read_dir(place.path("ledger/ledger")).unwrap().count() + 1;
    std::fs::write(place.path(&format!("ledger/ledger/{next:010}.jsonl.zst")), object).unwrap();
    let said = limited(&place, &format!("verify {log}"));
    assert_eq!(said.code, 1, "damage is what `verify` finds: {}{}", said.out, said.err);
    limited(&place, &format!("log {log}"));
}

#[test]
fn files_of_other_tools_whose_bodies_unpack() {
    let place = Place::new();
    let too_much = "more than 256 MiB without their content encodings";
    let long = vec![b'a'; 15 * MB];
    place.write("gzip.yaml", vcr("gzip", &gzip(&long), 100));
    refused(&place, "import gzip.yaml", too_much);
    place.write("zstd.yaml", vcr("zstd", &zstd::bulk::compress(&long, 3).unwrap(), 2000));
    refused(&place, "import zstd.yaml", too_much);
    place.write("twice.yaml", vcr("'gzip, gzip'", &gzip(&gzip(&long)), 100));
    refused(&place, "import twice.yaml", too_much);
    place.write("some.har", har(&gzip(&long), 40));
    refused(&place, "import some.har", too_much);
    place.write("fewer.yaml", vcr("gzip", &gzip(&long), 3));
    read(&place, "import fewer.yaml", too_much);
    // Longer than one body may be: it is kept as it is.
    place.write("longest.yaml", vcr("gzip", &gzip(&vec![b'a'; 100 * MB]), 5));
    read(&place, "import longest.yaml", too_much);
}

#[test]
fn archives_that_unpack() {
    let place = Place::new();
    let header = ("header.json", b"{\"eval\":{},\"status\":\"success\"}".to_vec());
    let sample = |mb: usize| {
        let mut text = b"{\"id\":1,\"epoch\":1,\"input\":\"".to_vec();
        text.resize(mb * MB, b'a');
        text.extend_from_slice(b"\"}");
        ("samples/1_epoch_1.json", text)
    };
    let too_much = "the most that is read of an archive of this size";
    place.write("long.eval", zip(&[header.clone(), sample(320)], None));
    refused(&place, "import long.eval", too_much);
    place.write("lies.eval", zip(&[header.clone(), sample(320)], Some(10)));
    refused(&place, "import lies.eval", too_much);
    place.write("less.eval", zip(&[header, sample(60)], None));
    read(&place, "import less.eval", too_much);
}

#[test]
fn aliases_and_nesting() {
    let place = Place::new();
    let laughs = |base: &str, levels: usize| -> String {
        let level =
            |n: usize| format!("l{n}: &l{n} [{}]\n", vec![format!("*l{}", n - 1); 10].join(","));
        format!(
            "interactions: []\nl0: &l0 [{base}]\n{}",
            (1..levels).map(level).collect::<String>()
        )
    };
    place.write("laughs.yaml", laughs("ha", 40));
    refused(&place, "import laughs.yaml", "values, aliases included");
    let text = "x".repeat(MB);
    place.write("copies.yaml", laughs(&text, 4));
    refused(&place, "import copies.yaml", "aliases stand for more than 64 MiB of text");
    place.write("fewer.yaml", laughs(&text, 2));
    read(&place, "import fewer.yaml", "aliases stand for");
    place.write("deep.yaml", format!("interactions: {}", "[".repeat(MB)));
    refused(&place, "import deep.yaml", "recursion limit exceeded");
    place.write("config.yaml", laughs("ha", 40));
    refused(&place, "run config.yaml", "error: ");
    let nested = format!("x={}", "[".repeat(50_000));
    refused(&place, &format!("run small.yaml --set '{nested}'"), "error: ");
}

#[test]
fn recordings_and_answers_with_many_names() {
    let place = Place::new();
    let line = |n: usize| {
        let labels: serde_json::Map<_, _> =
            (0..50).map(|at| (format!("label_{n}_{at}"), json!("x"))).collect();
        let request =
            json!({"model": "m", "messages": [{"role": "user", "content": format!("q {n}")}]});
        json!({"call": format!("q/{n}"), "labels": labels, "request": request, "response": {"content": "a"}})
    };
    let lines: Vec<String> = (0..1000).map(|n| line(n).to_string()).collect();
    place.write("labels.jsonl", lines.join("\n"));
    limited(&place, "import labels.jsonl");
    limited(&place, "table latest out.csv --table calls");
    limited(&place, "stats latest");
    let mut zeros = zstd::Encoder::new(Vec::new(), 3).unwrap();
    std::io::Write::write_all(&mut zeros, &vec![b' '; 200 * MB]).unwrap();
    place.write("spaces.jsonl.zst", zeros.finish().unwrap());
    refused(&place, "import spaces.jsonl.zst", "unpacks to more than 500");
    let nested = format!("{{\"request\":{}", "[".repeat(3 * MB));
    place.write("nested.jsonl", nested);
    refused(&place, "import nested.jsonl", "error: ");
    place.write(
        "loops.txt",
        "{input}{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
    );
    refused(&place, "run small.yaml --set template=loops.txt", "template");
}
