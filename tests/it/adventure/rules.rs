//! The rules of play, with a game master whose answers are written out here.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use retold::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response};
use retold::run::{Finish, Mode};

use super::runs::{adventure, outputs};
use crate::support::block_on;
use crate::support::trial::Trial;

/// Answers by call and sample; a call that is not listed is refused.
struct Written(BTreeMap<&'static str, &'static str>);

impl Model for Written {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "written".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let address = format!("{}#{}", ask.call, ask.sample);
        let answer = self.0.get(address.as_str()).map(|text| Response::text(*text));
        let refused = move || Failure::new(FailureKind::Rejected, format!("no {address}"));
        Box::pin(async move { answer.ok_or_else(refused) })
    }
}

const HERO: &str = r#"{"name": "Ada", "attributes": {"speed": 12, "gunAccuracy": 9, "throwingAccuracy": 7,
    "strength": 8, "baseStrength": 8, "bravery": 15, "experience": 3}}"#;

/// Records and replays a game, and returns its report and tables.
fn played(overrides: &[&str], answers: &[(&'static str, &'static str)]) -> String {
    let overrides = [&["games=1", "player=first"], overrides].concat();
    let experiment = adventure(&overrides);
    let trial = Trial::in_memory(Arc::new(Written(answers.iter().copied().collect())));
    let ended = block_on(trial.go(Mode::Record, experiment.as_ref()));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(block_on(trial.replay(experiment.as_ref())), ended.outcome_digest);
    let mut text = ended.report.text;
    for file in outputs(&trial, experiment.as_ref()) {
        if file.name.ends_with(".csv") {
            let table = String::from_utf8(file.content.bytes().unwrap()).unwrap();
            text.push_str(&format!("\n== {}\n{table}", file.name));
        }
    }
    text
}

#[test]
fn a_game_by_the_rules() {
    let game = played(
        &["turns=5"],
        &[
            ("game/1/hero#0", HERO),
            // The master's three answers are empty, without a story, and with an invalid decision.
            ("game/1/1/master#0", ""),
            ("game/1/1/master#1", "LOCATION: Nowhere\nSUGGESTED_ACTIONS: [{\"text\": \"Wait\"}]"),
            ("game/1/1/master#2", "You wait for the dust to settle."),
            (
                "game/1/2/master#0",
                "A rider bars the way.\n\nLOCATION: Dry Creek\nACQUIRED_ITEMS: Rope, Lamp\nCOMBAT: One-Eyed \
                 Pete\nSUGGESTED_ACTIONS: [{\"text\": \"Draw\", \"type\": \"combat\"}, {\"text\": \"draw!\"}, \
                 {\"text\": \"Run\"}]",
            ),
            ("game/1/2/opponent#0", "I do not know him."),
            ("game/1/2/opponent#1", "{\"name\": \"Peter\", \"strength\": 25}"),
            (
                "game/1/3/master#0",
                "Pete laughs.\n\n\"playerDecision\": {\"prompt\": \"Well?\", \"options\": [{\"text\": \"Go\", \
                 \"impact\": \"You go\"}]}\nSUGGESTED_ACTIONS: [{\"text\": \"Spit\"}]",
            ),
            (
                "game/1/3/master#1",
                "Pete laughs, and you fall.\n\nREMOVED_ITEMS: rope, Golden spur, Canteen\nCOMBAT: One-Eyed \
                 Pete\n\n\"playerDecision\": {\"prompt\": \"Beg?\", \"options\": [{\"text\": \"Beg for your \
                 life\", \"impact\": \"He spares you\", \"tags\": [\"meek\"]}, {\"text\": \"Curse \
                 him\", \"impact\": \"He shoots\"}], \"importance\": \"critical\", \"characters\": [\"Pete\"]}",
            ),
            (
                "game/1/4/master#0",
                "He rides off.\nLOCATION: Dry Creek\nSUGGESTED_ACTIONS: [\"Get up\"]",
            ),
            ("game/1/5/master#0", "You walk home, wiser."),
        ],
    );
    insta::assert_snapshot!(game);
}

/// `nothing` is not an item, unless the hero has one with that name.
#[test]
fn losing_and_finding_nothing_changes_nothing() {
    let turn = "It rains.\nACQUIRED_ITEMS: nothing\nREMOVED_ITEMS: [Nothing., Rope]\n\
                SUGGESTED_ACTIONS: [{\"text\": \"Wait\"}, {\"text\": \"Go\"}]";
    let answers =
        [("game/1/hero#0", HERO), ("game/1/1/master#0", turn), ("game/1/2/master#0", "The end.")];
    let table = |overrides: &[&str]| {
        let game = played(overrides, &answers);
        let table = game.split("== inventory.csv\n").nth(1).unwrap();
        table.split("\n\n").next().unwrap().trim().to_owned()
    };
    let none = table(&["turns=2", "inventory=[Hat]"]);
    assert_eq!(none, "game,turn,item,change\n1,0,Hat,brought\n1,1,Rope,not_there");
    let one = table(&["turns=2", "inventory=[Nothing]"]);
    assert_eq!(
        one,
        "game,turn,item,change\n1,0,Nothing,brought\n1,1,Nothing,lost\n1,1,Rope,not_there"
    );
}

#[test]
fn calls_that_fail_end_a_game_or_are_made_up_for() {
    // First no hero can be created, then the player does not answer, then the game master fails.
    let game = played(
        &["turns=4", "player=model", "inventory=[]"],
        &[
            (
                "game/1/1/master#0",
                "It is hot.\nSUGGESTED_ACTIONS: [{\"text\": \"Drink\"}, \"Sweat\"]",
            ),
            (
                "game/1/2/master#0",
                "It is hotter.\nSUGGESTED_ACTIONS: [{\"text\": \"Drink\"}, \"Faint\"]",
            ),
            ("game/1/2/player#0", "Neither."),
            ("game/1/2/player#1", "drink or faint"),
            ("game/1/2/player#2", "The second, I think: faint."),
        ],
    );
    insta::assert_snapshot!(game);
}

#[test]
fn choices_of_the_settings_come_before_the_player() {
    let story = "On it goes.\nSUGGESTED_ACTIONS: [\"Left\", \"Right\"]";
    let answers = [
        ("game/1/hero#0", HERO),
        ("game/1/1/master#0", story),
        ("game/1/2/master#0", story),
        ("game/1/3/master#0", story),
        ("game/1/4/master#0", "The end."),
    ];
    let choices = "choices=[{turn: 1, choose: 2}, {turn: 3, choose: 9}]";
    let game = played(&["turns=4", choices], &answers);
    let chosen: Vec<&str> = game.lines().filter(|line| line.starts_with("  > ")).collect();
    let expected =
        ["  > Right (2 of 2, forced)", "  > Left (1 of 2, first)", "  > Right (2 of 2, forced)"];
    assert_eq!(chosen, expected);
}
