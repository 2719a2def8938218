//! Texts that occur in a prompt: only rare ones are shown, with how rare they are, separately from
//! declared sources.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::audit::{DeclaredSources, Match};
use retold::log::Log;
use retold::model::{Ask, Failure, Model, ModelInfo, Response};
use retold::run::{Experiment, Question, Report, Run, Stop};

use super::audited;
use crate::support::mixed::{Fact, Numbers, chat, fact, number};
use crate::support::trial::{Trial, memory};

/// Every prompt begins with it.
const RULES: &str = "You are on a jury. Most people cooperate with each other in the end.";

const RARE: &str = "I saw a heron on the roof of the town hall at 4 in the morning.";
const ANOTHER: &str = "The ferry did not sail on the third, whatever the captain has said.";
const COMMON: &str = "I would rather not say anything about that at all, thank you.";
const LATER: &str = "Somebody has painted the door of the mill in a blue that I know.";
const BELL: &str = "The bell rang twice before anybody had gone to the harbour.";
const MEN: &str = "So I was told by two of the men who were there.";
const SHORT: &str = "cooperate";

/// A statement that has both in it.
fn bell_and_men() -> String {
    format!("{BELL} {MEN}")
}

/// Gives the answer that belongs to each call.
struct Witnesses;

impl Model for Witnesses {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "witnesses".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let text = match ask.call.as_str() {
            "witness/1" => RARE,
            "witness/2" => ANOTHER,
            // This witness repeats the instructions.
            "witness/3" => "Most people cooperate with each other in the end.",
            "witness/4" => SHORT,
            "witness/5" => BELL,
            "witness/6" => MEN,
            "witness/7" => return async { Ok(Response::text(bell_and_men())) }.boxed(),
            call if call.starts_with("many/") => COMMON,
            "later" => LATER,
            _ => "4",
        };
        async move { Ok(Response::text(text)) }.boxed()
    }
}

/// Witnesses are heard; then a judge is shown what they said, of which one answer is declared.
struct Hearing;

fn question(call: &str, text: &str) -> Question<Numbers> {
    number(call, chat(format!("{RULES}\n{text}")))
}

impl Experiment for Hearing {
    type Event = Fact;
    type State = ();

    fn apply(_: &mut (), _: &Fact) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let calls = (1..=7).map(|n| format!("witness/{n}"));
        let calls = calls.chain((1..=5).map(|n| format!("many/{n}")));
        let questions = calls.map(|call| question(&call, &format!("You are {call}. What is it?")));
        let heard = run.ask_all(questions.collect::<Vec<_>>()).await?;
        let second = heard[1].as_ref().unwrap().decision.clone();
        // A fact that repeats an answer is not a separate source.
        run.record(fact(ANOTHER, 2), std::slice::from_ref(&second))?;
        let noted = run.record_ref(fact("noted", 2), std::slice::from_ref(&second))?;
        let (both, other) = (bell_and_men(), "COOPERATE");
        let said = [RARE, ANOTHER, COMMON, LATER, other, SHORT, BELL, &both].join("\n");
        // What a declared fact was made from is declared with it.
        let judge = question("judge", &said).because([&noted]);
        drop(run.ask(judge).await?);
        drop(run.ask(question("later", "And you?")).await?);
        Ok(())
    }

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

async fn heard(log: &Log) -> (DeclaredSources, Vec<Match>) {
    let trial = Trial::new(log, 77, Arc::new(Witnesses));
    trial.record(&Hearing).await;
    let audit = audited(&trial.log, trial.run, "judge");
    (audit.declared, audit.same_text)
}

#[tokio::test]
async fn rare_texts_are_shown_with_their_rarity_and_common_ones_are_not() {
    let (declared, same) = heard(&memory()).await;
    let shown: Vec<(&str, bool, usize)> =
        same.iter().map(|m| (m.text.as_str(), m.declared, m.origins.len())).collect();
    // Two statements have the bell in them; the men are there only as a part of one.
    let both = bell_and_men();
    let bells = [(BELL, false, 2), (both.as_str(), false, 1)];
    assert_eq!(shown, [&[(RARE, false, 1), (ANOTHER, true, 1)], &bells[..]].concat());
    for found in &same {
        // 14 answers and 2 facts; no other prompt shows it.
        assert_eq!((found.of, found.prompts), (16, 0));
        assert!(found.looked_at > 3, "{found:?}");
        assert_eq!((found.message, found.role.as_str()), (0, "user"));
    }
    let DeclaredSources::Kept { prompts, .. } = declared else { panic!("not kept") };
    assert_eq!(prompts[0].from.len(), 1, "a match is not added to what was declared");
}
