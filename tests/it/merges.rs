//! Runs that are merged from shards: which questions a model may be asked.

use std::ops::Range;

use retold::event::Event;
use retold::id::RunId;
use retold::log::Log;
use retold::model::Answerer;
use retold::run::{ExecutionResult, Experiment, Finish, Report, Run, Setup, Stop, execute};

use crate::support::logs::{assert_sound, facts};
use crate::support::mixed::{Fact, chat, fact, number};
use crate::support::oracle::Oracle;
use crate::support::trial::{memory, stop_of};

const MERGED: RunId = RunId([9; 8]);

/// Four people are asked, and then all of them again. A shard asks some of them, and nobody again.
struct TwoRounds {
    people: Range<u32>,
    is_shard: bool,
}

impl Experiment for TwoRounds {
    type Event = Fact;
    type State = Vec<Fact>;

    fn apply(state: &mut Vec<Fact>, event: &Fact) {
        state.push(event.clone());
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let rounds: &[&str] = if self.is_shard { &["round_1"] } else { &["round_1", "round_2"] };
        for round in rounds {
            let ask = |person| number(&format!("{round}/p_{person}"), chat(format!("{person}?")));
            let questions: Vec<_> = self.people.clone().map(ask).collect();
            for answer in run.ask_all(questions).await? {
                let answer = answer.unwrap();
                run.record(fact(round, answer.value), &[answer.decision])?;
            }
            run.mark(round)?;
        }
        Ok(())
    }

    fn report(&self, _: &Vec<Fact>) -> Report {
        Report::default()
    }
}

/// Records a shard.
async fn shard(log: &Log, run: u8, people: Range<u32>) -> RunId {
    let setup = Setup::record(log, RunId([run; 8]), "rounds", Oracle::prompt());
    let ended = execute(&TwoRounds { people, is_shard: true }, setup).await.unwrap();
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    RunId([run; 8])
}

/// Merges shards, with a model that may be asked after the mark with which they end.
async fn merge(
    log: &Log,
    shards: Vec<RunId>,
    model: Answerer,
    shards_end: Option<&str>,
) -> ExecutionResult {
    let mut setup = match log.reader().unwrap().runs().unwrap().iter().any(|of| of.run == MERGED) {
        true => Setup::resume(log, MERGED, model).unwrap(),
        false => Setup::record(log, MERGED, "rounds", model),
    };
    setup.started.merged_from = shards;
    setup.shards_end = shards_end.map(str::to_owned);
    execute(&TwoRounds { people: 0..4, is_shard: false }, setup).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_model_is_asked_only_after_the_mark_with_which_the_shards_end() {
    let log = memory();
    let shards = vec![shard(&log, 1, 0..2).await, shard(&log, 2, 2..4).await];
    let model = Oracle::prompt();
    // A study that goes no further than its shards asks nothing.
    let stop = stop_of(merge(&log, shards.clone(), model.clone(), None).await);
    assert!(matches!(&stop, Stop::NotInShards { call, .. } if call.as_str() == "round_2/p_0"));
    assert_eq!(model.calls(), 0);
    let ended = merge(&log, shards, model.clone(), Some("round_1")).await;
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!((model.calls(), ended.progress.live, ended.progress.exchanges), (4, 4, 8));
    assert_sound(&log);
}

#[tokio::test(start_paused = true)]
async fn a_model_is_never_asked_for_what_a_shard_would_have_asked() {
    let log = memory();
    let shards = vec![shard(&log, 1, 0..3).await];
    let model = Oracle::prompt();
    for _ in 0..2 {
        let stop = stop_of(merge(&log, shards.clone(), model.clone(), Some("round_1")).await);
        assert!(matches!(&stop, Stop::NotInShards { call, .. } if call.as_str() == "round_1/p_3"));
    }
    assert_eq!(model.calls(), 0);
    let is_answer = |event: &Event| matches!(event, Event::ResponseReceived(_));
    assert!(!facts(&log, MERGED).iter().any(is_answer));
}
