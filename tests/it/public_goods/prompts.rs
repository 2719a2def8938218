//! What players are asked, and what settings hide from them.

use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::support::program::{build, study};
use futures::FutureExt;
use futures::future::BoxFuture;
use retold::model::{Ask, Failure, Model, ModelInfo, Response};
use retold::run::{Finish, Mode};

use crate::support::block_on;
use crate::support::trial::Trial;

/// The blocks of the source document: the format of a prompt, three times, and the whole prompt of
/// a round.
fn document() -> Vec<String> {
    let name = "../shared/sources/000_structured_output_public_goods.md";
    let path = Path::new(env!("RETOLD_ROOT")).join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("needs {name}: {e}"));
    let blocks = text.split("\n```\n").flat_map(|block| block.split("```\n")).map(str::to_owned);
    blocks.filter(|block| block.contains("**Output format (required):**")).collect()
}

/// Answers by the rule `contribute what is your number, punish the next one`, and keeps what it was
/// asked.
struct Players(Mutex<Vec<(String, String, String)>>);

impl Model for Players {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "test".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let call = ask.call.to_string();
        let messages = ask.request.messages();
        let asked = (call.clone(), messages[0].1.clone(), messages[1].1.clone());
        self.0.lock().unwrap().push(asked);
        let agent = call.split("agent_").nth(1).unwrap().chars().next().unwrap();
        let answer = match call.rsplit('/').next().unwrap() {
            "chat" => format!("<MESSAGE>I am number {agent}.</MESSAGE>"),
            "contribution" => format!("<CONTRIBUTE>{agent}</CONTRIBUTE>"),
            _ if agent == '0' => "<REDISTRIBUTE>[2, 0, 0]</REDISTRIBUTE>".to_owned(),
            _ if agent == '3' => "<REDISTRIBUTE>[0, 1, 0]</REDISTRIBUTE>".to_owned(),
            _ => "<REDISTRIBUTE>[0, 0, 0]</REDISTRIBUTE>".to_owned(),
        };
        async move { Ok(Response::text(answer)) }.boxed()
    }
}

/// The instructions and question of each call of a game of four.
fn asked(overrides: &[&str]) -> Vec<(String, String, String)> {
    let path = Path::new(env!("RETOLD_ROOT")).join("config/public_goods.yaml");
    let fixed = ["games=1", "group_size=4", "game_length=2", "reasoning={}"];
    let avatars = ["avatars=[DOG, CAT, FOX, OWL]"];
    let overrides: Vec<String> =
        fixed.iter().chain(&avatars).chain(overrides).map(|o| (*o).to_owned()).collect();
    let settings = study(&path, None, &overrides).unwrap().settings;
    let experiment = build("public_goods", &settings.experiment).unwrap();
    let players = Arc::new(Players(Mutex::default()));
    let trial = Trial::in_memory(players.clone());
    let ended = block_on(trial.go(Mode::Record, experiment.as_ref()));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    let mut asked = players.0.lock().unwrap().clone();
    asked.sort();
    asked
}

fn of<'a>(asked: &'a [(String, String, String)], call: &str) -> (&'a str, &'a str) {
    let (_, instructions, question) = asked.iter().find(|(c, ..)| c == call).unwrap();
    (instructions, question)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_documents_words_are_in_the_prompts_to_the_letter() {
    let document = document();
    assert_eq!(document.len(), 4, "{document:?}");
    let asked = asked(&["mpcr=0.4"]);
    let stages = ["contribution", "chat", "redistribution", "contribution"];
    for (block, stage) in document.iter().zip(stages) {
        let (_, prompt) = of(&asked, &format!("game1/r01/agent_1/{stage}"));
        // Our three numbers are `N` and an example with four in the document.
        let prompt = prompt.replace(
            "exactly 3 integers, e.g., [0, 2, 1]",
            "exactly N integers, e.g., [0, 2, 1, 0]",
        );
        // The document's round has no chat before it.
        assert!(prompt.ends_with(block.trim_end()), "{stage}\n{prompt}\n---\n{block}");
    }
}

#[test]
fn prompts_of_a_public_goods_game() {
    let asked = asked(&[]);
    let mut shown = String::new();
    for call in [
        "game1/r01/agent_3/chat",
        "game1/r02/agent_1/contribution",
        "game1/r02/agent_1/redistribution",
    ] {
        let (instructions, question) = of(&asked, call);
        shown
            .push_str(&format!("=== {call}\n--- system\n{instructions}\n--- user\n{question}\n\n"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn settings_hide_what_they_say() {
    let history = |overrides: &[&str]| {
        let asked = asked(overrides);
        of(&asked, "game1/r02/agent_1/contribution").1.to_owned()
    };
    let open = history(&[]);
    for seen in [
        "## Round 1 of 2:",
        "DOG punished you with 2 units: you lost 6 coins.",
        "OWL punished CAT",
        "FOX contributed 2 coins and earned",
    ] {
        // CAT is the reader, so what others did to CAT is described as done to `you`.
        let seen =
            seen.replace("OWL punished CAT", "OWL punished you with 1 unit: you lost 3 coins.");
        assert!(open.contains(&seen), "{seen}\n{open}");
    }
    let anonymous = history(&["actor_anonymity=true"]);
    assert!(
        anonymous.contains("Others punished you with 3 units: you lost 9 coins."),
        "{anonymous}"
    );
    assert!(
        !anonymous.contains("DOG punished") && !anonymous.contains("OWL punished"),
        "{anonymous}"
    );
    let hidden = history(&["peer_outcome_visibility=false"]);
    assert!(!hidden.contains("and earned") && hidden.contains("DOG punished you"), "{hidden}");
    let unknown = history(&["horizon_knowledge=unknown"]);
    assert!(unknown.contains("## Round 1:") && !unknown.contains(" of 2"), "{unknown}");
    // Third parties: FOX sees which player punished CAT, unless that is hidden.
    let fox =
        |overrides: &[&str]| of(&asked(overrides), "game1/r02/agent_2/contribution").1.to_owned();
    assert!(fox(&[]).contains("DOG punished CAT with 2 units: CAT lost 6 coins."));
    assert!(fox(&["actor_anonymity=true"]).contains("Others punished CAT with 3 units"));
    assert!(!fox(&["peer_outcome_visibility=false"]).contains("punished"));
    let dog = of(&asked(&["actor_anonymity=true"]), "game1/r02/agent_0/contribution").1.to_owned();
    assert!(
        dog.contains("You punished CAT with 2 units: CAT lost 6 coins, which cost you 2 coins."),
        "{dog}"
    );
    assert!(dog.contains("Others punished CAT with 1 unit"), "{dog}");
    let quiet = asked(&["communication_enabled=false", "punishment_enabled=false"]);
    assert!(quiet.iter().all(|(call, ..)| call.ends_with("/contribution")));
    let (rules, question) = of(&quiet, "game1/r02/agent_1/contribution");
    assert!(!rules.contains("punish") && !question.contains("Chat Stage"), "{rules}");
}

#[test]
fn players_see_no_contribution_of_the_same_round_and_all_earlier_messages() {
    let asked = asked(&[]);
    let (_, last) = of(&asked, "game1/r01/agent_3/contribution");
    assert!(!last.contains("contributed"), "{last}");
    let (_, first) = of(&asked, "game1/r01/agent_0/chat");
    let (_, third) = of(&asked, "game1/r01/agent_2/chat");
    assert!(!first.contains("I am number"), "{first}");
    assert!(third.contains("DOG: \"I am number 0.\"\nCAT: \"I am number 1.\""), "{third}");
    assert!(!third.contains("number 2") && !third.contains("number 3"), "{third}");
}

#[test]
fn withdrawals_are_turned_into_contributions() {
    let asked = asked(&["contribution_framing=opt_out", "contribution_type=all_or_nothing"]);
    let (rules, question) = of(&asked, "game1/r02/agent_1/contribution");
    assert!(rules.contains("you can withdraw coins to your private fund"), "{rules}");
    assert!(question.contains("You have 20 coins in the public fund. How much do you withdraw"));
    // Each player withdrew less than half, which counts as having withdrawn nothing.
    assert!(question.contains("In total, 80 coins were contributed"), "{question}");
}
