//! Ten pairs that share words: what an audit may claim about the sources of a prompt, and what it
//! may not.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::audit::DeclaredSources;
use retold::id::CallPath;
use retold::log::Log;
use retold::model::{Ask, Failure, Model, ModelInfo, Response};
use retold::parse::{FoundValue, LastResort, Strategy, StrategyParser};
use retold::prompt::{ChatRequest, Message, Role};
use retold::run::{DecisionRef, Experiment, Question, Report, Run, Stop};
use serde::{Deserialize, Serialize};

use super::{audited, sources};
use crate::support::logs::{Folder, assert_sound};
use crate::support::oracle::dice;
use crate::support::trial::Trial;

/// A sentence in every prompt and in nearly every answer.
const SYSTEM: &str = "You play with a partner, whom you do not see. In each round you may cooperate or defect. \
                      Most people cooperate in round 04. Answer with one word, and say nothing about the rules.";

const ROUNDS: u32 = 5;

type Word = StrategyParser<(), String>;

const WAYS: &[Strategy<(), String>] = &[Strategy {
    method: "word",
    find: |text, ()| Some(FoundValue::plain(text.trim().to_owned())),
}];

fn word() -> Arc<Word> {
    let last: LastResort<(), String> = ("none", |_, ()| FoundValue::plain(String::new()));
    Arc::new(StrategyParser::new("word", 1, (), WAYS, last, None).unwrap())
}

/// Answers with one of two words, in upper or lower case.
struct Players;

impl Model for Players {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "players".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let said = ["cooperate", "Cooperate", "defect", "cooperate"];
        async move { Ok(Response::text(said[dice(ask, "word") as usize % said.len()])) }.boxed()
    }
}

#[derive(Serialize, Deserialize)]
struct Played {
    pair: u32,
    round: u32,
}

/// Ten pairs; each player sees the last two rounds of both, in capitals.
struct Pairs;

/// The call of a round of a pair. The numbers of pairs, rounds and players look alike.
fn call(pair: u32, round: u32, player: u32) -> String {
    format!("pair/{pair:02}/round/{round:02}/player/{player:02}")
}

impl Experiment for Pairs {
    type Event = Played;
    type State = ();

    fn apply(_: &mut (), _: &Played) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let mut said: Vec<Vec<[(String, DecisionRef); 2]>> = vec![Vec::new(); 10];
        for round in 1..=ROUNDS {
            let questions =
                (1..=10).flat_map(|pair| [(pair, 1), (pair, 2)]).map(|(pair, player)| {
                    let before = &said[pair as usize - 1];
                    let shown = &before[before.len().saturating_sub(2)..];
                    let words = shown.iter().flatten().map(|(word, _)| word.to_uppercase());
                    let history = words.collect::<Vec<_>>().join(", ");
                    let messages = vec![
                        Message::new(Role::System, SYSTEM),
                        Message::new(Role::User, format!("SO FAR: {history}. ROUND {round:02}?")),
                    ];
                    let request =
                        ChatRequest { messages, ..ChatRequest::default() }.into_request()?;
                    let call = CallPath::new(call(pair, round, player))?;
                    let sources = shown.iter().flatten().map(|(_, decision)| decision);
                    Ok(Question::new(call, request, word()).because(sources))
                });
            let questions = questions.collect::<Result<Vec<_>, Stop>>()?;
            let mut answers = run.ask_all(questions).await?.into_iter().map(Result::unwrap);
            for pair in 1..=10 {
                let both = [answers.next().unwrap(), answers.next().unwrap()];
                let both = both.map(|answer| (answer.value, answer.decision));
                let causes = both.clone().map(|(_, decision)| decision);
                run.record(Played { pair, round }, &causes)?;
                said[pair as usize - 1].push(both);
            }
        }
        Ok(())
    }

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

async fn played(log: &Log) -> Trial {
    let trial = Trial::new(log, 77, Arc::new(Players));
    trial.record(&Pairs).await;
    trial.replay(&Pairs).await;
    assert_sound(log);
    trial
}

/// An earlier audit that guessed attributed "cooperate" in the system prompt to another pair's
/// answer, because `04` is in both calls, and attributed the history, which is in capitals, to no
/// answer.
#[tokio::test]
async fn pairs_that_share_words_have_exactly_the_sources_that_they_declare() {
    let folder = Folder::new();
    let Trial { log, run, .. } = played(&folder.log()).await;
    for (pair, round, player) in (1..=10)
        .flat_map(|pair| (1..=ROUNDS).map(move |round| (pair, round)))
        .flat_map(|(pair, round)| [(pair, round, 1), (pair, round, 2)])
    {
        let audit = audited(&log, run, &call(pair, round, player));
        let due: BTreeSet<String> = (1..round)
            .rev()
            .take(2)
            .flat_map(|before| [1, 2].map(|player| format!("{}#0", call(pair, before, player))))
            .collect();
        assert_eq!(sources(&audit), due, "{pair} {round} {player}");
        assert!(audit.same_text.is_empty(), "words are common: {:?}", audit.same_text);
        // All earlier prompts of the pair are sources, and no others.
        let DeclaredSources::Kept { prompts, .. } = &audit.declared else { panic!() };
        let own = format!("pair/{pair:02}/");
        assert!(prompts.iter().all(|made| made.call.as_str().starts_with(&own)));
        assert_eq!(prompts.len() as u32, 2 * (round - 1) + 1);
    }
}
