//! `retold report`.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use data_encoding::BASE64;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::cli::{Place, assert_said};
use crate::support::csv::{Row, rows_of};

const ROOT: &str = env!("RETOLD_ROOT");

/// The attribute values of one name in a page, in order.
pub(super) fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let begin = format!(" {name}=\"");
    page.split(begin.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The page of a run that was just recorded; nothing in it may come from elsewhere.
pub(super) fn page(place: &Place, args: &str) -> String {
    place.ok(&format!("report {args} -o page.html --force"));
    let page = place.read("page.html");
    assert!(
        !page.contains("<script") && !page.contains("<link") && !page.contains(" src="),
        "{page}"
    );
    // A program's run shows, as text, the server that it asked.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "").replace("http://127.0.0.1:", "");
    assert!(!elsewhere.contains("http://") && !elsewhere.contains("url("), "{args}");
    page
}

/// The tables that can be downloaded: file name and text.
pub(super) fn tables(page: &str) -> Vec<(String, String)> {
    let names = attributes(page, "download").into_iter().map(str::to_owned);
    let encoded = page.split("data:text/csv;base64,").skip(1);
    let texts = encoded.map(|rest| {
        let bytes = BASE64.decode(rest.split('"').next().unwrap().as_bytes()).unwrap();
        String::from_utf8(bytes).unwrap()
    });
    names.zip(texts).collect()
}

#[test]
fn a_deliberation_on_a_page() {
    let place = Place::new();
    place.ok(&format!("run {ROOT}/config/deliberation_small.yaml -q --no-outputs"));
    let page = page(&place, "latest");
    assert!(page.contains("SIMULATED"), "{}", &page[..2000]);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let tables = tables(&page);
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "figure_1.csv",
        "votes_simple_passive_1.csv",
        "votes_clarified_passive_1.csv",
        "votes_acp_1.csv",
        "clusters_1.csv",
        "clarification_lengths_1.csv",
        "challenge_lengths_1.csv",
    ];
    assert_eq!(names, expected);
    // The flow of votes adds up to those who voted twice, and the changes to the change rate.
    let (mut all, mut changed) = (0, 0);
    let mut rows = csv::Reader::from_reader(tables[3].1.as_bytes());
    for row in rows.records().map(Result::unwrap) {
        let n: u32 = row[2].parse().unwrap();
        all += n;
        changed += if row[0] == row[1] { 0 } else { n };
    }
    let report = place.json("show latest").0["report"].clone();
    let acp = &report["by_condition"]["acp"];
    assert_eq!(
        (acp["completed"].as_u64(), acp["position_changed"].as_u64()),
        (Some(all.into()), Some(changed.into()))
    );
    assert_eq!(page.matches("<svg").count(), expected.len());
}

/// The interval on the page, computed again by a program that shares no code with it.
#[test]
fn exact_intervals_equal_those_of_another_program() {
    let place = Place::new();
    place.ok(&format!("run {ROOT}/config/deliberation_small.yaml -q --no-outputs"));
    let (found, _) = place.json("stats latest");
    let figures = found["figures"][0]["groups"].as_array().unwrap().iter();
    let exact: Vec<&Value> =
        figures.filter(|one| one["interval"]["method"] == "clopper_pearson").collect();
    assert!(!exact.is_empty(), "{found}");
    for one in exact {
        let number = |value: &Value| value.as_f64().unwrap();
        let program = "import sys\n\
            from math import comb\n\
            k, n = int(sys.argv[1]), int(sys.argv[2])\n\
            tail = lambda p, a, b: sum(comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(a, b))\n\
            def root(is_below):\n\
            \u{20}   low, high = 0.0, 1.0\n\
            \u{20}   for _ in range(100):\n\
            \u{20}       middle = (low + high) / 2\n\
            \u{20}       low, high = (middle, high) if is_below(middle) else (low, middle)\n\
            \u{20}   return low\n\
            print(0 if k == 0 else root(lambda p: tail(p, k, n + 1) < 0.025),\n\
            \u{20}     1 if k == n else root(lambda p: tail(p, 0, k + 1) > 0.025))";
        let (n, share) = (number(&one["draws"]), number(&one["value"]));
        let out = Command::new("/usr/bin/python3")
            .args(["-c", program, &format!("{:.0}", share * n), &n.to_string()])
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let ends: Vec<f64> = text.split_whitespace().map(|end| end.parse().unwrap()).collect();
        let interval = &one["interval"];
        assert!((number(&interval["low"]) - ends[0]).abs() < 1e-9, "{one} {text}");
        assert!((number(&interval["high"]) - ends[1]).abs() < 1e-9, "{one} {text}");
    }
}

#[test]
fn every_study_has_a_page() {
    let place = Place::new();
    for (config, plots) in
        [("public_goods_small.yaml", 2), ("society_small.yaml", 4), ("adventure.yaml", 4)]
    {
        place.ok(&format!("run {ROOT}/config/{config} -q --no-outputs"));
        let page = page(&place, "latest");
        assert!(tables(&page).len() >= plots, "{config}");
        assert!(page.contains("How decisions were found"), "{config}");
    }
    place.ok("run small.yaml -q --set parser=game24@1 --set samples=20");
    let page = page(&place, "latest");
    assert!(page.contains("last resort: nothing was found in the answer"), "a fallback is marked");
    assert!(page.contains("come from a parser's last resort"));
}

#[test]
fn two_runs_on_a_page() {
    let place = Place::with_run();
    let run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    place.ok("fork latest --set parser=game24@1 -q");
    let page = page(&place, &format!("{run} latest"));
    assert!(page.contains("-16.67 percentage points, paired over 2 puzzles in both"), "{page}");
    assert_eq!(tables(&page).len(), 7, "the plots of both, and of the figure in both");
    assert!(page.contains("none with 2 puzzles: 33.33 %, 33.33 %"), "{page}");
    place.ok("export latest run.jsonl");
    place.ok("report run.jsonl -o other.html");
    let (said, code) = place.json("report latest -o third.html");
    assert_eq!((code, &said["plots"], &said["simulated"]), (0, &3.into(), &true.into()));
    assert!(place.read("third.html").len() as u64 == said["bytes"]);
    assert_eq!(place.ok("report latest -o -"), place.read("third.html"));
    assert!(!place.path("-").exists());
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs --set games=2 --set game_length=2"));
    let shown = place.session(&[
        "report latest run.jsonl -o new.html",
        "report latest -o page.html",
        "report latest -o no/page.html",
        "report ffff -o new.html",
        "report latest -o - --json",
        "report latest",
    ]);
    assert_said!("reports_wrong", shown);
}

#[test]
fn a_log_is_never_replaced_nor_a_file_of_one() {
    let place = Place::with_run();
    std::os::unix::fs::symlink(place.path("retold.db-mark"), place.path("link")).unwrap();
    std::os::unix::fs::symlink("retold.db-shm", place.path("to-none")).unwrap();
    let files = [
        "retold.db",
        "./retold.db-mark",
        "link",
        "to-none",
        "retold.db-wal",
        "retold.db-shm",
        "retold.db-search",
        "retold.db-journal",
        "retold.db-search-journal",
        "retold.db-wal.damaged-1",
    ];
    let all = || files.map(|file| std::fs::read(place.path(file)).ok());
    let before = all();
    let why =
        "it is a log or a file of one, which is never replaced\n  hint: choose another name\n";
    for file in files {
        for args in [
            format!("report latest --force -o {file}"),
            format!("export latest --force {file}"),
            format!("audit latest solve/0#0 --force --proof {file}"),
            format!("export latest {file} --as outputs"),
            format!("export latest none/../{file} --as outputs"),
            format!("export latest {file}/../other --as outputs"),
            format!("check latest --snapshots {file}/below/../../other"),
            format!("copy --to {file}"),
            format!("check latest --snapshots {file}"),
            format!("check latest --snapshots {file}/below"),
        ] {
            let said = place.run(&args);
            // Of some names, other reasons are said first.
            let others = [
                "this export is JSON Lines",
                "already exists",
                "the log that runs are copied from",
            ];
            let is_said = said.err.contains(why) || others.iter().any(|why| said.err.contains(why));
            assert!(said.code == 2 && is_said, "{args}: {said:?}");
            let made = ["none", "other"].map(|name| place.path(name).exists());
            assert!(all() == before && made == [false; 2], "{args}");
        }
    }
    // A log that was damaged is known by the marks beside it.
    place.ok("copy --to other.db");
    std::fs::write(place.path("retold.db"), [0; 4096]).unwrap();
    let said = place.run("report latest --force -o retold.db --log other.db");
    assert!(said.code == 2 && said.err.contains(why), "{said:?}");
    assert!(std::fs::read(place.path("retold.db")).unwrap() == [0; 4096]);
}

#[test]
fn a_page_that_cannot_be_written_to_its_end_leaves_the_one_before() {
    let place = Place::with_run();
    place.ok("report latest -o page.html");
    let before = place.read("page.html");
    place.ok("fork latest --set parser=game24@1 -q");
    // The process may write files of at most 8 KB: it is ended when it writes more.
    let limited = "ulimit -f 16; exec \"$0\" report latest -o page.html --force";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_retold")]);
    place.shut_off(&mut command);
    assert_eq!(command.status().unwrap().signal(), Some(Signal::XFSZ.as_raw()));
    assert!(place.read("page.html") == before, "the page was changed");
    place.ok("report latest -o page.html --force");
    assert!(place.read("page.html") != before);
}

/// Of answers whose tokens nobody counted, their number is unknown and not 0, and the report and
/// `stats` have the same numbers.
#[test]
fn what_nobody_counted_is_unknown() {
    let place = Place::new();
    let exchange = |call: &str, model: &str, usage: &str| {
        let request =
            format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"?"}}]}}"#);
        format!(r#"{{"call":"{call}","request":{request},"response":{{"content":"4"{usage}}}}}"#)
    };
    let counted = r#","usage":{"prompt_tokens":7,"completion_tokens":3}"#;
    let lines = [
        exchange("plain/1", "one", ""),
        exchange("mixed/1", "two", counted),
        exchange("mixed/2", "two", ""),
    ];
    place.write("answers.jsonl", format!("{}\n", lines.join("\n")));
    place.ok("import answers.jsonl");
    let page = page(&place, "latest");
    assert!(page.contains("<td>plain</td>") && page.contains("<td class=n>unknown</td>"), "{page}");
    assert!(page.contains("<td class=n>7, unknown for 1 answer</td>"), "{page}");
    let plots: BTreeMap<String, Vec<Row>> =
        tables(&page).into_iter().map(|(name, text)| (name, rows_of(&text))).collect();
    let names: BTreeSet<&str> =
        plots["tokens_1.csv"].iter().map(|row| row["name"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(["mixed"]), "no bar of 0 tokens");
    let stats = place.json("stats latest").0;
    assert_eq!(stats["kinds"]["plain"]["tokens"]["prompt"], Value::Null);
    assert_eq!(stats["replay"]["prompt_tokens"], 7);
    assert_eq!(stats["replay"]["uncounted"], 2);
    let text = place.ok("stats latest");
    assert!(text.contains("7 tokens in, 3 out (unknown for 2 answers)"), "{text}");
    // The page of `serve` as well.
    let served = crate::serve::Served::log(&place, "retold.db");
    let html = served.html("/run/latest/stats");
    assert!(html.contains("7, unknown for 2 answers"), "{html}");
    place.write("answers.jsonl", format!("{}\n", lines[0]));
    let text = place.ok("stats answers.jsonl");
    assert!(text.contains("by each replay: tokens unknown, cost unknown"), "{text}");
}

/// What models, files and settings say is shown, and does nothing.
#[test]
fn hostile_text_is_inert_on_the_page() {
    let place = Place::new();
    let config = Path::new(ROOT).join("config/deliberation_small.yaml");
    let config = std::fs::read_to_string(config).unwrap();
    let option = r#""Park improvements""#;
    let name = r#"pilot_name: "Participatory budgeting""#;
    assert!(config.contains(option) && config.contains(name));
    // An option is in settings, answers, votes and plots.
    let config = config.replace(option, r#""<img src=x onerror=alert(1)> & parks""#);
    let config = config.replace(name, r#"pilot_name: "\u202e</pre><b onclick=alert(1)>""#);
    place.write("hostile.yaml", config);
    place.ok("run hostile.yaml -q --no-outputs");
    place.ok("report latest -o page.html");
    let page = place.read("page.html");
    assert!(page.matches("&lt;img src=x onerror").count() > 2);
    assert!(!page.contains("<img") && !page.contains("<b ") && !page.contains('\u{202e}'));
    assert_eq!(page.matches("</pre>").count(), page.matches("<pre tabindex=0>").count());
}

/// A run that was recorded from another program, and one that was imported, have plots of what any
/// run has; by model, because several models answered.
#[test]
fn runs_of_other_programs_have_plots() {
    let place = Place::new();
    let logs = Path::new(ROOT).join("fixtures/logs");
    std::fs::copy(logs.join("program.db"), place.path("retold.db")).unwrap();
    let page = page(&place, "latest");
    let plots: BTreeMap<String, Vec<Row>> =
        tables(&page).into_iter().map(|(name, text)| (name, rows_of(&text))).collect();
    let names: Vec<&str> = plots.keys().map(String::as_str).collect();
    let expected = [
        "calls_1.csv",
        "calls_by_model_1.csv",
        "latency_1.csv",
        "latency_by_model_1.csv",
        "tokens_1.csv",
        "tokens_by_model_1.csv",
    ];
    assert_eq!(names, expected);
    assert_eq!(page.matches("<svg").count(), expected.len());
    // A failure that was followed by an answer is not the end of its call; the other is.
    let of = |plot: &str, name: &str, part: &str, column: &str| -> f64 {
        let is_it = |row: &&Row| row["name"] == name && row["part"] == part;
        plots[plot].iter().find(is_it).unwrap()[column].parse().unwrap()
    };
    let calls = |part: &str| of("calls_1.csv", "openai.chat", part, "calls");
    assert_eq!([calls("answered"), calls("failed"), calls("without an answer")], [2.0, 1.0, 0.0]);
    // By the names that the requests have, as in `stats`.
    assert_eq!(of("tokens_by_model_1.csv", "m", "in", "tokens"), 20.0);
    let stats = place.json("stats latest").0["kinds"]["openai.chat"]["calls"].clone();
    assert_eq!(
        (&stats["answered"], &stats["failed"], &stats["open"]),
        (&2.into(), &1.into(), &0.into())
    );
    let latencies: Vec<u64> = place.json("log latest").0["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] == "ResponseReceived")
        .filter(|event| event["body"]["model"].is_string())
        .map(|event| event["body"]["latency_ms"].as_u64().unwrap_or(0))
        .filter(|latency| *latency > 0)
        .collect();
    let series = plots["latency_by_model_1.csv"].iter().filter(|r| r["series"] == "m");
    let column = "percentile of the answers";
    for row in series {
        // The definition of the nearest rank.
        let percent: usize = row[column].parse().unwrap();
        let latency: u64 = row["milliseconds"].parse().unwrap();
        let (below, up_to) = (
            latencies.iter().filter(|other| **other < latency).count(),
            latencies.iter().filter(|other| **other <= latency).count(),
        );
        let all = latencies.len();
        assert!(
            below * 100 < percent * all && up_to * 100 >= percent * all,
            "{row:?} {latencies:?}"
        );
    }
    let place = Place::new();
    place.ok(&format!("import {ROOT}/fixtures/inspect/small.json"));
    let page = self::page(&place, "latest");
    let names: Vec<String> = tables(&page).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"calls_1.csv".to_owned()), "{names:?}");
    // Decisions by a program's own methods, and by the program's parsers for imported answers.
    let place = Place::with_run();
    place.ok("export latest answers.jsonl --as exchanges");
    place.ok("import answers.jsonl");
    let settings = "{\"call\":\"solve/0\",\"params\":{\"numbers\":[1,1,4,6]}}\n\
                    {\"call\":\"solve/1\",\"params\":{\"numbers\":[1,1,11,11]}}\n";
    place.write("settings.jsonl", settings);
    place.ok("check latest --parser game24@1 --params-from settings.jsonl --accept");
    let page = self::page(&place, "latest");
    let tables = tables(&page);
    let methods = tables.iter().find(|(name, _)| name == "methods_1.csv");
    let rows = rows_of(&methods.unwrap_or_else(|| panic!("{tables:?}")).1);
    let decisions: u64 = rows.iter().map(|row| row["decisions"].parse::<u64>().unwrap()).sum();
    assert_eq!(decisions, 6, "{rows:?}");
}

/// A page under another name opens as something else, or not at all.
#[test]
fn a_report_is_only_written_to_a_file_that_says_what_it_is() {
    let place = Place::new();
    place.ok(&format!("import {ROOT}/recordings/game24_small.jsonl"));
    for name in ["x.docx", "x", "x.html.gz", ".html", "x.pdf.txt"] {
        let said = place.run(&format!("report latest -o {name}"));
        assert_eq!(said.code, 2, "{name}: {}{}", said.out, said.err);
        let named = format!("{name}: a report is an HTML page or a PDF file");
        assert!(
            said.err.contains(&named)
                && said.err.contains("name a file that ends with .html, .htm or .pdf"),
            "{}",
            said.err
        );
        assert!(!place.path(name).exists(), "{name}");
    }
    for name in ["x.html", "y.HTM"] {
        place.ok(&format!("report latest -o {name}"));
        assert!(place.read(name).starts_with("<!doctype html>"), "{name}");
    }
    assert!(place.ok("report latest -o -").starts_with("<!doctype html>"));
}

#[test]
fn a_page_with_texts_has_each_once_and_one_script() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs --set samples=9");
    place.ok("report latest -o without.html");
    let said = place.run("report latest --texts -o with.pdf");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("--texts is for an HTML page"), "{}", said.err);
    place.ok("report latest --texts -o with.html");
    let (without, with) = (place.read("without.html"), place.read("with.html"));
    assert!(!without.contains("script-src") && !without.contains("<script"));
    assert!(with.contains("; script-src 'sha256-") && with.matches("<script").count() == 2);
    let data = with.split("id=texts-data>").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let (texts, rows) = (data["texts"].as_array().unwrap(), data["rows"].as_array().unwrap());
    let different: BTreeSet<&str> = texts.iter().map(|text| text.as_str().unwrap()).collect();
    assert_eq!(different.len(), texts.len(), "each text is there once");
    let table = place.ok("table latest --table exchanges --as jsonl");
    assert_eq!(rows.len(), table.lines().count(), "{table}");
    for row in rows {
        let answer = usize::try_from(row["answer"].as_u64().unwrap()).unwrap();
        assert!(texts[answer].is_string() && !row["asked"].as_array().unwrap().is_empty(), "{row}");
        assert!(row["decided"].as_str().unwrap().contains('='), "{row}");
    }
}
