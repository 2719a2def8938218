//! Deposits of personal data: tables and commitments, and no text.

use serde_json::Value;

use super::{files, script};
use crate::support::cli::Place;

/// The texts of a run, and the hashes by which they could be tested.
fn texts(place: &Place) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut hashes) = (Vec::new(), Vec::new());
    for line in place.ok("export latest").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["kind"] == "ResponseReceived" {
            hashes.push(line["content"].as_str().unwrap().to_owned());
            hashes.push(line["hash"].as_str().unwrap().to_owned());
        }
        hashes.extend(line["prompt"].as_str().map(str::to_owned));
        texts.extend(line["text"].as_str().filter(|text| text.len() > 20).map(str::to_owned));
    }
    hashes.extend(place.json("log").0["runs"][0]["head"].as_str().map(str::to_owned));
    (texts, hashes)
}

#[test]
#[cfg_attr(not(real_clients), ignore = "needs the Python that scripts/test installs")]
fn no_text_is_in_it_and_the_authors_can_open_each() {
    let place = Place::with_run();
    let said = place.ok("export latest deposit --as deposit --without-texts");
    assert!(said.contains("deposit-nonces.csv"), "{said}");
    let (texts, hashes) = texts(&place);
    assert!(texts.len() > 3 && hashes.len() > 10);
    let names = files(&place.path("deposit"));
    assert!(
        !names.iter().any(|name| name.contains("recordings")
            || name.contains("prompts")
            || name.contains("report")),
        "{names:?}"
    );
    for name in &names {
        let bytes = std::fs::read(place.path(&format!("deposit/{name}"))).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for secret in texts.iter().chain(&hashes) {
            // A line of a text is enough to recognise it.
            let line = secret.lines().find(|line| line.len() > 20).unwrap_or(secret);
            assert!(!text.contains(line), "{name} has {line}");
        }
    }
    // The values are still there, and can be computed.
    let said = script(&place, &["deposit/figures.py"]);
    assert!(said.code == 0 && said.out.contains(" 0 different"), "{said:?}");
    // Each commitment is opened by its nonce and its text, and by no other.
    let nonces = place.read("deposit-nonces.csv");
    let answer = place
        .ok("export latest")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["kind"] == "ResponseReceived")
        .unwrap();
    let of = format!(",{},answer,", answer["seq"]);
    let nonce = nonces.lines().find_map(|line| line.split_once(&of)).unwrap().1;
    let content = answer["content"].as_str().unwrap();
    let recording = place.ok("export latest");
    let text = recording
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["content"] == content && line["text"].is_string())
        .unwrap();
    place.write("text", text["text"].as_str().unwrap());
    place.write("other", "yes");
    let open = |nonce: &str, file: &str| {
        script(&place, &["deposit/verify.py", "deposit/commitments.csv", nonce, file])
    };
    let said = open(nonce, "text");
    assert!(
        said.code == 0
            && said.out.contains(&format!("this text is the answer of seq {}", answer["seq"])),
        "{said:?}"
    );
    for said in [open(nonce, "other"), open(&"0".repeat(32), "text"), open("00", "text")] {
        assert_eq!(said.code, 1, "{said:?}");
    }
    // A second deposit has other nonces.
    place.ok("export latest second --as deposit --without-texts");
    assert_ne!(place.read("second/commitments.csv"), place.read("deposit/commitments.csv"));
    // Nothing can be replayed.
    let said = place.run("--log reader.db import deposit");
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("it has no texts"), "{said:?}");
    assert!(!place.path("reader.db").exists());
}

#[test]
fn figures_that_nobody_chose_are_not_in_a_deposit_without_texts() {
    let place = Place::new();
    crate::cli::run_figures::votes(&place, 0xa1, [8, 3]);
    let said = place.run("export latest deposit --as deposit --without-texts");
    assert!(said.code == 2 && said.err.contains("choose its figures"), "{said:?}");
    assert!(!place.path("deposit").exists() && !place.path("deposit-nonces.csv").exists());
    let figure = "share of vote = yes by condition clustered by participant";
    let said = place.args(&[
        "export", "latest", "deposit", "--as", "deposit", "--without-texts", "--figure", figure,
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    let table = place.read("deposit/tables/decisions.csv");
    assert!(!table.lines().next().unwrap().contains("value"), "{table}");
}
