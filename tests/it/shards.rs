//! Studies that are recorded in shards and merged: the same outcome as a single run, and what is refused.

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};
use crate::support::server::{Reply, Server};

/// A config of the program, by its name.
fn config(name: &str) -> String {
    format!("{}/config/{name}.yaml", env!("RETOLD_ROOT"))
}

/// What can be divided: how a run of it is started, and the phase after which its shards need each other.
fn studies() -> [(String, Option<&'static str>); 4] {
    [
        ("run small.yaml --set puzzles.rows=0..10".to_owned(), None),
        (format!("run {} --set games=5", config("public_goods_small")), None),
        (
            format!("run {} --set player=random --set games=4 --set turns=3", config("adventure")),
            None,
        ),
        (
            format!("run {} --set participants_per_condition=3", config("deliberation_small")),
            Some("phase_3"),
        ),
    ]
}

#[test]
fn a_merged_run_that_is_copied_alone_names_its_shards() {
    for (command, lacks) in [
        (
            "run small.yaml --set puzzles.rows=0..6".to_owned(),
            "what they were taken from cannot be shown there",
        ),
        (
            format!("run {} --set participants_per_condition=2", config("deliberation_small")),
            "it can be replayed, but not resumed",
        ),
    ] {
        let place = Place::new();
        let shards = recorded(&place, &command, 2);
        place.ok(&format!("run --merge {} --no-outputs --quiet", shards.join(" ")));
        let said = place.ok("copy latest --to other.db");
        let ids: Vec<&str> = shards.iter().map(|shard| &shard[..8]).collect();
        let named = format!("is merged from runs {}, which are not in other.db: ", ids.join(", "));
        let copies =
            format!("{lacks}\n  `retold copy {} --to other.db` copies them\n", ids.join(" "));
        assert!(said.contains(&named) && said.contains(&copies), "{said}");
        let merged =
            place.json("log --log other.db").0["runs"][0]["run"].as_str().unwrap().to_owned();
        place.ok(&format!("replay {merged} --log other.db --quiet"));
        let resume = format!("run --resume {merged} --log other.db --no-outputs --quiet");
        let is_over = place.run(&resume).code == 0;
        assert_eq!(is_over, !lacks.contains("not resumed"));
        let said = place.ok(&format!("copy {} --to other.db", ids.join(" ")));
        assert!(!said.contains("note"), "{said}");
        place.ok(&resume);
        let (all, code) = place.json("copy --to third.db");
        assert_eq!((code, &all["lacking"]), (0, &json!([])), "{all}");
        // And what the first log does not have either.
        let (first, _) = place.json(&format!("copy {merged} --log third.db --to fourth.db"));
        let (next, _) = place.json(&format!("copy {merged} --log fourth.db --to fifth.db"));
        assert_eq!(
            first["lacking"],
            json!([{"run": merged, "needs": shards, "needs_elsewhere": []}])
        );
        assert_eq!(
            next["lacking"],
            json!([{"run": merged, "needs": [], "needs_elsewhere": shards}])
        );
    }
}

/// Records all shards; returns their runs.
fn recorded(place: &Place, command: &str, of: u32) -> Vec<String> {
    let record = |n| {
        let (ended, code) = place.json(&format!("{command} --quiet --no-outputs --shard {n}/{of}"));
        assert_eq!((code, &ended["error"]), (0, &Value::Null), "{ended}");
        ended["run"].as_str().unwrap().to_owned()
    };
    (1..=of).map(record).collect()
}

/// The rows of a run's tables, in one order, without what says when and where they were recorded.
fn tables(place: &Place, run: &str) -> Vec<Vec<String>> {
    let rows = |table: &str| {
        let file = format!("{run}-{table}.jsonl");
        place.ok(&format!("table {run} --table {table} --to {file}"));
        let mut rows: Vec<String> = place.read(&file).lines().map(without_places).collect();
        rows.sort();
        rows
    };
    ["exchanges", "decisions", "facts"].map(rows).into()
}

/// What depends on the machine, or on the order in which answers came.
const PLACES: [&str; 13] = [
    "run", "seq", "time", "answer_seq", "event_hash", "because", "latency_ms", "first_chunk_ms",
    "attempts", "reused_from", "earlier_messages", "new_messages", "last_message",
];

fn without_places(row: &str) -> String {
    let mut row: serde_json::Map<String, Value> = serde_json::from_str(row).unwrap();
    PLACES.iter().for_each(|place| drop(row.remove(*place)));
    Value::from(row).to_string()
}

/// How often a run asked for texts.
fn chats(place: &Place, run: &str) -> u64 {
    let (stats, _) = place.json(&format!("stats {run}"));
    let models = stats["models"].as_object().unwrap().iter();
    let texts = models.filter(|(name, _)| !name.contains("embedding"));
    texts.map(|(_, model)| model["attempts"]["made"].as_u64().unwrap()).sum()
}

#[test]
fn merged_shards_are_a_single_run() {
    for (command, last) in studies() {
        let (alone, place) = (Place::new(), Place::new());
        let (single, code) = alone.json(&format!("{command} --quiet --no-outputs"));
        assert_eq!(code, 0, "{command}: {single}");
        let shards = recorded(&place, &command, 3);
        let (mut merged, code) =
            place.json(&format!("run --merge {} --quiet --no-outputs", shards.join(" ")));
        assert_eq!((code, &merged["model_calls"]), (0, &0.into()), "{command}: {merged}");
        let run = merged["run"].as_str().unwrap().to_owned();
        if let Some(phase) = last {
            assert_eq!(merged["stopped_after"], phase, "{command}: {merged}");
            let resumed = format!("run --resume {run} --quiet");
            merged = place.json(&resumed).0;
        }
        for field in ["outcome", "outcome_digest", "report", "exchanges", "decisions"] {
            assert_eq!(merged[field], single[field], "{command}: {field}");
        }
        assert_eq!(tables(&place, &run), tables(&alone, "latest"), "{command}");
        assert!(place.ok("replay latest --outputs").contains("identical"), "{command}");
        assert_eq!(place.json("verify").1, 0, "{command}");
        // Each call is paid for once. (Shards do not share vectors of equal texts.)
        let asked = |place: &Place, runs: &[&str]| -> u64 {
            runs.iter().map(|run| chats(place, run)).sum()
        };
        let all: Vec<&str> = shards.iter().map(String::as_str).chain([&*run]).collect();
        assert_eq!(asked(&place, &all), asked(&alone, &["latest"]), "{command}");
    }
}

/// A sum over the log counts each call once, so a merged run has the cost of the study apart from its own.
#[test]
fn a_merged_run_says_what_the_study_cost_in_all() {
    let place = Place::new();
    // Every answer takes five prompt tokens and two completion tokens: 0.00027 dollars.
    let server = Server::handler(|_| Reply::chat("Answer: (1 - 1) + 4 * 6 = 24"));
    let shards = recorded(&place, &format!("run small.yaml --base-url {}", server.base_url()), 2);
    let (merged, _) = place.json(&format!("run --merge {}", shards.join(" ")));
    let run = merged["run"].as_str().unwrap();
    let cost = |run: &str| place.json(&format!("stats {run}")).0["cost"]["dollars"].clone();
    assert_eq!(cost(run), Value::Null, "it has asked nothing");
    let sum: f64 = shards.iter().map(|shard| cost(shard).as_f64().unwrap()).sum();
    let of_study = place.json(&format!("stats {run}")).0["with_shards"].clone();
    assert_eq!((&of_study["shards"], &of_study["attempts"]["made"]), (&2.into(), &6.into()));
    assert!((of_study["cost"]["dollars"].as_f64().unwrap() - sum).abs() < 1e-12, "{of_study}");
    let stats = place.ok(&format!("stats {run}"));
    let in_all = "in all    this run and its 2 shards together\n          6 attempts, 0 failed\n          \
                  tokens 30 in, 12 out\n          cost $0.001620 at list prices of 2026-11-30\n";
    assert!(stats.contains(in_all), "{stats}");
    let (log, said) = (place.json("log").0, place.ok("log"));
    let listed: f64 =
        log["runs"].as_array().unwrap().iter().filter_map(|run| run["dollars"].as_f64()).sum();
    assert!((listed - sum).abs() < 1e-12, "{log}");
    assert!((log["runs"][2]["dollars_with_shards"].as_f64().unwrap() - sum).abs() < 1e-12, "{log}");
    let together = format!("run {} and its shards cost $0.001620 together\n", &run[..8]);
    assert!(said.contains(&together), "{said}");
    place.ok(&format!("report {run} -o one.html"));
    let one = place.read("one.html");
    assert!(one.contains("this run and its 2 shards together; 6 attempts, 0 failed"), "{one}");
    place.ok(&format!("report {run} {} -o several.html", shards.join(" ")));
    assert!(place.read("several.html").contains("; with its shards $0.001620"));
}

#[test]
fn a_merge_that_was_made_before_is_shown_again() {
    let place = Place::new();
    let shards = recorded(&place, "run small.yaml", 2).join(" ");
    let (merged, _) = place.json(&format!("run --merge {shards}"));
    let (again, code) = place.json(&format!("run --merge {shards}"));
    assert_eq!((code, &again["run"]), (0, &merged["run"]));
    assert_eq!(again["outcome_digest"], merged["outcome_digest"]);
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn shards_have_names_by_which_they_are_merged() {
    let place = Place::new();
    let games = format!("run {} --set games=2 --set game_length=1", config("public_goods_small"));
    recorded(&place, "run small.yaml", 2);
    recorded(&place, &games, 2);
    place.ok("run --merge game24-2of2 game24-1of2");
    let made = place.json("log latest --kind DecisionMade --most 1").0["events"][0]["seq"].clone();
    for shown in [place.ok("log latest --most 1"), place.ok(&format!("audit latest {made}"))] {
        assert!(shown.contains("merged from 2 shards: "), "{shown}");
    }
    let (merged, shard) = (place.ok("show latest"), place.ok("show game24-2of2"));
    assert!(
        merged.contains("\nmerged from 2 shards: ") && shard.contains("\nshard 2/2 of the study: `retold run --merge game24-{1..2}of2` makes one run of all shards\n")
    );
    // What a shard asked is not asked again.
    let runs = place.json("log").0["runs"].clone();
    let asked = |at: usize| runs[at]["calls"].as_u64().unwrap();
    let reused = &runs[4]["reused_answers"];
    assert!(asked(0) > 0 && asked(4) == 0, "{runs}");
    assert_eq!((&runs[0]["reused_answers"], reused), (&0.into(), &(asked(0) + asked(1)).into()));
    assert!(merged.contains(&format!(" answers ({reused} reused), ")), "{merged}");
    place.ok("run --merge public_goods_small-1of2 public_goods_small-2of2");
    assert!(place.path("outputs/public_goods_small").is_dir());
    let names = place.json("log").0["runs"].clone();
    let names: Vec<&Value> = names.as_array().unwrap().iter().map(|run| &run["name"]).collect();
    assert_eq!(names[..2], ["game24-1of2", "game24-2of2"]);
    assert_eq!(names[5], "public_goods_small");
}

#[test]
fn what_cannot_be_divided_or_merged_is_refused() {
    let place = Place::new();
    place.write("unseeded.yaml", place.read("small.yaml").replace("seed: 7\n", ""));
    let mut said = String::new();
    for shard in ["0/16", "17/16", "3-16", "1/0", "3/2"] {
        said.push_str(&place.session(&[&format!("run small.yaml --shard {shard}")]));
    }
    said.push_str(&place.session(&[
        "run small.yaml --shard 3/3",
        "run unseeded.yaml --shard 1/2",
        "run small.yaml --resume --shard 1/2",
        "run --resume latest --shard 1/2",
    ]));
    for (study, flags) in
        [("society_small", ""), ("deliberation_small", "--set use_persona_storage=true")]
    {
        let args = format!("run {} {flags} --shard 1/2", config(study));
        said.push_str(
            &place.shown(&format!("run {study}.yaml {flags} --shard 1/2"), &place.run(&args)),
        );
    }
    assert!(!place.path("retold.db").exists(), "nothing was recorded");
    place.ok("run small.yaml --quiet");
    let whole = latest(&place);
    let [one, two] = [1, 2].map(|n| {
        place.ok(&format!("run small.yaml --shard {n}/2 --quiet"));
        latest(&place)
    });
    place.ok("run small.yaml --shard 1/2 --quiet");
    let twin = latest(&place);
    place.ok("run small.yaml --shard 1/1 --quiet");
    let only = latest(&place);
    place.ok("run small.yaml --shard 2/2 --set samples=1 --quiet");
    let other = latest(&place);
    let attempts = [
        ("WHOLE", format!("run --merge {whole}")),
        ("ONE", format!("run --merge {one}")),
        ("ONE TWIN TWO", format!("run --merge {one} {twin} {two}")),
        ("ONE ONLY", format!("run --merge {one} {only}")),
        ("ONE OTHER", format!("run --merge {one} {other}")),
    ];
    for (names, args) in attempts {
        let shown = place.shown(&format!("run --merge {names}"), &place.run(&args));
        let known = [
            (&whole, "WHOLE"),
            (&one, "ONE"),
            (&two, "TWO"),
            (&twin, "TWIN"),
            (&only, "ONLY"),
            (&other, "OTHER"),
        ];
        said.push_str(&known.iter().fold(shown, |said, (run, name)| said.replace(*run, name)));
    }
    assert_said!("shards_refused", said);
}

/// The last run of a log.
fn latest(place: &Place) -> String {
    place.json("show latest").0["run"].as_str().unwrap().to_owned()
}

#[test]
fn an_answer_that_no_shard_has_stops_the_merge_until_its_shard_has_it() {
    let (alone, place) = (Place::new(), Place::new());
    let command = "run small.yaml --set puzzles.rows=0..6";
    let (single, _) = alone.json(command);
    let one = recorded(&place, command, 2).remove(0);
    // The second shard is recorded again, and stops in the middle.
    let (stopped, code) = place.json(&format!("{command} --shard 2/2 --max-tokens 900 --new"));
    assert_eq!((code, &stopped["outcome"]), (4, &"stopped".into()), "{stopped}");
    assert!(stopped["exchanges"].as_u64().unwrap() > 0, "{stopped}");
    let two = stopped["run"].as_str().unwrap();
    let merge = format!("run --merge {one} {two} --quiet");
    let said = place.run(&merge);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    let shown = said.err.replace(&one, "ONE").replace(two, "TWO");
    let shown = shown.replace(&one[..8], "ONE").replace(&two[..8], "TWO");
    assert!(shown.contains("no shard has an answer to call solve/"), "{shown}");
    assert!(
        shown.contains(
            "run TWO, shard 2/2, is not finished: `retold run --resume TWO` continues it"
        ),
        "{shown}"
    );
    assert!(!shown.contains("run ONE"), "only the shard that lacks it: {shown}");
    place.ok(&format!("run --resume {two} --quiet --max-tokens 1000000"));
    let (merged, code) = place.json(&merge);
    assert_eq!((code, &merged["outcome_digest"]), (0, &single["outcome_digest"]), "{merged}");
    // It continued the merge that had begun.
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 4);
}

/// Neither shard has more than the other, so all of their answers are used. A mark within a phase does not make them
/// complete.
#[test]
fn shards_that_stopped_alike_within_a_phase_are_not_finished() {
    let place = Place::new();
    let command = "run small.yaml --set puzzles.rows=0..8 --set samples=1 --quiet --max-tokens 1";
    let stopped = [1, 2].map(|n| {
        let (stopped, code) = place.json(&format!("{command} --shard {n}/2"));
        assert_eq!((code, &stopped["exchanges"]), (4, &1.into()), "{stopped}");
        stopped["run"].as_str().unwrap().to_owned()
    });
    for _ in 0..2 {
        let said = place.run(&format!("run --merge {} --quiet", stopped.join(" ")));
        assert_eq!(said.code, 2, "{}{}", said.out, said.err);
        assert!(
            said.err.contains("no shard has an answer to call solve/2 sample 0"),
            "{}",
            said.err
        );
        assert!(stopped.iter().all(|run| said.err.contains(run.as_str())), "{}", said.err);
    }
    let [one, _] = &stopped;
    place.ok(&format!("run --abandon {one}"));
    let said = place.run(&format!("run --merge {} --quiet", stopped.join(" ")));
    let again = format!(
        "run {one}, shard 1/2, was abandoned: `retold run CONFIG --shard 1/2` records it again"
    );
    assert!(said.code == 2 && said.err.contains(&again), "{}", said.err);
}

#[test]
fn shards_that_stop_after_a_phase_are_merged_as_far_as_all_of_them_have_come() {
    let (alone, place) = (Place::new(), Place::new());
    let command =
        format!("run {} --set participants_per_condition=2", config("deliberation_small"));
    let (single, _) = alone.json(&format!("{command} --no-outputs"));
    let shards = recorded(&place, &format!("{command} --until phase_1"), 2);
    let merge = format!("run --merge {} --quiet --no-outputs", shards.join(" "));
    let (merged, code) = place.json(&merge);
    assert_eq!((code, &merged["stopped_after"]), (0, &"phase_2".into()), "{merged}");
    // One of them goes on.
    let (first, code) = place.json(&format!("run --resume {} --quiet", shards[0]));
    assert_eq!((code, &first["outcome"]), (0, &"finished".into()), "{first}");
    let said = place.run(&merge);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(
        said.err.contains(&format!("run {}, shard 2/2, is not finished", shards[1])),
        "{}",
        said.err
    );
    assert!(!said.err.contains("shard 1/2"), "{}", said.err);
    // A shard ends there by itself.
    let (second, _) = place.json(&format!("run --resume {} --quiet --until phase_3", shards[1]));
    assert_eq!(second["outcome"], "finished", "{second}");
    let (merged, code) = place.json(&merge);
    assert_eq!((code, &merged["stopped_after"]), (0, &"phase_3".into()), "{merged}");
    let (whole, code) = place.json("run --resume latest --quiet");
    assert_eq!((code, &whole["outcome_digest"]), (0, &single["outcome_digest"]), "{whole}");
}

/// However the merged run is named, and whichever of its shards is unfinished.
#[test]
fn a_merged_run_asks_nothing_while_a_shard_is_unfinished() {
    let place = Place::new();
    let command =
        format!("run {} --set participants_per_condition=2", config("deliberation_small"));
    let shards = recorded(&place, &format!("{command} --until phase_1"), 2);
    let merge = format!("run --merge {}", shards.join(" "));
    let merged = place.ok(&format!("{merge} --quiet --no-outputs"));
    let events = |run: &str| place.json(&format!("show {run}")).0["events"].clone();
    let (run, before) = (latest(&place), events("latest"));
    for command in [
        "run --resume --quiet",
        "run --resume budgeting_small --quiet",
        &format!("run --resume {run} {run} --quiet"),
        &format!("{command} --resume --quiet"),
    ] {
        let said = place.run(command);
        assert_eq!((said.code, events(&run)), (2, before.clone()), "{command}: {}", said.err);
        for shard in &shards {
            let resume = format!("`retold run --resume {}` continues it", &shard[..8]);
            assert!(said.err.contains(&resume), "{}", said.err);
        }
        assert!(said.err.contains("`retold run --merge "), "{}", said.err);
    }
    let shown = place.ok(&format!("show {run}"));
    let [one, two] = [0, 1].map(|n| &shards[n]);
    let known = [(&run, "MERGED"), (one, "ONE"), (two, "TWO")];
    let shown = known.iter().fold(format!("{merged}{shown}"), |said, (run, name)| {
        said.replace(*run, name).replace(&run[..8], name).replace(&run[..4], name)
    });
    assert!(
        shown.contains("next:\n  retold run --resume ONE   shard 1/2 is not finished\n"),
        "{shown}"
    );
    assert!(shown.contains("  retold run --merge ONE TWO   continue the merged run"), "{shown}");
    let waits =
        "unfinished: run TWO, shard 2/2, is not finished: `retold run --resume TWO` continues it";
    assert!(shown.contains(waits), "{shown}");
    for shard in &shards {
        place.ok(&format!("run --resume {shard} --quiet"));
    }
    place.ok(&format!("{merge} --quiet"));
    let (whole, code) = place.json("run --resume latest --quiet");
    assert_eq!((code, &whole["outcome"]), (0, &"finished".into()), "{whole}");
}

/// It has nothing to ask before all shards are merged, so it is finished.
#[test]
fn a_shard_of_a_deliberation_finishes_where_shards_end() {
    let place = Place::new();
    let command =
        format!("run {} --set participants_per_condition=2", config("deliberation_small"));
    let shards = recorded(&place, &command, 2);
    let runs = place.json("log").0["runs"].clone();
    assert!(runs.as_array().unwrap().iter().all(|run| run["outcome"] == "finished"), "{runs}");
    let said = place.run("run --resume");
    assert!(said.code == 2 && said.err.contains("no run in"), "{}", said.err);
    let shown = place.ok(&format!("show {}", shards[0]));
    let merge = "shard 1/2 of the study: `retold run --merge budgeting_small-{1..2}of2` makes one run of all shards\n";
    assert!(shown.contains(merge), "{shown}");
    assert!(place.ok(&format!("replay {}", shards[0])).contains("replays identically"));
}

#[test]
fn a_run_stops_after_a_phase_and_goes_on() {
    let (alone, place) = (Place::new(), Place::new());
    let command = format!(
        "run {} --set participants_per_condition=1 --quiet --no-outputs",
        config("deliberation_small")
    );
    let (single, _) = alone.json(&command);
    let (stopped, code) = place.json(&format!("{command} --until phase_1"));
    assert_eq!((code, &stopped["stopped_after"]), (0, &"phase_1".into()), "{stopped}");
    assert_eq!((&stopped["outcome"], &stopped["error"]), (&"stopped".into(), &Value::Null));
    let (replayed, code) = place.json("replay latest");
    assert_eq!(code, 0, "{replayed}");
    let (stopped, _) = place.json("run --resume latest --quiet --until phase_4");
    assert_eq!(stopped["stopped_after"], "phase_4");
    let (whole, code) = place.json("run --resume latest --quiet");
    assert_eq!((code, &whole["outcome_digest"]), (0, &single["outcome_digest"]), "{whole}");
    let said = place.run("run --resume latest --quiet --until phase_1");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("has finished: it cannot stop after phase_1"), "{}", said.err);
    let rounds = format!("run {} --quiet --no-outputs", config("public_goods_small"));
    let (stopped, _) = place.json(&format!("{rounds} --until round_2"));
    assert_eq!(stopped["stopped_after"], "round_2");
    let said = [
        (format!("{rounds} --until round_9"), "run public_goods_small.yaml --until round_9"),
        (
            format!("{command} --until clarification"),
            "run deliberation_small.yaml --until clarification",
        ),
        (
            format!("{command} --shard 1/2 --until phase_5"),
            "run deliberation_small.yaml --shard 1/2 --until phase_5",
        ),
        ("run small.yaml --until puzzle_1".to_owned(), "run small.yaml --until puzzle_1"),
    ];
    let said = said.map(|(args, shown)| place.shown(shown, &place.run(&args)));
    assert_said!("phases_refused", said.concat());
}
