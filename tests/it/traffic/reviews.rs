//! `retold cassette review`: new answers, in the place of a cassette or not.

use crate::support::cli::Place;
use crate::support::server::{Reply, Server};
use crate::wire::record;

const ASK: &str = r#"curl -s -d '{"model":"m","messages":[{"role":"user","content":"Capital?"}]}' \
    -H 'content-type: application/json' $OPENAI_BASE_URL/chat/completions"#;

/// The text of a cassette with this answer.
fn cassette(answer: &str) -> String {
    let (place, server) = (Place::new(), Server::script([Reply::chat(answer)]));
    let said = record(&place, "", &server.base_url(), &["sh", "-c", ASK]);
    assert_eq!(said.code, 0, "{}", said.err);
    place.ok("export latest one.yaml --as cassette");
    place.read("one.yaml")
}

/// Tests with three cassettes, of which two have other answers now.
fn reviewable() -> Place {
    let place = Place::new();
    let pending = ".pytest_cache/d/retold";
    std::fs::create_dir_all(place.path(&format!("{pending}/cassettes"))).unwrap();
    std::fs::create_dir_all(place.path("cassettes")).unwrap();
    place.write(&format!("{pending}/rootdir"), format!("{}\n", place.root().display()));
    let (before, now) = (cassette("Paris"), cassette("Rome"));
    for name in ["a", "b", "c"] {
        place.write(&format!("cassettes/{name}.yaml"), &before);
    }
    for name in ["a", "b"] {
        place.write(&format!("{pending}/cassettes/{name}.yaml"), &now);
    }
    place
}

fn answers(place: &Place) -> String {
    let answer = |name: &str| {
        let text = place.read(&format!("cassettes/{name}.yaml"));
        if text.contains("Rome") { 'R' } else { 'P' }
    };
    ["a", "b", "c"].into_iter().map(answer).collect()
}

#[test]
fn each_difference_is_shown_and_accepted_or_rejected() {
    let place = reviewable();
    let said = place.fed(&["cassette", "review"], b"what\na\nr\n");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out.contains("-  answer: Paris")
            && said.out.contains("+  answer: Rome")
            && said
                .out
                .contains("lines of the file that differ, with ids, times, counts and layout: 2"),
        "{}",
        said.out
    );
    assert!(said.out.ends_with("2 cassettes: 1 accepted, 1 rejected, 0 left\n"), "{}", said.out);
    assert_eq!(said.err.matches("[a]ccept, [r]eject").count(), 3, "{}", said.err);
    assert_eq!(answers(&place), "RPP");
    let said = place.ok("cassette review");
    assert!(said.starts_with("no cassette waits for a review"), "{said}");
}

#[test]
fn ids_alone_are_folded() {
    let place = reviewable();
    let other = cassette("Paris").replace("id: chatcmpl-1", "id: chatcmpl-2");
    for name in ["a", "b"] {
        place.write(&format!(".pytest_cache/d/retold/cassettes/{name}.yaml"), &other);
    }
    let said = place.run("cassette review --reject");
    let due =
        "a.yaml: the words are the same; lines that differ in ids, times, counts or layout: 2\n";
    assert!(said.out.contains(due) && !said.out.contains("chatcmpl"), "{}", said.out);
}

#[test]
fn what_is_not_decided_is_left() {
    for (input, left) in [("", 2), ("q\n", 2), ("s\nr\n", 1), ("a\n", 1)] {
        let place = reviewable();
        let said = place.fed(&["cassette", "review"], input.as_bytes());
        assert_eq!(said.code, 1, "{input}: {}", said.err);
        assert!(said.out.ends_with(&format!("{left} left\n")), "{input}: {}", said.out);
        let (seen, code) = place.json("cassette review --reject");
        assert_eq!((seen["reviewed"].as_array().unwrap().len(), code), (left, 0));
        assert!(seen["reviewed"][0]["diff"].as_str().unwrap().contains("Rome"));
    }
}

#[test]
fn all_are_accepted_from_a_folder_below() {
    let place = reviewable();
    std::fs::create_dir(place.path("tests")).unwrap();
    let mut command = place.command();
    let said = command.current_dir(place.path("tests")).args(["cassette", "review", "--accept"]);
    assert!(said.output().unwrap().status.success());
    assert_eq!(answers(&place), "RRP");
}

#[test]
fn what_is_no_cassette_does_not_take_the_place_of_one() {
    let place = reviewable();
    place.write(".pytest_cache/d/retold/cassettes/a.yaml", "retold: 1\nexchanges: 7\n");
    let said = place.run("cassette review --accept");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(
        said.err.contains("cassettes/a.yaml") && said.err.contains("it replaces nothing"),
        "{}",
        said.err
    );
    assert_eq!(answers(&place), "PPP");
    let said = place.run("cassette review cassettes");
    assert_eq!(said.code, 3);
    assert!(
        said.err.contains("name the folder that `pytest --retold=drift` writes"),
        "{}",
        said.err
    );
}

/// What came with somebody else's tests writes nowhere else.
#[test]
fn nothing_is_written_outside_the_root() {
    let place = reviewable();
    let pending = ".pytest_cache/d/retold";
    let elsewhere = tempfile::tempdir().unwrap();
    let (root, above) = (place.root().display().to_string(), place.root().parent().unwrap());
    for named in [elsewhere.path(), above, std::path::Path::new("/")] {
        place.write(&format!("{pending}/rootdir"), format!("{}\n", named.display()));
        let said = place.run("cassette review --accept");
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(
            said.err.contains("names another folder as the root of these tests"),
            "{}",
            said.err
        );
    }
    place.write(&format!("{pending}/rootdir"), format!("{root}\n"));
    // A link that leads out.
    std::fs::remove_dir_all(place.path("cassettes")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), place.path("cassettes")).unwrap();
    let said = place.run("cassette review --accept");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("a link leads out of it"), "{}", said.err);
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    std::fs::remove_file(place.path("cassettes")).unwrap();
    place.ok("cassette review --accept");
    assert!(place.read("cassettes/a.yaml").contains("Rome"));
}

/// In a folder that all may write to, anybody may have left it.
#[cfg(unix)]
#[test]
fn what_another_user_left_is_not_accepted() {
    let place = reviewable();
    let left = place.path(".pytest_cache/d/retold/rootdir");
    // Only root may give a file away; another user sees that it is refused to them.
    let given = std::os::unix::fs::chown(&left, Some(12_345), None);
    assert_eq!(given.is_ok(), rustix::process::geteuid().is_root());
    let said = place.run("cassette review --accept");
    match given {
        Ok(()) => {
            assert!(said.code == 2 && said.err.contains("is another user's"), "{}", said.err);
            assert_eq!(answers(&place), "PPP");
        }
        Err(_) => assert_eq!(answers(&place), "RRP"),
    }
}
