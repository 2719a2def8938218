//! Declarations are compared by address in replays and resumptions; forks have their own; they add
//! little to a log.

use retold::audit::DeclaredSources;
use retold::event::{Because, Event, ForkedFrom};
use retold::id::{CallPath, RunId, Seq};
use retold::run::{Experiment, Finish, Mode, Report, Run, Setup, SoFar, Stop, Talk, execute};
use serde_json::json;

use super::{audited, sources};
use crate::support::logs::assert_sound;
use crate::support::mixed::{Fact, chat, fact, number};
use crate::support::oracle::Oracle;
use crate::support::trial::{Trial, stop_of};

/// Three votes, of which the last is made from the others.
#[derive(Clone, Default)]
struct Votes {
    /// How the declaration of the last vote is changed: one source fewer, another one, one more, or
    /// none at all.
    change: &'static str,
    /// Whether an extra question is asked first, so that all seqs in the log differ.
    late: bool,
}

impl Experiment for Votes {
    type Event = Fact;
    type State = ();

    fn apply(_: &mut (), _: &Fact) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        if self.late {
            let _ = run.ask(number("early", chat("Are you there?"))).await?;
        }
        let Ok(first) = run.ask(number("vote/1", chat("One?"))).await? else { return Ok(()) };
        let counted = run.record_ref(fact("counted", 1), std::slice::from_ref(&first.decision))?;
        let second = number("vote/2", chat("Two?")).because([&first.decision]);
        let Ok(second) = run.ask(second).await? else { return Ok(()) };
        let third = number("vote/3", chat("Three?"));
        let third = match self.change {
            "fewer" => third.because([second.decision.question()]),
            "other" => third.because([&first.decision]).because([&counted]),
            "more" => third
                .because([second.decision.question()])
                .because([&counted])
                .because([&first.decision, &second.decision]),
            "nothing" => third,
            // The order of sources and repetitions must not matter.
            "order" => third
                .because([&counted])
                .because([second.decision.question(), second.decision.question()]),
            _ => third.because([second.decision.question()]).because([&counted]),
        };
        let _ = run.ask(third).await?;
        Ok(())
    }

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

#[tokio::test]
async fn a_changed_declaration_is_a_difference_of_its_own_kind() {
    let trial = Trial::in_memory(Oracle::prompt());
    trial.record(&Votes::default()).await;
    trial.replay(&Votes { change: "order", late: false }).await;
    let mut all = String::new();
    for change in ["fewer", "other", "more", "nothing"] {
        let votes = Votes { change, late: false };
        let mut said = Vec::new();
        for mode in [Mode::Replay, Mode::Resume] {
            let Stop::Diverged(divergence) = stop_of(trial.go(mode, &votes).await) else {
                panic!("{change}")
            };
            said.push(divergence.to_string());
        }
        assert_eq!(said[0], said[1], "a finished run that is resumed is a replay");
        all.push_str(&format!("{change}: {}", said[0]));
    }
    insta::assert_snapshot!("declared_differences", all);
}

#[tokio::test]
async fn a_resumed_run_declares_as_one_that_was_never_stopped() {
    let whole = Trial::in_memory(Oracle::prompt());
    whole.record(&Votes::default()).await;
    let length =
        usize::try_from(whole.log.reader().unwrap().runs().unwrap()[0].head.seq.0).unwrap();
    let due = sources(&audited(&whole.log, whole.run, "vote/3"));
    for most in 1..length {
        let log = crate::support::trial::memory();
        let cut = Trial { log, ..whole.with_model(Oracle::prompt()) };
        crate::support::logs::copy(&whole.log, &cut.log, cut.run, most);
        let ended = cut.go(Mode::Resume, &Votes::default()).await;
        assert!(matches!(ended.finish, Finish::Finished), "{most}: {:?}", ended.finish);
        assert_eq!(sources(&audited(&cut.log, cut.run, "vote/3")), due, "{most}");
        cut.replay(&Votes::default()).await;
        assert_sound(&cut.log);
    }
}

#[tokio::test]
async fn a_fork_names_its_own_events() {
    let trial = Trial::in_memory(Oracle::prompt());
    trial.record(&Votes::default()).await;
    let due = sources(&audited(&trial.log, trial.run, "vote/3"));
    let fork = RunId([2; 8]);
    let votes = Votes { late: true, ..Votes::default() };
    let mut setup = Setup::record(&trial.log, fork, "test", Oracle::prompt()).seed(7);
    let parent = ForkedFrom { run: trial.run, before: None, retry_failed: false, without: None };
    setup.started.forked_from = Some(parent);
    let ended = execute(&votes, setup).await.unwrap();
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(sources(&audited(&trial.log, fork, "vote/3")), due, "by address they are the same");
    let seqs = |run| match audited(&trial.log, run, "vote/3").declared {
        DeclaredSources::Kept { prompts, .. } => {
            prompts[0].from.iter().map(retold::audit::Origin::seq).collect::<Vec<_>>()
        }
        DeclaredSources::NotKept => panic!(),
    };
    assert_ne!(seqs(trial.run), seqs(fork), "and by place they are not");
    let replayed = execute(&votes, Setup::replay(&trial.log, fork).unwrap()).await.unwrap();
    assert!(matches!(replayed.finish, Finish::Finished), "{:?}", replayed.finish);
    assert_sound(&trial.log);
}

/// A dialogue of short turns.
struct Long(u64);

impl Experiment for Long {
    type Event = Fact;
    type State = ();

    fn apply(_: &mut (), _: &Fact) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let mut so_far = SoFar::default();
        for turn in 1..=self.0 {
            let question = number(&format!("turn/{turn}"), chat(format!("Turn {turn}?")));
            let Ok(answer) = run.ask(question.because(so_far.sources())).await? else { break };
            so_far.replace_with(&answer.decision);
            so_far.add(&answer.decision);
        }
        Ok(())
    }

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

#[tokio::test]
async fn a_dialogue_of_a_thousand_turns_declares_as_much_in_the_last_as_in_the_second() {
    let trial = Trial::in_memory(Oracle::prompt());
    trial.record(&Long(1000)).await;
    let mut reader = trial.log.reader().unwrap();
    let stored = crate::support::logs::events(reader.as_mut(), trial.run);
    let bodies: Vec<usize> =
        stored.iter().filter(|e| e.kind == "RequestSent").map(|e| e.body.len()).collect();
    assert_eq!(bodies.len(), 1000);
    // `{"because":[[2995,2996]]}`: a question and its answer.
    assert!(bodies[1..].iter().all(|length| *length <= 25), "{:?}", bodies.iter().max());
    let audit = audited(&trial.log, trial.run, "turn/1000");
    let due: Vec<String> = (1..1000).map(|turn| format!("turn/{turn}#0")).collect();
    assert!(sources(&audit).into_iter().eq({
        let mut due = due;
        due.sort_unstable();
        due
    }));
    let DeclaredSources::Kept { prompts, complete, .. } = audit.declared else { panic!() };
    assert!(complete && prompts.iter().all(|made| made.from.len() <= 2));
    trial.replay(&Long(1000)).await;
}

/// Two dialogues whose questions name a fact, or the decision that caused it.
struct Together {
    fact: bool,
}

impl Experiment for Together {
    type Event = Fact;
    type State = ();

    fn apply(_: &mut (), _: &Fact) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let talk = async |talk: &mut Talk<Self>, n: u32| {
            let Ok(answer) = talk.ask(number(&format!("a/{n}"), chat("?"))).await? else {
                return Ok(None);
            };
            let said =
                talk.record_ref(fact("said", n.into()), std::slice::from_ref(&answer.decision));
            let next = number(&format!("b/{n}"), chat("!"));
            let next = match self.fact {
                true => next.because([&said]),
                false => next.because([&answer.decision]),
            };
            drop(talk.ask(next).await?);
            Ok(Some(said))
        };
        let said = run.converse_all(0..2, talk).await?;
        let last = number("last", chat("And?")).because(said.into_iter().flatten());
        drop(run.ask(last).await?);
        Ok(())
    }

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

#[tokio::test]
async fn a_fact_of_a_dialogue_is_named_after_all_dialogues_and_its_causes_within() {
    let trial = Trial::in_memory(Oracle::prompt());
    trial.record(&Together { fact: false }).await;
    let audit = audited(&trial.log, trial.run, "last");
    let due = ["{\"n\":0,\"what\":\"said\"}", "{\"n\":1,\"what\":\"said\"}"];
    assert!(sources(&audit).into_iter().eq(due));
    assert!(sources(&audited(&trial.log, trial.run, "b/1")).into_iter().eq(["a/1#0"]));
    trial.replay(&Together { fact: false }).await;
    // In the first dialogue as in the others, although its facts are logged immediately.
    let trial = Trial::in_memory(Oracle::prompt());
    let stop = stop_of(trial.go(Mode::Record, &Together { fact: true }).await);
    assert_eq!(
        stop.to_string(),
        "the experiment made an invalid source of a prompt: a fact of `converse_all` has its place in the log when all dialogues \
         have ended: until then, name the decisions that caused it"
    );
}

#[tokio::test]
async fn a_question_of_a_log_may_name_anything_and_an_audit_ends() {
    use retold::event::{Labels, NewEvent, RequestSent, RunStarted};
    use retold::id::Time;
    use retold::log::{Append, Head};
    let trial = Trial::in_memory(Oracle::prompt());
    let started = Event::RunStarted(RunStarted::new("none", 0, json!({}), json!({})));
    let asked = |n: u64| {
        let request = chat("What?");
        // Everything that was ever asked, and the beginning of the run.
        let because = Because::new((1..=n).map(Seq));
        let call = CallPath::new(format!("q/{n}")).unwrap();
        let sent = RequestSent {
            call,
            sample: 0,
            prompt: request.hash(),
            because,
            labels: Labels::default(),
        };
        NewEvent::from_event(&Event::RequestSent(sent), Time(0), Some(request)).unwrap()
    };
    let first = NewEvent::from_event(&started, Time(0), None).unwrap();
    let rows = std::iter::once(first).chain((1..=200).map(asked));
    let append = [Append::new(trial.run, Head::START, rows)];
    trial.log.backend().committer().unwrap().commit(&append).unwrap();
    let audit = audited(&trial.log, trial.run, "q/200");
    let DeclaredSources::Kept { prompts, complete, .. } = &audit.declared else { panic!() };
    assert_eq!((prompts.len(), *complete), (200, true));
    assert_sound(&trial.log);
    // A source that is not an earlier event is damage.
    let later = NewEvent { body: r#"{"because":[900]}"#.into(), ..asked(201) };
    let head = trial.log.reader().unwrap().runs().unwrap()[0].head;
    let append = [Append::new(trial.run, head, [later])];
    trial.log.backend().committer().unwrap().commit(&append).unwrap();
    let problems = crate::support::logs::problems(trial.log.reader().unwrap().as_mut());
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].fault.to_string(),
        "what its prompt was made from is not a list of earlier events"
    );
}
