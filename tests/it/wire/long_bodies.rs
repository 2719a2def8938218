//! Bodies that are too long for one event: files that are uploaded, outputs of batches, videos.

use super::{record, record_with, replay, replay_with, with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// Sends a file, and fetches one of bytes and one of text; prints what came of each.
const PROGRAM: &str = "
say() { printf '%s %s\\n' \"$1\" \"$(sha256sum | cut -c1-16)\"; }
curl -sS -F purpose=batch -F \"file=@$FILE\" $OPENAI_BASE_URL/files; echo
curl -sS $OPENAI_BASE_URL/videos/v1/content | say video
curl -sS $OPENAI_BASE_URL/files/f1/content | say output
";

/// Bytes that are no text, and look different everywhere.
fn bytes(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn server() -> Server {
    Server::handler(|request| match &*request.target {
        path if path.contains("/videos/") => Reply::new(200, bytes(20 << 20)),
        path if path.contains("/f1/") => {
            let line = "{\"custom_id\": \"\u{e4}\", \"response\": {\"status_code\": 200}}\n";
            Reply::new(200, line.repeat((18 << 20) / line.len()))
        }
        _ => Reply::new(200, format!("{{\"id\": \"f0\", \"bytes\": {}}}", request.body.len())),
    })
}

#[test]
fn they_are_kept_in_parts_wherever_the_log_goes() {
    let place = Place::new();
    let (file, other) = (bytes(40 << 20), bytes((40 << 20) + 1));
    place.write("file", &file);
    place.write("other", &other);
    let path = |name: &str| place.path(name).display().to_string();
    let upstream = server();
    let program = ["sh", "-c", PROGRAM];
    let file = path("file");
    let recorded = record_with(&place, "", &upstream.base_url(), &program, &[("FILE", &file)]);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(recorded.out.contains("\"bytes\": 4194"), "{}", recorded.out);
    let asked = upstream.received().len();
    drop(upstream);
    let (shown, _) = place.json("show latest");
    assert_eq!((&shown["exchanges"], asked), (&3.into(), 3), "{shown}");
    let parts = place.ok("log latest --kind BodyPart --most 100");
    assert_eq!(parts.matches("part of a body").count(), 6 + 3 + 3, "{parts}");
    let folder = format!("file://{}", path("lab"));
    place.ok("export latest run.jsonl.zst");
    place.ok("copy --to copy.db");
    place.ok(&format!("copy --to {folder}"));
    place.ok("verify");
    place.ok(&format!("--log {folder} verify"));
    for log in ["", "--log copy.db", &format!("--log {folder}")] {
        let args = format!("{log} latest");
        let replayed = replay_with(&place, &args, &program, &[("FILE", &file)]);
        assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{log}: {}", replayed.err);
    }
    let replayed = replay_with(&place, "run.jsonl.zst", &program, &[("FILE", &file)]);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    // A file with other bytes is another question.
    let missed = replay_with(&place, "latest", &program, &[("FILE", &path("other"))]);
    assert_ne!(missed.code, 0, "{}{}", missed.out, missed.err);
}

/// A fork has the bodies of its parent, in parts of its own.
#[test]
fn a_fork_has_them_too() {
    let place = Place::new();
    let upstream = server();
    let program = ["sh", "-c", "curl -sS $OPENAI_BASE_URL/videos/v1/content | sha256sum"];
    let recorded = record(&place, "--name first", &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    let said = with(&place, "fork first", &upstream.base_url(), &program, &[]);
    assert_eq!((said.code, &said.out), (0, &recorded.out), "{}", said.err);
    assert_eq!(upstream.received().len(), 1);
    place.ok("copy latest --to alone.db");
    let replayed = replay(&place, "latest --log alone.db", &program);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    place.ok("verify");
}

#[test]
fn the_limit_can_be_set_and_is_named() {
    let (place, upstream) = (Place::new(), server());
    let program = [
        "sh",
        "-c",
        "curl -sS $OPENAI_BASE_URL/videos/v1/content; head -c 20000000 /dev/zero | curl -sS -H 'expect:' --data-binary @- $OPENAI_BASE_URL/files",
    ];
    let limit = |mebibytes: &str| {
        record_with(
            &place,
            "",
            &upstream.base_url(),
            &program,
            &[("RETOLD_LONGEST_BODY", mebibytes)],
        )
    };
    let said = limit("17");
    assert!(said.out.contains("longer than 17 MiB"), "{}{}", said.out, said.err);
    assert!(
        said.out.contains("more than 17 MiB is not recorded: RETOLD_LONGEST_BODY"),
        "{}",
        said.out
    );
    let said = limit("much");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("RETOLD_LONGEST_BODY is not a length in MiB"), "{}", said.err);
}
