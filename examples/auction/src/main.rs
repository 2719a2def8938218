//! An auction: a study in a crate of its own, with every command of retold in its own program.
//!
//! `cargo run -p auction -- run examples/auction/auction.yaml`

use std::process::ExitCode;
use std::sync::Arc;

use retold::id::CallPath;
use retold::model::simulated::{Dice, Player};
use retold::parse::{FoundValue, LastResort, ParserFamily, Strategy, StrategyParser};
use retold::prompt::{CanonicalError, ChatRequest, Request};
use retold::run::{AnyExperiment, Experiment, Question, Report, Run, Stop};
use retold_cli::{Catalogue, clap};
use retold_study::Registration;
use retold_study::config::{ConfigError, ConfigFile, ConfigProblem, ModelConfig, Runtime};
use retold_study::error::{Clash, StudyError};
use retold_study::settings::ExperimentSettings;
use retold_study::study::Study;
use serde::{Deserialize, Serialize};

const NAME: &str = "auction";

/// The keys of a config, which are also what is recorded of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default, skip_serializing, rename = "experiment")]
    _experiment: Option<String>,
    #[serde(default, skip_serializing)]
    seed: u64,
    #[serde(default, skip_serializing)]
    model: ModelConfig,
    rounds: u32,
    bidders: Vec<String>,
}

/// The parser: a bid is a whole number, alone or anywhere in the answer.
const WAYS: &[Strategy<(), u32>] = &[
    Strategy { method: "number", find: |text, ()| text.trim().parse().ok().map(FoundValue::plain) },
    Strategy { method: "first_number", find: |text, ()| first(text).map(FoundValue::plain) },
];
const NO_BID: LastResort<(), u32> = ("no_bid", |_, ()| FoundValue::plain(0));

fn first(text: &str) -> Option<u32> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    numbers.next()?.parse().ok()
}

fn parser() -> Result<StrategyParser<(), u32>, CanonicalError> {
    StrategyParser::new("bid", 1, (), WAYS, NO_BID, None)
}

static BID: ParserFamily =
    ParserFamily { name: "bid", versions: &[1], make: |_| Ok(Box::new(parser()?)) };

/// A fact: who bid how much. The state is the highest bid.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Bid {
    by: String,
    coins: u32,
}

struct Auction {
    settings: Settings,
    parser: Arc<StrategyParser<(), u32>>,
}

impl Experiment for Auction {
    type Event = Bid;
    type State = Bid;

    fn apply(highest: &mut Bid, bid: &Bid) {
        if bid.coins > highest.coins {
            highest.clone_from(bid);
        }
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        for round in 1..=self.settings.rounds {
            for by in &self.settings.bidders {
                let coins = run.state().coins;
                let prompt = format!("You are {by}. The highest bid is {coins}. What do you bid?");
                let request = ChatRequest::new("gpt-4o", prompt).into_request()?;
                let call = CallPath::new(format!("round/{round}/{by}"))?;
                let asked = Question::new(call, request, self.parser.clone()).label("agent", by);
                let question = asked.label("round", round);
                let Ok(answer) = run.ask(question).await? else { continue };
                run.record(Bid { by: by.clone(), coins: answer.value }, &[answer.decision])?;
            }
        }
        Ok(())
    }

    fn report(&self, highest: &Bid) -> Report {
        let text = format!("{} wins with {}\n", highest.by, highest.coins);
        Report { text, json: serde_json::json!(highest), ..Report::default() }
    }
}

/// Takes the place of a model: bids up to 10 more than the highest bid.
struct Bidder;

impl Player for Bidder {
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        let (_, prompt) = request.messages().pop().unwrap_or_default();
        format!("I bid {} coins.", first(&prompt).unwrap_or(0) + dice.below(11) as u32)
    }
}

/// What the program needs to know about the study.
struct Registered;

impl Registration for Registered {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        let settings: Settings = file.read(NAME)?;
        let runtime = Runtime { model: settings.model.clone(), ..Runtime::default() };
        Ok(Study::new(NAME, settings.seed, settings, runtime))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        let settings = settings.read::<Settings>()?.into_owned();
        if settings.bidders.is_empty() {
            return Err(ConfigProblem::new("bidders", "nobody bids").into());
        }
        let parser = parser().map_err(|e| StudyError::part("parser", e))?;
        Ok(Box::new(Auction { settings, parser: Arc::new(parser) }))
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(Bidder)
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        const PARSERS: &[&ParserFamily] = &[&BID];
        PARSERS
    }
}

fn main() -> Result<ExitCode, Clash> {
    let rules = clap::Command::new("rules").about("Print the rules");
    let catalogue = Catalogue::new([&Registered as &dyn Registration])?;
    Ok(retold_cli::main(
        &catalogue.with_command(rules, |_, _| Ok("The highest bid wins.\n".into())),
    ))
}
