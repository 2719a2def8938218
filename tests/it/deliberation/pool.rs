//! The pool of enriched personas, and base personas from a URL.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::support::program::{build, study, supply};
use retold::fetch::FetchLimits;
use retold::model::simulated::Misbehaviour;
use retold_deliberation::personas::pool::{EnrichedPersona, Pool, add};
use retold_deliberation::personas::{Collection, PersonaError, pool_size};
use retold_deliberation::{Fact, Settings};
use retold_study::config::{ApiKind, ModelKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::runs::{model, recorded};
use crate::support::block_on;
use crate::support::cli::{Place, assert_said};
use crate::support::data::folder;
use crate::support::server::{Reply, Server, nobody};
use crate::support::trial::Trial;

/// Two participants per condition; the pool is used only if a test sets it.
const CONFIG: &str = "\
experiment: deliberation
pilot_id: pooled
topic:
  description: What is next?
  options: [Night buses, Bike lanes, Street trees]
participants_per_condition: 2
disagreement_threshold: 1.0
random_seed: 5
";

fn place(more: &str) -> Place {
    let place = Place::new();
    place.write("d.yaml", format!("{CONFIG}{more}"));
    place
}

fn persona(base: &str, simulated: bool) -> EnrichedPersona {
    let mut value = json!({
        "base_persona": base, "enriched_persona": format!("{base}, told at length."),
        "demographics": {"age": 40, "sex": "F", "education": "Doctorate", "income": "High income",
            "location_type": "urban", "political_leaning": "moderate"},
    });
    value["simulated"] = simulated.into();
    EnrichedPersona::read(&value).unwrap()
}

/// The facts of the latest run.
fn facts(place: &Place) -> Vec<Fact> {
    let (log, _) = place.json("log latest --most 100000");
    let events = log["events"].as_array().unwrap().iter();
    let facts = events.filter(|event| event["kind"] == "Occurred");
    facts.map(|event| Fact::deserialize(&event["body"]["fact"]).unwrap()).collect()
}

fn calls(place: &Place, prefix: &str) -> usize {
    let (log, _) = place.json("log latest --most 100000");
    let calls = log["events"].as_array().unwrap().iter().filter_map(|event| event["call"].as_str());
    calls.filter(|call| call.starts_with(prefix)).collect::<BTreeSet<_>>().len()
}

fn pool(place: &Place) -> Vec<EnrichedPersona> {
    Pool::read(&place.path("data/personas.json")).unwrap().personas
}

#[test]
fn the_pool_is_filled_to_half_as_many_again_and_drawn_from() {
    let place = place("");
    let run = "run d.yaml --no-outputs --set provider.rates.malformed=0";
    let said = place.run(run);
    assert_eq!((said.code, said.err.as_str()), (0, "12 personas added to data/personas.json\n"));
    assert_eq!(calls(&place, "persona/p_"), 8 * 2);
    assert_eq!(calls(&place, "persona/spare_"), 4 * 2);
    let first = pool(&place);
    assert_eq!(first.len(), 12);
    assert!(first.iter().all(|p| p.simulated), "the simulated model made them up");

    // Enough personas are there: no model is asked for any, and another seed draws others.
    let mut drawn_by_seed = BTreeSet::new();
    for seed in [5, 6] {
        let said = place.run(&format!("{run} --set random_seed={seed}"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "nothing is new");
        assert_eq!(calls(&place, "persona/"), 0);
        let drawn = facts(&place).into_iter().filter_map(|fact| match fact {
            Fact::PersonaDrawn { enriched_persona, .. } => Some(enriched_persona),
            _ => None,
        });
        let drawn: Vec<String> = drawn.collect();
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 8, "all are different");
        assert!(drawn.iter().all(|text| first.iter().any(|p| p.enriched_persona == *text)));
        let story = place.ok("show latest p_0001 --json");
        assert!(story.contains("persona, from the pool"), "{story}");
        drawn_by_seed.insert(drawn);
    }
    assert_eq!(drawn_by_seed.len(), 2);
    assert_eq!(pool(&place), first);

    // A pool that was lost gets back what the log still contains, once.
    std::fs::remove_dir_all(place.path("data")).unwrap();
    place.ok(&format!("{run} -q"));
    std::fs::remove_dir_all(place.path("data")).unwrap();
    let again = place.run("run --resume latest");
    assert_eq!((again.code, again.err.as_str()), (0, "12 personas added to data/personas.json\n"));
    assert_eq!(pool(&place), first);

    // A larger study adds what is missing, and nothing that is already there.
    place.ok(&format!("{run} -q --set participants_per_condition=4"));
    let more = pool(&place);
    assert_eq!((more.len(), &more[..12]), (pool_size(16), &first[..]));
    let bases: BTreeSet<&str> = more.iter().map(|p| p.base_persona.as_str()).collect();
    assert_eq!(bases.len(), 24);
    let drawn = facts(&place).iter().filter(|f| matches!(f, Fact::PersonaDrawn { .. })).count();
    let made = facts(&place).iter().filter(|f| matches!(f, Fact::PersonaEnriched { .. })).count();
    assert!(drawn > 0 && made > 0 && drawn + made == 16, "{drawn} drawn, {made} made");
}

#[test]
fn without_storage_no_pool_is_read_or_made() {
    let place = place("use_persona_storage: false\n");
    std::fs::create_dir(place.path("data")).unwrap();
    place.write("data/personas.json", "no pool at all");
    place.ok("run d.yaml");
    assert_eq!(calls(&place, "persona/"), 16);
    assert_eq!(place.read("data/personas.json"), "no pool at all");
}

#[test]
fn the_pool_goes_where_the_config_says() {
    let place = place("persona_storage: mine/people.json\n");
    place.ok("run d.yaml -q");
    assert!(Pool::read(&place.path("mine/people.json")).unwrap().personas.len() > 8);
    assert!(!place.path("data").exists());
}

#[test]
fn a_replay_needs_neither_the_pool_nor_the_url() {
    let lines = (0..40).map(|n| json!({"persona": format!("The owner of shop number {n}")}));
    let text = lines.map(|line| format!("{line}\n")).collect::<String>();
    let server = Server::handler(move |_| Reply::new(200, text.as_bytes()));
    let place = place(&format!("personas_url: {}/persona.jsonl\n", server.base_url()));
    place.ok("run d.yaml -q --no-outputs");
    let digest = place.json("replay latest").0["outcome_digest"].clone();
    assert_eq!(server.received().len(), 1, "fetched once, by the run");
    assert_eq!(server.received()[0].target, "/v1/persona.jsonl");
    assert_eq!(server.received()[0].header("authorization"), None);
    let enrolled = facts(&place).into_iter().find_map(|fact| match fact {
        Fact::Enrolled { base_persona, .. } => Some(base_persona),
        _ => None,
    });
    assert!(enrolled.unwrap().starts_with("The owner of shop number"));
    // The second run draws from the pool what the first one added.
    place.ok("run d.yaml -q --no-outputs");
    assert_eq!(server.received().len(), 1, "nothing was missing");
    let drawn = place.json("replay latest").0["outcome_digest"].clone();

    drop(server);
    std::fs::remove_dir_all(place.path("data")).unwrap();
    let (runs, _) = place.json("log");
    let runs: Vec<&str> =
        runs["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    for (run, digest) in runs.into_iter().zip([digest, drawn]) {
        let (replayed, code) = place.json(&format!("replay {run}"));
        assert_eq!((code, &replayed["outcome_digest"]), (0, &digest));
    }
    assert!(!place.path("data").exists(), "a replay leaves nothing");
    // A new run needs the pool, and says so before anything is recorded.
    let said = place.run("run d.yaml --no-outputs");
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("bad") || said.err.contains("cannot fetch http://127.0.0.1"),
        "{}",
        said.err
    );
}

#[test]
fn a_url_and_an_output_folder_go_together() {
    let lines = (0..40).map(|n| json!({"persona": format!("The owner of shop number {n}")}));
    let text = lines.map(|line| format!("{line}\n")).collect::<String>();
    let server = Server::handler(move |_| Reply::new(200, text.as_bytes()));
    let url = format!("personas_url: {}/persona.jsonl\n", server.base_url());
    let place = place(&format!("{url}use_persona_storage: false\n"));
    let (run, code) = place.json("run d.yaml");
    assert_eq!((code, &run["outputs"]), (0, &"outputs/pooled".into()), "{run}");
    assert!(place.read("outputs/pooled/participants.json").contains("The owner of shop number"));
    assert_eq!(server.received().len(), 1);
    // A second run fetches for itself, and has a folder of its own.
    let (second, code) = place.json("run d.yaml --new-folder");
    assert_eq!((code, &second["outputs"]), (0, &"outputs/pooled-2".into()), "{second}");
    assert_eq!(server.received().len(), 2);
    let (resumed, code) = place.json("run d.yaml --resume");
    assert_eq!((code, &resumed["run"], &resumed["model_calls"]), (0, &second["run"], &0.into()));
    assert_eq!(server.received().len(), 2, "what was drawn is in the log");
}

/// The pool has changed since, but what the run drew when it began is in its settings.
#[test]
fn an_unfinished_run_with_a_pool_continues_by_its_config() {
    let place = place("limits:\n  concurrency: 1\n");
    let stopped = place.run("run d.yaml -q --log-limit 450000");
    assert_eq!(stopped.code, 3, "{}{}", stopped.out, stopped.err);
    let (begun, _) = place.json("show latest");
    std::fs::create_dir_all(place.path("data")).unwrap();
    let others: Vec<EnrichedPersona> = (0..12).map(|n| persona(&format!("M{n}"), true)).collect();
    add(&place.path("data/personas.json"), &others).unwrap();
    let said = place.run("run d.yaml -q --resume --set model=gpt-5");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("with other settings: config.model\n"), "{}", said.err);
    let (resumed, code) = place.json("run d.yaml --resume");
    assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    assert_eq!(resumed["run"], begun["run"]);
    assert_eq!(pool(&place).len(), 24, "what the run has made is in the pool");
}

#[test]
fn only_made_up_runs_draw_made_up_personas() {
    let dir = tempfile::tempdir().unwrap();
    let (path, config) = (dir.path().join("pool.json"), dir.path().join("d.yaml"));
    std::fs::write(&config, CONFIG).unwrap();
    let made_up: Vec<EnrichedPersona> = (0..20).map(|n| persona(&format!("M{n}"), true)).collect();
    let real: Vec<EnrichedPersona> = (0..5).map(|n| persona(&format!("R{n}"), false)).collect();
    add(&path, &made_up).unwrap();
    add(&path, &real).unwrap();
    let overrides = [format!("persona_storage={}", path.display())];
    let drawn = |kind: ModelKind| {
        let mut study = study(&config, None, &overrides).unwrap();
        study.settings.runtime.model.kind = kind;
        supply(&config, &mut study, &overrides).unwrap();
        let settings = study.settings.experiment.read::<Settings>().unwrap().into_owned();
        (settings.personas, settings.pool.unwrap())
    };
    let (personas, pool) = drawn(ModelKind::Simulated);
    assert!(pool.spare.is_empty() && pool.drawn.iter().all(Option::is_some));
    assert_eq!(personas.len(), 8);
    let (personas, pool) = drawn(ModelKind::Server(ApiKind::default()));
    assert!(pool.drawn.iter().flatten().all(|p| !p.simulated), "{pool:?}");
    assert!(personas.iter().all(|p| !p.starts_with('M')));
    // Twelve are needed and five are there, so seven are new; personas that are not drawn are kept
    // for later.
    let new = pool.drawn.iter().filter(|p| p.is_none()).count();
    assert_eq!(new + pool.spare.len(), 7);
}

#[test]
fn a_run_with_a_pool_does_not_depend_on_the_order_of_answers() {
    let dir = tempfile::tempdir().unwrap();
    let (path, config) = (dir.path().join("pool.json"), dir.path().join("d.yaml"));
    std::fs::write(&config, CONFIG).unwrap();
    add(&path, &(0..5).map(|n| persona(&format!("R{n}"), false)).collect::<Vec<_>>()).unwrap();
    let overrides = [format!("persona_storage={}", path.display())];
    let mut study = study(&config, None, &overrides).unwrap();
    supply(&config, &mut study, &overrides).unwrap();
    let experiment = build("deliberation", &study.settings.experiment).unwrap();
    let bad = Misbehaviour { malformed: 0.2, failure: 0.05, ..Misbehaviour::default() };
    let at_once = Trial::in_memory(model(bad.clone()));
    let expected = recorded(&at_once, experiment.as_ref());
    let latency = Duration::from_millis(3);
    let slow = Trial::in_memory(model(Misbehaviour { latency, ..bad }));
    let shuffled = recorded(&slow, experiment.as_ref());
    assert_eq!(shuffled.report, expected.report);
    for (trial, ended) in [(at_once, expected), (slow, shuffled)] {
        assert_eq!(block_on(trial.replay(experiment.as_ref())), ended.outcome_digest);
    }
}

#[test]
fn processes_that_add_at_the_same_time_lose_nothing() {
    let place = Place::new();
    let (processes, each) = (6, 30);
    for process in 0..processes {
        let lines = (0..each).map(|n| persona(&format!("Person {n} of {process}"), false));
        let lines = lines.map(|p| format!("{}\n", serde_json::to_string(&p).unwrap()));
        place.write(&format!("{process}.jsonl"), lines.collect::<String>());
    }
    let import = |process: usize| {
        let args = ["study", "deliberation", "personas", "import", &format!("{process}.jsonl")];
        place.command().args(args).stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..processes).map(import).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(pool(&place).len(), processes * each);
    let left: Vec<_> = std::fs::read_dir(place.path("data")).unwrap().collect();
    assert_eq!(left.len(), 2, "the pool and its lock, no parts");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn personas_of_original_studies_are_imported_once() {
    let place = Place::new();
    let data = folder("deliberation");
    let inputs = ["personas.json", "outputs/pilot_001", "outputs/test_full_001"];
    let mut args = vec![
        "study".to_owned(),
        "deliberation".to_owned(),
        "personas".to_owned(),
        "import".to_owned(),
        "--json".to_owned(),
    ];
    args.extend(inputs.map(|input| data.join(input).display().to_string()));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    for (round, expected) in [(1, [128, 0, 0]), (2, [0, 0, 0])] {
        let said: Value = serde_json::from_str(&place.args(&args).out).unwrap();
        let added = said["files"].as_array().unwrap().iter().map(|file| file["added"].as_u64());
        assert_eq!(added.collect::<Vec<_>>(), expected.map(Some), "round {round}");
        assert_eq!(said["personas"], 128);
    }
    // The file is byte for byte what the first import wrote: the second wrote nothing.
    let (stats, _) = place.json("study deliberation personas stats");
    assert_eq!((&stats["personas"], &stats["simulated"]), (&128.into(), &0.into()));
    assert_eq!(stats["by"]["sex"], json!({"F": 86, "M": 42}));
    let (list, _) = place.json("study deliberation personas list --most 3");
    assert_eq!(list["personas"].as_array().unwrap().len(), 3);
    let file: Value = serde_json::from_str(&place.read("data/personas.json")).unwrap();
    let theirs = std::fs::read_to_string(data.join("personas.json")).unwrap();
    let theirs: Value = serde_json::from_str(&theirs).unwrap();
    assert_eq!(file, theirs, "the document's shape, in the order imported");
}

#[test]
fn entries_that_are_not_personas_are_counted_and_named() {
    let place = Place::new();
    let good = serde_json::to_string(&persona("A baker", false)).unwrap();
    place.write(
        "some.jsonl",
        format!(
            "{good}\nnot JSON\n\n{}\n{good}\n{{\"base_persona\": 3}}\n",
            good.replace("40", "70")
        ),
    );
    std::fs::create_dir(place.path("pilot")).unwrap();
    let participant = |id: &str, base: &str| {
        let mut value = serde_json::to_value(persona(base, false)).unwrap();
        value["participant_id"] = id.into();
        value
    };
    let mut lacking = participant("p_0002", "A nurse");
    lacking["enriched_persona"] = Value::Null;
    let file = json!({"participants": [participant("p_0001", "A cook"), lacking]});
    place.write("pilot/participants.json", file.to_string());
    place.write("half.json", "{\"personas\": [");
    place.write("other.json", "{\"people\": []}");
    std::fs::create_dir(place.path("empty")).unwrap();
    let shown = place.session(&[
        "study deliberation personas list",
        "study deliberation personas import some.jsonl pilot",
        "study deliberation personas import some.jsonl pilot",
        "study deliberation personas list",
        "study deliberation personas stats",
        "study deliberation personas import half.json",
        "study deliberation personas import other.json",
        "study deliberation personas import empty",
        "study deliberation personas import",
    ]);
    assert_said!("personas", shown);
}

#[test]
fn a_pool_that_cannot_be_used_is_explained() {
    let place = place("persona_storage: pool.json\n");
    let mut shown = String::new();
    for text in ["{\"personas\": [", "{}", "{\"personas\": [{\"base_persona\": \"A cook\"}]}"] {
        place.write("pool.json", text);
        shown.push_str(&place.session(&["run d.yaml"]));
    }
    shown.push_str(&place.session(&[
        "run d.yaml --set persona_storage=.",
        "run d.yaml --set persona_storage=none.json --set participants_per_condition=500",
    ]));
    assert_said!("personas_bad_pool", shown);
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

#[test]
fn a_url_is_checked_before_it_is_used() {
    let mut shown = String::new();
    for url in [
        "example.org/persona.jsonl",
        "ftp://example.org/persona.jsonl",
        "https://user:pass@example.org/persona.jsonl",
        "https://example.org/persona.jsonl?token=s3cret",
    ] {
        let place = place(&format!("personas_url: {url}\n"));
        shown.push_str(&place.session(&["run d.yaml"]));
    }
    let both = place("personas_url: https://example.org/p.jsonl\npersonas_file: p.jsonl\n");
    shown.push_str(&both.session(&["run d.yaml"]));
    assert_said!("personas_url", shown);
}

fn fetched(url: &str, limits: FetchLimits) -> Result<Collection, PersonaError> {
    Collection::url(&url.parse().unwrap(), limits)
}

#[test]
fn what_a_server_may_do_wrong() {
    let limits = FetchLimits { longest: 1000, timeout: Duration::from_millis(500) };
    let secret = "http://127.0.0.1:9/x?token=s3cret";
    let replies = [
        Reply::error(404, "none", "not here"),
        Reply::new(200, "x".repeat(2000)),
        Reply::new(200, vec![0xff, 0xfe]),
        Reply::new(200, "{\"persona\": \"x\"}").slow_body(Duration::from_secs(20)),
        Reply::new(200, "y".repeat(900)).cut_after(10),
        Reply::new(302, "").header("location", secret),
    ];
    let server = Server::script(replies);
    let url = format!("{}/persona.jsonl", server.base_url());
    let mut said: Vec<String> =
        (0..6).map(|_| fetched(&url, limits).unwrap_err().to_string()).collect();
    let (nobody, _kept) = nobody();
    said.push(fetched(&nobody, limits).unwrap_err().to_string());
    let said = said.join("\n");
    assert!(!said.contains("s3cret"), "{said}");
    let ports = regex::Regex::new(r"127\.0\.0\.1:\d+").unwrap();
    insta::assert_snapshot!(ports.replace_all(&said, "SERVER"));
}

#[test]
fn a_collection_is_fetched_from_a_url_within_a_runtime_too() {
    let server = Server::handler(|_| Reply::new(200, "{\"persona\": \"A baker of bread\"}\n"));
    let url = format!("{}/persona.jsonl", server.base_url());
    let limits = FetchLimits { longest: 1000, timeout: Duration::from_secs(60) };
    let inside = block_on(async { Collection::url(&url.parse().unwrap(), limits) });
    assert_eq!(inside.unwrap().found.english, ["A baker of bread"]);
}

#[test]
fn what_this_program_does_not_know_in_a_pool_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path: &Path = &dir.path().join("pool.json");
    let mut entry = serde_json::to_value(persona("A cook", false)).unwrap();
    entry["note"] = "kept".into();
    let file = json!({"version": 2, "personas": [entry]});
    std::fs::write(path, file.to_string()).unwrap();
    let added = add(path, &[persona("A cook", false), persona("A nurse", false)]).unwrap();
    assert_eq!((added.added, added.known), (1, 1));
    let now: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!((&now["version"], &now["personas"][0]), (&json!(2), &entry));
    assert_eq!(now["personas"].as_array().unwrap().len(), 2);
}

/// A fork does not begin from a config, so no config can name the pool for it.
#[test]
fn a_fork_with_a_pool_says_how_its_personas_are_kept() {
    let place = place("use_persona_storage: true\n");
    let rates = "--set provider.rates.malformed=0";
    place.ok(&format!("run d.yaml --no-outputs {rates}"));
    let said = place.run("fork latest --quiet --set config.persona_storage=data/other.json");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_said!("pool_of_a_fork", said.err);
}
