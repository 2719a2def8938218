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
    assert!(said.err.contains("s3://lab/x"), "{}", said.err);
    assert!(!said.err.contains(SECRET), "{}", said.err);
}

#[test]
fn what_belongs_to_files_alone_is_refused() {
    let lab = Lab::folder();
    for (args, why) in [
        ("init game24 first.yaml", "is not a file: version control has nothing to leave out"),
        ("verify --accept-loss", "--accept-loss is for a log in a file"),
    ] {
        let said = lab.run(args);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(why), "{}", said.err);
    }
    assert!(!lab.place.path("first.yaml").exists() && !lab.place.path("lab").exists());
}

/// What a store says in XML is said as a sentence, with what its operator needs to find the request.
#[test]
fn a_store_that_refuses_is_quoted_in_a_sentence() {
    for (status, code, due) in [
        (404, "NoSuchBucket", "there is no such bucket (NoSuchBucket, request 4442587FB7D0A2F9)"),
        (403, "AccessDenied", "does not allow this with these credentials (AccessDenied, request "),
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

#[test]
fn a_backup_is_of_a_file() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    let said = lab.run("backup copy.db");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("`retold copy --to"), "{}", said.err);
}
