//! Every page, as HTML and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{RECORDINGS, Served, imported, recorded, recording, run_of, runs};
use crate::support::cli::Place;

/// The addresses in a page.
fn links(html: &str) -> impl Iterator<Item = String> + '_ {
    html.split(['"', '\''])
        .zip(html.split(['"', '\'']).skip(1))
        .filter(|(before, _)| before.ends_with("href=") || before.ends_with("src="))
        .map(|(_, link)| link.replace("&amp;", "&"))
}

/// The address that a link on a page leads to.
fn resolved(page: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap();
    match link.chars().next() {
        None => page.to_owned(),
        Some('?') => format!("{}{link}", page.split('?').next().unwrap()),
        _ => link.to_owned(),
    }
}

/// What kind of page an address leads to, so that a few of each kind are looked at.
fn kind(address: &str) -> String {
    let path = address.split('?').next().unwrap();
    let parts: Vec<&str> = path
        .split('/')
        .map(|p| if p.contains(|c: char| c.is_ascii_digit()) { "1" } else { p })
        .collect();
    let keys: BTreeSet<&str> = address
        .split_once('?')
        .map(|(_, query)| query.split('&').map(|pair| pair.split('=').next().unwrap()).collect())
        .unwrap_or_default();
    format!("{}?{}", parts.join("/"), keys.into_iter().collect::<Vec<_>>().join("&"))
}

#[test]
fn every_link_leads_somewhere_and_nowhere_else() {
    let place = recorded();
    let served = Served::log(&place, "all.db");
    let mut waiting = vec!["/".to_owned()];
    let (mut seen, mut kinds) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    while let Some(address) = waiting.pop() {
        if !seen.insert(address.clone()) {
            continue;
        }
        let count = kinds.entry(kind(&address)).or_default();
        *count += 1;
        if *count > 12 {
            continue;
        }
        let mut answer = served.get(&address);
        while answer.status == 202 {
            answer = served.get(&address);
        }
        assert_eq!(answer.status, 200, "{address}: {}", answer.body);
        if !answer.head.contains("content-type: text/html") {
            continue;
        }
        let html = &answer.body;
        // Nothing inline, and nothing from elsewhere.
        for never in ["<style", " style=", " onclick=", "javascript:", "//cdn", "https:", "http:"] {
            // The text of prompts may name other sites; an attribute may not.
            let found = html.match_indices(never).any(|(at, _)| {
                let inside = html[..at].rfind('<') > html[..at].rfind('>');
                inside || never.starts_with('<')
            });
            assert!(!found, "{address} has {never}");
        }
        assert!(!html.contains("<script>"), "{address}");
        for link in links(html) {
            assert!(link.starts_with(['/', '?', '#']) || link.is_empty(), "{address}: {link}");
            waiting.push(resolved(&address, &link));
        }
    }
    let of = |kind: &str| kinds.keys().filter(|k| k.starts_with(kind)).count();
    for page in [
        "/run/1?",
        "/run/1/event/1",
        "/run/1/exchange/1?",
        "/run/1/exchange/1/prompt",
        "/run/1/exchange/1/answer",
        "/run/1/chain/1",
        "/run/1/participant/",
        "/run/1/state",
        "/run/1/check",
        "/run/1/stats",
        "/compare",
        "/assets/",
    ] {
        assert!(of(page) > 0, "no link leads to {page}: {kinds:?}");
    }
}

#[test]
fn a_page_and_its_json_are_one() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    for run in runs(&served) {
        let (html, json) =
            (served.html(&format!("/run/{run}")), served.json(&format!("/run/{run}")));
        let asked_in_query = served.get(&format!("/run/{run}?format=json"));
        assert_eq!(
            serde_json::from_str::<Value>(&asked_in_query.body).unwrap()["rows"],
            json["rows"]
        );
        for row in json["rows"].as_array().unwrap() {
            let seq = &row["seq"];
            assert!(html.contains(&format!("id=\"e{seq}\"")), "event {seq} of {run}");
            let href = row["href"].as_str().unwrap();
            assert!(html.contains(&format!("href=\"{href}\"")), "{href}");
        }
        assert_eq!(json["run"]["run"], run);
    }
}

/// The page and the terminal have the same numbers.
#[test]
fn the_numbers_are_those_of_the_command() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    let prices = ["--prices", "prices.yaml"];
    place.write("prices.yaml", "models:\n  \"*\": {prompt: 1000000, completion: 1000000}\n");
    let args = ["--log", "all.db", "serve", "--listen", "127.0.0.1:0", "--quiet"];
    let other = Served::with(&place, &[&args[..], &prices].concat());
    for run in runs(&served) {
        for (served, options) in [(&served, ""), (&other, "--prices prices.yaml")] {
            let page = served.json(&format!("/run/{run}/stats"));
            let (mut said, _) = place.json(&format!("--log all.db stats {run} {options}"));
            let said = said.as_object_mut().unwrap();
            for key in ["experiment", "outcome", "simulated", "figures"] {
                said.remove(key).unwrap();
            }
            assert_eq!(page["stats"], Value::Object(said.clone()), "{run}");
        }
        let (page, text) = (
            other.json(&format!("/run/{run}/stats")),
            place.ok(&format!("--log all.db stats {run} --prices prices.yaml")),
        );
        let dollars = page["stats"]["cost"]["dollars"].as_f64().unwrap();
        assert!(dollars > 0.0 && text.contains(&format!("${dollars:.2} at list prices")), "{text}");
        let html = other.html(&format!("/run/{run}/stats"));
        assert!(html.contains(&format!("${dollars:.2}")), "{html}");
    }
}

#[test]
fn events_since_a_time() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    for run in runs(&served) {
        let (all, _) = place.json(&format!("--log all.db log {run} --most 100000"));
        let all = all["events"].as_array().unwrap();
        let since = all[all.len() / 2]["time"].as_str().unwrap();
        let (said, _) =
            place.json(&format!("--log all.db log {run} --most 100000 --since {since}"));
        let due = said["events"].as_array().unwrap();
        let page = served.json(&format!("/run/{run}?since={since}"));
        assert_eq!(
            (&page["matching"], &page["filter"]["since"]),
            (&due.len().into(), &since.into())
        );
        let first = &page["rows"][0]["seq"];
        assert_eq!(*first, due[0]["seq"], "{run}");
        let html = served.html(&format!("/run/{run}?since={since}"));
        assert!(html.contains(&format!("value=\"{since}\"")), "{html}");
    }
    let wrong = served.get("/run/latest?since=yesterday");
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    assert!(wrong.body.contains("a time is written as 2026-11-22"), "{}", wrong.body);
}

/// The page lists what `retold log` lists.
#[test]
fn filters_are_those_of_the_command() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    let cases = [
        ("kind=DecisionMade", "--kind DecisionMade"),
        ("kind=Occurred&kind=RunFinished", "--kind Occurred --kind RunFinished"),
        ("call=p_0007", "--call p_0007"),
        ("call=p_0007/initial_vote", "--call p_0007/initial_vote"),
        ("call=agent_0&kind=DecisionMade", "--call agent_0 --kind DecisionMade"),
        ("method=answer_line", "--method answer_line"),
        ("failed=1", "--failed"),
        ("model=gpt-4o", "--model gpt-4o"),
        ("call=nobody", "--call nobody"),
    ];
    let mut listed = 0;
    for run in runs(&served) {
        for (query, options) in cases {
            let (said, _) = place.json(&format!("--log all.db log {run} --most 100000 {options}"));
            let seqs = |rows: &Value| -> Vec<u64> {
                rows.as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap()).collect()
            };
            let expected = seqs(&said["events"]);
            let (mut found, mut next) = (Vec::new(), Some(format!("?{query}")));
            let mut pages = Vec::new();
            while let Some(query) = next {
                let page = served.json(&format!("/run/{run}{query}"));
                assert_eq!(page["matching"], expected.len(), "{run} {query}");
                pages.push(seqs(&page["rows"]));
                found.extend(seqs(&page["rows"]));
                next = page["next"].as_str().map(str::to_owned);
                // Back from here is the page before.
                if let Some(back) = page["previous"].as_str() {
                    let back = served.json(&format!("/run/{run}{back}"));
                    assert_eq!(seqs(&back["rows"]), pages[pages.len() - 2], "{run} {query}");
                }
            }
            assert_eq!(found, expected, "{run} {query}");
            listed += found.len();
        }
    }
    assert!(listed > 500, "{listed}");
}

#[test]
fn parsers_are_compared_as_check_compares_them() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --set parser=game24@1 --set samples=20 --no-outputs");
    let served = Served::log(&place, "retold.db");
    let (checked, code) = place.json("check latest");
    let page = served.json("/run/latest/check");
    assert_eq!(code, 1, "{checked}");
    assert_eq!(page["decisions"], checked["decisions"]);
    assert_eq!(page["flipped"], checked["flipped"].as_array().unwrap().len());
    let first = &page["changes"][0];
    assert_eq!(first["seq"], checked["flipped"][0]["seq"]);
    assert_eq!(first["to"]["method"], checked["flipped"][0]["to"]["method"]);
    // What both decided about is beside them.
    let exchange = served.json(first["href"].as_str().unwrap());
    let pieces = exchange["answer"]["pieces"].as_array().unwrap();
    let answer: String = pieces.iter().map(|piece| piece["text"].as_str().unwrap()).collect();
    assert_eq!(first["answer"], answer);
    // Its own version changes nothing.
    let same = served.json("/run/latest/check?to=game24@1");
    assert_eq!((&same["flipped"], &same["altered"]), (&0.into(), &0.into()));
    let wrong = served.get("/run/latest/check?to=game24@9");
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("has no version 9"), "{}", wrong.body);
    assert_eq!(served.get("/run/latest/check?to=game24@1&format=json").status, 200);
}

/// A key that is not there would otherwise show something else than what was asked for.
#[test]
fn no_page_has_keys_that_mean_nothing() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs --set samples=3");
    let served = Served::log(&place, "retold.db");
    for (page, there) in [
        ("/", "before"),
        ("/compare", "a, b, difference, from"),
        (
            "/run/latest",
            "kind, call, label, method, model, status, failed, since, q, by, sort, skip",
        ),
        ("/run/latest/table.csv", "kind, call, label"),
        ("/run/latest/live", "kind, call, label"),
        ("/run/latest/state", "at, pointer"),
        ("/run/latest/check", "to, after"),
        ("/run/latest/agreement", "name, label, level, skip"),
        ("/run/latest/participant/1", "by, after"),
        ("/run/latest/stats", "so_far"),
        ("/run/latest/event/1", "format"),
        ("/run/latest/exchange/2", "format"),
        ("/run/latest/exchange/2/answer", "format"),
        ("/run/latest/chain/2", "format"),
    ] {
        let wrong = served.get(&format!("{page}?colour=red&format=html"));
        assert_eq!(wrong.status, 400, "{page}");
        let said = format!("this page has no key colour: there is {there}");
        assert!(wrong.body.contains(&said), "{page}: {}", wrong.body);
    }
}

#[test]
fn two_runs_are_compared_call_by_call() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs");
    place.ok("run small.yaml --quiet --no-outputs --set samples=4 --set parser=game24@1 --new");
    let served = Served::log(&place, "retold.db");
    let runs = runs(&served);
    let page = served.json(&format!("/compare?a={}&b={}", runs[1], runs[0]));
    let count = |key: &str| {
        let groups = page["groups"].as_array().unwrap();
        groups.iter().find(|group| group["key"] == key).unwrap()["count"].as_u64().unwrap()
    };
    assert_eq!(count("second"), 2, "{page}");
    assert_eq!(count("first") + count("prompt") + count("answer"), 0, "{page}");
    assert_eq!(count("same") + count("decision"), 6, "{page}");
    let keys: Vec<&str> =
        page["settings"].as_array().unwrap().iter().map(|s| s["key"].as_str().unwrap()).collect();
    assert!(keys.iter().any(|key| key.ends_with("samples")), "{keys:?}");
    let html = served.html(&format!("/compare?a={}&b={}", runs[1], runs[0]));
    assert!(html.contains("share of solved = true"), "{html}");
    assert!(html.contains("percentage points"), "{html}");
    let same = served.html(&format!("/compare?a={0}&b={0}", runs[0]));
    assert!(same.contains("groups of fewer than 5 clusters have no interval"), "{same}");
    let same = served.json(&format!("/compare?a={0}&b={0}&difference=same", runs[0]));
    assert_eq!(same["rows"].as_array().unwrap().len(), 8, "{same}");
}

/// The page and `diff` compare with the same function, and show the same.
#[test]
fn two_runs_differ_on_the_page_as_in_diff() {
    let place = imported();
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("--log all.db run {config} -q --no-outputs --set random_seed=5"));
    place.ok("--log all.db fork latest --set config.max_socratic_exchanges=1 -q");
    let served = Served::log(&place, "all.db");
    let all = runs(&served);
    for (one, other) in [(1, 0), (0, 1), (1, 1), (0, 2), (3, 4)] {
        let (one, other) = (&all[one], &all[other]);
        let (diff, _) = place.json(&format!("--log all.db diff {one} {other}"));
        let page = served.json(&format!("/compare?a={one}&b={other}"));
        let count = |key: &str| {
            let groups = page["groups"].as_array().unwrap();
            groups.iter().find(|group| group["key"] == key).unwrap()["count"].as_u64().unwrap()
        };
        let calls = |key: &str| diff["calls"][key].as_u64().unwrap();
        let what = format!("{one} {other}\n{}", diff["calls"]);
        assert_eq!(count("prompt"), calls("both") - calls("same_prompt"), "{what}");
        assert_eq!(count("answer"), calls("same_prompt") - calls("same_answer"), "{what}");
        assert_eq!(count("first"), calls("one") - calls("both"), "{what}");
        assert_eq!(count("second"), calls("other") - calls("both"), "{what}");
        assert_eq!(count("same") + count("decision"), calls("same_answer"), "{what}");
        let facts = |key: &str| page["facts"][key].as_u64().unwrap();
        assert_eq!(facts("same"), diff["facts"]["same"].as_u64().unwrap(), "{what}");
        let changes = facts("changed") + facts("only_first") + facts("only_second");
        assert_eq!(changes, diff["facts"]["changes"].as_array().unwrap().len() as u64, "{what}");
        let settings = page["settings"].as_array().unwrap().len() as u64;
        let more = page["more_settings"].as_u64().unwrap();
        assert_eq!(settings + more, diff["settings"].as_array().unwrap().len() as u64, "{what}");
        // The same figures, with intervals and differences.
        let mut figures = page["figures"].as_array().unwrap().clone();
        let said = place.run(&format!("--log all.db diff {one} {other}")).out;
        for figure in &mut figures {
            let shown = figure.as_object_mut().unwrap().remove("shown").unwrap();
            for difference in shown["differences"].as_array().unwrap() {
                assert!(said.contains(difference.as_str().unwrap()), "{difference} {said}");
            }
        }
        assert_eq!(Value::from(figures), diff["figures"], "{what}");
        assert_eq!(
            page["no_figures"].is_null(),
            diff["figures"] != serde_json::json!([]),
            "{what}"
        );
        let same = diff["outcome_digests"][0] == diff["outcome_digests"][1];
        assert_eq!(page["same_outcome"], same, "{what}");
        // The first difference of each lane is on its page, with its value if it was decided.
        for lane in diff["lanes"].as_array().unwrap().iter().take(5) {
            let key = match lane["what"].as_str().unwrap() {
                "only_in_one" => "first",
                "only_in_other" => "second",
                key => key,
            };
            let listed = format!("/compare?a={one}&b={other}&difference={key}");
            let mut rows = served.json(&listed)["rows"].as_array().unwrap().clone();
            rows.retain(|row| row["call"] == lane["call"] && row["sample"] == lane["sample"]);
            assert!(rows.len() == 1 || count(key) > 60, "{lane}");
            for row in rows {
                let decided = lane["one"]["decision"].is_object();
                assert_eq!(row["first"]["method"].is_string(), decided, "{row}");
            }
        }
    }
}

/// Parser files are those that were named when the server was started, and no others.
#[test]
fn parser_files_decide_as_in_check() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs");
    let file = "parsers:\n  - name: last_line\n    for: {call: solve}\n    strategies:\n      \
        - {last_line: true}\n";
    place.write("parsers.yaml", file);
    std::fs::create_dir(place.path("more")).unwrap();
    place.write("more/parsers.yaml", file.replace("last_line\n", "other\n"));
    place.write("secret.yaml", file);
    let args = ["serve", "--listen", "127.0.0.1:0", "--quiet", "--parsers", "parsers.yaml"];
    let served = Served::with(&place, &[&args[..], &["--parsers", "more/parsers.yaml"]].concat());
    for (name, path) in
        [("file:parsers.yaml", "parsers.yaml"), ("file:parsers.yaml(2)", "more/parsers.yaml")]
    {
        let (checked, code) = place.json(&format!("check latest --parsers {path}"));
        let page = served.json(&format!("/run/latest/check?to={name}"));
        assert_eq!(code, 1, "{checked}");
        assert_eq!(page["decisions"], checked["decisions"], "{page}");
        assert_eq!(page["flipped"], checked["flipped"].as_array().unwrap().len(), "{page}");
        assert_eq!(page["parser_to"], serde_json::json!([checked["parser_to"]]), "{page}");
        assert_eq!(page["changes"][0]["to"]["value"], checked["flipped"][0]["to"]["value"]);
        let chosen = page["versions"].as_array().unwrap().iter().find(|v| v["chosen"] == true);
        assert_eq!(chosen.unwrap()["name"], name);
    }
    for path in ["file:secret.yaml", "file:../secret.yaml", "secret.yaml", "file:/etc/passwd"] {
        let refused = served.get(&format!("/run/latest/check?to={}", path.replace('/', "%2F")));
        assert_eq!(refused.status, 400, "{path}: {}", refused.body);
    }
    let refused = served.get("/run/latest/check?to=file:secret.yaml").body;
    assert!(refused.contains("it was started with file:parsers.yaml, file:parsers.yaml(2)"));
    let said = place.run("serve --listen 127.0.0.1:0 --parsers none.yaml");
    assert!(said.code == 2 || said.code == 3, "{}", said.err);
    assert!(said.err.contains("none.yaml"), "{}", said.err);
}

#[test]
fn the_part_that_the_parser_took_is_marked() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    let run = run_of(&served, "game24");
    let rows = served.json(&format!("/run/{run}?kind=DecisionMade"));
    let mut marked = 0;
    for row in rows["rows"].as_array().unwrap() {
        let page = served.json(&format!("/run/{run}/exchange/{}", row["seq"]));
        let pieces = page["answer"]["pieces"].as_array().unwrap();
        let taken: Vec<&str> = pieces
            .iter()
            .filter(|p| p["taken"] == true)
            .map(|p| p["text"].as_str().unwrap())
            .collect();
        assert_eq!(page["decision"]["method"], row["method"]);
        if page["decision"]["taken"] == "span" {
            assert_eq!(taken.len(), 1, "{page}");
            // The piece alone leads to the same decision.
            let parser = page["decision"]["parser"].as_str().unwrap();
            let params = page["decision"]["params"].as_str().unwrap();
            let args = ["check", "--text", "-", "--parser", parser, "--params", params, "--json"];
            let said: Value =
                serde_json::from_str(&place.fed(&args, taken[0].as_bytes()).out).unwrap();
            assert_eq!(said["method"], row["method"], "{taken:?}");
            let value: Value =
                serde_json::from_str(page["decision"]["value"].as_str().unwrap()).unwrap();
            assert_eq!(said["value"], value, "{taken:?}");
            marked += 1;
        }
    }
    assert!(marked > 2, "{marked}");
}

#[test]
fn the_request_is_a_file_with_the_bytes_that_were_hashed() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    for run in runs(&served) {
        let rows = served.json(&format!("/run/{run}?kind=RequestSent"));
        let seq = &rows["rows"][0]["seq"];
        let page = served.json(&format!("/run/{run}/exchange/{seq}"));
        let file = served.get(&format!("/run/{run}/exchange/{seq}/prompt"));
        assert!(file.head.contains("content-disposition: attachment"), "{}", file.head);
        let hash = blake3::hash(file.body.as_bytes()).to_string();
        assert_eq!(page["prompt"]["hash"], hash);
    }
}

/// The way that the README describes: run, one of its participants, why.
#[test]
fn three_clicks_lead_to_why_somebody_voted_as_they_did() {
    let place = recorded();
    let served = Served::log(&place, "all.db");
    let run = run_of(&served, "deliberation");
    let clicked = |page: &str, wanted: &str| {
        let html = served.html(page);
        let found = links(&html).find(|link| link.contains(wanted));
        resolved(page, &found.unwrap_or_else(|| panic!("{page} has no link to {wanted}")))
    };
    let timeline = clicked("/", &run);
    let rows = served.json(&timeline)["table"]["rows"].clone();
    let names = rows.as_array().unwrap().iter().map(|row| row["value"].as_str().unwrap());
    let first = names.clone().find(|name| name.starts_with("p_")).unwrap();
    let story = clicked(&timeline, &format!("/participant/{first}"));
    let page = served.json(&story);
    let steps = page["steps"].as_array().unwrap();
    let vote = steps.iter().find(|step| step["call"].as_str().unwrap().starts_with("final_vote"));
    let why = clicked(&story, vote.unwrap()["chain"].as_str().unwrap());
    let chain = served.json(&why);
    assert!(chain["call"].as_str().unwrap().starts_with("final_vote/"), "{chain}");
    assert!(!chain["prompts"][0]["from"].as_array().unwrap().is_empty(), "{chain}");
}

/// What the page says about a decision is what `audit` says.
#[test]
fn a_chain_is_that_of_audit() {
    let place = recorded();
    let served = Served::log(&place, "all.db");
    let mut sources = 0;
    for run in runs(&served) {
        let rows = served.json(&format!("/run/{run}?kind=DecisionMade"));
        for row in rows["rows"].as_array().unwrap().iter().rev().take(3) {
            let seq = &row["seq"];
            let (audit, _) = place.json(&format!("--log all.db audit {run} {seq}"));
            let page = served.json(&format!("/run/{run}/chain/{seq}"));
            let from = |prompts: &Value, key: &str| -> Vec<usize> {
                let all = prompts.as_array().into_iter().flatten();
                all.map(|prompt| prompt[key].as_array().unwrap().len()).collect()
            };
            let found = from(&page["prompts"], "from");
            assert_eq!(found, from(&audit["declared"]["prompts"], "made_from"), "{run} {seq}");
            assert_eq!(page["question"], audit["question"]["seq"]);
            sources += found.iter().sum::<usize>();
        }
    }
    assert!(sources > 20, "{sources}");
}

#[test]
fn a_recording_or_a_file_of_exchanges_is_shown_without_a_log() {
    let place = Place::new();
    for name in RECORDINGS {
        let file = recording(name);
        let served = Served::with(&place, &["serve", &file, "--listen", "127.0.0.1:0", "--quiet"]);
        let page = served.json("/");
        assert_eq!(page["all"], 1, "{page}");
        assert_eq!(served.json("/run/latest")["live"], Value::Null);
    }
    place.write("asked.jsonl", "{\"request\":{\"model\":\"m\",\"messages\":[]},\"response\":{\"content\":\"yes\"},\"call\":\"a/1\"}\n");
    let served =
        Served::with(&place, &["serve", "./asked.jsonl", "--listen", "127.0.0.1:0", "--quiet"]);
    assert_eq!(served.json("/")["runs"][0]["kind"], "exchanges");
    assert!(!place.path("retold.db").exists());
}

#[test]
fn what_is_not_there_is_said() {
    let place = Place::with_run();
    let served = Served::log(&place, "retold.db");
    let cases = [
        ("/nothing", 404, "this server has no page /nothing: begin at /"),
        ("/run/ffff", 404, "retold.db has no run ffff: the page / lists its runs"),
        ("/run/%3Cscript%3E", 404, "retold.db has no run"),
        ("/run/latest/event/99999", 404, "has no event 99999"),
        ("/run/latest/state?at=99999", 404, "has no event 99999: its last one is"),
        ("/run/latest/event/x", 404, "x is not the number of an event"),
        ("/run/latest/exchange/1", 404, "does not belong to a question"),
        ("/run/latest/participant/nobody", 404, "has no participant or call nobody: "),
        (
            "/run/latest/state?pointer=/none",
            404,
            "the state has no part /none: a part is named like /key/0",
        ),
        ("/run/latest?after=x", 400, "after=x is not a value"),
        ("/run/latest?call=a//b", 400, "empty part"),
        ("/%ff", 404, "this server has no page"),
    ];
    for (path, status, said) in cases {
        let answer = served.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains(said), "{path}: {}", answer.body);
        let json = served.ask("GET", path, "Accept: application/json\r\n");
        assert_eq!(json.status, status, "{path}");
        let json: Value = serde_json::from_str(&json.body).unwrap();
        assert!(json["error"].as_str().unwrap().contains(said), "{path}: {json}");
    }
}

/// By these names commands find them, too.
#[test]
fn runs_of_studies_are_listed_with_their_names() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    place.ok(&format!("run {config} --quiet --no-outputs --set game_length=1"));
    let page = Served::log(&place, "retold.db").get("/").body;
    assert!(page.contains("<strong>public_goods_small</strong>"), "{page}");
}

#[test]
fn the_list_says_what_came_out_and_has_decisions_below_their_run() {
    let place = Place::new();
    for samples in [1, 2] {
        let parser = "--set parser=game24@1";
        place.ok(&format!("run small.yaml --quiet --no-outputs {parser} --set samples={samples}"));
    }
    let first = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    place.ok(&format!("check {first} --accept --parser game24@2"));
    let served = Served::log(&place, "retold.db");
    let page = served.json("/");
    let runs = page["runs"].as_array().unwrap();
    let of = |at: usize, key: &str| runs[at][key].clone();
    assert_eq!((of(0, "kind"), of(1, "run")), ("study".into(), first.as_str().into()), "{page}");
    assert_eq!((of(2, "is_indented"), of(2, "from")), (true.into(), first.as_str().into()));
    assert_eq!((of(1, "is_indented"), of(1, "is_long")), (false.into(), false.into()));
    for run in &runs[..2] {
        let stats = served.json(&format!("/run/{}/stats", run["run"].as_str().unwrap()));
        assert_eq!(run["summary"]["answers"], stats["stats"]["calls"]["answered"], "{run}");
        assert_eq!(run["summary"]["figure"][0], stats["figures"][0]["shown"]["title"], "{run}");
        assert!(run["milliseconds"].as_i64().is_some_and(|ms| ms >= 0), "{run}");
    }
    assert!(served.html("/").contains("class=\"below\""));
}
