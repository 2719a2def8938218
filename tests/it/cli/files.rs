//! Files that cannot be used: exchanges, answers, and recordings to be written.

use std::io::Write;

use crate::support::cli::{Place, assert_said};

/// A line of an exchanges file.
fn line(extra: &str) -> String {
    let request = r#"{"model":"x","messages":[{"role":"user","content":"hi"}]}"#;
    format!("{{{extra}\"request\":{request},\"response\":{{\"content\":\"yo\"}}}}\n")
}

/// The whole text, gzipped.
fn packed(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn place() -> Place {
    let place = Place::new();
    place.write("bad_line.jsonl", format!("{}\n{{\"request\": nope}}\n", line("")));
    place.write("not_an_object.jsonl", format!("{}[1]\n", line("")));
    place.write("no_response.jsonl", "{\"request\":{\"model\":\"x\",\"messages\":[]}}\n");
    place.write("not_utf8.jsonl", b"{\"request\": \"\xff\"}\n");
    place.write("empty.jsonl", "");
    let whole = packed(&line("").repeat(50));
    place.write("cut.jsonl.gz", &whole[..whole.len() - 12]);
    place.write("plain.jsonl.gz", line(""));
    place.write("duplicate.jsonl", line("\"call\":\"a\",\"sample\":0,").repeat(2));
    place.write("no_call.jsonl", line("\"sample\":0,"));
    place
}

#[test]
fn answers_that_cannot_be_read() {
    let place = place();
    let shown = place.session(&[
        "run small.yaml --answers none.jsonl",
        "run small.yaml --answers bad_line.jsonl",
        "run small.yaml --answers not_an_object.jsonl",
        "run small.yaml --answers no_response.jsonl",
        "run small.yaml --answers not_utf8.jsonl",
        "run small.yaml --answers cut.jsonl.gz",
        "run small.yaml --answers plain.jsonl.gz",
        "run small.yaml --answers duplicate.jsonl",
        "run small.yaml --answers no_call.jsonl",
    ]);
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
    assert_said!("files_answers", shown);
}

#[test]
fn answers_that_lack_an_address() {
    let place = place();
    place.write("one.jsonl", line(""));
    // The answers of a run with fewer samples, and of one with a different template.
    place.ok("run small.yaml --quiet --set samples=2 --log other.db");
    place.ok("export latest fewer.jsonl --as exchanges --log other.db");
    place.ok("run small.yaml --quiet --set template=standard --log other.db");
    place.ok("export latest other.jsonl --as exchanges --log other.db");
    let shown = place.session(&[
        "run small.yaml --quiet --concurrency 1 --answers empty.jsonl",
        "run small.yaml --quiet --concurrency 1 --answers one.jsonl",
        "run small.yaml --quiet --concurrency 1 --answers fewer.jsonl",
        "run small.yaml --quiet --concurrency 1 --answers other.jsonl",
    ]);
    assert_said!("files_address", shown);
}

#[test]
fn a_run_that_lacked_answers_continues_with_a_fuller_file() {
    let place = Place::with_run();
    let (whole, _) = place.json("replay latest");
    place.ok("export latest all.jsonl --as exchanges");
    let all = place.read("all.jsonl");
    place.write("some.jsonl", all.lines().take(4).map(|l| format!("{l}\n")).collect::<String>());
    assert_eq!(place.run("run small.yaml --answers some.jsonl").code, 2);
    let (resumed, code) = place.json("run --resume latest --answers all.jsonl");
    assert_eq!((&resumed["outcome"], code), (&"finished".into(), 0), "{resumed}");
    assert_eq!(resumed["outcome_digest"], whole["outcome_digest"]);
}

#[test]
fn imports_that_cannot_be_done() {
    let place = place();
    place.ok("run small.yaml --quiet --log other.db");
    let shown = place.session(&[
        "import none.jsonl",
        "import bad_line.jsonl",
        "import cut.jsonl.gz",
        "import duplicate.jsonl",
        "import no_call.jsonl",
        "import small.yaml",
        "import other.db",
    ]);
    assert_said!("files_import", shown);
    assert!(!place.path("retold.db").exists(), "nothing is stored");
}

#[test]
fn exports_do_not_overwrite_files_unasked() {
    let place = Place::with_run();
    place.write("there.jsonl", "mine");
    let shown = place.session(&[
        "export latest there.jsonl",
        "export latest none/there.jsonl",
        "export latest small.yaml/there.jsonl",
    ]);
    assert_eq!(place.read("there.jsonl"), "mine");
    assert_said!("files_export", shown);
    place.ok("export latest there.jsonl --force");
    assert_eq!(place.read("there.jsonl"), place.ok("export latest"));
    assert_eq!(place.read("there.jsonl"), place.ok("export latest -"));
    assert!(!place.path("-").exists());
}

#[test]
fn an_empty_file_is_not_imported() {
    let place = place();
    let said = place.run("import empty.jsonl");
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    let expected = "error: empty.jsonl is empty: it has neither a recording nor an exchange\n  \
                    hint: nothing was imported\n";
    assert_eq!(said.err, expected);
    assert!(!place.path("retold.db").exists());
}

/// Calls that failed for good are in an exchanges file as well: an experiment run on its own file
/// has the same outcome, and an import contains what was exported.
#[test]
fn failed_calls_are_exchanges_too() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/society_small.yaml");
    let (first, code) = place.json(&format!("run {config} --set model.rates.failure=0.1"));
    assert_eq!(code, 0, "{first}");
    assert!(first["report"]["did"]["unanswered"].as_u64().unwrap() > 3, "{first}");
    place.ok("export latest answers.jsonl --as exchanges");
    let lines = place.read("answers.jsonl");
    let failed: Vec<&str> = lines.lines().filter(|line| line.contains("\"error\":{")).collect();
    assert_eq!(first["report"]["did"]["unanswered"], failed.len());
    assert!(failed.iter().all(|line| !line.contains("\"response\":")), "{failed:?}");
    let (again, code) = place.json(&format!("run {config} --answers answers.jsonl"));
    assert_eq!((code, &again["outcome_digest"]), (0, &first["outcome_digest"]), "{again}");
    assert_eq!(place.json("replay latest").0["identical"], true);
    place.ok("import answers.jsonl");
    place.ok("verify");
    place.ok("export latest again.jsonl --as exchanges");
    assert_eq!(place.read("again.jsonl"), lines);
}

#[test]
fn lines_with_neither_or_both_outcomes_are_refused() {
    let place = Place::new();
    let request = r#""request":{"model":"m","messages":[{"role":"user","content":"a"}]}"#;
    let error = r#""error":{"failure":"server","message":"no"}"#;
    place.write("neither.jsonl", format!("{{{request}}}\n"));
    place
        .write("both.jsonl", format!("{{{request},{error},\"response\":{{\"content\":\"b\"}}}}\n"));
    place.write("kind.jsonl", format!("{{{request},{}}}\n", error.replace("server", "mood")));
    let said = ["neither", "both", "kind"].map(|name| format!("import {name}.jsonl"));
    assert_said!("files_outcomes", place.session(&[&said[0], &said[1], &said[2]]));
}

#[test]
fn files_in_utf_16_and_experiments_without_a_folder_are_reported() {
    let place = Place::new();
    let text = "{\"call\": \"a\"}\n";
    let units =
        |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    place.write("little.jsonl", units(u16::to_le_bytes));
    place.write("big.jsonl", units(u16::to_be_bytes));
    place.write("marked.jsonl", [vec![0xFF, 0xFE], units(u16::to_le_bytes)].concat());
    std::fs::create_dir(place.path("run")).unwrap();
    place.write("run/config.json", units(u16::to_le_bytes));
    let shown = place.session(&[
        "import little.jsonl",
        "import big.jsonl",
        "import marked.jsonl",
        "run small.yaml --answers little.jsonl",
        "import society little.jsonl",
        "import public-goods run",
        "import public-goods",
        "import society",
        "import game24",
    ]);
    assert_said!("files_utf_16", shown);
}

#[test]
fn a_name_that_says_another_kind_of_file_is_refused() {
    let place = Place::with_run();
    let shown = place.session(&[
        "export latest x.csv --as exchanges",
        "export latest x.XLSX",
        "export latest x.jsonl.xz",
        "export latest x.db",
        "export latest x.parquet --as exchanges --force",
        "export latest x.yaml",
    ]);
    assert_said!("files_other_kinds", shown);
    for name in ["x.jsonl", "x.ndjson", "x.json", "x.jsonl.gz", "x.zst", "x"] {
        place.ok(&format!("export latest {name}"));
    }
}
