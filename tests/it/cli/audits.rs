//! From a final vote back to everything that was folded into its prompt.

use retold::event::Event;
use retold::id::{RunId, Seq};
use serde_json::Value;

use crate::support::cases::fixtures;
use crate::support::cli::Place;
use crate::support::logs::{events, open};

/// A place where the original run of `fixtures/originals/pilot_small` was executed again.
fn executed_again() -> Place {
    let place = Place::new();
    let original = fixtures("originals/pilot_small");
    place.ok(&format!("import deliberation {} --quiet", original.display()));
    place
}

#[test]
fn a_vote_is_followed_to_everything_in_its_prompt() {
    let place = executed_again();
    let shown = place.session(&["audit latest p_0008/final_vote"]);
    insta::with_settings!({
        // The order of answers that were under way together is not always the same.
        filters => vec![
            (r"seq \d+", "seq [n]"),
            (r"hash [0-9a-f]{64}", "hash [hash]"),
            (r"run [0-9a-f]{16}", "run [run]"),
        ],
        omit_expression => true,
        prepend_module_to_snapshot => false,
    }, { insta::assert_snapshot!("audits_final_vote", shown) });
}

#[test]
fn each_link_is_in_the_log_where_it_says() {
    let place = executed_again();
    let (audit, code) = place.json("audit latest final_vote/p_0008");
    assert_eq!(code, 0);
    let run: RunId = audit["run"].as_str().unwrap().parse().unwrap();
    let log = open(&place.path("retold.db"));
    let events = events(log.reader().unwrap().as_mut(), run);
    let at = |link: &Value| {
        let seq = Seq(link["seq"].as_u64().unwrap());
        let stored = events.iter().find(|e| e.seq == seq).unwrap();
        assert_eq!(link["hash"], stored.hash.to_string(), "{link}");
        stored
    };
    let folded = audit["folded"].as_array().unwrap();
    let mut calls = Vec::new();
    for link in folded {
        let origin = &link["origin"];
        if origin["fact"].is_object() {
            assert_eq!(at(&origin["fact"]).kind, "Occurred");
            continue;
        }
        let answer = at(&origin["answer"]);
        let content = answer.content.as_ref().unwrap();
        assert_eq!(origin["content"], content.hash().to_string());
        if let Some(text) = link["into"]["text"].as_str() {
            assert_eq!(text, content.text().trim());
        }
        let Event::DecisionMade(made) = at(&origin["decision"]).event().unwrap() else {
            panic!("{origin}");
        };
        assert_eq!(made.response, answer.seq);
        calls.push(origin["call"].as_str().unwrap());
    }
    calls.sort_unstable();
    let expected = [
        "adversarial/p_0008/1/moderator",
        "adversarial/p_0008/1/participant",
        "adversarial/p_0008/2/moderator",
        "adversarial/p_0008/2/participant",
        "clarification/p_0008/1/moderator",
        "clarification/p_0008/1/participant",
        "cluster/0_0/description",
        "cluster/0_0/embedding",
        "cluster/0_1/description",
        "cluster/0_1/embedding",
        "cluster/1_0/description",
        "cluster/1_0/embedding",
        "cluster/1_1/description",
        "cluster/1_1/embedding",
        "embedding/p_0008",
        "initial_vote/p_0008",
        "summary/p_0008",
    ];
    assert_eq!(calls, expected);
    let facts = folded.iter().filter_map(|link| link["origin"]["fact"]["body"]["fact"].as_str());
    assert_eq!(
        facts.collect::<Vec<_>>(),
        ["persona_enriched", "summary_prepared", "opposition_chosen"]
    );
}

/// The original run, with words of its last participant changed.
fn changed(change: impl Fn(&mut Value)) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("pilot")).unwrap();
    for file in std::fs::read_dir(fixtures("originals/pilot_small")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), place.path("pilot").join(file.file_name())).unwrap();
    }
    let mut participants: Value =
        serde_json::from_str(&place.read("pilot/participants.json")).unwrap();
    change(&mut participants["participants"][7]);
    place.write("pilot/participants.json", participants.to_string());
    place.ok("import deliberation pilot --quiet");
    place
}

#[test]
fn equal_answers_of_a_dialogue_are_told_in_its_order_each_with_its_own_seq() {
    let turns = |words: [&str; 4]| {
        let role = |at: usize| ["moderator", "participant"][at % 2];
        let turn = |(at, word)| serde_json::json!({"role": role(at), "content": word});
        words.into_iter().enumerate().map(turn).collect::<Value>()
    };
    let place = changed(|last| {
        // Said before, in the other dialogue, which the last prompt does not show.
        last["clarification_transcript"] = turns(["Really?", "Yes.", "And now?", "Yes."]);
        // The first question has the answer in it, and the second is the first again.
        let question = "Would you say \"Yes.\" to a bench of stone in a park without a tree?";
        last["adversarial_transcript"] = turns([question, "Yes.", question, "Yes."]);
    });
    let (audit, code) = place.json("audit latest final_vote/p_0008");
    assert_eq!(code, 0, "{audit}");
    let told: Vec<(&str, u64, &str, u64)> = audit["folded"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|link| link["into"]["call"] == "final_vote/p_0008")
        .filter(|link| link["into"]["role"] == "user")
        .map(|link| {
            let origin = &link["origin"];
            let call = origin["call"].as_str().unwrap();
            let seq = origin["answer"]["seq"].as_u64().unwrap();
            (call, seq, link["into"]["text"].as_str().unwrap(), link["also"].as_u64().unwrap())
        })
        .collect();
    let calls: Vec<&str> = told.iter().map(|(call, ..)| *call).collect();
    assert_eq!(
        calls,
        [
            "adversarial/p_0008/1/moderator",
            "adversarial/p_0008/1/participant",
            "adversarial/p_0008/2/moderator",
            "adversarial/p_0008/2/participant",
        ]
    );
    assert!(told.is_sorted_by_key(|(_, seq, ..)| *seq), "as they were said: {told:?}");
    for (call, seq, text, also) in told {
        let (event, _) = place.json(&format!("show latest {seq}"));
        assert_eq!(event["content"], text, "{call}");
        let (question, _) = place.json(&format!("show latest {}", event["cause"]));
        assert_eq!(question["call"], call);
        // The two of the dialogue before.
        let others = if call == "adversarial/p_0008/1/participant" { 2 } else { 0 };
        assert_eq!(also, others, "{call}");
    }
}

#[test]
fn the_parts_of_a_call_may_come_in_any_order_if_that_names_one() {
    let place = executed_again();
    let call = |args: &str| place.json(&format!("audit latest {args}")).0["call"].clone();
    assert_eq!(call("p_0008/final_vote"), "final_vote/p_0008");
    assert_eq!(call("p_0008/final_vote#0"), "final_vote/p_0008");
    assert_eq!(call("moderator/2/adversarial/p_0008"), "adversarial/p_0008/2/moderator");
    let said = place.run("audit latest p_0009/final_vote");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("has no decision p_0009/final_vote"), "{}", said.err);
}
