//! Foreign files that were made to use up memory or time: each is refused with a reason, in bounded
//! memory.

use std::io::Write;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::cli::{Place, SMALL};
use crate::support::forged::{Packed, chained, drawn, repeated, with_settings};
use crate::support::measured::{self, Measured, measured};
use crate::support::server::{Reply, Server};

/// The most memory that any of the commands may use, in MB.
const MOST_MB: u64 = 300;

/// Runs a command on a forged file: it must end by itself with one of the given exit codes, print
/// the given words, and use little memory.
#[track_caller]
fn refused(place: &Place, args: &[&str], codes: &[i32], words: &str) {
    judge(&measured(place, args), &args.join(" "), codes, words);
}

#[track_caller]
fn judge(measured: &Measured, what: &str, codes: &[i32], words: &str) {
    let Measured { said, peak, seconds } = measured;
    eprintln!("{peak:>4} MB {seconds:>6.2} s  exit {}  {what}", said.code);
    let both = format!("{}{}", said.out, said.err);
    assert!(codes.contains(&said.code), "{what}: exit {}\n{both}", said.code);
    assert!(both.contains(words), "{what}: {both}");
    assert!(both.len() < 100_000, "{what}: it says {} bytes", both.len());
    assert!(*peak < MOST_MB, "{what}: {peak} MB");
}

/// A line of an exchanges file up to the value of a parameter.
const REQUEST: &str = r#"{"request":{"model":"m","messages":[],"x":"#;

#[test]
fn lines_without_end() {
    let place = Place::new();
    let mb = |seed| drawn(seed, 190, 230) as usize * 1_000_000;
    let files = [
        ("zeros.jsonl.gz", repeated(Packed::Gzip, "", ("\0", mb(1)), ""), "is zero"),
        (
            "spaces.jsonl.zst",
            repeated(Packed::Zstd, "", (" ", mb(2)), ""),
            "unpacks to more than 500",
        ),
        ("letters.jsonl.gz", repeated(Packed::Gzip, "\"", ("a", mb(3)), "\""), "longer than"),
        ("letters.jsonl", repeated(Packed::Plain, "\"", ("a", 70_000_000), "\""), "longer than"),
        ("blank.jsonl.zst", repeated(Packed::Zstd, "", ("\n", mb(4)), "{}"), "blank lines"),
        ("blank.jsonl", repeated(Packed::Plain, "", (" \r\n", 9_000_000), "{}"), "blank lines"),
        (
            "numbers.jsonl",
            repeated(Packed::Plain, &format!("{REQUEST}["), ("0,", 30_000_000), "0]}}"),
            "values",
        ),
        (
            "lists.jsonl",
            repeated(Packed::Plain, &format!("{REQUEST}["), ("[],", 20_000_000), "0]}}"),
            "values",
        ),
        ("deep.jsonl", repeated(Packed::Plain, REQUEST, ("[", 3_000_000), ""), "error: "),
        (
            "deep_objects.jsonl",
            repeated(Packed::Plain, REQUEST, ("{\"a\":", 3_000_000), ""),
            "error: ",
        ),
    ];
    for (name, bytes, words) in files {
        place.write(name, bytes);
        refused(&place, &["import", name], &[2], words);
        refused(&place, &["run", "small.yaml", "--answers", name], &[2], words);
        // A recording begins with a line of its own; these files have none.
        refused(&place, &["replay", name], &[1, 2], "error: ");
        refused(&place, &["verify", name], &[1, 2], "");
    }
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

#[test]
fn what_is_not_a_plain_file() {
    let place = Place::new();
    let sparse = std::fs::File::create(place.path("sparse.jsonl")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    std::fs::create_dir(place.path("folder.jsonl")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path("fifo.jsonl")).status().unwrap().success());
    place.write("template.yaml", SMALL.replace("template: cot", "template: TEMPLATE"));
    for name in ["/dev/zero", "sparse.jsonl", "folder.jsonl", "fifo.jsonl"] {
        place.write("named.yaml", SMALL.replace("template: cot", &format!("template: {name}")));
        let commands: [&[&str]; 7] = [
            &["import", name],
            &["run", "small.yaml", "--answers", name],
            &["replay", name],
            &["run", name],
            &["run", "named.yaml"],
            &["run", "small.yaml", "--base-url", "http://127.0.0.1:9/v1", "--key-file", name],
            &["study", "deliberation", "personas", "import", name],
        ];
        for args in commands {
            refused(&place, args, &[2, 3], "error: ");
        }
    }
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

#[test]
fn a_pipe_without_end() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("fifo.jsonl")).status().unwrap().success());
    let path = place.path("fifo.jsonl");
    for (args, words) in
        [(["import", "fifo.jsonl"], "longer than"), (["run", "fifo.jsonl"], "longer than 4 MB")]
    {
        let path = path.clone();
        let writer = std::thread::spawn(move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            let text = "a".repeat(1 << 20);
            // Until nobody reads any more.
            while pipe.write_all(text.as_bytes()).is_ok() {}
        });
        refused(&place, &args, &[2, 3], words);
        writer.join().unwrap();
    }
}

#[test]
fn configs() {
    let place = Place::new();
    let laughs: String = (1..40)
        .map(|n| format!("l{n}: &l{n} [{}]\n", vec![format!("*l{}", n - 1); 10].join(",")))
        .collect();
    let files = [
        ("deep.yaml", format!("experiment: {}", "[".repeat(1_000_000))),
        ("deep_keys.yaml", (0..1500).map(|n| format!("{}a:\n", " ".repeat(n))).collect()),
        ("laughs.yaml", format!("l0: &l0 [ha]\n{laughs}")),
        ("long.yaml", "x".repeat(5_000_000)),
        ("many.yaml", format!("{SMALL}extra: [{}]\n", "0,".repeat(1_500_000))),
    ];
    for (name, text) in files {
        place.write(name, text);
        refused(&place, &["run", name], &[2, 3], "error: ");
    }
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

/// The shipped config of an experiment, with small counts.
fn config(name: &str) -> String {
    format!("{}/config/{name}.yaml", env!("RETOLD_ROOT"))
}

const HUGE: [&str; 3] = ["1000000000", "4294967295", "99999999999999999999"];

/// The counts of each experiment: its config, and where recorded settings have them.
const COUNTS: [(&str, &str, &[&str]); 5] = [
    ("game24", "", &["samples"]),
    (
        "public_goods_small",
        "config/",
        &[
            "games", "group_size", "game_length", "max_parse_retries", "max_message_chars",
            "endowment",
        ],
    ),
    (
        "society_small",
        "",
        &["agents", "days", "context/posts", "context/events", "rules/allocation_days"],
    ),
    ("adventure", "config/", &["games", "turns", "memory", "max_parse_retries"]),
    (
        "deliberation_small",
        "config/",
        &[
            "participants_per_condition",
            "max_clarification_exchanges",
            "max_socratic_exchanges",
            "max_clusters_per_option",
            "max_parse_retries",
        ],
    ),
];

#[test]
fn counts_of_a_thousand_million() {
    let place = Place::new();
    for (name, _, counts) in COUNTS {
        for (at, count) in counts.iter().enumerate() {
            let setting = format!("{}={}", count.replace('/', "."), HUGE[at % HUGE.len()]);
            refused(&place, &["run", &config(name), "--set", &setting], &[2], "error: ");
        }
    }
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

/// Records a short run of an experiment and returns the recording.
fn recording(place: &Place, name: &str) -> String {
    let small: &[&str] = match name {
        "game24" => &["--set", "puzzles.rows=0..2", "--set", "samples=2"],
        "public_goods_small" => &["--set", "game_length=1"],
        "society_small" => &["--set", "days=1"],
        "adventure" => &["--set", "player=first", "--set", "turns=2"],
        _ => &["--set", "use_persona_storage=false", "--set", "participants_per_condition=3"],
    };
    let config = config(name);
    let mut args = vec!["run", config.as_str(), "--quiet", "--no-outputs", "--log", "made.db"];
    args.extend(small);
    let said = place.args(&args);
    assert_eq!(said.code, 0, "{name}: {}{}", said.out, said.err);
    place.ok("export latest run.jsonl --force --log made.db");
    place.read("run.jsonl")
}

#[test]
fn recorded_counts_of_a_thousand_million() {
    for (name, inside, counts) in COUNTS {
        let place = Place::new();
        let recording = recording(&place, name);
        place.write("same.jsonl", with_settings(&recording, |_| {}));
        place.ok("verify same.jsonl");
        place.ok("replay same.jsonl");
        for count in counts {
            let pointer = format!("/experiment/{inside}{count}");
            let forged = with_settings(&recording, |settings| {
                let place = settings.pointer_mut(&pointer);
                *place.unwrap_or_else(|| panic!("{name} has no {pointer}")) = json!(1_000_000_000);
            });
            place.write("forged.jsonl", forged);
            let log = place.path("forged.db");
            let _ = std::fs::remove_file(&log);
            let words = count.rsplit('/').next().unwrap();
            refused(&place, &["replay", "forged.jsonl"], &[2], words);
            refused(&place, &["export", "forged.jsonl", "there", "--as", "outputs"], &[2], words);
            refused(&place, &["import", "forged.jsonl", "--log", "forged.db"], &[0], "imported");
            refused(&place, &["run", "--resume", "latest", "--log", "forged.db"], &[2], words);
            // The run is in the log and can be shown.
            refused(&place, &["show", "latest", "--log", "forged.db"], &[0], "cannot be shown");
            refused(&place, &["show", "latest", "--json", "--log", "forged.db"], &[0], "unusable");
            refused(&place, &["log", "latest", "--log", "forged.db"], &[0], "run started");
            refused(&place, &["check", "latest", "--log", "forged.db"], &[0, 1], "");
        }
    }
}

#[test]
fn recorded_names_as_long_as_a_file() {
    let place = Place::new();
    let recording = recording(&place, "game24");
    let long = "n".repeat(drawn(5, 19_000_000, 20_000_000) as usize);
    let keys = ["/experiment/parser", "/experiment/template/name", "/runtime/model/base_url"];
    for key in keys {
        let forged = with_settings(&recording, |settings| {
            let (group, name) = key.rsplit_once('/').unwrap();
            settings.pointer_mut(group).unwrap()[name] = json!(long);
        });
        place.write("forged.jsonl", forged);
        for args in
            [["replay", "forged.jsonl"], ["show", "forged.jsonl"], ["check", "forged.jsonl"]]
        {
            refused(&place, &args, &[0, 1, 2], "");
        }
    }
    let mut lines: Vec<Value> =
        recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let start = lines.iter_mut().find(|line| line["kind"] == "RunStarted").unwrap();
    start["body"]["forked_from"] =
        json!({"before": 1_000_000_000_000_u64, "run": "0123456789abcdef"});
    place.write("forged.jsonl", chained(lines));
    refused(&place, &["replay", "forged.jsonl"], &[0, 1, 2], "");
    refused(&place, &["show", "forged.jsonl"], &[0], "forked from run");
}

/// Facts that claim every number up to ten million as their causes.
#[test]
fn recorded_causes_without_end() {
    let place = Place::new();
    let recording = recording(&place, "game24");
    let mut lines: Vec<Value> =
        recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let start = lines.iter().position(|line| line["kind"] == "RunStarted").unwrap();
    lines.truncate(start + 1);
    let begin = lines[start].clone();
    for seq in 2..2_000 {
        lines.push(json!({
            "body": {"causes": [[1, drawn(seq, 9_000_000, 10_000_000)]], "fact": {}},
            "kind": "Occurred", "run": begin["run"], "seq": seq, "time": begin["time"], "version": 1,
        }));
    }
    place.write("forged.jsonl", chained(lines));
    for command in ["verify", "replay", "show", "import"] {
        refused(&place, &[command, "forged.jsonl"], &[1, 2], "causes");
    }
}

/// Templates of a few bytes that would make endless or huge prompts.
const TEMPLATES: [&str; 7] = [
    "{input}{% for a in range(100000) %}{% for b in range(100000) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}{% endfor %}",
    "{% set x = input ~ input %}{input}",
    "{% macro m(n) %}{ m(n) }{ m(n) }{% endmacro %}{ m(1) }{input}",
    "{input}{ 'x' * 100000000 }",
    "{% for x in [input ~ input] %}{% for y in [x ~ x] %}{y}{% endfor %}{% endfor %}{input}",
    "{input}{ '%999999999d'|format(1) }",
    "{% set x %}{% for a in range(100000) %}xxxxxxxxxxxxxxxx{% endfor %}{% endset %}{input}{x}",
];

#[test]
fn templates() {
    let place = Place::new();
    let recording = recording(&place, "game24");
    let deep = format!("{{input}}{{ {}1 }}", "(".repeat(100_000));
    let chain = format!("{{input}}{{ input{} }}", " + 1".repeat(200_000));
    for template in TEMPLATES.into_iter().chain([deep.as_str(), chain.as_str()]) {
        place.write("evil.txt", template);
        refused(&place, &["run", "small.yaml", "--set", "template=evil.txt"], &[2], "template");
        let forged = with_settings(&recording, |settings| {
            settings["experiment"]["template"]["text"] = json!(template);
        });
        place.write("forged.jsonl", forged);
        refused(&place, &["replay", "forged.jsonl"], &[2], "template");
        refused(&place, &["show", "forged.jsonl"], &[0], "cannot be shown");
    }
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

/// Ten thousand agents, each with a prompt as long as a template may be.
#[test]
fn long_prompts_for_many() {
    let place = Place::new();
    let recording = recording(&place, "society_small");
    let forged = with_settings(&recording, |settings| {
        settings["experiment"]["agents"] = json!(10_000);
        for prompt in settings["experiment"]["prompts"].as_array_mut().unwrap() {
            prompt["text"] = json!("x".repeat(900_000));
        }
    });
    place.write("forged.jsonl", forged);
    // The recording has no further answers, or the prompts are too long: no model is asked.
    refused(&place, &["replay", "forged.jsonl"], &[1, 2], "");
}

#[test]
fn answers_of_servers() {
    let numbers = |n: usize| format!("{{\"choices\":[{}0]}}", "0,".repeat(n)).into_bytes();
    let mut zeros = b"{\"choices\":\"".to_vec();
    zeros.resize(60_000_000, 0);
    let text = |n: usize| {
        let text = "a".repeat(n);
        format!("{{\"choices\":[{{\"message\":{{\"content\":\"{text}\"}}}}]}}").into_bytes()
    };
    let deep = format!("{{\"choices\":{}", "[".repeat(400_000)).into_bytes();
    let page = format!("<html>{}", "a".repeat(12_000_000));
    let many = (0..20_000).fold(Reply::chat("x"), |reply, n| reply.header(&format!("x-{n}"), "y"));
    let replies = [
        ("zeros", Reply::new(200, zeros), "longer than 16 MiB"),
        ("numbers", Reply::new(200, numbers(7_000_000)), "values"),
        ("a long text", Reply::new(200, text(60_000_000)), "longer than 16 MiB"),
        ("depth", Reply::new(200, deep), "not JSON"),
        ("another type", Reply::new(200, page).header("content-type", "text/html"), "content type"),
        ("a long error", Reply::new(400, text(60_000_000)), "rejected"),
        ("headers without end", many, ""),
    ];
    for (what, reply, words) in replies {
        let place = Place::new();
        let server = Server::handler(move |_| reply.clone());
        let args = format!(
            "run small.yaml --json --set puzzles.rows=0..1 --set samples=1 --set retry.max_retries=1 \
             --set limits.timeout_seconds=60 --base-url {}",
            server.base_url()
        );
        let mut command = place.command();
        command.args(args.split_whitespace());
        judge(&measured::of(&place, command), what, &[4], "");
        let log = place.ok("log latest --json");
        let log: Value = serde_json::from_str(&log).unwrap();
        let failed =
            log["events"].as_array().unwrap().iter().find(|e| e["kind"] == "AttemptFailed");
        let failed = failed.unwrap_or_else(|| panic!("{what}: {log}")).to_string();
        assert!(failed.contains(words) && failed.len() < 4_000, "{what}: {failed}");
    }
}

/// Answers that are too long, sent by a server to each of many calls at the same time.
#[test]
fn long_answers_to_many_calls() {
    let long = Reply::new(200, vec![b' '; 40_000_000]);
    for (what, reply) in [("announced", long.clone()), ("unannounced", long.unannounced())] {
        let place = Place::new();
        let server = Server::handler(move |_| reply.clone());
        let args = format!(
            "run small.yaml --json --set puzzles.rows=0..1 --set samples=12 \
             --set retry.max_retries=0 --concurrency 12 --base-url {}",
            server.base_url()
        );
        let mut command = place.command();
        command.args(args.split_whitespace());
        judge(&measured::of(&place, command), what, &[4], "");
    }
}

/// The longest answer that is accepted, all of it one text.
#[test]
fn the_longest_answer() {
    let place = Place::new();
    let text = "a".repeat(15 << 20);
    let server = Server::handler(move |_| Reply::chat(&text));
    let args = format!(
        "run small.yaml --json --set puzzles.rows=0..1 --set samples=1 --base-url {}",
        server.base_url()
    );
    let mut command = place.command();
    command.args(args.split_whitespace());
    judge(&measured::of(&place, command), "15 MiB of text", &[0], "finished");
    refused(&place, &["replay", "latest"], &[0], "identical");
    refused(&place, &["export", "latest", "run.jsonl"], &[0], "written");
    refused(&place, &["export", "latest", "exchanges.jsonl", "--as", "exchanges"], &[0], "written");
    refused(&place, &["replay", "run.jsonl"], &[0], "identical");
    refused(&place, &["import", "exchanges.jsonl"], &[0], "imported");
}

/// An answer that arrives byte by byte ends at the timeout, and so does one that never ends.
#[test]
fn answers_that_never_end() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let head =
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"choices\":\"";
                let mut sent = stream.write_all(head.as_bytes());
                while sent.is_ok() {
                    sent = stream.write_all(b"a");
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
            });
        }
    });
    let place = Place::new();
    let args = format!(
        "run small.yaml --json --set puzzles.rows=0..1 --set samples=1 --set retry.max_retries=0 \
         --set limits.timeout_seconds=1 --base-url http://{address}/v1"
    );
    let mut command = place.command();
    command.args(args.split_whitespace());
    judge(&measured::of(&place, command), "a drip", &[4], "");
}
