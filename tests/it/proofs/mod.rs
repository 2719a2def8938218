//! Proofs: they hold without the log, and nothing that was changed does.

mod elsewhere;
mod plans;
mod seals;
mod times;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use retold::id::{EventHash, EventsRoot};
use retold::proof::{ProofError, verify};
use serde_json::{Map, Value};

use crate::support::cases::fixtures;
use crate::support::cli::{Place, assert_said};

/// How many changes each kind of test makes.
const CHANGES: usize = 1000;

/// A place with a run of Game of 24 and a deliberation, whose prompts are made from other answers.
fn runs() -> Place {
    let place = Place::with_run();
    let original = fixtures("originals/pilot_small");
    place.ok(&format!("import deliberation {} --quiet", original.display()));
    place
}

/// The calls that are proved: one that stands alone, and a vote after a dialogue.
fn proved(place: &Place) -> [(String, &'static str); 2] {
    let (log, _) = place.json("log");
    let runs = log["runs"].as_array().unwrap();
    let run = |experiment: &str| {
        let run = runs.iter().find(|run| run["experiment"] == experiment);
        run.unwrap()["run"].as_str().unwrap().to_owned()
    };
    place.ok(&format!("audit {} solve/0#1 --proof one.json", run("game24")));
    place.ok(&format!("audit {} p_0008/final_vote --proof vote.json", run("deliberation")));
    [(place.read("one.json"), "one.json"), (place.read("vote.json"), "vote.json")]
}

fn below(rng: &mut impl Rng, end: usize) -> usize {
    (rng.next_u64() % end as u64) as usize
}

fn root(text: &str) -> EventsRoot {
    let proof: Value = serde_json::from_str(text).unwrap();
    proof["root"].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_decision_is_proved_without_its_log() {
    let place = runs();
    let [(one, _), (vote, _)] = proved(&place);
    for text in [&one, &vote] {
        let line = text.strip_suffix('\n').unwrap();
        let known = verify(line, Some(root(text))).unwrap();
        let unknown = verify(line, None).unwrap();
        assert_eq!((known.root, known.head), (unknown.root, unknown.head));
        // The root is the one that the log gives, and the head that of the run.
        let (verified, _) = place.json(&format!("verify {}", known.run));
        assert_eq!(verified["head"], known.head.to_string());
        assert_eq!(verified["events"], known.events + 1);
    }
    let vote: Value = serde_json::from_str(&vote).unwrap();
    assert!(vote["others"].as_array().unwrap().len() > 5, "the vote was made from other answers");

    let elsewhere = Place::new();
    elsewhere.write("one.json", &one);
    let root = root(&one);
    let other = "0".repeat(64);
    assert_said!(
        "proofs",
        elsewhere
            .session(&[
                "verify proof one.json",
                &format!("verify proof one.json --root {root}"),
                &format!("verify proof one.json --root {other}"),
                "verify proof one.json --json",
            ])
            .replace(&root.to_string(), "[root]")
    );
}

/// A run that was put together here states its root, too.
#[test]
fn decisions_that_were_accepted_or_imported_are_proved() {
    let place = Place::with_run();
    place.ok("export latest answers.jsonl --as exchanges");
    let (checked, _) = place.json("check latest --parser game24@1 --accept");
    assert!(checked["accepted"].is_string() || checked["accepted"].is_object(), "{checked}");
    place.ok("audit latest solve/0#1 --proof accepted.json");
    place.ok("import answers.jsonl");
    place.ok("audit latest solve/0#1 --proof imported.json");
    for file in ["accepted.json", "imported.json"] {
        let text = place.read(file);
        verify(text.trim_end(), Some(root(&text))).unwrap();
    }
    place.ok("verify");
}

#[test]
fn any_bit_that_is_changed_is_noticed() {
    let place = runs();
    for (seed, (text, name)) in (1..).zip(proved(&place)) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..CHANGES {
            let mut bytes = text.clone().into_bytes();
            let (at, bit) = (below(&mut rng, bytes.len() - 1), below(&mut rng, 8));
            bytes[at] ^= 1 << bit;
            // Text that is not UTF-8 is refused before it is read as a proof.
            if let Ok(line) = std::str::from_utf8(&bytes[..bytes.len() - 1]) {
                let error =
                    verify(line, None).expect_err(&format!("{name}: bit {bit} of byte {at}"));
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// Everything a forger can do to an event without a second preimage: change it, and make its content
/// and its place fit again.
fn forge(proof: &mut Value, rng: &mut ChaCha8Rng) -> String {
    let others = proof["others"].as_array().unwrap().len();
    let named = ["start", "question", "answer", "decision"];
    let at = below(rng, named.len() + others);
    let leaf = match named.get(at) {
        Some(name) => &mut proof[*name],
        None => &mut proof["others"][at - named.len()],
    };
    let event = leaf["event"].as_object_mut().unwrap();
    let had_content = event.get("content").cloned();
    let what = match below(rng, 6) {
        0 => {
            let time = event["time"].as_i64().unwrap();
            event.insert("time".into(), (time + 1 + i64::from(rng.next_u32() % 100_000)).into());
            "another time"
        }
        1 => {
            let mut body = Map::new();
            body.insert("forged".into(), rng.next_u32().into());
            event.insert("body".into(), body.into());
            "another body"
        }
        2 => {
            event.insert("call".into(), format!("forged/{}", rng.next_u32()).into());
            "another call"
        }
        3 => {
            let seq = event["seq"].as_u64().unwrap();
            event.insert("seq".into(), (seq + 1 + rng.next_u64() % 50).into());
            "another place"
        }
        4 => {
            let mut hash = [0; 32];
            rng.fill_bytes(&mut hash);
            leaf["previous"] = EventHash(hash).to_string().into();
            "after another event"
        }
        _ if had_content.is_some() => {
            let text = format!("forged {}", rng.next_u64());
            let hash = retold::content::Content::from(text.as_str()).hash().to_string();
            event.insert("content".into(), hash.clone().into());
            proof["contents"][hash] = serde_json::json!({"text": text});
            "another text"
        }
        _ => {
            event.insert("kind".into(), "Forged".into());
            "another kind"
        }
    };
    what.to_owned()
}

#[test]
fn an_event_that_is_not_in_the_run_has_no_proof() {
    let place = runs();
    for (seed, (text, name)) in (11..).zip(proved(&place)) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let proof: Value = serde_json::from_str(&text).unwrap();
        for n in 0..CHANGES {
            let mut forged = proof.clone();
            let what = forge(&mut forged, &mut rng);
            let line = retold::prompt::canonical(&forged).unwrap();
            let error = verify(&line, None).expect_err(&format!("{name}: change {n}, {what}"));
            let is_reason = matches!(error, ProofError::Event { .. } | ProofError::Content(..));
            assert!(is_reason, "{name}: {what}: {error}");
        }
    }
}

#[test]
fn what_cannot_be_proved_and_what_is_no_proof_is_said() {
    let place = runs();
    let [(text, _), _] = proved(&place);
    let line = text.trim_end();
    let proof: Value = serde_json::from_str(line).unwrap();
    let mut more = proof.clone();
    more["note"] = "mine".into();
    let mut later = proof.clone();
    later["format"] = "retold proof 2".into();
    let mut stranger = proof.clone();
    stranger["contents"].as_object_mut().unwrap().clear();
    place.write("spaced.json", serde_json::to_string_pretty(&proof).unwrap() + "\n");
    place.write("more.json", more.to_string() + "\n");
    place.write("later.json", later.to_string() + "\n");
    place.write("cut.json", &line[..line.len() - 40]);
    place.write("whole.json", line);
    place.write("half.json", format!("{}\n", &line[..line.len() / 2]));
    place.write("empty.json", "");
    place.write("bytes.json", [0xff, b'\n']);
    place.write("bare.json", retold::prompt::canonical(&stranger).unwrap() + "\n");
    let again = format!(
        "audit {} {} --proof one.json",
        proof["run"].as_str().unwrap(),
        proof["question"]["event"]["call"].as_str().unwrap()
    );
    let said = place.session(&[
        "verify proof spaced.json",
        "verify proof more.json",
        "verify proof later.json",
        "verify proof cut.json",
        "verify proof whole.json",
        "verify proof half.json",
        "verify proof empty.json",
        "verify proof bytes.json",
        "verify proof bare.json",
        "verify proof missing.json",
        "verify proof one.json --root 12",
        &again,
    ]);
    let long = regex::Regex::new("[0-9a-f]{64}").unwrap();
    let said = long.replace_all(&said, "[hash]");
    assert_said!("proofs_that_are_none", said.as_ref());
}
