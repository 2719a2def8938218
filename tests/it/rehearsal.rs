//! Replaying a run with other prompts: what still matches, what would be new, and where each lane
//! changes first.

use std::path::Path;

use retold::run::{DryRun, Experiment, Finish, Mode, Report, Run, Stop, Talk};
use serde_json::json;

use crate::support::cli::{Place, assert_said};
use crate::support::logs::{copy, events};
use crate::support::mixed::{Fact, chat, fact, number};
use crate::support::oracle::Oracle;
use crate::support::trial::{Trial, memory};

/// Dialogues of three turns; the first word of a turn's prompt may change, and a person may be
/// asked one turn more.
struct Dialogues {
    words: [&'static str; 3],
    changed: &'static [u32],
    one_more: Option<u32>,
    turns: u32,
}

const AS_RECORDED: Dialogues =
    Dialogues { words: ["Say", "Say", "Say"], changed: &[0, 1, 2, 3], one_more: None, turns: 3 };

impl Experiment for Dialogues {
    type Event = Fact;
    type State = ();

    fn apply(_: &mut (), _: &Fact) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let talk = async |talk: &mut Talk<Self>, person: u32| {
            let more = u32::from(self.one_more == Some(person));
            for turn in 0..self.turns + more {
                let changed = self.changed.contains(&person);
                let word = self.words.get(turn as usize).filter(|_| changed).unwrap_or(&"Say");
                let request = chat(format!("{word} a number.\nPerson {person}, turn {turn}."));
                let question = number(&format!("talk/{person}/{turn}"), request);
                match talk.ask(question.label("dialogue", person)).await? {
                    Ok(answer) => {
                        talk.record(
                            fact(&format!("said {word}"), answer.value),
                            &[answer.decision],
                        );
                    }
                    Err(_) => talk.record(fact("was silent", person.into()), &[]),
                }
            }
            Ok(())
        };
        run.converse_all(0..4, talk).await?;
        run.record(fact("closed", 0), &[])
    }

    fn report(&self, (): &()) -> Report {
        Report { json: json!(null), ..Report::default() }
    }
}

async fn rehearsed(trial: &Trial, experiment: &Dialogues) -> DryRun {
    let before = events(trial.log.reader().unwrap().as_mut(), trial.run).len();
    let ended = Trial { model: None, ..trial.with_model(Oracle::prompt()) };
    let ended = ended.go(Mode::Rehearse, experiment).await;
    assert_eq!((ended.progress.model_calls, ended.progress.live), (0, 0));
    let after = events(trial.log.reader().unwrap().as_mut(), trial.run).len();
    assert_eq!(before, after, "nothing is written");
    match ended.finish {
        Finish::Rehearsed(rehearsal) => rehearsal,
        other => panic!("{other:?}"),
    }
}

fn counts(r: &DryRun) -> [u64; 5] {
    [r.matching, r.behind, r.changed, r.unrecorded, r.left]
}

fn calls(r: &DryRun) -> Vec<(&str, &str)> {
    r.departures.iter().map(|d| (d.lane.as_str(), d.call.as_str())).collect()
}

#[tokio::test]
async fn a_change_departs_only_its_lane_and_the_rest_is_counted() {
    let trial = Trial::in_memory(Oracle::prompt());
    trial.record(&AS_RECORDED).await;
    let same = rehearsed(&trial, &AS_RECORDED).await;
    assert_eq!((counts(&same), same.is_identical()), ([12, 0, 0, 0, 0], true));
    assert!(same.departures.is_empty() && same.complete);

    // The second turn of two persons is changed; their first is unchanged, and their third follows
    // the change.
    let second = Dialogues { words: ["Say", "Tell", "Say"], changed: &[1, 3], ..AS_RECORDED };
    let found = rehearsed(&trial, &second).await;
    assert_eq!((counts(&found), found.is_identical()), ([10, 2, 2, 0, 0], false));
    assert_eq!(calls(&found), [("dialogue 1", "talk/1/1"), ("dialogue 3", "talk/3/1")]);
    let diff = found.departures[0].difference.as_ref().unwrap().diff();
    insta::assert_snapshot!(diff);

    // Of two changes in a lane, the first is named.
    let both = Dialogues { words: ["Say", "Tell", "Tell"], changed: &[2], ..AS_RECORDED };
    let found = rehearsed(&trial, &both).await;
    assert_eq!(counts(&found), [10, 0, 2, 0, 0]);
    assert_eq!(calls(&found), [("dialogue 2", "talk/2/1")]);
}

#[tokio::test]
async fn a_call_that_was_never_recorded_fails_alone() {
    let trial = Trial::in_memory(Oracle::prompt());
    trial.record(&AS_RECORDED).await;
    let more = Dialogues { one_more: Some(1), ..AS_RECORDED };
    let found = rehearsed(&trial, &more).await;
    assert_eq!((counts(&found), found.is_identical()), ([12, 0, 0, 1, 0], false));
    assert_eq!(calls(&found), [("dialogue 1", "talk/1/3")]);
    assert!(found.departures[0].recorded.is_none() && found.departures[0].difference.is_none());
    let fewer = Dialogues { turns: 2, ..AS_RECORDED };
    let found = rehearsed(&trial, &fewer).await;
    assert_eq!((counts(&found), found.is_identical()), ([8, 0, 0, 0, 4], false));
}

#[tokio::test]
async fn calls_that_an_unfinished_run_never_reached_are_not_differences() {
    let whole = Trial::in_memory(Oracle::prompt());
    whole.record(&AS_RECORDED).await;
    let length = whole.log.reader().unwrap().runs().unwrap()[0].head.seq.0;
    let second = Dialogues { words: ["Say", "Tell", "Say"], ..AS_RECORDED };
    for most in 1..length {
        let cut = Trial { log: memory(), ..whole.with_model(Oracle::prompt()) };
        copy(&whole.log, &cut.log, cut.run, usize::try_from(most).unwrap());
        let same = rehearsed(&cut, &AS_RECORDED).await;
        assert!(same.is_identical() && !same.complete, "{most}: {same:?}");
        assert_eq!(same.matching + same.unrecorded, 12, "{most}");
        assert!(same.departures.is_empty());
        let changed = rehearsed(&cut, &second).await;
        assert_eq!(changed.changed > 0, !changed.is_identical(), "{most}");
        assert_eq!(changed.departures.len() as u64, changed.changed, "{most}: one a lane");
    }
}

fn template(experiment: &str, name: &str) -> String {
    let root = Path::new(env!("RETOLD_ROOT")).join("config/prompts");
    std::fs::read_to_string(root.join(experiment).join(format!("{name}.txt"))).unwrap()
}

fn folder(place: &Place, files: &[(&str, &str)]) {
    let _ = std::fs::remove_dir_all(place.path("prompts"));
    std::fs::create_dir(place.path("prompts")).unwrap();
    for (name, text) in files {
        place.write(&format!("prompts/{name}"), text);
    }
}

#[test]
fn of_the_game_of_24() {
    let place = Place::with_run();
    let before = std::fs::read(place.path("retold.db")).unwrap();
    let cot = template("game24", "cot");
    folder(&place, &[("cot.txt", &cot)]);
    let same = place
        .shown("replay latest --prompts prompts", &place.run("replay latest --prompts prompts"));
    let changed = cot.replace("Input: {input}", "Numbers: {input}");
    folder(&place, &[("cot.txt", &changed), ("standard.txt", "x"), ("notes.md", "x")]);
    let said = place.run("replay latest --prompts prompts");
    assert_said!(
        "rehearsal_game24",
        format!("{same}\n{}", place.shown("replay latest --prompts prompts", &said))
    );
    let (json, code) = place.json("replay latest --prompts prompts");
    assert_eq!((code, &json["identical"], &json["new"]), (1, &false.into(), &6.into()));
    let lanes = json["lanes"].as_array().unwrap();
    assert_eq!((&lanes[0]["call"], &lanes[1]["call"]), (&"solve/0".into(), &"solve/1".into()));
    assert_eq!(json["unknown_files"], json!(["notes.md", "standard.txt"]));
    assert_eq!(std::fs::read(place.path("retold.db")).unwrap(), before, "nothing is written");
}

#[test]
fn a_changed_deliberation_template_is_reported_for_each_participant() {
    let place = Place::new();
    let config = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    place.ok(&format!("run {} -q", config.display()));
    let name = "vote_after_dialogue";
    let changed = template("deliberation", name).replace("final choice", "last choice");
    folder(&place, &[(&format!("{name}.txt"), &changed)]);
    let (json, code) = place.json("replay latest --prompts prompts");
    assert_eq!((code, &json["new"], &json["behind_a_change"]), (1, &10.into(), &0.into()));
    assert_eq!(json["changed_templates"], json!([name]));
    let lanes = json["lanes"].as_array().unwrap();
    assert_eq!(lanes.len(), 10, "the participants who were challenged");
    for lane in lanes {
        let person = lane["lane"].as_str().unwrap();
        assert_eq!(lane["call"], format!("final_vote/{person}"));
        let diff = lane["diff"].as_str().unwrap();
        assert!(diff.contains("-Now, please make your final choice."), "{diff}");
        assert!(diff.contains("+Now, please make your last choice."), "{diff}");
    }
    let total = place.json("show latest").0["exchanges"].as_u64();
    let matching = json["matching"].as_u64().unwrap();
    assert!(total.is_none_or(|total| total == matching + 10), "{total:?}, {matching}");

    // A change at the beginning is followed by everything that its participants were asked later.
    let first = template("deliberation", "initial_vote").replace("ONLY", "only");
    folder(&place, &[("initial_vote.txt", &first)]);
    let (json, _) = place.json("replay latest --prompts prompts");
    assert!(json["behind_a_change"].as_u64().unwrap() > 200, "{json}");
    assert_eq!(json["lanes"].as_array().unwrap().len(), 40);
}

#[test]
fn folders_that_cannot_be_used() {
    let place = Place::with_run();
    folder(&place, &[("ctt.txt", "x")]);
    let mut shown = place.session(&[
        "replay latest --prompts prompts",
        "replay latest --prompts nowhere",
        "replay latest --prompts small.yaml",
    ]);
    for broken in ["{% for x in %}{input}", "{input} {numbers}", "no place for the puzzle"] {
        folder(&place, &[("cot.txt", broken)]);
        shown.push_str(&place.session(&["replay latest --prompts prompts"]));
    }
    let config = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    let few = "--set participants_per_condition=1";
    place.ok(&format!("run {} -q --no-outputs {few}", config.display()));
    let typo = template("deliberation", "vote_after_summary").replacen(
        '{',
        "Dear {participnt.name},\n{",
        1,
    );
    folder(&place, &[("vote_after_summary.txt", &typo)]);
    shown.push_str(&place.session(&["replay latest --prompts prompts"]));
    let line = r#"{"request":{"model":"x","messages":[{"role":"user","content":"hi"}]},"response":{"content":"yo"}}"#;
    place.write("bare.jsonl", line);
    place.ok("import bare.jsonl");
    shown.push_str(&place.session(&["replay latest --prompts prompts"]));
    assert_said!("rehearsal_wrong", shown);
}
