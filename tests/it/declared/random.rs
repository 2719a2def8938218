//! Small random studies: an audit names exactly what a prompt was made from, and nothing else.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use retold::id::CallPath;
use retold::parse::Parser as _;
use retold::run::{Experiment, Finish, Mode, Question, Report, Run, Source, Stop, Talk};

use super::{audited, sources};
use crate::support::mixed::{Fact, Numbers, chat, fact, numbers};
use crate::support::oracle::Oracle;
use crate::support::trial::{Trial, stop_of};

/// A step of a study.
#[derive(Debug, Clone)]
struct Step {
    /// Whether it consists of dialogues or of single questions.
    talks: bool,
    /// How many of them at once.
    width: u64,
    /// The seed of its random choices.
    seed: u64,
}

/// Something that later prompts can be made from.
#[derive(Clone)]
struct Item {
    source: Source,
    /// Every source that it represents.
    represents: BTreeSet<String>,
}

/// A study that knows what each of its prompts was made from.
struct Study {
    steps: Vec<Step>,
    /// The call of a question that omits one of its sources.
    forgets: Option<String>,
    truth: RefCell<BTreeMap<String, BTreeSet<String>>>,
}

fn draw(seed: u64, n: u64) -> u64 {
    let mixed = (seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 29)
}

impl Study {
    fn new(steps: &[Step], forgets: Option<String>) -> Self {
        Study { steps: steps.to_vec(), forgets, truth: RefCell::default() }
    }

    /// A question that is made from some of the available items; its prompt shows them in other
    /// words.
    fn question(&self, call: &str, pool: &[Item], seed: u64) -> Question<Numbers> {
        let chosen =
            pool.iter().enumerate().filter(|(n, _)| draw(seed, *n as u64).is_multiple_of(3));
        let chosen: Vec<&Item> = chosen.map(|(_, item)| item).collect();
        let truth: BTreeSet<String> =
            chosen.iter().flat_map(|item| item.represents.iter().cloned()).collect();
        let shown: Vec<String> = truth.iter().map(|text| text.to_uppercase()).collect();
        let text = format!("You may cooperate or defect. I say 4. {call}: {}", shown.join(" "));
        self.truth.borrow_mut().insert(call.to_owned(), truth);
        let forgets = usize::from(self.forgets.as_deref() == Some(call));
        let sources = chosen.into_iter().skip(forgets).map(|item| &item.source);
        Question::new(CallPath::new(call).unwrap(), chat(text), numbers(1)).because(sources)
    }

    /// The decision on a question, and the question itself.
    fn items(&self, call: &str, decision: &retold::run::DecisionRef) -> [Item; 2] {
        let truth = self.truth.borrow()[call].clone();
        [
            Item { source: decision.into(), represents: [format!("{call}#0")].into() },
            Item { source: decision.question().into(), represents: truth },
        ]
    }
}

fn fact_item(source: impl Into<Source>, fact: &Fact) -> Item {
    let text = serde_json::to_value(fact).unwrap().to_string();
    Item { source: source.into(), represents: [text].into() }
}

impl Experiment for Study {
    type Event = Fact;
    type State = ();

    fn apply(_: &mut (), _: &Fact) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let mut pool: Vec<Item> = Vec::new();
        for (number, Step { talks, width, seed }) in self.steps.iter().enumerate() {
            let mut new = Vec::new();
            if *talks {
                let talk = async |talk: &mut Talk<Self>, n: u64| {
                    let mut known = pool.clone();
                    let mut facts = Vec::new();
                    for turn in 0..1 + draw(*seed, n) % 3 {
                        let call = format!("step/{number:02}/{n:02}/turn/{turn:02}");
                        let question = self.question(&call, &known, draw(*seed, 100 * n + turn));
                        let Ok(answer) = talk.ask(question).await? else { break };
                        known.extend(self.items(&call, &answer.decision));
                        let said = fact(&call, answer.value);
                        let source = talk.record_ref(said.clone(), &[answer.decision]);
                        facts.push(fact_item(source, &said));
                    }
                    Ok([known.split_off(pool.len()), facts].concat())
                };
                new = run.converse_all(0..*width, talk).await?.concat();
            } else {
                let calls = (0..*width).map(|n| format!("step/{number:02}/{n:02}"));
                let calls: Vec<String> = calls.collect();
                let asked = (0..).zip(&calls);
                let asked = asked.map(|(n, call)| self.question(call, &pool, draw(*seed, n)));
                let answers = run.ask_all(asked.collect::<Vec<_>>()).await?;
                for (call, answer) in calls.iter().zip(answers) {
                    let Ok(answer) = answer else { continue };
                    new.extend(self.items(call, &answer.decision));
                    let said = fact(call, answer.value);
                    let source = run.record_ref(said.clone(), &[answer.decision])?;
                    new.push(fact_item(source, &said));
                }
            }
            pool.extend(new);
        }
        Ok(())
    }

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (any::<bool>(), 1..4_u64, any::<u64>());
    prop::collection::vec(step.prop_map(|(talks, width, seed)| Step { talks, width, seed }), 1..6)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().unwrap().block_on(future)
}

/// Few by default, because each case is a recorded run and several replays. `PROPTEST_CASES` asks
/// for more.
#[expect(clippy::disallowed_methods, reason = "the caller says how many")]
fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => ProptestConfig { cases: 48, ..config },
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn declared_sources_are_the_true_ones_and_a_replay_misses_none(steps in steps(), order in 0..4_u64) {
        let slow = std::time::Duration::from_millis(50);
        let study = Study::new(&steps, None);
        let trial = Trial::in_memory(Oracle::shuffled(order, slow, |_| None));
        block_on(trial.record(&study));
        let truth = study.truth.into_inner();
        for (call, due) in &truth {
            let audit = audited(&trial.log, trial.run, call);
            prop_assert_eq!(&sources(&audit), due, "{}", call);
            prop_assert!(audit.same_text.is_empty(), "{:?}", audit.same_text);
        }
        block_on(trial.replay(&Study::new(&steps, None)));
        // A question that omits a source is the first difference, in a replay and in a resumed run.
        let forgets = truth.into_iter().find(|(_, due)| !due.is_empty()).map(|(call, _)| call);
        if let Some(call) = forgets {
            for mode in [Mode::Replay, Mode::Resume] {
                let study = Study::new(&steps, Some(call.clone()));
                let Stop::Diverged(divergence) = stop_of(block_on(trial.go(mode, &study))) else {
                    panic!("{call}")
                };
                let headline = divergence.headline();
                prop_assert!(headline.starts_with(&format!("call {call} sample 0 declares")), "{}", headline);
            }
        }
        let again = block_on(trial.go(Mode::Replay, &Study::new(&steps, None)));
        prop_assert!(matches!(again.finish, Finish::Finished));
        prop_assert_eq!(numbers(1).parse("4").value, 4);
    }
}
