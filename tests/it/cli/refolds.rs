//! `retold check --refold`, `--fail-on`, and which decisions are in force.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::cli::{Place, assert_said};

fn id(place: &Place, run: &str) -> String {
    place.json(&format!("show {run}")).0["run"].as_str().unwrap().to_owned()
}

fn without(text: &str, ids: &[&str]) -> String {
    ids.iter().fold(text.to_owned(), |text, id| text.replace(id, "[run]"))
}

/// The game: what a fork with the new parser records is what refolding foretells.
#[test]
fn refolding_foretells_a_fork_with_the_new_parser() {
    let place = Place::new();
    place.ok("run small.yaml -q --set parser=game24@1 --set puzzles.rows=0..12 --set samples=8");
    let parent = id(&place, "latest");
    let (found, code) = place.json(&format!("check {parent} --refold"));
    assert_eq!(code, 1, "there are flips");
    let refold = &found["refold"];
    assert!(found["flips"].as_u64().unwrap() > 0);
    assert_eq!(refold["decisions"].as_u64(), found["changed"]["method"].as_u64(), "{found}");
    assert_eq!(refold["new_calls"], json!([]), "no prompt depends on a decision");
    assert_eq!(refold["unusable_decisions"], 0);
    place.ok(&format!("fork {parent} --set parser=game24@2 -q"));
    let report = |run: &str| place.json(&format!("show {run}")).0["report"].clone();
    let figure = &refold["figures"][0];
    assert_eq!(figure["groups"][0]["group"], json!(["recorded"]));
    assert_eq!(figure["groups"][0]["value"], report(&parent)["solve_rate"]);
    assert_eq!(figure["groups"][1]["value"], report("latest")["solve_rate"]);
    // The facts that change are those in which the two runs differ.
    let (diff, _) = place.json(&format!("diff {parent} latest"));
    assert_eq!(diff["facts"], refold["facts"]);
    for key in ["difference", "interval", "test", "pairing"] {
        let [of_fork, foretold] =
            [&diff, refold].map(|it| &it["figures"][0]["differences"][0][key]);
        assert_eq!(of_fork, foretold, "{key}");
    }
    // The parser that decided changes nothing.
    let (same, code) = place.json(&format!("check {parent} --parser game24@1 --refold"));
    assert_eq!((code, &same["refold"]["decisions"]), (0, &0.into()));
    assert_eq!(same["refold"]["facts"]["changes"], json!([]));
    let said = place.run(&format!("check {parent} --refold --most 1"));
    assert_said!("refolds_game", without(&said.out, &[&parent]));
}

/// Public goods: a contribution that is read differently changes what all players are shown next.
#[test]
fn another_contribution_changes_later_prompts() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs --set parser_version=1"));
    let parent = id(&place, "latest");
    let (found, code) = place.json(&format!("check {parent} --refold --call game1/r01"));
    assert_eq!(code, 1);
    let refold = &found["refold"];
    let by_phase = &refold["facts"]["by_phase"];
    assert!(by_phase["contribution"]["contributed"][0].as_u64().unwrap() > 0, "{by_phase}");
    let lanes = refold["lanes"].as_array().unwrap();
    assert_eq!(lanes.len(), 1, "one game, one lane");
    assert!(lanes[0]["diff"].as_str().unwrap().contains("contributed"), "{}", lanes[0]);
    let new = refold["new_calls"].as_array().unwrap();
    let known = new.iter().filter(|call| call["foretold"] == false);
    let known: BTreeSet<String> =
        known.map(|c| format!("{}#{}", c["call"].as_str().unwrap(), c["sample"])).collect();
    assert!(!known.is_empty() && known.len() < new.len(), "{known:?}");
    let cost = &refold["forecast"]["models"]["gpt-4o"]["cost"];
    assert!(cost.as_f64().unwrap() > 0.0, "{}", refold["forecast"]);
    let rounds = refold["figures"][0]["differences"].as_array().unwrap();
    let of_run = rounds
        .iter()
        .filter(|it| it["other"][1] == "with these decisions" && it["one"][0] == it["other"][0]);
    assert!(of_run.clone().any(|it| it["difference"].as_f64() != Some(0.0)), "{rounds:?}");
    let shown = place.run(&format!("check {parent} --refold --call game1/r01 --most 0"));
    assert!(shown.out.contains("would have to be asked again"), "{}", shown.out);
}

/// A parser for votes that finds nothing, and one that finds numbers.
const PARSERS: &str = "\
parsers:
  - name: everybody_agrees
    for: {call: initial_vote}
    strategies:
      - {regex: 'no text has this'}
    default: Senior services expansion
";

#[test]
fn other_votes_change_a_deliberation() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs"));
    let parent = id(&place, "latest");
    place.write("parsers.yaml", PARSERS);
    let check = format!("check {parent} --parsers parsers.yaml");
    let (found, code) = place.json(&format!("{check} --refold"));
    assert_eq!(code, 1);
    let refold = &found["refold"];
    // A vote that was asked for twice, because it could not be read, flips twice and changes once.
    let flips = found["flips"].as_u64().unwrap();
    let by_phase = &refold["facts"]["by_phase"];
    let votes = &by_phase["initial_vote"]["initial_vote_cast"];
    let changed = votes[0].as_u64().unwrap();
    assert!(changed > 25 && changed <= flips, "{flips} flips, {by_phase}");
    assert_eq!((&votes[1], &votes[2]), (&0.into(), &0.into()), "every participant still votes");
    // Everybody agrees, so phase 2 ends the deliberation: what came later is not asked any more.
    assert_eq!(by_phase["(no call)"]["threshold_checked"][0], 1, "{by_phase}");
    assert!(refold["calls"]["left"].as_u64().unwrap() > 100, "{}", refold["calls"]);
    let acp = &refold["figures"][0]["groups"][1];
    assert_eq!(acp["group"], json!(["acp", "with these decisions"]));
    assert_eq!(
        (&acp["value"], &acp["draws"], &acp["missing"]),
        (&Value::Null, &0.into(), &10.into())
    );
    // Before, a strategy had found each vote.
    assert!(found["found"]["to"].as_u64() < found["found"]["from"].as_u64(), "{}", found["found"]);
    for (fail_on, code) in [("flips", 1), ("method-drop", 1)] {
        assert_eq!(place.run(&format!("{check} --fail-on {fail_on}")).code, code, "{fail_on}");
    }
    place.write("parsers.yaml", PARSERS.replace("Senior services expansion", "4"));
    let (found, _) = place.json(&format!("{check} --refold"));
    assert_eq!(found["refold"]["unusable_decisions"], found["decisions"], "a vote is no number");
    assert_eq!(found["refold"]["facts"]["changes"], json!([]));
}

#[test]
fn what_makes_a_check_fail_can_be_named() {
    let place = Place::new();
    place.ok("run small.yaml -q --set parser=game24@1 --set puzzles.rows=0..12 --set samples=8");
    let code = |args: &str| place.run(&format!("check latest {args}")).code;
    let (found, all) = place.json("check latest");
    assert_eq!(all, 1, "{}", found["changed"]);
    assert!(found["found"]["to"].as_u64() > found["found"]["from"].as_u64(), "{}", found["found"]);
    assert_eq!(code("--fail-on flips"), 1);
    assert_eq!(code("--fail-on method-drop"), 0, "the new parser finds more");
    assert_eq!(code("--fail-on method-drop --fail-on flips"), 1);
    assert_eq!(code("--fail-on flips --parser game24@1"), 0);
    // The other way round, the parser finds less.
    place.ok("fork latest --set parser=game24@2 -q");
    assert_eq!(code("--fail-on method-drop --parser game24@1"), 1);
    assert_eq!(code("--fail-on everything"), 2);
    assert_eq!(code("--prices mine.yaml"), 2, "only with --refold");
}

#[test]
fn what_cannot_be_refolded() {
    let place = Place::with_run();
    place.ok("export latest answers.jsonl --as exchanges");
    place.ok("check latest --parser game24@1 --accept");
    place.ok("export latest decisions.jsonl");
    let shown = place.session(&[
        "check answers.jsonl --parser game24@2 --params {\"numbers\":[1]} --refold",
        "check decisions.jsonl --refold",
        "check latest --prices no.yaml --refold",
    ]);
    let program = Place::new();
    let fixtures = std::path::Path::new(env!("RETOLD_ROOT")).join("fixtures/logs");
    std::fs::copy(fixtures.join("program.db"), program.path("retold.db")).unwrap();
    let run = id(&program, "latest");
    let said = program.session(&["check latest --refold"]);
    assert_said!("refolds_of_a_program", without(&said, &[&run]));
    let original = id(&place, "latest");
    let of = place.json("show latest").0["decisions_in_force"]["decides_about"]["run"].clone();
    assert_said!("refolds_refused", without(&shown, &[&original, of.as_str().unwrap()]));
}

#[test]
fn accepted_decisions_are_named_where_runs_are_shown() {
    let place = Place::with_run();
    let run = id(&place, "latest");
    assert!(!place.ok("show latest").contains("accepted"));
    place.ok("check latest --parser game24@1 --accept");
    let accepted = id(&place, "latest");
    let flips = place.json(&format!("check {run} --parser game24@1")).0["flips"].clone();
    let said = place.json(&format!("show {run}")).0["decisions_in_force"].clone();
    let expected = json!([{"run": accepted, "decisions": 6, "flips": flips, "in_force": 6}]);
    assert_eq!((&said["accepted"], &said["decides_about"]), (&expected, &Value::Null));
    let said = place.json(&format!("show {accepted}")).0["decisions_in_force"].clone();
    assert_eq!(
        said["decides_about"],
        json!({"run": run, "decisions": 6, "flips": flips, "in_force": 6})
    );
    let shown = [format!("show {run}"), format!("show {accepted}")];
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let mut text = place.session(&shown);
    for (name, run) in [("one.jsonl", &run), ("two.jsonl", &accepted)] {
        text.push_str(&place.session(&[&format!("export {run} {name}")]));
    }
    let other = Place::new();
    std::fs::copy(place.path("two.jsonl"), other.path("two.jsonl")).unwrap();
    text.push_str(&other.session(&["show two.jsonl"]));
    let text = text.replace(&run[..8], "[run]").replace(&accepted[..8], "[accepted]");
    let text = text.replace(&run[8..], "").replace(&accepted[8..], "");
    let digest = |line: &&str| !line.contains("outcome digest") && !line.starts_with("checked:");
    let text: Vec<&str> = text.lines().filter(digest).collect();
    assert_said!("refolds_in_force", text.join("\n"));
}

#[test]
fn the_same_decisions_are_accepted_once() {
    let place = Place::with_run();
    let run = id(&place, "latest");
    let check = |parser: &str| place.json(&format!("check {run} --parser {parser} --accept")).0;
    let first = check("game24@1");
    let accepted = first["accepted"].as_str().unwrap();
    assert_eq!(first["accepted_before"], Value::Null);
    let before = place.json("log").0["runs"].clone();
    let again = check("game24@1");
    assert_eq!((&again["accepted"], &again["accepted_before"]), (&Value::Null, &accepted.into()));
    let said = place.run(&format!("check {run} --parser game24@1 --accept"));
    let line = format!(
        "\nno run was recorded: all these decisions were accepted before, in run {accepted}\n"
    );
    assert!(said.code == 0 && said.out.ends_with(&line), "{}", said.out);
    assert_eq!(place.json("log").0["runs"], before);
    // Others replace them, and may be replaced again.
    let other = check("game24@2");
    let third = check("game24@1");
    assert!(other["accepted"].is_string() && third["accepted"].is_string(), "{other} {third}");
    // Which of the three sets are in force, wherever they are shown.
    let (second, last) = (other["accepted"].as_str().unwrap(), third["accepted"].as_str().unwrap());
    assert_eq!(third["accepted_earlier"], json!([accepted, second]));
    let named = |text: String| {
        let names = [(run.as_str(), "[run]"), (accepted, "[1]"), (second, "[2]"), (last, "[3]")];
        let (mut text, mut lines) = (text, Vec::new());
        for (id, name) in names {
            text = text.replace(id, name).replace(&id[..8], name);
        }
        lines.extend(text.lines().filter(|line| {
            line.starts_with('$')
                || ["force", "accepted", "itself"].iter().any(|w| line.contains(w))
        }));
        lines.join("\n")
    };
    let seq = place.json(&format!("log {run} --kind DecisionMade --most 1")).0["events"][0].clone();
    let shown = [
        format!("show {run}"),
        format!("show {accepted}"),
        format!("show {second}"),
        format!("show {last}"),
        format!("show {run} solve/0#0"),
        format!("show {run} {}", seq["seq"]),
        format!("audit {run} solve/0#0"),
        format!("audit {accepted} solve/0#0"),
        format!("export {run} files --as outputs"),
    ];
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    assert_said!("refolds_superseded", named(place.session(&shown)));
    let since = place.json(&format!("audit {run} solve/0#0")).0["in_force"][0].clone();
    assert_eq!(since["run"], last);
    let theirs = place.json(&format!("audit {last} solve/0#0")).0["decision"].clone();
    assert_eq!(since["value"], theirs["value"], "{theirs}");
    // One notice on the page, with a link to the last of them.
    let served = Served::log(&place, "retold.db");
    let begin = "Decisions about these answers were accepted 3 times";
    let found = notice(&served, &format!("/run/{run}"), begin);
    assert_eq!(found["of"], last);
    let notices = served.json(&format!("/run/{run}"))["notices"].clone();
    let about = |notice: &&Value| notice["text"].as_str().unwrap().contains("accepted");
    assert_eq!(notices.as_array().unwrap().iter().filter(about).count(), 1, "{notices}");
    // Where only some of the answers are decided about again, both are in force.
    place.ok(&format!("check {run} --parser game24@2 --call solve/0 --accept"));
    let found = place.json(&format!("show {run}")).0["decisions_in_force"]["accepted"].clone();
    let in_force: Vec<u64> =
        found.as_array().unwrap().iter().map(|set| set["in_force"].as_u64().unwrap()).collect();
    assert_eq!(in_force, [0, 0, 3, 3], "{found}");
    let text = place.ok(&format!("show {last}"));
    assert!(text.contains("; 3 of them in force, the others are replaced by later ones"), "{text}");
}

/// Real answers: the figure after refolding is the one that the authors' own grader found.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn real_answers_are_refolded() {
    let place = Place::new();
    for (template, before, valid) in [("cot", 0.0, 403), ("standard", 0.003, 734)] {
        let data =
            crate::support::shared_data(&format!("game24/gpt-4_{template}.exchanges.jsonl.gz"));
        let config = concat!(env!("RETOLD_ROOT"), "/config/game24.yaml");
        let run = format!(
            "run {config} -q --no-outputs --new --set parser=game24@1 --set template={template} --answers {}",
            data.display()
        );
        place.ok(&run);
        let (found, code) =
            place.json("check latest --refold --fail-on flips --fail-on method-drop");
        assert_eq!(code, 1, "{template}");
        let refold = &found["refold"];
        let figure = &refold["figures"][0];
        let [one, other] = [0, 1].map(|at| &figure["groups"][at]);
        assert_eq!(one["value"], before, "what the old rule finds: {template}");
        let solved = other["value"].as_f64().unwrap() * 10_000.0;
        assert!((solved - f64::from(valid)).abs() < 1e-6, "{template}: {solved}");
        assert_eq!((&one["draws"], &one["clusters"]), (&10_000.into(), &100.into()));
        let interval = &other["interval"];
        assert!(interval["low"].as_f64() < other["value"].as_f64(), "{interval}");
        assert_eq!(refold["facts"]["changes"].as_array().unwrap().len(), 100);
        assert_eq!(refold["new_calls"], json!([]), "nothing has to be asked again");
        assert_eq!(place.run("check latest --accept --fail-on method-drop").code, 0, "{template}");
    }
}

/// A parser change from beginning to end: flips, what they would change, what that would cost,
/// accepted decisions, and everything that then says which decisions are in force.
fn accepted_from_end_to_end(config: &str, check: &str, least: u64) {
    let place = Place::new();
    place.ok(&format!("run {}/config/{config} -q --no-outputs", env!("RETOLD_ROOT")));
    let run = id(&place, "latest");
    place.write("parsers.yaml", PARSERS);
    let before = place.json(&format!("show {run}")).0;
    let plain = json!({"accepted": [], "decides_about": null, "is_elsewhere": false, "later": []});
    assert_eq!(before["decisions_in_force"], plain);
    let (found, code) = place.json(&format!("check {run} {check} --refold"));
    let flips = found["flips"].as_u64().unwrap();
    assert!(code == 1 && flips >= least, "{}", found["changed"]);
    let refold = &found["refold"];
    assert!(!refold["facts"]["changes"].as_array().unwrap().is_empty());
    assert!(!refold["figures"].as_array().unwrap().is_empty());
    // What later prompts would cost, unless nothing later would be asked at all.
    let new = refold["new_calls"].as_array().unwrap().len();
    let cost = refold["forecast"]["models"].as_object().unwrap().values().map(|m| &m["cost"]);
    let cost: f64 = cost.filter_map(Value::as_f64).sum();
    assert_eq!(new > 0, cost > 0.0, "{new} calls for {cost}");
    assert!(new > 0 || refold["calls"]["left"].as_u64().unwrap() > 0, "{}", refold["calls"]);
    place.ok(&format!("check {run} {check} --accept"));
    let accepted = id(&place, "latest");
    assert_ne!(accepted, run);
    // The recorded run is what it was; both say what is in force.
    let show = |run: &str| place.json(&format!("show {run}")).0;
    let (now, theirs) = (show(&run), show(&accepted));
    assert_eq!(now["outcome_digest"], before["outcome_digest"]);
    let decisions = theirs["decisions"].clone();
    let compared = |run: &str| json!({"run": run, "decisions": decisions, "flips": flips, "in_force": decisions});
    let expected = json!([compared(&accepted)]);
    assert_eq!(now["decisions_in_force"]["accepted"], expected);
    let about = compared(&run);
    assert_eq!(theirs["decisions_in_force"]["decides_about"], about);
    // Deciding again as accepted flips nothing.
    let (again, code) = place.json(&format!("check {accepted} {check}"));
    assert_eq!((code, again["flips"].as_u64()), (0, Some(0)));
    place.ok("verify");
    let said = |run: &str, file: &str| {
        place.json(&format!("export {run} {file}.jsonl")).0["decisions_in_force"].clone()
    };
    assert_eq!(said(&run, "one")["accepted"], expected);
    assert_eq!(said(&accepted, "two")["decides_about"], about);
    let report = |run: &str| {
        place.ok(&format!("report {run} -o page.html --force"));
        place.read("page.html")
    };
    let accepted_in =
        format!("decisions accepted about these answers are in force, in run {accepted}: ");
    let page = report(&run);
    assert!(page.contains(&accepted_in), "{}", &page[..6_000]);
    assert!(page.contains("the decisions of this run itself are as they were recorded"));
    let page = report(&accepted);
    let about = format!("accepted decisions about the answers of run {run}: ");
    assert!(page.contains(&about), "{}", &page[..6_000]);
    // On the page, with a link to the other run.
    let served = Served::log(&place, "retold.db");
    for (run, other, text) in [
        (&run, &accepted, "Decisions accepted about these answers are in force, in run"),
        (&accepted, &run, "Accepted decisions about the answers of run"),
    ] {
        let notice = notice(&served, &format!("/run/{run}"), text);
        assert_eq!(notice["of"], Value::from(other.clone()));
        let text = notice["text"].as_str().unwrap();
        let counted = format!(" decisions, {flips} with another value");
        assert!(text.contains(&counted), "{text}");
        let html = served.html(&format!("/run/{run}"));
        assert!(html.contains(&format!("<a href=\"/run/{other}\">Run {}</a>", &other[..8])));
    }
}

/// A notice of a page that begins like this, once it is there: which decisions are in force is found
/// out in the background.
fn notice(served: &Served, path: &str, begin: &str) -> Value {
    let mut page = Value::Null;
    for _ in 0..600 {
        page = served.json(path);
        let mut notices = page["notices"].as_array().unwrap().iter();
        let is_it = |notice: &&Value| notice["text"].as_str().unwrap().starts_with(begin);
        if let Some(notice) = notices.find(is_it) {
            return notice.clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("no notice {begin} in {}", page["notices"]);
}

#[test]
fn a_parser_change_of_a_deliberation_from_end_to_end() {
    accepted_from_end_to_end("deliberation_small.yaml", "--parsers parsers.yaml --name vote", 20);
}

#[test]
fn a_parser_change_of_public_goods_from_end_to_end() {
    let set = "public_goods_small.yaml --set parser_version=1";
    accepted_from_end_to_end(set, "--call game1/r01", 1);
}
