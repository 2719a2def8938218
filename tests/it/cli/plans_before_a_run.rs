//! `retold plan` without a recorded run of the config: from simulated answers, or from a command's last run.

use serde_json::Value;

use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

const CONFIGS: [&str; 3] = ["small.yaml", "deliberation", "public_goods"];

fn config(name: &str) -> String {
    match name.ends_with(".yaml") {
        true => name.to_owned(),
        false => format!("{}/config/{name}_small.yaml", env!("RETOLD_ROOT")),
    }
}

/// The groups of the figures of the last run, each named like an interval of a plan.
fn figures(place: &Place) -> Vec<Value> {
    let (stats, _) = place.json("stats latest");
    let mut groups = Vec::new();
    for figure in stats["figures"].as_array().unwrap() {
        for group in figure["groups"].as_array().unwrap() {
            let labels = group["group"].as_array().unwrap().iter();
            let labels = labels.map(|label| format!(", {}", label.as_str().unwrap()));
            let name = figure["figure"].as_str().unwrap().to_owned();
            let mut group = group.clone();
            group["name"] = (name + &labels.collect::<String>()).into();
            groups.push(group);
        }
    }
    groups
}

/// A simulated run uses what was planned for it, and its intervals are as wide as was said.
#[test]
fn a_config_alone_is_planned_as_it_is_then_run() {
    for name in CONFIGS {
        let place = Place::new();
        let config = config(name);
        let rates = match name {
            "deliberation" => "--set provider.rates.failure=0 --set provider.rates.rate_limited=0",
            _ => "--set model.rates.failure=0 --set model.rates.rate_limited=0",
        };
        let (plan, code) = place.json(&format!("plan {config} {rates}"));
        assert_eq!((code, &plan["simulated"]), (0, &true.into()), "{plan}");
        assert!(!place.path("retold.db").exists(), "{name}: a log was made");
        place.ok(&format!("run {config} -q --no-outputs {rates}"));
        let (stats, _) = place.json("stats latest");
        assert_eq!(plan["calls"], stats["calls"]["asked"], "{name}");
        assert_eq!(plan["forecast"]["prompt_tokens"], stats["tokens"]["prompt"], "{name}");
        assert_eq!(plan["forecast"]["completion_tokens"], stats["tokens"]["completion"], "{name}");
        assert_eq!(plan["forecast"]["cost"], stats["cost"]["dollars"], "{name}");
        let (planned, found) = (plan["intervals"].as_array().unwrap(), figures(&place));
        assert_eq!(planned.len(), found.len(), "{name}");
        for (planned, found) in planned.iter().zip(&found) {
            for field in ["name", "draws", "clusters", "value"] {
                assert_eq!(planned[field], found[field], "{name}");
            }
            let ends = ["low", "high"].map(|end| found["interval"][end].as_f64());
            let half = ends[0].zip(ends[1]).map(|(low, high)| (high - low) / 2.0);
            assert_eq!(planned["half_width"].as_f64(), half, "{planned} {found}");
            if planned["kind"] == "share" && planned["clusters"].as_u64() > Some(4) {
                let worst = planned["half_width_at_worst"].as_f64().unwrap();
                assert!(worst >= half.unwrap_or(0.0) - 1e-9, "{planned}");
            }
        }
    }
}

/// `--model` is what `run` takes, or a model whose price is meant.
#[test]
fn the_price_is_that_of_the_model_that_is_named() {
    let place = Place::new();
    let (plain, _) = place.json("plan small.yaml");
    let (openai, _) = place.json("plan small.yaml --model openai");
    assert_eq!(plain["forecast"], openai["forecast"], "requests name gpt-4");
    let (mini, _) = place.json("plan small.yaml --model gpt-4o-mini");
    let cost = |plan: &Value| plan["forecast"]["cost"].as_f64().unwrap();
    let tokens = |name: &str| plain["forecast"][name].as_f64().unwrap();
    // Prices of config/prices.yaml, in dollars per million tokens.
    let of = |prompt: f64, completion: f64| {
        (tokens("prompt_tokens") * prompt + tokens("completion_tokens") * completion) / 1e6
    };
    assert!((cost(&plain) - of(30.0, 60.0)).abs() < 1e-9, "{plain}");
    assert!((cost(&mini) - of(0.15, 0.6)).abs() < 1e-9, "{mini}");
    let (gemini, _) = place.json("plan small.yaml --model gemini/gemini-2.5-flash");
    assert!((cost(&gemini) - of(0.3, 2.5)).abs() < 1e-9, "{gemini}");
    assert_eq!(gemini["forecast"]["prices_taken"], "2026-11-30");
    // Embeddings keep their own price, which has no tokens of answers.
    let deliberation = config("deliberation");
    let (plan, _) = place.json(&format!("plan {deliberation} --model gpt-4o-mini"));
    let (own, _) = place.json(&format!("plan {deliberation}"));
    let models = |plan: &Value| plan["forecast"]["models"].as_object().unwrap().clone();
    let embeds = |name: &&String| name.starts_with("text-embedding");
    let (plan, own) = (models(&plan), models(&own));
    let embedding = own.keys().find(embeds).unwrap();
    assert_eq!(plan[embedding], own[embedding]);
    assert!(plan.keys().filter(|name| !embeds(name)).all(|name| plan[name] != own[name]));
    // A model that `run` takes has a plan, whatever is known of its price.
    for model in ["gemini/my-own", "gemini-my-own", "openai/my-own"] {
        let (unknown, _) = place.json(&format!("plan small.yaml --model {model}"));
        let [of_it, of_plain] = [&unknown, &plain].map(|plan| &plan["forecast"]["prompt_tokens"]);
        assert_eq!((of_it, &unknown["forecast"]["cost"]), (of_plain, &Value::Null), "{unknown}");
    }
    let text = place.ok("plan small.yaml --model gemini/my-own");
    assert!(text.contains("(the price of gemini/my-own is not known)"), "{text}");
    let said = place.run("plan small.yaml --model my-17");
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("--model \"my-17\" is neither a kind of model nor a model with a price"),
        "{}",
        said.err
    );
    assert!(said.err.contains("the kinds are simulated, openai, "), "{}", said.err);
}

/// A study that waits between its calls says how long all of them take, before anything is asked.
#[test]
fn the_pace_of_a_study_is_said_before_it_asks() {
    let place = Place::new();
    let text = place.ok("plan small.yaml");
    assert!(!text.contains("one request every"), "nothing sets a pace: {text}");
    assert_eq!(place.json("plan small.yaml").0["least_seconds"], 0.0);
    let slow = "plan small.yaml --set limits.per_minute=20";
    let text = place.ok(slow);
    let due = "at least 15 seconds: one request every 3 s, with a model that is a server\n";
    assert!(text.contains(due), "{text}");
    assert_eq!(place.json(slow).0["least_seconds"], 15.0);
    // The document's three seconds between calls, which the simulated model does not wait.
    let text = place.ok(&format!("plan {}", config("deliberation")));
    assert!(text.contains(": one request every 3 s, with a model that is a server\n"), "{text}");
    let server = Server::handler(|_| Reply::chat("Answer: (1 - 1) + 4 * 6 = 24"));
    let paced = format!("--set limits.min_interval_seconds=0.1 --base-url {}", server.base_url());
    let said = place.run(&format!("run small.yaml {paced} --max-tokens 14"));
    assert_eq!(said.code, 4, "{}", said.err);
    let due = "about 6 answers, at least 1 second: one request every 0.1 s\n";
    assert!(said.err.contains(due), "{}", said.err);
    let said = place.run(&format!("run small.yaml --resume {paced} --max-tokens 1000"));
    assert_eq!(said.code, 0, "{}", said.err);
    let due = "about 4 answers of 6 are left, at least 1 second: one request every 0.1 s\n";
    assert!(said.err.contains(due), "{}", said.err);
    let said = place.run(&format!("run small.yaml {paced} -q --new"));
    assert_eq!((said.code, said.err.contains("answers, at least")), (0, false), "{}", said.err);
}

#[test]
fn a_plan_says_what_it_assumes() {
    let place = Place::new();
    let text = place.ok("plan small.yaml --set samples=10");
    for said in [
        "small.yaml (game24), from a run with simulated answers",
        "20 calls to ask",
        "tokens of the simulated answers, and US dollars at list prices",
        "95 % intervals to expect: half the width of each",
        "clusters are the values of puzzle",
        "as simulated: if answers vary as the simulated ones do",
        "at worst, for a share: half of the clusters answer one way and half the other, and all draws of a cluster agree (Kish 1965)",
        "intervals are those of reports: exact (Clopper and Pearson 1934) for shares of independent draws, Korn and Graubard's (1998) for other shares, CR2 with Student's t for means",
        "four times as many clusters halve a width; the difference of two such figures has one 1.4 times as wide",
        "nothing was asked and nothing was written",
    ] {
        assert!(text.contains(said), "{said}\nis not in\n{text}");
    }
    // Named figures take the place of those that the study leads with.
    let figure = "share of game24 = x independent";
    let said = place.args(&["plan", "small.yaml", "--json", "--figure", figure]);
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    let names: Vec<&str> = plan["intervals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, [figure]);
    assert!(plan["intervals"][0]["half_width_at_worst"].is_f64(), "{plan}");
    // A misspelt value, or a figure of texts, is said as `stats` says it.
    assert_eq!(plan["findings"][0]["finding"]["no_such_value"]["value"], "x", "{plan}");
    let said = place.args(&["plan", "small.yaml", "--figure", figure]);
    assert!(said.out.contains(&format!("  {figure}: no value is \"x\": ")), "{}", said.out);
    assert!(said.out.contains("clusters are single values\n"), "{}", said.out);
    let said = place.run("plan");
    assert!(said.code == 2 && said.err.contains("<CONFIG>"), "{}", said.err);
    let said = place.run("plan --at 3");
    assert!(said.code == 2 && said.err.contains("--against <RUN>"), "{}", said.err);
    // A person cannot be simulated.
    let said = place.run(&format!(
        "plan {}/config/adventure.yaml --set player=human --set games=1",
        env!("RETOLD_ROOT")
    ));
    assert!(said.code == 2 && said.err.contains("this game has a human player"), "{said:?}");
}

/// A command is planned from its last run, and from no other.
#[test]
fn a_command_is_planned_from_its_last_recorded_run() {
    let place = Place::new();
    let log = format!("{}/fixtures/logs/program.db", env!("RETOLD_ROOT"));
    std::fs::copy(log, place.path("retold.db")).unwrap();
    let started = place.json("log latest").0["events"][0]["content"].clone();
    let settings: Value = serde_json::from_str(started.as_str().unwrap()).unwrap();
    let command: Vec<&str> =
        settings["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let args = |command: &[&str]| {
        let words = ["plan", "--json", "--"].iter().chain(command);
        place.args(&words.copied().collect::<Vec<_>>())
    };
    let said = args(&command);
    assert_eq!(said.code, 0, "{said:?}");
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    let (stats, _) = place.json("stats latest");
    assert_eq!(plan["run"], stats["run"]);
    assert_eq!(plan["calls"], stats["calls"]["asked"]);
    assert_eq!(plan["forecast"]["prompt_tokens"], stats["tokens"]["prompt"]);
    let said = args(&["python", "other.py"]);
    assert!(
        said.code == 2 && said.err.contains("no run of this command is in the log"),
        "{said:?}"
    );
    assert!(said.err.contains("`retold record -- CMD` records one"), "{said:?}");
}
