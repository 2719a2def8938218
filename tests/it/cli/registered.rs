//! Plans that are registered before a run: `plan --register`, `run --plan`, and what `stats` says of each figure.

use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::cli::{Place, assert_said};

const CONFIGS: &str = concat!(env!("RETOLD_ROOT"), "/config");

/// Hypotheses about the Game of 24: the figure that it leads with.
const SOLVED: &str = "\
hypotheses:
  - figure: share of solved = true
    baseline: 0.05
    direction: greater
";

/// A judge of answers, and a hypothesis about its verdicts.
const JUDGE: &str = "\
experiment: judge
name: polite
template: |
  Is this answer polite?

  {answer}
values: [polite, rude]
request:
  model: m
model:
  rates: {malformed: 0}
";

/// Hypotheses about each study, as its headline has them.
pub(super) const STUDIES: [(&str, &[&str]); 5] = [
    ("adventure.yaml", &["share of fight = true", "mean of unusable_answers"]),
    (
        "deliberation_small.yaml",
        &["share of changed_vote = true by condition against simple_passive"],
    ),
    ("small.yaml", &["share of solved = true"]),
    (
        "public_goods_small.yaml",
        &["mean of contribution by round against 1", "mean of contribution by model"],
    ),
    ("society_small.yaml", &["share of legible = false clustered by agent"]),
];

fn config(name: &str) -> String {
    if name == "small.yaml" { name.to_owned() } else { format!("{CONFIGS}/{name}") }
}

/// A place with a plan of the small game.
fn planned() -> Place {
    let place = Place::new();
    place.write("small.hypotheses.yaml", SOLVED);
    place.ok("plan small.yaml --register");
    place
}

/// What there is to each figure of a run.
fn searches(place: &Place, figures: &str) -> Vec<Value> {
    let (stats, code) = place.json(&format!("stats {figures}"));
    assert_eq!(code, 0, "{stats}");
    stats["search"].as_array().unwrap_or_else(|| panic!("{stats}")).clone()
}

/// The kinds of deviations of the first figure of the last run, each with how it deviates.
fn deviations(place: &Place) -> Vec<(String, String)> {
    let all = searches(place, "latest");
    let first = &all[0];
    let due = if first["deviations"] == json!([]) { "by_plan" } else { "deviation" };
    assert_eq!(first["standing"], due, "{first}");
    let text = |of: &Value| of.as_str().unwrap().to_owned();
    let each = |of: &Value| (text(&of["kind"]), text(&of["how"]));
    first["deviations"].as_array().unwrap().iter().map(each).collect()
}

#[test]
fn each_study_is_planned_and_run_as_planned() {
    for (name, figures) in STUDIES {
        let place = Place::new();
        let hypotheses: Vec<Value> =
            figures.iter().map(|figure| json!({"figure": figure})).collect();
        place.write("h.yaml", json!({ "hypotheses": hypotheses }).to_string());
        let config = config(name);
        let (plan, code) = place.json(&format!("plan {config} --register --hypotheses h.yaml"));
        assert_eq!((code, &plan["is_new"]), (0, &json!(true)), "{name}: {plan}");
        let run = plan["plan"].as_str().unwrap();
        place.ok(&format!("run {config} -q --no-outputs --plan {run}"));
        let (stats, _) = place.json("stats latest");
        let shown: Vec<&str> = stats["figures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["figure"].as_str().unwrap())
            .collect();
        assert_eq!(shown, figures, "{name}: a planned run leads with what was planned");
        for search in searches(&place, "latest") {
            assert_eq!(search["standing"], "by_plan", "{name}: {search}");
            assert_eq!(
                search["runs"],
                json!({"real": 0, "simulated": 1, "forks": 0, "shards": 0, "unreadable": 0}),
                "{name}"
            );
        }
        place.ok("verify");
    }
}

/// One setting after the other is changed, and each change is the only deviation.
#[test]
fn each_changed_setting_is_named_and_nothing_else() {
    for (changed, kind, how) in [
        ("--set template=answer_tag", "prompt", "the template"),
        ("--set request.model=gpt-4o", "model", "request.model is gpt-4o, planned gpt-4"),
        ("--set request.temperature=0", "model", "request.temperature is 0, planned 0.7"),
        ("--set samples=2", "size", "samples is 2, planned 3"),
        ("--set puzzles.rows=0..3", "size", "puzzles is 3 parts, planned 2 parts"),
        ("--set parser=game24@1", "parser", "game24 is decided by game24@1, planned game24@2"),
        ("--set seed=8", "setting", "the seed is 8, planned 7"),
    ] {
        let place = planned();
        place.ok(&format!("run small.yaml -q --plan small-plan {changed}"));
        assert_eq!(deviations(&place), [(kind.to_owned(), how.to_owned())], "{changed}");
    }
    let place = planned();
    place.ok("run small.yaml -q --plan small-plan --set limits.concurrency=2");
    assert!(deviations(&place).is_empty(), "how fast it asks is no part of a plan");
}

#[test]
fn settings_of_other_studies_are_named_as_what_they_are() {
    for (name, figure, changed, kinds) in [
        (
            "deliberation_small.yaml",
            "share of changed_vote = true",
            "--set max_parse_retries=1",
            &["setting"][..],
        ),
        (
            "deliberation_small.yaml",
            "share of changed_vote = true",
            "--set participants_per_condition=5",
            &["size"],
        ),
        (
            "deliberation_small.yaml",
            "share of changed_vote = true",
            "--set temperature=0.2",
            &["model"],
        ),
        (
            "public_goods_small.yaml",
            "mean of contribution",
            "--set llm_temperature=0.2",
            &["model"],
        ),
        ("public_goods_small.yaml", "mean of contribution", "--set game_length=2", &["size"]),
        ("public_goods_small.yaml", "mean of contribution", "--set parser_version=1", &["parser"]),
        ("society_small.yaml", "mean of gini_all clustered by run", "--set days=4", &["size"]),
        (
            "society_small.yaml",
            "mean of gini_all clustered by run",
            "--set parser=action@1",
            &["parser"],
        ),
        ("adventure.yaml", "share of fight = true", "--set turns=5", &["size"]),
    ] {
        let place = Place::new();
        place.write("h.yaml", json!({"hypotheses": [{"figure": figure}]}).to_string());
        let config = config(name);
        place.ok(&format!("plan {config} --register --hypotheses h.yaml"));
        let plan = format!("{}-plan", name.trim_end_matches(".yaml"));
        place.ok(&format!("run {config} -q --no-outputs --plan {plan} {changed}"));
        let mut found: Vec<String> = deviations(&place).into_iter().map(|(kind, _)| kind).collect();
        // Several parsers may have another version.
        found.dedup();
        assert_eq!(found, kinds, "{name} {changed}");
    }
}

/// The kinds of deviations of the first figure of a run.
fn kinds(place: &Place, run: &str) -> Vec<String> {
    let all = searches(place, run);
    let deviations = all[0]["deviations"].as_array().unwrap().iter();
    deviations.map(|of| of["kind"].as_str().unwrap().to_owned()).collect()
}

/// The last run of an experiment.
fn last_run_of(place: &Place, experiment: &str) -> String {
    let (log, _) = place.json("log");
    let mut runs = log["runs"].as_array().unwrap().iter().rev();
    let run = runs.find(|run| run["experiment"] == experiment).unwrap();
    run["run"].as_str().unwrap().to_owned()
}

/// A run that stopped has no end until it is continued; who decided about its answers or forked it meanwhile knew of results.
#[test]
fn a_run_that_stopped_and_what_was_done_with_it_meanwhile_are_named() {
    for (meanwhile, due) in [
        ("", &[][..]),
        (
            "check RUN --decisions one.jsonl --name remark@1 --function f --accept",
            &["looked_before_end"],
        ),
        ("fork RUN -q --set samples=2", &["looked_before_end"]),
    ] {
        let place = Place::new();
        // Facts come once all is answered, and decisions with each answer.
        let figure = json!({"figure": "share of decision.game24 != none independent"});
        place.write("small.hypotheses.yaml", json!({"hypotheses": [figure]}).to_string());
        place.ok("plan small.yaml --register");
        place.write("one.jsonl", r#"{"answer_seq":3,"value":"nice"}"#);
        assert_eq!(place.run("run small.yaml -q --plan small-plan --max-tokens 400").code, 4);
        let run = last_run_of(&place, "game24");
        assert_eq!(kinds(&place, &run), ["stopped_early"]);
        if !meanwhile.is_empty() {
            let done = place.run(&meanwhile.replace("RUN", &run));
            assert!([0, 4].contains(&done.code), "{meanwhile}: {done:?}");
        }
        place.ok(&format!("run --resume {run} -q --max-tokens 100000"));
        assert_eq!(kinds(&place, &run), due, "{meanwhile}");
    }
    let place = Place::new();
    let figure = json!({"figure": "share of decision.game24 != none independent"});
    place.write("small.hypotheses.yaml", json!({"hypotheses": [figure]}).to_string());
    place.ok("plan small.yaml --register");
    assert_eq!(place.run("run small.yaml -q --plan small-plan --max-tokens 400").code, 4);
    place.ok("run --abandon latest");
    let abandoned = ("stopped_early".to_owned(), "the run was abandoned".to_owned());
    assert_eq!(deviations(&place), [abandoned]);
    let place = planned();
    place.ok("run small.yaml -q --plan small-plan --shard 1/2");
    let shard = ("size".to_owned(), "it is shard 1/2 alone".to_owned());
    assert_eq!(deviations(&place), [shard]);
    place.ok("run small.yaml -q --plan small-plan --shard 2/2");
    place.ok("run --merge game24-1of2 game24-2of2 -q");
    assert!(deviations(&place).is_empty(), "a merged run is by the plan of its shards");
}

/// Decisions that are accepted later are compared with what the plan admits, where the figure rests on decisions.
#[test]
fn other_parsers_judges_and_exclusions_are_named() {
    let place = Place::new();
    place.write("judge.yaml", JUDGE);
    place.write("other.yaml", JUDGE.replace("Is this", "Is that"));
    let figures = ["share of polite = polite", "share of decision.game24 != none independent"];
    let hypotheses = figures.map(|figure| json!({ "figure": figure }));
    let file = json!({"hypotheses": hypotheses, "parsers": ["game24@1"], "judges": ["judge.yaml"]});
    place.write("small.hypotheses.yaml", file.to_string());
    place.ok("plan small.yaml --register");
    place.ok("run small.yaml -q --plan small-plan");
    let run = last_run_of(&place, "game24");
    let said = place.run(&format!("stats {run}"));
    assert!(said.err.contains("a planned figure has no values yet"), "{}", said.err);
    let of = |place: &Place| -> Vec<(Value, Vec<String>)> {
        let each = searches(place, &run).into_iter().map(|search| {
            let deviations = search["deviations"].as_array().unwrap().iter();
            (
                search["standing"].clone(),
                deviations.map(|it| it["how"].as_str().unwrap().to_owned()).collect(),
            )
        });
        each.collect()
    };
    let by_plan = (json!("by_plan"), Vec::new());
    let deviation = |how: &[&str]| {
        (json!("deviation"), how.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>())
    };
    place.ok(&format!("score judge {run} --config judge.yaml -q"));
    assert_eq!(of(&place), [by_plan.clone(), by_plan.clone()]);
    place.ok(&format!("score judge {run} --config other.yaml -q"));
    let judge = "polite is decided by a simulated judge: polite: its template is another";
    assert_eq!(of(&place), [deviation(&[judge]), by_plan.clone()]);
    place.ok(&format!("check {run} --parser game24@1 --accept -q"));
    assert_eq!(of(&place)[1], by_plan, "the plan admits it");
    place.write("none.jsonl", r#"{"answer_seq":3,"value":null}"#);
    place.ok(&format!(
        "check {run} --decisions none.jsonl --name game24@3 --function attention --accept"
    ));
    let exclusion = "a function: game24@3 took 1 recorded value of game24 away";
    assert_eq!(of(&place)[1], deviation(&[exclusion]));
    place.write("new.jsonl", r#"{"answer_seq":6,"value":"1 + 1"}"#);
    place.ok(&format!(
        "check {run} --decisions new.jsonl --name game24@3 --function attention --accept"
    ));
    let parser = "game24 is decided by a function: game24@3, planned game24@2";
    assert_eq!(of(&place)[1], deviation(&[parser, exclusion]));
    let spread = searches(&place, &run)[0]["spread"].clone();
    let by: Vec<&str> =
        spread.as_array().unwrap().iter().map(|row| row["by"].as_str().unwrap()).collect();
    assert_eq!(by.len(), 2, "each judge has a row: {by:?}");
}

/// The figure with a parser that the plan admits is that of a run whose config names it: the simulated answers are the same.
#[test]
fn the_spread_over_parsers_is_what_runs_with_these_parsers_have() {
    let place = Place::new();
    for (config, figure, plans, other) in [
        ("small.yaml".to_owned(), "share of solved = true", "game24@1", "parser=game24@1"),
        (
            config("society_small.yaml"),
            "share of legible = false clustered by agent",
            "action@1",
            "parser=action@1",
        ),
    ] {
        let file = json!({"hypotheses": [{"figure": figure}], "parsers": [plans]}).to_string();
        place.write("h.yaml", file);
        let (plan, _) = place.json(&format!("plan {config} --register --hypotheses h.yaml"));
        let plan = plan["plan"].as_str().unwrap();
        place.ok(&format!("run {config} -q --no-outputs --plan {plan}"));
        let search = &searches(&place, "latest")[0];
        assert_eq!(search["standing"], "by_plan");
        let spread = search["spread"].as_array().unwrap();
        let row =
            spread.iter().find(|row| row["by"] == format!("{plans}, as the plan admits")).unwrap();
        assert_eq!(spread.len(), 2, "{spread:?}");
        place.ok(&format!("run {config} -q --no-outputs --set {other}"));
        let (stats, _) = place.json("stats latest");
        let figures = stats["figures"].as_array().unwrap();
        let found = figures.iter().find(|table| table["figure"] == figure).unwrap();
        assert_eq!(row["first"], found["groups"][0]["value"], "{config}");
    }
}

/// Other runs are counted by what they are, and a figure without a plan says so.
#[test]
fn tries_are_counted_and_figures_without_a_plan_are_exploratory() {
    let place = Place::new();
    place.write("small.hypotheses.yaml", SOLVED);
    place.ok("run small.yaml -q");
    let before = last_run_of(&place, "game24");
    let figure = ["--figure", "share of solved = true"];
    let standing = |run: &str, figure: &[&str]| -> Value {
        let said = place.args(&[&["stats", run, "--json"], figure].concat());
        let stats: Value = serde_json::from_str(&said.out).unwrap();
        stats["search"][0].clone()
    };
    assert_eq!(standing(&before, &figure)["because"], "no plan of it was registered");
    place.ok("plan small.yaml --register");
    assert_eq!(standing(&before, &figure)["standing"], "before_plan");
    place.ok("run small.yaml -q --set samples=2");
    let without = standing(&last_run_of(&place, "game24"), &figure);
    assert_eq!(without["standing"], "exploratory");
    place.ok("run small.yaml -q --plan small-plan");
    let planned = last_run_of(&place, "game24");
    assert_eq!(standing(&planned, &figure)["standing"], "by_plan");
    assert_eq!(
        standing(&planned, &["--figure", "share of blank = true"])["standing"],
        "exploratory"
    );
    place.ok(&format!("fork {planned} -q --set samples=4"));
    let search = standing(&planned, &figure);
    assert_eq!(
        search["runs"],
        json!({"real": 0, "simulated": 4, "forks": 0, "shards": 0, "unreadable": 0})
    );
    let others = search["others"].as_array().unwrap();
    let differs: Vec<&Value> = others.iter().map(|run| &run["differs"]).collect();
    assert_eq!(differs, [&json!([]), &json!(["samples 2"]), &json!([]), &json!(["samples 4"])]);
    let said = place.run(&format!("stats {planned}"));
    let mut shown = place.shown("stats RUN", &said).replace(&planned, "RUN");
    for run in place.json("log").0["runs"].as_array().unwrap() {
        shown = shown.replace(&run["run"].as_str().unwrap()[..8], "RUN");
        shown = shown.replace(&run["started"].as_str().unwrap()[..10], "DAY");
    }
    let until = shown.find("calls  ").unwrap();
    assert_said!("planned_figure", &shown[..until]);
}

/// A run that was copied without its plan says so.
#[test]
fn a_plan_that_is_in_another_log_is_named() {
    let place = planned();
    place.ok("run small.yaml -q --plan small-plan");
    let run = last_run_of(&place, "game24");
    let copied = place.ok(&format!("copy {run} --to other.db"));
    assert!(copied.contains("recorded by the plan of"), "{copied}");
    let said =
        place.args(&["stats", &run, "--log", "other.db", "--figure", "share of solved = true"]);
    assert!(said.out.contains("which is not in this log: copy it here"), "{}", said.out);
}

/// What cannot be registered or followed, with what to do.
#[test]
fn what_is_wrong_with_a_plan_is_named() {
    let place = Place::new();
    let mut said =
        place.session(&["plan small.yaml --register", "plan small.yaml --hypotheses x.yaml"]);
    for hypotheses in [
        "hypotheses: []\n",
        "hypotheses:\n- figure: share of solved = true\n  direction: up\n",
        "hypotheses:\n- figure: share of solved = true\n  direction: greater\n",
        "hypotheses:\n- figure: share of sloved = true\n",
        "hypotheses:\n- figure: median of solved\n",
        "hypotheses:\n- figure: share of solved = true\nparser: [game24@1]\n",
        "hypotheses:\n- figure: share of solved = true\nparsers: [game24]\n",
        "hypotheses:\n- figure: share of solved = true\nparsers: [game24@9]\n",
        "hypotheses:\n- figure: share of solved = true\njudges: [nobody.yaml]\n",
        "hypotheses:\n- figure: share of solved = true\ncalls: 6\n",
    ] {
        place.write("small.hypotheses.yaml", hypotheses);
        said.push_str(&format!("# {}\n", hypotheses.trim_end().replace('\n', "; ")));
        said.push_str(&place.session(&["plan small.yaml --register"]));
    }
    assert!(!place.path("retold.db").exists(), "nothing was written");
    place.write("small.hypotheses.yaml", SOLVED);
    place.ok("plan small.yaml --register");
    place.ok("run small.yaml -q");
    let society = config("society_small.yaml");
    let society = society.as_str();
    said.push_str(&place.session(&[
        "run small.yaml --plan nothing",
        "run small.yaml small.yaml --plan small-plan",
        "replay small-plan",
        "fork small-plan",
        "plan --register --name mine",
        "plan --name mine",
        "plan small.yaml --register --name mine",
        "record --plan small-plan -- true",
        "record --plan small-plan --name mine -- true",
    ]));
    let game = last_run_of(&place, "game24");
    let not_a_plan = place.run(&format!("run small.yaml --new --plan {game}"));
    said.push_str(&not_a_plan.err.replace(&game, "RUN"));
    let plan = last_run_of(&place, "plan");
    let other_study = place.run(&format!("run {society} --plan {plan}"));
    said.push_str(&other_study.err.replace(&plan, "PLAN"));
    let again = place.ok("plan small.yaml --register");
    assert!(again.contains("is this plan already"), "{again}");
    let other = place.ok("plan small.yaml --register --set samples=2");
    assert!(other.contains("`retold run small.yaml --set samples=2 --plan "), "{other}");
    assert_said!("wrong_plans", said);
}

/// The page of the run has the same lines, and so has a report.
#[test]
fn the_page_and_a_report_say_the_same_below_their_figures() {
    let place = planned();
    place.ok("run small.yaml -q --plan small-plan --set samples=2");
    place.ok("report latest -o report.html");
    let page = place.read("report.html");
    assert!(page.contains("another n: samples is 2, planned 3"), "{page}");
    assert!(page.contains("a log has runs, not looks at them"), "{page}");
    let html = Served::log(&place, "retold.db").html("/run/latest");
    assert!(html.contains("another n: samples is 2, planned 3"), "{html}");
    assert!(html.contains("a log has runs, not looks at them"), "{html}");
    let shown = place.ok("show small-plan");
    assert!(shown.contains("share of solved = true: expected greater than 0.05"), "{shown}");
}

/// The file in the guide is the one in the repository, and what it shows is what the program prints.
#[test]
fn the_guide_shows_what_there_is() {
    let guide =
        std::fs::read_to_string(format!("{}/docs/guide/plan-to-paper.md", env!("RETOLD_ROOT")))
            .unwrap();
    let block = |kind: &str| {
        guide.split(&format!("```{kind}\n")).nth(1).unwrap().split("```").next().unwrap()
    };
    assert_eq!(
        block("yaml"),
        std::fs::read_to_string(format!("{CONFIGS}/game24.hypotheses.yaml")).unwrap()
    );
    let place = Place::new();
    let config = config("game24.yaml");
    let set = "--set template=cot --set samples=3";
    place.ok(&format!("plan {config} {set} --register"));
    place.ok(&format!("run {config} {set} -q --plan game24-plan"));
    let shown = place.ok("stats latest");
    let due = guide
        .split("```text\n$ retold stats latest\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let plan = last_run_of(&place, "plan");
    let shown = shown.replace(&plan[..8], "1a2b3c4d");
    for line in due.lines().filter(|line| *line != "...") {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
}
