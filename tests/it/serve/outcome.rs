//! The page of a run opens on what came out: figures, and a table of its calls or participants.

use retold::model::{Response, Usage};
use serde_json::{Value, json};

use super::{Served, imported, run_of, runs};
use crate::cli::run_figures::votes;
use crate::support::cli::{Place, assert_said};
use crate::support::program_run::ProgramRun;

/// The texts of the cells of a table.
fn cells(page: &Value) -> Vec<Vec<&str>> {
    let rows = page["table"]["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let cells = row["cells"].as_array().unwrap().iter();
        cells.map(|cell| cell["text"].as_str().unwrap()).collect()
    })
    .collect()
}

fn headings(page: &Value) -> Vec<&str> {
    let columns = page["table"]["columns"].as_array().unwrap().iter();
    columns.map(|column| column["heading"].as_str().unwrap()).collect()
}

/// The page has the figures that the command prints: the difference, the table and the events, in this order.
#[test]
fn a_program_s_run_opens_on_the_figures_of_stats() {
    let place = Place::new();
    votes(&place, 1, [8, 3]);
    let served = Served::log(&place, "retold.db");
    let page = served.json("/run/latest");
    let (said, _) = place.json("stats latest");
    for (shown, printed) in
        page["figures"].as_array().unwrap().iter().zip(said["figures"].as_array().unwrap())
    {
        for (key, value) in printed.as_object().unwrap() {
            assert_eq!(&shown[key], value, "{key}");
        }
    }
    assert_eq!(
        page["figures"].as_array().unwrap().len(),
        said["figures"].as_array().unwrap().len()
    );
    let differences = page["figures"][0]["shown"]["differences"].as_array().unwrap();
    let mut differences = differences.iter().map(|difference| difference.as_str().unwrap());
    let difference = differences.find(|it| it.starts_with("ctl minus acp")).unwrap();
    assert!(place.ok("stats latest").contains(difference), "{difference}");
    let html = served.html("/run/latest");
    let place_of = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} in {html}"));
    let cell = "<td>ctl minus acp</td>";
    let order = [cell, "Calls by participant", "<h2 id=\"h-timeline\">"].map(place_of);
    assert!(order.is_sorted(), "{order:?}");
    // What a program calls its participants is inert.
    assert!(!html.contains("<b>red</b>") && !html.contains('\u{1b}'), "{html}");
    // The page of numbers begins with them, too.
    assert!(served.html("/run/latest/stats").contains(cell));
}

#[test]
fn studies_open_on_their_headline_figures() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    for run in runs(&served) {
        let page = served.json(&format!("/run/{run}"));
        let (said, _) = place.json(&format!("--log all.db stats {run}"));
        let shown = page["figures"].as_array().unwrap();
        assert!(!shown.is_empty(), "{page}");
        let text = place.ok(&format!("--log all.db stats {run}"));
        for (shown, printed) in shown.iter().zip(said["figures"].as_array().unwrap()) {
            for (key, value) in printed.as_object().unwrap() {
                assert_eq!(&shown[key], value, "{key}");
            }
            assert!(text.contains(&format!("\n{}\n", shown["figure"].as_str().unwrap())), "{text}");
        }
        // Recorded before calls had labels: nothing is made of their names.
        let by = page["table"]["by"].as_str().map_or(String::new(), |by| format!("by {by} "));
        let heading = format!("<h2 id=\"h-table\">Calls {by}<");
        assert!(served.html(&format!("/run/{run}")).contains(&heading), "{heading}");
    }
}

#[test]
fn participants_stand_with_their_condition_and_what_they_decided() {
    let place = Place::new();
    votes(&place, 1, [8, 3]);
    let served = Served::log(&place, "retold.db");
    let page = served.json("/run/latest");
    let named = ["participant", "condition", "vote", "calls", "failed"];
    assert_eq!(headings(&page)[..5], named);
    let rows = cells(&page);
    assert_eq!(rows[0][..5], ["acp_0", "acp", "yes", "1", "0"]);
    assert_eq!(rows[10][..5], ["acp_10", "acp", "", "1", "1"], "its call failed");
    assert_eq!(rows[9][0], "acp_9", "by number");
    // By a label with few values: first and last of what was decided.
    let conditions = served.json("/run/latest?by=condition");
    let ctl = cells(&conditions).into_iter().find(|row| row[0] == "ctl").unwrap();
    assert_eq!(ctl[..4], ["ctl", "yes → no (10)", "11", "0"], "the null vote does not count");
    let calls = served.json("/run/latest?by=call");
    assert_eq!(calls["table"]["by"], Value::Null);
    assert_eq!(cells(&calls)[0][0], "vote/acp_0#0");
    let wrong = served.get("/run/latest?by=nothing");
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.body.contains("no call has a label nothing: there is condition, participant, call")
    );
}

#[test]
fn what_is_chosen_narrows_the_table_and_the_events_down() {
    let place = Place::new();
    votes(&place, 1, [8, 3]);
    let served = Served::log(&place, "retold.db");
    let page = served.json("/run/latest?label=condition%3Dacp");
    assert_eq!((&page["table"]["all"], &page["table"]["calls"]), (&json!(12), &json!(12)));
    let condition = page["facets"].as_array().unwrap().iter().find(|f| f["name"] == "condition");
    let count = |text: &str| {
        let values = condition.unwrap()["values"].as_array().unwrap();
        values.iter().find(|value| value["text"] == text).unwrap()["count"].clone()
    };
    assert_eq!((count("acp"), count("ctl")), (json!(12), json!(11)), "what each would show");
    let failed = served.json("/run/latest?status=failed");
    assert_eq!(cells(&failed)[0][0], "acp_10");
    let kinds: Vec<&Value> =
        failed["rows"].as_array().unwrap().iter().map(|r| &r["kind"]).collect();
    assert_eq!(kinds, ["RequestSent", "AttemptFailed"], "the events of that call");
    let wrong = served.get("/run/latest?status=lost");
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.body.contains("status=lost is not a status: there is answered, failed, unanswered")
    );
}

/// The file has the rows of the page, in their order, and all pages of them.
#[test]
fn a_table_is_sorted_and_its_file_has_what_is_shown() {
    let place = Place::new();
    votes(&place, 1, [8, 3]);
    let served = Served::log(&place, "retold.db");
    for sort in ["", "&sort=name", "&sort=-name", "&sort=decision:vote", "&sort=-decision:vote"] {
        let query = format!("?label=condition%3Dacp{sort}");
        let page = served.json(&format!("/run/latest{query}"));
        let csv = served.get(page["table"]["csv"].as_str().unwrap());
        assert!(csv.head.contains("attachment") && csv.status == 200, "{}", csv.head);
        let lines: Vec<Vec<&str>> =
            csv.body.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(lines[0], headings(&page));
        let plain: Vec<Vec<String>> = page["table"]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let cells = row["cells"].as_array().unwrap().iter();
                let number =
                    |cell: &Value| cell["number"].as_f64().map(|number| number.to_string());
                cells
                    .map(|cell| {
                        number(cell).unwrap_or_else(|| cell["text"].as_str().unwrap().to_owned())
                    })
                    .collect()
            })
            .collect();
        assert_eq!(lines[1..], plain[..], "{sort}");
    }
    let votes = |sort: &str| {
        let page = served.json(&format!("/run/latest?sort={sort}"));
        cells(&page).iter().map(|row| row[2].to_owned()).collect::<Vec<_>>()
    };
    let (up, down) = (votes("decision:vote"), votes("-decision:vote"));
    assert_eq!((up[0].as_str(), down[0].as_str()), ("no", "yes"));
    let all = served.json("/run/latest")["table"]["all"].as_u64().unwrap();
    let last = served.json("/run/latest?sort=-decision:vote&skip=20");
    assert_eq!(all, 24);
    assert_eq!(cells(&last).last().unwrap()[2], "", "what is missing comes last");
}

/// Decisions that were accepted later are those of the figures, and so of the table.
#[test]
fn the_table_has_the_decisions_in_force() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs --set parser=game24@1 --set samples=3");
    place.ok("check latest --accept --parser game24@2");
    let served = Served::log(&place, "retold.db");
    let run = run_of(&served, "game24");
    let page = served.json(&format!("/run/{run}?by=call"));
    let checked = served.json(&format!("/run/{run}/check?to=game24@2"));
    let flips: Vec<&Value> =
        checked["changes"].as_array().unwrap().iter().filter(|c| c["flips"] == true).collect();
    assert!(!flips.is_empty(), "{checked}");
    let rows = cells(&page);
    let at = headings(&page).iter().position(|heading| *heading == "game24").unwrap();
    for flip in flips {
        let call = format!("{}#{}", flip["call"].as_str().unwrap(), flip["sample"]);
        let Some(row) = rows.iter().find(|row| row[0] == call) else { continue };
        let now = flip["to"]["value"].as_str().unwrap();
        assert_eq!(row[at], if now == "null" { "" } else { now }, "{call}");
    }
}

#[test]
fn a_story_begins_with_its_first_and_its_last_decision() {
    let place = Place::new();
    votes(&place, 1, [8, 3]);
    let served = Served::log(&place, "retold.db");
    let story = served.json("/run/latest/participant/ctl?by=condition");
    // Nothing says that one of its calls follows another.
    assert_eq!(story["ends"], json!([]));
    let one = served.json("/run/latest/participant/acp_0");
    let shown =
        |end: &Value| ["which", "value", "call"].map(|key| end[key].as_str().unwrap().to_owned());
    assert_eq!(shown(&one["ends"][0])[..2], ["only", "yes"]);
    let mut run = ProgramRun::begin();
    for (turn, value) in [("1", "yes"), ("2", "no")] {
        let labels = [("participant", "p"), ("turn", turn)];
        let asked = run.asks(&format!("vote/{turn}"), 0, &labels, &json!([]));
        let answer = run.answered(asked, Response::text("I vote"));
        run.decided(answer, "vote", "reported", json!(value));
    }
    run.store(&place, 2);
    let story = served.json("/run/latest/participant/p");
    let ends = story["ends"].as_array().unwrap();
    assert_eq!(shown(&ends[0]), ["first", "yes", "vote/1"]);
    assert_eq!(shown(&ends[1]), ["last", "no", "vote/2"]);
    let html = served.html("/run/latest/participant/p");
    let why = format!("href=\"{}\"", ends[1]["chain"].as_str().unwrap());
    assert!(html.find(&why).unwrap() < html.find("<ol class=\"story\">").unwrap(), "{html}");
    assert_eq!(served.get(ends[0]["chain"].as_str().unwrap()).status, 200);
}

#[test]
fn prompts_that_differ_are_compared_by_words_and_runs_say_where_they_came_from() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs --set random_seed=5"));
    place.ok("fork latest --set config.max_socratic_exchanges=1 -q");
    let served = Served::log(&place, "retold.db");
    let all = runs(&served);
    let address = format!("/compare?a={}&b={}&difference=prompt", all[1], all[0]);
    let page = served.json(&address);
    let rows = page["rows"].as_array().unwrap();
    assert!(!rows.is_empty(), "{page}");
    for row in rows {
        let pieces = row["words"]["words"].as_array().unwrap();
        assert!(pieces.iter().any(|piece| piece["change"] != "same"), "{row}");
    }
    let html = served.html(&address);
    assert!(html.contains("<ins>") || html.contains("<del>"), "{html}");
    let link = format!("is a fork of <a href=\"/run/{}\">", all[1]);
    assert!(html.contains(&link), "{link} in {html}");
    // Two clicks from the list of runs: the run, and its parent to compare it with.
    let fork = served.json(&format!("/run/{}", all[0]));
    assert_eq!(fork["others"][0]["is_parent"], true);
    let compared = served.html(fork["others"][0]["href"].as_str().unwrap());
    assert!(compared.contains("percentage points"), "{compared}");
}

/// Each row of the table has the bars of its calls on one axis, of which another part can be asked for.
#[test]
fn the_time_axis_has_the_rows_of_the_table() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs --set samples=3");
    let served = Served::log(&place, "retold.db");
    let page = served.json("/run/latest?by=call");
    let rows = page["table"]["rows"].as_array().unwrap();
    let window = &page["table"]["axis"]["window"];
    let (begin, end) = (window["begin"].as_i64().unwrap(), window["end"].as_i64().unwrap());
    for row in rows {
        let bar = &row["bars"][0];
        assert_eq!((&bar["seq"], &bar["calls"]), (&row["seq"], &json!(1)), "{row}");
        let right = bar["x"].as_f64().unwrap() + bar["width"].as_f64().unwrap();
        assert!((0.0..=1000.01).contains(&right), "{bar}");
        assert!(
            begin <= bar["when"]["begin"].as_i64().unwrap()
                && bar["when"]["end"].as_i64().unwrap() <= end
        );
    }
    if let Some(closer) = page["table"]["axis"]["closer"].as_str() {
        let closer = served.json(&format!("/run/latest{closer}"));
        assert!(closer["table"]["axis"]["whole"].is_string(), "{closer}");
    }
    let wrong = served.get("/run/latest?window=5-5");
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("window=5-5 is not a part of the time axis"), "{}", wrong.body);
}

/// The part of a page from one text to another.
fn part<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    let begin = html.find(from).unwrap_or_else(|| panic!("{from} in {html}"));
    let end = html[begin..].find(to).unwrap_or_else(|| panic!("{to} in {html}"));
    &html[begin..begin + end]
}

#[test]
fn a_small_table_looks_like_this() {
    let place = Place::new();
    votes(&place, 1, [8, 3]);
    let served = Served::log(&place, "retold.db");
    let html = served.html("/run/latest?by=condition&sort=-calls");
    assert_said!("serve_table", part(&html, "<table class=\"list outcomes\">", "</table>"));
}

/// A participant who votes in ten calls of different names, and a call that belongs to nobody.
fn votes_in_many_places(place: &Place) {
    let mut run = ProgramRun::begin();
    for n in 0..11 {
        let labels: &[_] = if n < 10 { &[("participant", "p")] } else { &[] };
        let call = format!("c{}", char::from(b'a' + n));
        let asked = run.asks(&call, 0, labels, &json!([]));
        let answer = run.answered(asked, Response::text("I vote"));
        let value = if n < 9 { json!("yes") } else { json!("no") };
        run.decided(answer, "vote", "reported", value);
    }
    run.store(place, 3);
}

#[test]
fn a_decision_of_many_places_is_one_column_and_calls_in_no_row_are_counted() {
    let place = Place::new();
    votes_in_many_places(&place);
    let served = Served::log(&place, "retold.db");
    let page = served.json("/run/latest?by=participant");
    let at = headings(&page).iter().position(|heading| *heading == "vote").unwrap();
    assert_eq!(cells(&page)[0][at], "yes → no (10)");
    assert_eq!((&page["table"]["calls"], &page["table"]["without"]), (&json!(11), &json!(1)));
    let html = served.html("/run/latest?by=participant");
    assert!(html.contains("1 row of 11 calls"), "{html}");
    assert!(html.contains("1 call without the label participant is in no row."), "{html}");
}

/// What nobody counted did not cost nothing, and a sum of costs has no digits of binary fractions.
#[test]
fn an_unknown_cost_is_not_zero_and_a_known_one_is_not_noisy() {
    let place = Place::new();
    let mut run = ProgramRun::begin();
    for call in ["a", "b", "c"] {
        let asked = run.asks(call, 0, &[("group", call)], &json!([]));
        run.answered(asked, Response::text("-1+2"));
    }
    run.store(&place, 3);
    place.write("prices.yaml", "models:\n  m: {prompt: 1, completion: 1}\n");
    let served = |place: &Place| {
        let args = ["--log", "retold.db", "serve", "--listen", "0", "--quiet"];
        Served::with(place, &[&args[..], &["--prices", "prices.yaml"]].concat())
    };
    let page = served(&place);
    assert_eq!(page.json("/run/latest")["totals"]["dollars"], Value::Null);
    assert!(!page.html("/run/latest").contains("$0.00"));
    let place = Place::new();
    let mut run = ProgramRun::begin();
    for (call, tokens) in [("a", 100_000), ("b", 200_000)] {
        let asked = run.asks(call, 0, &[("group", "=x")], &json!([]));
        let usage = Usage { prompt_tokens: Some(tokens), ..Usage::default() };
        run.answered(asked, Response { usage: Some(usage), ..Response::text("yes") });
    }
    run.store(&place, 3);
    place.write("prices.yaml", "models:\n  m: {prompt: 1, completion: 1}\n");
    let page = served(&place);
    let csv = page.get("/run/latest/table.csv?by=group").body;
    assert!(csv.contains(",0.3") && !csv.contains("0.300000"), "{csv}");
    assert!(csv.contains("\n'=x,"), "{csv}");
}
