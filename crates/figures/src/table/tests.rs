use std::fmt::Write;

use proptest::prelude::*;
use retold::event::{
    AnswerReused, AttemptDetails, AttemptFailed, Because, DecidedBy, DecisionDetails, DecisionMade,
    Event, FactOccurred, Labels, NewEvent, PROGRAM, RequestSent, ResponseDetails, ResponseReceived,
};
use retold::id::{CallPath, Sample, Seq, Time};
use retold::log::{Append, Head, Log};
use retold::prompt::Request;
use serde_json::{Value, json};

use super::*;
use crate::{GroupPairing, IntervalMethod};

const RUNS: [RunId; 2] = [RunId([1; 8]), RunId([2; 8])];

/// A run while it is written down.
struct Written(Vec<NewEvent>);

impl Written {
    fn of(experiment: &str, seed: u64) -> Self {
        let (settings, model) = (json!({}), json!({}));
        let (experiment, program, forked_from) = (experiment.to_owned(), "test".to_owned(), None);
        let started = RunStarted {
            experiment,
            seed,
            settings,
            model,
            program,
            forked_from,
            merged_from: Vec::new(),
        };
        let mut written = Written(Vec::new());
        written.add(&Event::RunStarted(started), None);
        written
    }

    fn program() -> Self {
        Written::of(PROGRAM, 0)
    }

    fn add(&mut self, event: &Event, request: Option<Request>) -> Seq {
        self.0.push(NewEvent::from_event(event, Time(0), request).unwrap());
        Seq(self.0.len() as u64)
    }

    fn asked(&mut self, call: &str, sample: Sample, labels: &[(&str, &str)]) -> Seq {
        let request = Request::from_body(json!({"model": "m-1", "messages": []})).unwrap();
        let (call, prompt) = (CallPath::new(call).unwrap(), request.hash());
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let (because, labels) = (Because::default(), labels.collect::<Labels>());
        let sent = RequestSent { call, sample, prompt, because, labels };
        self.add(&Event::RequestSent(sent), Some(request))
    }

    fn answered(&mut self, request: Seq) -> Seq {
        let (content, details) = ("text".into(), ResponseDetails::default());
        self.add(&Event::ResponseReceived(ResponseReceived { request, content, details }), None)
    }

    fn decided(&mut self, response: Seq, name: &str, method: &str, value: Value) {
        let parser = json!({"name": "program", "params": {"name": name}, "version": 1});
        let by = DecidedBy { in_place_of: None, method: method.to_owned(), parser };
        let details =
            DecisionDetails { choice: None, reasoning: None, value, warnings: Vec::new() };
        self.add(&Event::DecisionMade(DecisionMade { response, by, details }), None);
    }

    /// A call with an answer and a decision.
    fn decision(&mut self, call: &str, labels: &[(&str, &str)], name: &str, value: Value) {
        let asked = self.asked(call, 0, labels);
        let answer = self.answered(asked);
        self.decided(answer, name, "reported", value);
    }

    fn failed(&mut self, call: &str, labels: &[(&str, &str)]) {
        let request = self.asked(call, 0, labels);
        let details = AttemptDetails {
            attempt: 0,
            error: "no".to_owned(),
            gave_up: true,
            failure: "server".to_owned(),
            from: None,
            http: None,
            retry_after_ms: None,
            status: Some(500),
        };
        self.add(&Event::AttemptFailed(AttemptFailed { request, details }), None);
    }

    fn fact(&mut self, fact: Value) {
        self.add(&Event::Occurred(FactOccurred { causes: Vec::new(), fact }), None);
    }
}

/// The figures of runs, or the error; the suggested ones if none are named.
fn tables(runs: Vec<Written>, figures: &[&str]) -> Result<Vec<FigureTable>, FiguresError> {
    let (log, parsers) = (Log::in_memory(), Parsers::default());
    let names: Vec<RunId> = RUNS.into_iter().take(runs.len()).collect();
    for (run, written) in names.iter().zip(runs) {
        let append = Append::new(*run, Head::START, written.0);
        log.backend().committer().unwrap().commit(&[append]).unwrap();
    }
    let mut readers: Vec<_> = names.iter().map(|_| log.reader().unwrap()).collect();
    let mut of: Vec<FigureRun<'_>> = readers
        .iter_mut()
        .zip(&names)
        .map(|(reader, run)| FigureRun { name: run.short(2), run: *run, reader: reader.as_mut() })
        .collect();
    let census = census_of(&mut of, &parsers)?;
    let definitions = match figures {
        [] => suggested_figures(&census).figures,
        figures => figures.iter().map(|figure| figure.parse().unwrap()).collect(),
    };
    figure_tables(&mut of, &census, &definitions, &parsers)
}

/// Tables as people read them.
fn shown(tables: &[FigureTable]) -> String {
    let mut text = String::new();
    for table in tables {
        writeln!(text, "{}\n  {}", table.figure, table.headings().join(" | ")).unwrap();
        for group in &table.groups {
            writeln!(text, "  {}", table.cells(group).join(" | ")).unwrap();
        }
        for compared in &table.differences {
            writeln!(text, "  {}", table.difference(compared)).unwrap();
        }
        table.notes().iter().for_each(|note| writeln!(text, "  {note}").unwrap());
    }
    text
}

/// Votes of so many participants in two conditions, of whom these say yes.
fn votes(of: usize, yes: [usize; 2]) -> Written {
    let mut run = Written::program();
    for (condition, yes) in ["acp", "ctl"].into_iter().zip(yes) {
        for n in 0..of {
            let participant = format!("{condition}-{n}");
            let labels = [("condition", condition), ("participant", participant.as_str())];
            let vote = if n < yes { "yes" } else { "no" };
            run.decision(&format!("vote/{participant}"), &labels, "vote", json!(vote));
        }
    }
    run
}

#[test]
fn a_share_by_condition_has_intervals_a_difference_and_a_test() {
    let found = tables(vec![votes(5, [4, 1])], &["share of vote = yes by condition"]).unwrap();
    let groups = &found[0].groups;
    assert_eq!((groups[0].value, groups[1].value), (Some(0.8), Some(0.2)));
    assert_eq!(groups[0].interval.unwrap().method, IntervalMethod::ClopperPearson);
    let difference = &found[0].differences[0].found;
    assert_eq!(difference.pairing, GroupPairing::Unpaired);
    // By Fisher's exact test, which asks the same of two shares: 52 of 252 assignments.
    let test = difference.test.unwrap();
    assert_eq!((test.assignments, test.exact), (252, true));
    assert!((test.p - 52.0 / 252.0).abs() < 1e-12, "{test:?}");
    insta::assert_snapshot!(shown(&found));
}

#[test]
fn what_is_missing_and_what_is_a_last_resort_is_counted_beside() {
    let mut run = votes(3, [3, 0]);
    let labels = [("condition", "acp"), ("participant", "acp-9")];
    run.failed("vote/acp-9", &labels);
    run.decision("vote/acp-8", &labels, "vote", json!(null));
    let asked = run.asked("vote/acp-7", 0, &labels);
    let answer = run.answered(asked);
    run.decided(answer, "vote", "default", json!("no"));
    // The same call again after a crash is one question, and a call of another kind is no vote.
    run.asked("vote/acp-6", 0, &labels);
    run.asked("vote/acp-6", 0, &labels);
    run.failed("chat/acp-6", &labels);
    run.decision("talk/acp-6", &labels, "mood", json!("calm"));
    let found = tables(vec![run], &["share of vote = yes by condition"]).unwrap();
    let acp = &found[0].groups[0];
    assert_eq!((acp.draws, acp.missing, acp.fallback, acp.value), (3, 3, 1, Some(1.0)));
}

#[test]
fn a_study_that_asked_again_has_one_value() {
    let mut run = Written::of("deliberation", 1);
    for (call, values) in [("a/1", [json!(null), json!(4)]), ("a/2", [json!(null), json!(null)])] {
        for (sample, value) in (0..).zip(values) {
            let asked = run.asked(call, sample, &[("participant", call)]);
            let answer = run.answered(asked);
            run.decided(answer, "sum", "reported", value);
        }
    }
    // Samples that were asked for together are as many draws.
    let labels = [("participant", "b")];
    let asked = [0, 1].map(|sample| run.asked("b/1", sample, &labels));
    for (asked, value) in asked.into_iter().zip([json!(null), json!(6)]) {
        let answer = run.answered(asked);
        run.decided(answer, "sum", "reported", value);
    }
    let found = tables(vec![run], &["mean of sum"]).unwrap();
    let all = &found[0].groups[0];
    assert_eq!((all.draws, all.missing, all.value), (2, 2, Some(5.0)));
}

#[test]
fn participants_of_both_conditions_are_paired() {
    let mut run = Written::program();
    for n in 0..4 {
        let participant = n.to_string();
        for (condition, coins) in [("a", n), ("b", n + 2)] {
            let labels = [("condition", condition), ("participant", participant.as_str())];
            let call = format!("give/{n}/{condition}");
            run.decision(&call, &labels, "contribution", json!(coins));
        }
    }
    let found = tables(vec![run], &["mean of contribution by condition"]).unwrap();
    let difference = &found[0].differences[0].found;
    assert_eq!((difference.pairing, difference.clusters_in_both), (GroupPairing::Paired, 4));
    assert_eq!((difference.difference, difference.interval), (Some(2.0), None));
    assert_eq!(difference.test.unwrap().p, 2.0 / 16.0);
    insta::assert_snapshot!(shown(&found));
}

/// Players of a game react to each other; but a label that is compared is no cluster.
#[test]
fn values_of_one_game_are_one_cluster_unless_games_are_compared() {
    let mut run = Written::program();
    for n in 0..8 {
        let (player, game) = (n.to_string(), (n / 2).to_string());
        let labels = [("player", player.as_str()), ("game", game.as_str())];
        run.decision(&format!("give/{n}"), &labels, "coins", json!(n));
    }
    let of = ["mean of coins", "mean of coins by game"];
    let found = tables(vec![run], &of).unwrap();
    let by = |label: &str| ClusteringUsed::By(label.to_owned());
    assert_eq!([&found[0].clusters, &found[1].clusters], [&by("game"), &by("player")]);
    assert_eq!(found[0].groups[0].clusters, 4);
}

/// Labels of other calls say nothing about these.
#[test]
fn values_that_lack_a_label_are_not_clustered_by_it() {
    let mut run = votes(4, [3, 1]);
    run.decision("give/1", &[("game", "1")], "coins", json!(3));
    run.decision("mood/1", &[], "mood", json!("good"));
    let of = ["share of vote = yes", "mean of coins", "share of mood = good"];
    let found = tables(vec![run], &of).unwrap();
    let by = |label: &str| ClusteringUsed::By(label.to_owned());
    let used: Vec<_> = found.iter().map(|found| found.clusters.clone()).collect();
    assert_eq!(used, [by("participant"), by("game"), ClusteringUsed::Unknown]);
}

/// Calls of another kind may fail without a vote being missing.
#[test]
fn a_failed_call_of_another_kind_takes_no_vote_away() {
    let mut run = Written::program();
    for (n, after) in ["yes", "no"].into_iter().enumerate() {
        let participant = n.to_string();
        let labels = |phase| [("phase", phase), ("participant", participant.as_str())];
        run.decision(&format!("before/vote/{n}"), &labels("before"), "vote", json!("yes"));
        run.failed(&format!("before/reason/{n}"), &labels("before"));
        run.decision(&format!("after/vote/{n}"), &labels("after"), "vote", json!(after));
    }
    run.decision("mood/0", &[("participant", "0")], "mood", json!("good"));
    let of = ["changed(before.vote, after.vote)", "share of vote = yes by phase"];
    let found = tables(vec![run], &of).unwrap();
    let changed = &found[0].groups[0];
    assert_eq!((changed.draws, changed.missing, changed.value), (2, 0, Some(0.5)));
    assert!(found[1].groups.iter().all(|group| group.missing == 0), "{:?}", found[1]);
}

#[test]
fn a_change_is_between_two_values_of_one_participant() {
    let mut run = Written::program();
    for (n, after) in ["yes", "no", "no"].into_iter().enumerate() {
        let participant = n.to_string();
        for (phase, vote) in [("before", "yes"), ("after", after)] {
            let labels = [("phase", phase), ("participant", participant.as_str())];
            run.decision(&format!("{phase}/{n}"), &labels, "vote", json!(vote));
        }
    }
    let labels = [("phase", "before"), ("participant", "9")];
    run.decision("before/9", &labels, "vote", json!("yes"));
    let found = tables(vec![run], &["changed(before.vote, after.vote)"]).unwrap();
    let all = &found[0].groups[0];
    assert_eq!((all.draws, all.missing, all.value), (3, 1, Some(2.0 / 3.0)));
}

#[test]
fn runs_are_paired_by_participants_if_nobody_is_drawn_anew() {
    let figure = ["share of vote = yes by condition"];
    let found = tables(vec![votes(3, [3, 0]), votes(3, [2, 2])], &figure).unwrap();
    insta::assert_snapshot!(shown(&found));
    let study = |seed| {
        let mut run = Written::of("study", seed);
        for n in 0..3 {
            let participant = n.to_string();
            let call = format!("vote/{n}");
            run.decision(&call, &[("participant", participant.as_str())], "vote", json!(n > 0));
        }
        run
    };
    let pairing = |seeds: [u64; 2]| {
        let found = tables(seeds.map(study).into(), &["share of vote = true"]).unwrap();
        found[0].differences[0].found.pairing
    };
    assert_eq!(pairing([1, 1]), GroupPairing::Paired);
    assert_eq!(pairing([1, 2]), GroupPairing::Unpaired);
}

#[test]
fn without_a_word_on_independence_nothing_is_said_of_chance() {
    let run = || {
        let mut run = Written::program();
        for n in 0..4 {
            run.decision(&format!("q/{n}"), &[("condition", "a")], "sum", json!(n));
            run.decision(&format!("r/{n}"), &[("condition", "b")], "sum", json!(n + 1));
        }
        run
    };
    let figures = [
        "mean of sum by condition",
        "mean of sum by condition independent",
        "mean of sum by model",
    ];
    let found = tables(vec![run()], &figures).unwrap();
    insta::assert_snapshot!(shown(&found));
}

#[test]
fn facts_have_figures_too() {
    let mut run = Written::program();
    for (round, value) in [(1, 3), (1, 5), (2, 7)] {
        run.fact(json!({"name": "score", "value": value, "round": round}));
        run.fact(json!({"name": "noise", "value": "loud"}));
    }
    run.fact(json!({"name": "score", "value": null, "round": 2}));
    let found = tables(vec![run], &["mean of score by round independent"]).unwrap();
    let counts = found[0].groups.iter().map(|of| (of.group[0].to_string(), of.value, of.missing));
    let expected = [("1".to_owned(), Some(4.0), 0), ("2".to_owned(), Some(7.0), 1)];
    assert_eq!(counts.collect::<Vec<_>>(), expected);
}

#[test]
fn fields_of_a_facts_value_are_fields() {
    let mut run = Written::program();
    for (round, sum) in [(1, 3), (2, 7)] {
        run.fact(json!({"name": "score", "value": {"sum": sum, "round": round}}));
    }
    let found = tables(vec![run], &["mean of score.sum by round independent"]).unwrap();
    let values: Vec<_> = found[0].groups.iter().map(|group| group.value).collect();
    assert_eq!(values, [Some(3.0), Some(7.0)]);
}

#[test]
fn a_label_that_is_empty_or_reads_none_is_not_a_missing_one() {
    let mut run = Written::program();
    run.decision("a", &[("side", "")], "coins", json!(1));
    run.decision("b", &[("side", "(none)")], "coins", json!(2));
    run.decision("c", &[], "coins", json!(3));
    let found = tables(vec![run], &["mean of coins by side"]).unwrap().remove(0);
    let cells: Vec<String> = found.groups.iter().map(|group| group.group[0].to_string()).collect();
    assert_eq!(cells, ["\"\"", "\"(none)\"", "(none)"]);
    assert_eq!(json!(found)["groups"][2]["group"], json!([null]));
}

#[test]
fn groups_are_in_the_order_of_people_and_runs_in_the_order_in_which_they_are_named() {
    let numbered = |days: &[u32]| {
        let mut run = Written::program();
        for day in days {
            let label = day.to_string();
            run.decision(&format!("day{day}"), &[("day", &label)], "coins", json!(day));
        }
        run
    };
    let runs = vec![numbered(&[1, 2, 10]), numbered(&[2])];
    let found = tables(runs, &["mean of coins by day"]).unwrap().remove(0);
    let groups: Vec<String> =
        found.groups.iter().map(|of| found.cells(of)[..2].join(" ")).collect();
    assert_eq!(groups, ["1 01", "2 01", "2 02", "10 01"]);
}

#[test]
fn numbers_that_cannot_be_summed_up_are_missing() {
    let mut run = Written::program();
    run.decision("a", &[], "coins", json!(1.7e308));
    run.decision("b", &[], "coins", json!(1.7e308));
    run.decision("c", &[], "coins", json!(2));
    let found = tables(vec![run], &["mean of coins independent"]).unwrap().remove(0);
    assert_eq!((found.groups[0].value, found.groups[0].missing), (Some(2.0), 2));
}

#[test]
fn figures_that_are_not_suggested_for_want_of_room_are_counted() {
    let mut census = RunCensus::default();
    let mut run = Written::program();
    for name in 0..14 {
        run.decision("a", &[], &format!("coins{name}"), json!(1));
    }
    let log = Log::in_memory();
    log.backend().committer().unwrap().commit(&[Append::new(RUNS[0], Head::START, run.0)]).unwrap();
    let mut reader = log.reader().unwrap();
    let mut add = |_: &mut dyn Reader, observation: crate::recorded::Observation<'_>| {
        census.add(observation);
        Ok(())
    };
    each_observation(reader.as_mut(), RUNS[0], &Parsers::default(), &mut add).unwrap();
    let suggested = suggested_figures(&census);
    assert_eq!((suggested.figures.len(), suggested.left_out), (12, 2));
}

#[test]
fn figures_are_suggested_from_what_there_is() {
    let mut run = votes(2, [1, 0]);
    run.decision("give/1", &[("condition", "acp")], "coins", json!(3));
    run.decision("say/1", &[("condition", "acp")], "text", json!("x".repeat(100)));
    let figures = tables(vec![run], &[]).unwrap();
    let figures: Vec<&str> = figures.iter().map(|table| table.figure.as_str()).collect();
    assert_eq!(figures, ["mean of coins", "share of vote = yes by condition"]);
}

#[test]
fn what_is_not_there_is_named_with_what_there_is() {
    let wrong = [
        "share of votes = yes",
        "share of vote = yes by conditions",
        "mean of vote clustered by game",
        "mean of \"a\u{1b}[31m\"",
    ];
    let mut errors: Vec<String> = wrong
        .iter()
        .map(|figure| tables(vec![votes(1, [1, 0])], &[figure]).unwrap_err().to_string())
        .collect();
    let mut run = Written::program();
    run.decision("q/1", &[], "vote", json!("yes"));
    errors.push(tables(vec![run], &["changed(vote, vote)"]).unwrap_err().to_string());
    errors.push(tables(vec![Written::program()], &["mean of sum"]).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"));
}

/// Runs of which it is known what can be said: all null, all a last resort, and one answer for all.
#[test]
fn nothing_is_said_that_is_not_so() {
    let labels = |n: usize| format!("p{n}");
    let mut null = Written::program();
    let mut fallback = Written::program();
    for n in 0..3 {
        let participant = labels(n);
        let labels = [("participant", participant.as_str())];
        null.decision(&format!("vote/{n}"), &labels, "vote", json!(null));
        let asked = fallback.asked(&format!("vote/{n}"), 0, &labels);
        let answer = fallback.answered(asked);
        fallback.decided(answer, "vote", "default", json!("yes"));
    }
    let mut shared = Written::program();
    let participant = labels(0);
    let first = shared.asked("vote/0", 0, &[("participant", participant.as_str())]);
    let mut answer = shared.answered(first);
    shared.decided(answer, "vote", "reported", json!("yes"));
    let from_seq = answer;
    for n in 1..3 {
        let participant = labels(n);
        let labels = [("participant", participant.as_str())];
        let request = shared.asked(&format!("vote/{n}"), 0, &labels);
        let (content, from_run, unreadable) = ("text".into(), RUNS[0], None);
        let details = ResponseDetails::default();
        let reused = AnswerReused { request, content, from_run, from_seq, unreadable, details };
        answer = shared.add(&Event::AnswerReused(reused), None);
        shared.decided(answer, "vote", "reported", json!("yes"));
    }
    let shown = [null, fallback, shared]
        .map(|run| shown(&tables(vec![run], &["share of vote = yes"]).unwrap()));
    insta::assert_snapshot!(shown.join("\n"));
}

/// Participants of the same name are others where everybody was drawn anew.
#[test]
fn runs_with_other_seeds_are_unpaired_and_it_is_said_why() {
    let drawn = |seed: u64| {
        let mut run = Written::of("poll", seed);
        for n in 0..3 {
            let participant = format!("p{n}");
            let vote = if n < seed { "yes" } else { "no" };
            let labels = [("participant", participant.as_str())];
            run.decision(&format!("vote/{n}"), &labels, "vote", json!(vote));
        }
        run
    };
    let figures = ["share of vote = yes"];
    let found = shown(&tables(vec![drawn(1), drawn(2)], &figures).unwrap());
    assert!(found.contains(", unpaired; p = "), "{found}");
    assert!(
        found.contains("the runs are of different experiments or have different seeds"),
        "{found}"
    );
    let same = shown(&tables(vec![drawn(1), drawn(1)], &figures).unwrap());
    assert!(same.contains("paired over 3 participants in both"), "{same}");
    assert!(!same.contains("different seeds"), "{same}");
}

/// Participants are not independent of each other if one is told what another has said.
#[test]
fn participants_who_hear_each_other_are_no_clusters() {
    let mut run = Written::of("talk", 1);
    let mut last = None;
    for n in 0..4 {
        let labels = Labels::from([("participant".to_owned(), format!("p{n}"))]);
        let request = Request::from_body(json!({"model": "m-1", "messages": []})).unwrap();
        let (call, prompt) = (CallPath::new(format!("say/{n}")).unwrap(), request.hash());
        let sent = RequestSent { call, sample: 0, prompt, because: Because::new(last), labels };
        let asked = run.add(&Event::RequestSent(sent), Some(request));
        last = Some(run.answered(asked));
        run.decided(Seq(asked.0 + 1), "vote", "reported", json!(if n < 2 { "yes" } else { "no" }));
    }
    let found = tables(vec![run], &["share of vote = yes"]).unwrap().remove(0);
    assert_eq!(found.clusters, ClusteringUsed::Unknown);
    assert_eq!((found.groups[0].value, found.groups[0].interval), (Some(0.5), None));
}

/// A misspelt value is not taken for one that nobody chose, nor a text for a missing number.
#[test]
fn a_value_that_nothing_has_is_said_and_so_are_texts_in_a_mean() {
    let said = |figure: &str| {
        let found = tables(vec![votes(10, [8, 3])], &[figure]).unwrap().remove(0);
        found.finding.map(|finding| finding.to_string())
    };
    insta::assert_snapshot!(said("share of vote = Yes").unwrap(), @r#"no value is "Yes": the values are "no", "yes""#);
    insta::assert_snapshot!(said("share of vote != Yes").unwrap(), @r#"no value is "Yes": the values are "no", "yes""#);
    let not_numbers = r#"20 values are not numbers, such as "yes", and count as missing: means, < and > need numbers; `share of NAME = VALUE` counts texts"#;
    assert_eq!(said("mean of vote").unwrap(), not_numbers);
    assert_eq!(said("share of vote >= 0.5").unwrap(), not_numbers);
    for fine in ["share of vote = yes", "share of vote != yes", "share of vote"] {
        assert_eq!(said(fine), None, "{fine}");
    }
}

/// The share of each value is that of the figure that names it.
#[test]
fn a_figure_without_a_value_has_the_share_of_each() {
    let mut run = votes(10, [8, 3]);
    let labels = [("condition", "ctl"), ("participant", "ctl-11")];
    run.decision("vote/ctl-11", &labels, "vote", json!("perhaps"));
    run.failed("vote/ctl-12", &[("condition", "ctl"), ("participant", "ctl-12")]);
    let figures =
        ["share of vote by condition", "share of vote = yes by condition", "share of vote"];
    let found = tables(vec![run], &figures).unwrap();
    insta::assert_snapshot!(shown(&found[..1]));
    for (group, same) in found[0].groups[4..].iter().zip(&found[1].groups) {
        assert_eq!(
            (group.draws, group.missing, group.value),
            (same.draws, same.missing, same.value)
        );
        assert_eq!((group.clusters, group.interval), (same.clusters, same.interval));
    }
    // The shares of one group add up to one, and are not compared with each other.
    assert_eq!(found[2].groups.iter().filter_map(|group| group.value).sum::<f64>(), 1.0);
    assert!(found[2].differences.is_empty());
}

#[test]
fn the_share_of_each_of_many_values_is_refused_and_names_some() {
    let mut run = Written::program();
    for n in 0..25 {
        run.decision(&format!("q/{n}"), &[], "text", json!(format!("answer {n}")));
    }
    let error = tables(vec![run], &["share of text"]).unwrap_err().to_string();
    insta::assert_snapshot!(error, @r#"figure "share of text": it has more than 20 different values, such as "answer 0", "answer 1", "answer 10", "answer 11", "answer 12": name the one whose share you want, as in `share of NAME = VALUE`"#);
}

/// A study that asks again has one value for both answers, and one that draws several samples has one for each: the facts tell.
#[test]
fn samples_on_which_facts_rest_are_values_of_their_own() {
    let counted = |cited: &[usize]| {
        let mut run = Written::of("puzzles", 1);
        let mut answers = Vec::new();
        for (sample, value) in (0..).zip([json!(null), json!("x")]) {
            let asked = run.asked("solve", sample, &[]);
            answers.push(run.answered(asked));
            run.decided(answers[answers.len() - 1], "solution", "reported", value);
        }
        let causes = cited.iter().map(|at| answers[*at]).collect();
        let fact = json!({"fact": "solved"});
        run.add(&Event::Occurred(FactOccurred { causes, fact }), None);
        let found = tables(vec![run], &["share of solution = x"]).unwrap().remove(0);
        (found.groups[0].draws, found.groups[0].missing)
    };
    assert_eq!(counted(&[1]), (1, 0), "asked again");
    assert_eq!(counted(&[0, 1]), (1, 1), "two samples");
}

#[test]
fn a_figure_with_too_many_groups_is_refused() {
    let mut run = Written::program();
    for n in 0..1_001 {
        let participant = n.to_string();
        run.decision(&format!("q/{n}"), &[("who", participant.as_str())], "sum", json!(n));
    }
    let error = tables(vec![run], &["mean of sum by who"]).unwrap_err();
    insta::assert_snapshot!(error, @r#"figure "mean of sum by who": it has more than 1000 groups: name labels with fewer values after `by`"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The groups of a figure have together what the figure without groups has.
    #[test]
    fn groups_add_up_to_the_whole(
        values in prop::collection::vec((0_u8..3, prop::option::of(0_i64..9)), 0..20),
    ) {
        let mut run = Written::program();
        run.decision("q/x", &[("condition", "0")], "sum", json!(5));
        for (n, (condition, value)) in values.iter().enumerate() {
            let (call, condition) = (format!("q/{n}"), condition.to_string());
            run.decision(&call, &[("condition", &condition)], "sum", json!(value));
        }
        let figures = ["mean of sum independent", "mean of sum by condition independent"];
        let found = tables(vec![run], &figures).unwrap();
        let all = &found[0].groups[0];
        let groups = &found[1].groups;
        prop_assert_eq!(all.draws, groups.iter().map(|group| group.draws).sum::<u64>());
        prop_assert_eq!(all.missing, groups.iter().map(|group| group.missing).sum::<u64>());
        prop_assert_eq!(all.draws + all.missing, values.len() as u64 + 1);
        let sum: f64 =
            groups.iter().filter_map(|group| Some(group.value? * group.draws as f64)).sum();
        prop_assert!((all.value.unwrap() * all.draws as f64 - sum).abs() < 1e-9);
    }
}
