//! What is said where there is no log, or no store.

use super::lab::{Lab, SECRET};
use crate::support::cli::Said;
use crate::support::server::{Reply, Server};

#[test]
fn a_place_without_a_log_is_named() {
    let lab = Lab::folder();
    let said = lab.run("log");
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains(&format!("there is no log at {}", lab.log)), "{}", said.err);
    assert!(!lab.place.path("lab").exists(), "looking leaves nothing");
}

/// A log in a file and one in a folder are named differently, and each error says how.
#[test]
fn a_file_is_told_from_a_folder() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    std::fs::create_dir(lab.place.path("kept")).unwrap();
    lab.ok("run small.yaml --quiet --no-outputs --log kept/retold.db");
    let (here, url) = (lab.place.path("").display().to_string(), &lab.log);
    let here = here.trim_end_matches('/');
    for (log, status, why) in [
        ("lab".to_owned(), 3, format!("which is named by a URL: --log {url}")),
        (
            "kept".to_owned(),
            3,
            "the log in it is a file: name it with --log kept/retold.db".to_owned(),
        ),
        (format!("file://{here}/kept"), 3, format!("name it with --log {here}/kept/retold.db")),
        (
            format!("file://{here}/kept/retold.db"),
            2,
            format!("a log in a file is named by its path: {here}/kept/retold.db"),
        ),
        ("file:lab".to_owned(), 2, "a folder is named by its whole path".to_owned()),
        ("s3:lab/x".to_owned(), 2, "s3://...: it names no bucket".to_owned()),
    ] {
        let said = lab.run(&format!("log --log {log}"));
        assert_eq!(said.code, status, "{log}: {}", said.err);
        assert!(said.err.contains(&why), "{log}: {}", said.err);
        assert!(!said.err.contains("AWS"), "{log}: {}", said.err);
    }
}

/// Lists of a directory bucket have no order, which would look like missing events.
#[test]
fn a_directory_bucket_is_refused_before_it_is_asked() {
    let lab = Lab::folder();
    for args in ["log", "run small.yaml --quiet"] {
        let said = lab.run(&format!("{args} --log s3://lab--use1-az4--x-s3/study"));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(
            said.err.contains("it names a directory bucket (S3 Express One Zone)"),
            "{}",
            said.err
        );
    }
}

/// A writer that is killed while it stores a segment may leave the file that it wrote the segment into.
#[test]
fn what_a_killed_writer_leaves_in_a_folder_is_no_damage() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    let run = lab.json("log")["runs"][0]["run"].as_str().unwrap().to_owned();
    for (folder, next) in [(format!("runs/{run}"), 99), ("ledger".to_owned(), 99)] {
        for (name, number) in [(1, 1), (next, 2)] {
            let left = format!("lab/{folder}/{name:010}.jsonl.zst#{number}");
            std::fs::write(lab.place.path(&left), "half a segm").unwrap();
        }
    }
    std::fs::write(lab.place.path("lab/retold.json#1"), "{").unwrap();
    lab.ok("verify");
    lab.ok("replay latest --quiet");
    lab.ok("run small.yaml --quiet --no-outputs --new");
    lab.ok("copy --compact");
    lab.ok("verify");
}

#[test]
fn a_url_with_a_secret_is_refused_and_not_repeated() {
    let lab = Lab::folder();
    for url in [format!("s3://AKIA:{SECRET}@lab/x"), format!("s3://lab/x?X-Amz-Signature={SECRET}")]
    {
        let said = lab.run(&format!("log --log {url}"));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains("cannot open the log s3://..."), "{}", said.err);
    }
}

#[test]
fn a_url_of_something_else_is_not_taken_for_a_file() {
    let lab = Lab::folder();
    for (url, why) in [
        ("https://lab.example/x", "https:// is not supported"),
        ("s3:///x", "it names no bucket"),
        ("file://folder/x", "a folder is named by its whole path"),
    ] {
        let said = lab.run(&format!("run small.yaml --log {url}"));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(why), "{}", said.err);
    }
    for flags in ["--log-limit 100000", "--redact sk-[a-z]+"] {
        let said = lab.run(&format!("record {flags} -- true"));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains("is not"), "{}", said.err);
        assert!(!lab.place.path("lab").exists(), "nothing was made: {flags}");
    }
}

#[test]
fn a_store_that_does_not_answer_is_given_up() {
    let lab = Lab::folder();
    let mut command = lab.command();
    // Nothing listens there.
    command.env("AWS_ENDPOINT_URL", "http://127.0.0.1:9").env("AWS_REGION", "us-east-1");
    command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", SECRET);
    let said = Said::ended(command.args(["log", "--log", "s3://lab/x", "-vvv"]));
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains(" fails: Connection refused"), "{}", said.err);
    assert!(!said.err.contains("Generic") && !said.err.contains("max_retries"), "{}", said.err);
    assert!(said.err.contains("s3://lab/x"), "{}", said.err);
    assert!(!said.err.contains(SECRET), "{}", said.err);
}

#[test]
fn what_belongs_to_files_alone_is_refused() {
    let lab = Lab::folder();
    let said = lab.run("init game24 first.yaml");
    assert_eq!(said.code, 2, "{}", said.err);
    let why = "is not a file: version control has nothing to leave out";
    assert!(said.err.contains(why), "{}", said.err);
    assert!(!lab.place.path("first.yaml").exists() && !lab.place.path("lab").exists());
}

/// What a store says in XML is said as a sentence, with what its operator needs to find the request.
#[test]
fn a_store_that_refuses_is_quoted_in_a_sentence() {
    for (status, code, due) in [
        (404, "NoSuchBucket", "No (NoSuchBucket, request 4442587FB7D0A2F9)"),
        (403, "AccessDenied", "No (AccessDenied, request "),
    ] {
        let store = Server::handler(move |_| {
            Reply::new(
                status,
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>No.</Message>\
                     <RequestId>4442587FB7D0A2F9</RequestId></Error>"
                ),
            )
        });
        let lab = Lab::folder();
        for args in ["log", "run small.yaml --quiet"] {
            let mut command = lab.command();
            command.env("AWS_ENDPOINT_URL", format!("http://{}", store.address()));
            command.env("AWS_REGION", "us-east-1").env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE");
            command.env("AWS_SECRET_ACCESS_KEY", SECRET).env("RETOLD_LOG", "s3://lab/x");
            let said = Said::ended(command.args(args.split_whitespace()));
            assert_eq!(said.code, 3, "{args}: {}", said.err);
            assert!(said.err.contains(due), "{args}: {}", said.err);
            assert!(!said.err.contains('<'), "{args}: {}", said.err);
        }
    }
}
