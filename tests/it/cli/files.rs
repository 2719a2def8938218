//! Files that cannot be used: exchanges, answers, recordings to be written.

use std::io::Write;

use crate::support::cli::{Place, assert_said};

/// An exchanges line.
fn line(extra: &str) -> String {
    let request = r#"{"model":"x","messages":[{"role":"user","content":"hi"}]}"#;
    format!("{{{extra}\"request\":{request},\"response\":{{\"content\":\"yo\"}}}}\n")
}

/// Gzipped text, whole.
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
    // The answers of a run with fewer samples, and of one with another template.
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
fn a_run_that_lacked_answers_goes_on_with_a_fuller_file() {
    let place = Place::with_run();
    let (whole, _) = place.json("replay latest");
    place.ok("export latest all.jsonl --as exchanges");
    let all = place.read("all.jsonl");
    place.write("some.jsonl", all.lines().take(4).map(|l| format!("{l}\n")).collect::<String>());
    assert_eq!(place.run("run small.yaml --answers some.jsonl").code, 2);
    let (resumed, code) = place.json("resume latest --answers all.jsonl");
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
fn exports_replace_nothing_unasked() {
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
}

#[test]
fn an_empty_file_is_not_imported() {
    let place = place();
    let said = place.run("import empty.jsonl");
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    let expected = "error: empty.jsonl is empty: it holds neither a recording nor an exchange\n  \
                    hint: nothing was imported\n";
    assert_eq!(said.err, expected);
    assert!(!place.path("retold.db").exists());
}
