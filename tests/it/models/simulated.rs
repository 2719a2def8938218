//! The simulated model's malformed answers, by kind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::support::program::{build, player, study};
use retold::id::CallPath;
use retold::model::simulated::{Dice, Misbehaviour, Player, SimulatedModel};
use retold::model::{Ask, Model};
use retold::prompt::{ChatRequest, Message, Request, Role};
use retold::run::{Finish, Mode};
use retold_study::study::Study;

use crate::support::block_on;
use crate::support::trial::Trial;

/// Gives the answer `fine`, or the name of a kind of malformed answer.
struct Kinds(&'static [&'static str]);

impl Player for Kinds {
    fn reply(&self, _: &Request, _: &mut Dice) -> String {
        "fine".to_owned()
    }

    fn defects(&self, _: &Request, _: &mut Dice) -> Vec<(&'static str, String)> {
        self.0.iter().map(|kind| (*kind, (*kind).to_owned())).collect()
    }
}

/// How often each answer is given to 4,000 questions.
fn answers(malformed: f64, kinds: &[(&str, f64)]) -> BTreeMap<String, u32> {
    let malformed_kinds = kinds.iter().map(|(kind, rate)| ((*kind).to_owned(), *rate)).collect();
    let misbehaviour = Misbehaviour { malformed, malformed_kinds, ..Misbehaviour::default() };
    let model =
        Arc::new(SimulatedModel::new(1, misbehaviour, Box::new(Kinds(&["a", "b", "c", "d"]))));
    let messages = vec![Message::new(Role::User, "?")];
    let request = ChatRequest { model: "m".to_owned(), messages, ..ChatRequest::default() };
    let (request, call) = (request.into_request().unwrap(), CallPath::new("call").unwrap());
    let answers = block_on(async {
        let answer = |sample| {
            let ask = Ask { request: &request, call: &call, sample, attempt: 0 };
            model.answer(ask)
        };
        futures::future::join_all((0..4000).map(answer)).await
    });
    let mut counts = BTreeMap::new();
    for answer in answers {
        *counts.entry(answer.unwrap().content.text().to_owned()).or_default() += 1;
    }
    counts
}

/// Asserts that each answer occurs as often as expected, to within four standard deviations.
fn assert_shares(counts: &BTreeMap<String, u32>, shares: &[(&str, f64)]) {
    assert!(counts.keys().eq(shares.iter().map(|(answer, _)| answer)), "{counts:?}");
    for ((answer, count), (_, share)) in counts.iter().zip(shares) {
        let found = f64::from(*count) / 4000.0;
        assert!((found - share).abs() < 4.0 * (share / 4000.0).sqrt(), "{answer}: {found}");
    }
}

#[test]
fn each_kind_has_its_own_rate_and_the_shared_one_is_spread_evenly() {
    assert_shares(&answers(0.0, &[]), &[("fine", 1.0)]);
    let spread = [("a", 0.05), ("b", 0.05), ("c", 0.05), ("d", 0.05), ("fine", 0.8)];
    assert_shares(&answers(0.2, &[]), &spread);
    let own = answers(0.0, &[("a", 0.2), ("c", 0.5)]);
    assert_shares(&own, &[("a", 0.2), ("c", 0.5), ("fine", 0.3)]);
    let both = answers(0.2, &[("a", 0.5)]);
    assert_shares(&both, &[("a", 0.45), ("b", 0.05), ("c", 0.05), ("d", 0.05), ("fine", 0.4)]);
    let too_many = answers(0.0, &[("a", 0.9), ("b", 0.6)]);
    assert_shares(&too_many, &[("a", 0.6), ("b", 0.4)]);
}

/// Answers like another player, and notes which kinds of malformed answers that player has.
struct Noting(Box<dyn Player>, Arc<Mutex<BTreeSet<&'static str>>>);

impl Player for Noting {
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        self.0.reply(request, dice)
    }

    fn defects(&self, request: &Request, dice: &mut Dice) -> Vec<(&'static str, String)> {
        let ways = self.0.defects(request, dice);
        let kinds: BTreeSet<&str> = ways.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds.len(), ways.len(), "one way a kind: {ways:?}");
        self.1.lock().unwrap().extend(kinds);
        ways
    }

    fn vector(&self, text: &str) -> Option<Vec<f32>> {
        self.0.vector(text)
    }
}

#[test]
fn the_kinds_that_a_config_may_name_are_those_there_are() {
    let configs = [
        ("adventure", "adventure.yaml", "player=model"),
        ("deliberation", "deliberation_small.yaml", "pilot_name=x"),
        ("game24", "game24.yaml", "puzzles.rows=0..5"),
        ("public_goods", "public_goods_small.yaml", "seed=1"),
        ("society", "society_small.yaml", "days=2"),
    ];
    for (name, config, setting) in configs {
        let path = Path::new(env!("RETOLD_ROOT")).join("config").join(config);
        let Study { settings, .. } = study(&path, None, &[setting.to_owned()]).unwrap();
        let experiment = build(name, &settings.experiment).unwrap();
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let noting = Noting(player(name).unwrap(), seen.clone());
        let misbehaviour = Misbehaviour { malformed: 0.2, ..Misbehaviour::default() };
        let trial =
            Trial::in_memory(Arc::new(SimulatedModel::new(7, misbehaviour, Box::new(noting))));
        let ended = block_on(trial.go(Mode::Record, experiment.as_ref()));
        assert!(matches!(ended.finish, Finish::Finished), "{name}: {:?}", ended.finish);
        let named: BTreeSet<&str> = player(name).unwrap().kinds().iter().copied().collect();
        assert_eq!(*seen.lock().unwrap(), named, "{name}");
    }
}
