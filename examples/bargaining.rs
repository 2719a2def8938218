//! Two agents bargain over 100 coins: an experiment of your own, recorded and then replayed.
//!
//! `cargo run --example bargaining`

use std::error::Error;
use std::sync::Arc;

use retold::id::{CallPath, RunId};
use retold::log::Log;
use retold::model::simulated::{Dice, Misbehaviour, SimulatedModel};
use retold::parse::{FoundValue, LastResort, Strategy, StrategyParser};
use retold::prompt::{ChatRequest, Request};
use retold::run::{Experiment, FactRef, Question, Report, Run, Setup, Stop, execute};
use serde::{Deserialize, Serialize};

/// The parser: named ways to read an answer, tried in order. No offer accepts the last one.
const WAYS: &[Strategy<(), Option<u32>>] = &[
    Strategy { method: "deal", find: |text, ()| (text == "DEAL").then(|| FoundValue::plain(None)) },
    Strategy { method: "offer", find: |text, ()| Some(FoundValue::plain(Some(coins(text)?))) },
];

fn coins(text: &str) -> Option<u32> {
    text.strip_prefix("OFFER:")?.trim().parse().ok().filter(|coins| *coins <= 100)
}

/// A fact: what was said. The state of this experiment is everything that was said.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Said {
    by: String,
    offer: Option<u32>,
}

struct Bargaining(Arc<StrategyParser<(), Option<u32>>>);

impl Experiment for Bargaining {
    type Event = Said;
    type State = Vec<Said>;

    fn apply(talks: &mut Vec<Said>, said: &Said) {
        talks.push(said.clone());
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let mut offered: Option<FactRef> = None;
        for (round, by) in (1..=8).zip(["Ann", "Bob"].into_iter().cycle()) {
            let last = run.state().last().and_then(|said| said.offer).unwrap_or(0);
            let prompt = format!(
                "You are {by}, and 100 coins are to be shared. You were offered {last}. Answer DEAL, \
                 or OFFER: and how many the other gets. This is round {round} of 8."
            );
            let request = ChatRequest::new("gpt-4o", prompt).into_request()?;
            let call = CallPath::new(format!("round/{round}/{by}"))?;
            // What the prompt was made from, for `retold audit`: the last offer.
            let question = Question::new(call, request, self.0.clone()).because(&offered);
            // An agent that cannot be reached, after all retries, misses a turn.
            let Ok(answer) = run.ask(question.label("agent", by)).await? else { continue };
            let said = Said { by: by.to_owned(), offer: answer.value };
            offered = Some(run.record_ref(said, &[answer.decision])?);
            if answer.value.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn report(&self, talks: &Vec<Said>) -> Report {
        let lines = talks.iter().map(|Said { by, offer }| match offer {
            Some(coins) => format!("{by} offers {coins}\n"),
            None => format!("{by} agrees\n"),
        });
        Report { text: lines.collect(), ..Report::default() }
    }
}

/// Takes the place of a model: accepts 40 coins or more, and offers between 20 and 50.
fn agent(request: &Request, dice: &mut Dice) -> String {
    let (_, prompt) = request.messages().pop().unwrap_or_default();
    let offered = prompt.split("offered ").nth(1).and_then(|rest| rest.split('.').next());
    match offered.map(str::parse) {
        Some(Ok(40..=100_u32)) => "DEAL".to_owned(),
        _ => format!("OFFER: {}", 20 + dice.below(31)),
    }
}

/// Records a run and replays it; returns a short report.
pub(crate) async fn bargain() -> Result<String, Box<dyn Error>> {
    let nothing: LastResort<(), Option<u32>> = ("no_offer", |_, ()| FoundValue::plain(Some(0)));
    let bargaining =
        Bargaining(Arc::new(StrategyParser::new("bargain", 1, (), WAYS, nothing, None)?));
    let model = Arc::new(SimulatedModel::new(5, Misbehaviour::default(), Box::new(agent)));
    let (log, run) = (Log::in_memory(), RunId::random()?);
    let recorded = execute(&bargaining, Setup::record(&log, run, "bargaining", model)).await?;
    let replayed = execute(&bargaining, Setup::replay(&log, run)?).await?;
    assert_eq!(recorded.outcome_digest, replayed.outcome_digest);
    Ok(recorded.report.text)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it does")]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", bargain().await?);
    Ok(())
}
