//! What a replay reports about the state that facts fold into, and about the output files.

use std::collections::BTreeMap;

use retold::event::{Event, RunFinished};
use retold::id::Seq;
use retold::log::{events_root, verify_run};
use retold::run::{
    Experiment, Finish, Mode, OutputError, OutputFile, Report, Run, RunRecord, StateDifference,
    Stop, compare_outputs,
};
use serde::Serialize;
use serde_json::json;

use crate::support::logs::copy;
use crate::support::mixed::{Fact, chat, fact, number};
use crate::support::oracle::Oracle;
use crate::support::trial::{Trial, memory, stop_of};

/// Who has agreed, and how many questions were asked.
#[derive(Debug, Clone, Default, Serialize)]
struct Votes {
    agreed: BTreeMap<i64, bool>,
    asked: u64,
}

/// Asks three people in each of two rounds. `INVERTED` is the mistake of this file: an inverted
/// flag in the fold, which no prompt, decision or fact shows.
struct Poll<const INVERTED: bool> {
    heading: &'static str,
}

const POLL: Poll<false> = Poll { heading: "share" };
const INVERTED: Poll<true> = Poll { heading: "share" };

impl<const INVERTED: bool> Experiment for Poll<INVERTED> {
    type Event = Fact;
    type State = Votes;

    fn apply(state: &mut Votes, event: &Fact) {
        state.asked += 1;
        if event.what == "second" {
            state.agreed.insert(event.n, INVERTED);
        }
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        for round in ["first", "second"] {
            let ask = |n| number(&format!("{round}/{n}"), chat(format!("{round}, person {n}")));
            for (n, answer) in (0..).zip(run.ask_all((0..3).map(ask)).await?) {
                let causes = answer.map(|answer| vec![answer.decision]).unwrap_or_default();
                run.record(fact(round, n), &causes)?;
            }
            run.mark(round)?;
        }
        run.record(fact("closed", 0), &[])
    }

    fn report(&self, state: &Votes) -> Report {
        let agreed = state.agreed.values().filter(|agreed| **agreed).count();
        Report { json: json!(agreed), ..Report::default() }
    }

    fn outputs(
        &self,
        state: &Votes,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        let ended = record.finished.as_ref().map(|finished| finished.outcome.as_str());
        let about = format!("{} events, {ended:?} at {}\n", record.events, record.last);
        let share = format!("{}\n{}\n", self.heading, state.agreed.len());
        Ok(vec![OutputFile::text("about.txt", about), OutputFile::text("share.csv", share)])
    }
}

fn finished(trial: &Trial) -> RunFinished {
    let events = trial.log.reader().unwrap().events(trial.run, Seq(0), 10_000).unwrap();
    match events.last().unwrap().event().unwrap() {
        Event::RunFinished(finished) => finished,
        other => panic!("{other:?}"),
    }
}

async fn recorded() -> Trial {
    let trial = Trial::in_memory(Oracle::prompt());
    trial.record(&POLL).await;
    trial
}

#[tokio::test]
async fn an_inverted_flag_in_apply_is_seen_though_every_decision_and_fact_is_as_recorded() {
    let trial = recorded().await;
    let whole = trial.go(Mode::Replay, &POLL).await;
    assert!(matches!(whole.finish, Finish::Finished) && whole.state_compared, "{whole:?}");
    // Resuming a finished run replays it.
    for mode in [Mode::Replay, Mode::Resume] {
        let ended = trial.go(mode, &INVERTED).await;
        assert_eq!(ended.outcome_digest, whole.outcome_digest);
        assert_eq!((&ended.report.json, &whole.report.json), (&json!(3), &json!(0)));
        let Stop::Diverged(divergence) = stop_of(ended) else { panic!("{mode:?}") };
        let [difference] = divergence.state_differences() else { panic!("{divergence}") };
        let StateDifference { mark, entry, recorded, now } = difference;
        assert_eq!((mark.as_deref(), entry.as_deref()), (Some("second"), Some("agreed")));
        let (recorded, now) = (recorded.unwrap().short(12), now.unwrap().short(12));
        assert_eq!(
            divergence.to_string(),
            format!(
                "decisions and facts are as recorded, but the state is not: agreed\n\
                 mark second, entry agreed: recorded {recorded}, now {now}\n"
            )
        );
    }
}

#[tokio::test]
async fn what_a_run_that_was_cut_off_and_resumed_records_is_the_same() {
    let whole = recorded().await;
    let expected = finished(&whole);
    let state = expected.state.clone().unwrap();
    assert_eq!(
        state.marks.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(),
        ["first", "second"]
    );
    assert_eq!(state.end.keys().collect::<Vec<_>>(), ["agreed", "asked"]);
    let length = whole.log.reader().unwrap().runs().unwrap()[0].head.seq.0;
    for most in 1..length {
        let cut = Trial { log: memory(), ..whole.with_model(Oracle::prompt()) };
        copy(&whole.log, &cut.log, cut.run, usize::try_from(most).unwrap());
        let ended = cut.go(Mode::Resume, &POLL).await;
        assert!(matches!(ended.finish, Finish::Finished), "{most}: {:?}", ended.finish);
        let end = finished(&cut);
        assert_eq!(end.state, expected.state, "{most}");
        let mut reader = cut.log.reader().unwrap();
        assert_eq!(verify_run(reader.as_mut(), cut.run, None).unwrap().finding, None);
        let replayed = cut.go(Mode::Replay, &POLL).await;
        assert!(matches!(replayed.finish, Finish::Finished) && replayed.state_compared);
        let mut record = RunRecord::read(reader.as_mut(), cut.run).unwrap();
        let compared = compare_outputs(&POLL, &mut record).unwrap();
        assert_eq!(compared, Some((2, Vec::new())), "{most}");
    }
}

#[tokio::test]
async fn an_output_file_that_comes_out_differently_is_named() {
    let trial = recorded().await;
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    assert_eq!(compare_outputs(&POLL, &mut record).unwrap(), Some((2, Vec::new())));
    let other = Poll::<false> { heading: "part" };
    let (files, different) = compare_outputs(&other, &mut record).unwrap().unwrap();
    let names: Vec<&str> = different.iter().map(|d| d.name.as_str()).collect();
    assert_eq!((files, names), (2, vec!["share.csv"]));
    let (recorded, now) = (different[0].recorded.unwrap(), different[0].now.unwrap());
    let said = format!("output share.csv: recorded {}, now {}", recorded.short(12), now.short(12));
    assert_eq!(different[0].to_string(), said);
}

#[tokio::test]
async fn the_root_is_that_of_the_events_before_the_end() {
    let trial = recorded().await;
    let cut = Trial { log: memory(), ..trial.with_model(Oracle::prompt()) };
    let length = trial.log.reader().unwrap().runs().unwrap()[0].head.seq.0;
    copy(&trial.log, &cut.log, cut.run, usize::try_from(length - 1).unwrap());
    let root = events_root(cut.log.reader().unwrap().as_mut(), cut.run).unwrap();
    assert_eq!(finished(&trial).events_root, root);
}
