//! From a final vote back to everything that its prompt was made from.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::{Log, SqliteBackend, SqliteOptions};
use serde_json::Value;

use crate::support::cases::fixtures;
use crate::support::cli::{Place, assert_said};
use crate::support::logs::{events, open};
use crate::support::mixed::Mixed;
use crate::support::oracle::Oracle;
use crate::support::trial::Trial;

/// A place where the original run of `fixtures/originals/pilot_small` was run again.
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
    // The earlier sources are in the order of the log.
    let (shown, hashes) = shown.split_once("\nhashes\n").unwrap();
    assert!(hashes.starts_with("  prompt  ") && hashes.matches("  hash ").count() > 20, "{hashes}");
    let (shown, earlier) = shown.split_once("\nearlier: ").unwrap();
    assert!(earlier.contains("more earlier prompts: --json has them all"), "{earlier}");
    assert!(earlier.contains("\nfact that follows  seq"), "{earlier}");
    insta::with_settings!({
        // Answers that were in flight together do not always arrive in the same order.
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
    let prompts = audit["declared"]["prompts"].as_array().unwrap();
    assert_eq!(audit["declared"]["complete"], true);
    let (mut own, mut earlier, mut facts) = (Vec::new(), Vec::new(), Vec::new());
    for made in prompts {
        assert_eq!(at(&made["question"]).call.as_ref().unwrap().as_str(), made["call"]);
        let is_earlier = made["part"] == "behind";
        for origin in made["made_from"].as_array().unwrap() {
            if origin["fact"].is_object() {
                assert_eq!(at(&origin["fact"]).kind, "Occurred");
                let fact = origin["fact"]["body"]["fact"].as_str().unwrap();
                facts.extend(Some(fact).filter(|_| !is_earlier));
                continue;
            }
            if origin["question"].is_object() {
                let question = at(&origin["question"]);
                assert_eq!(question.call.as_ref().unwrap().as_str(), origin["question"]["call"]);
                continue;
            }
            let answer = at(&origin["answer"]);
            assert_eq!(origin["content"], answer.content.as_ref().unwrap().hash().to_string());
            let Event::DecisionMade(made) = at(&origin["decision"]).event().unwrap() else {
                panic!("{origin}");
            };
            assert_eq!(made.response, answer.seq);
            let call = origin["call"].as_str().unwrap();
            if is_earlier { earlier.push(call) } else { own.push(call) }
        }
        if is_earlier {
            earlier.push(made["call"].as_str().unwrap());
        }
    }
    own.sort_unstable();
    own.dedup();
    let turns = |phase: &str, most: u32| -> Vec<String> {
        let turn = |n, who| format!("{phase}/p_0008/{n}/{who}");
        (1..=most).flat_map(|n| [turn(n, "moderator"), turn(n, "participant")]).collect()
    };
    assert_eq!(own, turns("adversarial", 2), "the dialogue that the prompt shows");
    facts.sort_unstable();
    facts.dedup();
    assert_eq!(facts, ["initial_vote_cast", "persona_enriched"]);
    // They include the first vote, and everything that the moderator said to the participant.
    let clusters = ["0_0", "0_1", "1_0", "1_1"];
    let clusters =
        clusters.map(|n| [format!("cluster/{n}/description"), format!("cluster/{n}/embedding")]);
    let others = ["embedding/p_0008", "initial_vote/p_0008", "summary/p_0008"].map(str::to_owned);
    let due = [clusters.concat(), others.to_vec(), turns("clarification", 1)].concat();
    for call in due {
        assert!(earlier.contains(&call.as_str()), "{call}: {earlier:?}");
    }
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
fn equal_answers_in_a_dialogue_are_distinguished() {
    let words = |turns: [&str; 4]| {
        let role = |at: usize| ["moderator", "participant"][at % 2];
        let turn = |(at, word)| serde_json::json!({"role": role(at), "content": word});
        turns.into_iter().enumerate().map(turn).collect::<Value>()
    };
    // The first question contains the answer, and the second question repeats the first.
    let question = "Would you say \"Yes.\" to a bench of stone in a park without a tree?";
    let place = changed(|last| {
        // These words were said earlier, in the other dialogue, which the last prompt does not
        // show.
        last["clarification_transcript"] = words(["Really?", "Yes.", "And now?", "Yes."]);
        last["adversarial_transcript"] = words([question, "Yes.", question, "Yes."]);
    });
    let (audit, code) = place.json("audit latest final_vote/p_0008");
    assert_eq!(code, 0, "{audit}");
    let prompts = audit["declared"]["prompts"].as_array().unwrap().iter();
    let own = prompts.filter(|made| made["part"] != "behind");
    let own = own.flat_map(|made| made["made_from"].as_array().unwrap());
    let mut sources: Vec<(u64, &str)> = own
        .filter_map(|from| Some((from["answer"]["seq"].as_u64()?, from["call"].as_str()?)))
        .collect();
    sources.sort_unstable();
    sources.dedup();
    let calls: Vec<&str> = sources.iter().map(|(_, call)| *call).collect();
    assert_eq!(
        calls,
        [
            "adversarial/p_0008/1/moderator",
            "adversarial/p_0008/1/participant",
            "adversarial/p_0008/2/moderator",
            "adversarial/p_0008/2/participant",
        ]
    );
    for ((seq, call), text) in sources.into_iter().zip([question, "Yes.", question, "Yes."]) {
        let (event, _) = place.json(&format!("show latest {seq}"));
        assert_eq!(event["content"], text, "{call}");
        let (asked, _) = place.json(&format!("show latest {}", event["cause"]));
        assert_eq!(asked["call"], call);
    }
    // Only the text that is long enough is shown, separately, with how rare it is.
    let same: Vec<&Value> = audit["same_text"].as_array().unwrap().iter().collect();
    let asked = same.iter().find(|same| same["text"] == question).unwrap();
    assert_eq!((&asked["declared"], &asked["rarity"]["sources"]), (&true.into(), &2.into()));
    assert!(same.iter().all(|same| same["text"].as_str().unwrap().len() >= 32));
    let text = place.ok("audit latest final_vote/p_0008");
    let heading =
        "\nthe same text is in the prompt, which alone does not prove where it came from\n";
    let rarity = &asked["rarity"];
    let line = format!(
        "  message 1 user: \"{question}\"\n    a text of 2 of {} answers and facts, and in {} of {} other prompts; declared \
         above\n",
        rarity["of"], rarity["prompts"], rarity["looked_at"]
    );
    assert!(text.contains(heading) && text.contains(&line), "{text}");
}

#[test]
fn a_fact_is_followed_by_its_causes_and_says_what_else_it_rests_on() {
    let place = executed_again();
    let log = open(&place.path("retold.db"));
    let run = log.reader().unwrap().runs().unwrap()[0].run;
    let facts = events(log.reader().unwrap().as_mut(), run).into_iter().filter_map(|stored| {
        let Event::Occurred(fact) = stored.event().unwrap() else { return None };
        Some((stored.seq, fact.causes))
    });
    let (caused, uncaused): (Vec<_>, Vec<_>) =
        facts.partition(|(_, causes): &(Seq, Vec<Seq>)| !causes.is_empty());
    let (seq, causes) = caused.iter().max_by_key(|(_, causes)| causes.len()).unwrap();
    assert!(causes.len() > 1);
    let (audit, code) = place.json(&format!("audit latest {seq}"));
    assert_eq!((code, audit["decision"]["seq"].as_u64()), (0, Some(causes[0].0)));
    let named = |it: &&Value| it["seq"] == seq.0;
    let fact = audit["facts"].as_array().unwrap().iter().find(named).unwrap();
    let also = fact["also_rests_on"].as_array().unwrap();
    let decided: Vec<_> = also.iter().map(|it| it["decision"]["seq"].as_u64().unwrap()).collect();
    assert_eq!(decided, causes[1..].iter().map(|cause| cause.0).collect::<Vec<_>>());
    let text = place.ok(&format!("audit latest {seq}"));
    assert!(text.contains("\nit also rests on\n"), "{text}");
    let said = place.run(&format!("audit latest {}", uncaused[0].0));
    assert_eq!(said.code, 2);
    assert!(said.err.contains("rests on no answer, so no prompt led to it"), "{}", said.err);
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

/// A place with a run of [`Mixed`], whose twelve embeddings ask for three texts.
fn mixed() -> Place {
    let place = Place::new();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let model = Oracle::shuffled(1, Duration::from_secs(1), |_| None);
    let path = place.path("retold.db");
    let backend = SqliteBackend::open_or_create(&path, SqliteOptions::default()).unwrap();
    let trial = Trial::new(&Log::new(Arc::new(backend)), 1, model);
    runtime.unwrap().block_on(trial.record(&Mixed { people: 12 }));
    place
}

#[test]
fn decisions_that_share_an_answer_are_not_independent() {
    let place = mixed();
    let (found, code) = place.json("audit latest --independence");
    assert_eq!(code, 0, "{found}");
    // Counted once more from the events: an answer that was reused counts as the one it was made from.
    let (log, _) = place.json("log latest --most 1000000");
    let events = log["events"].as_array().unwrap();
    let at = |seq: &Value| events.iter().find(|event| event["seq"] == *seq).unwrap();
    let mut resting: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for decision in events.iter().filter(|event| event["kind"] == "DecisionMade") {
        let mut answer = at(&decision["cause"]);
        while answer["kind"] == "AnswerReused" {
            answer = at(&answer["body"]["seq"]);
        }
        let seq = answer["seq"].as_u64().unwrap();
        resting.entry(seq).or_default().push(decision["seq"].clone());
    }
    let sum = |field: &str| -> u64 {
        found["kinds"].as_array().unwrap().iter().map(|kind| kind[field].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("decisions"), resting.values().map(|all| all.len() as u64).sum::<u64>());
    assert_eq!(sum("answers"), resting.len() as u64);
    let shared = found["shared"].as_array().unwrap();
    assert_eq!(shared.len(), 3, "three texts are embedded for twelve people");
    for one in shared {
        let decisions = one["decisions"].as_array().unwrap().iter().map(|it| it["seq"].clone());
        assert_eq!(resting[&one["seq"].as_u64().unwrap()], decisions.collect::<Vec<_>>());
    }
    let vectors = found["kinds"].as_array().unwrap().iter().find(|kind| kind["kind"] == "vector");
    let squares: usize =
        resting.values().filter(|all| all.len() > 1).map(|all| all.len() * all.len()).sum();
    assert_eq!(vectors.unwrap()["effective_sample_size"], 144.0 / squares as f64);
}

/// An effective sample size is stated over what a label or the study declares to be independent, and nowhere else.
#[test]
fn only_declared_clusters_have_an_effective_sample_size() {
    let of = |config: &str| {
        let place = Place::new();
        let config = format!("{}/config/{config}.yaml", env!("RETOLD_ROOT"));
        place.ok(&format!("run {config} --no-outputs --quiet"));
        let (found, _) = place.json("audit latest --independence");
        let said = place.ok("audit latest --independence");
        (found["kinds"].as_array().unwrap().clone(), said)
    };
    // The players of a game react to each other, and the answers to a puzzle are those to one prompt.
    for (config, cluster) in [("public_goods_small", "game"), ("game24", "puzzle")] {
        let (kinds, said) = of(config);
        for kind in &kinds {
            assert_eq!(kind["clusters"]["of"], cluster, "{kind}");
            let count = kind["clusters"]["count"].as_f64().unwrap();
            assert!(kind["effective_sample_size"].as_f64().unwrap() <= count, "{kind}");
            assert!(count < kind["draws"].as_f64().unwrap(), "{kind}");
        }
        assert!(!said.contains("no effective sample size"), "{said}");
    }
    // All agents of a society react to each other.
    let (agents, said) = of("society_small");
    assert!(agents.iter().all(|kind| kind["effective_sample_size"].is_null()), "{agents:?}");
    assert!(said.contains("no effective sample size"), "{said}");
}

#[test]
fn independence_is_said_in_words() {
    assert_said!("audits_shared", mixed().session(&["audit latest --independence"]));
    assert_said!(
        "audits_independence",
        Place::with_run().session(&[
            "audit latest --independence",
            "audit latest",
            "audit latest solve/0#0 --independence",
        ])
    );
}
