//! `retold report` with several runs, and with many groups.

use serde_json::json;

use super::reports::{page, tables};
use super::run_figures::votes;
use crate::support::cli::Place;

/// The cells of the rows of a page that begin with some text, without tags.
fn cells(row: &str) -> Vec<String> {
    let cells = row.split("<td").skip(1).filter_map(|cell| cell.split_once('>'));
    cells.map(|(_, rest)| rest.split("</td>").next().unwrap().to_owned()).collect()
}

/// A design of two conditions with four seeds each, as runs of one log; their ids in the order of the list.
fn design(place: &Place) -> Vec<String> {
    for seed in 1..=4 {
        for samples in [3, 6] {
            place.ok(&format!(
                "run small.yaml -q --new --no-outputs --set seed={seed} --set samples={samples} --set parser=game24@1"
            ));
        }
    }
    let runs = place.json("log").0["runs"].clone();
    runs.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

/// The page has the figures and differences that `stats` has, whose own tests say that they are right.
#[test]
fn eight_runs_are_in_one_table() {
    let place = Place::new();
    let runs = design(&place);
    let page = page(&place, &runs.join(" "));
    assert!(page.contains("<title>Report: game24, 8 runs</title>"), "{}", &page[..500]);
    let of_runs = page.split("<h2>Runs</h2>").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(of_runs.matches("samples: 3").count(), 4);
    assert_eq!(of_runs.matches("samples: 6").count(), 4);
    assert!(!of_runs.contains("seed:"), "seeds have a column: {of_runs}");
    let figures = page.split("<h2>share of solved = true</h2>").nth(1).unwrap();
    let figures = figures.split("</ul>").next().unwrap();
    let rows: Vec<Vec<String>> = figures.split("<tr>").skip(2).map(cells).collect();
    assert_eq!(rows.len(), 8, "one figure: {figures}");
    let (stats, _) = place.json(&format!("stats {}", runs.join(" ")));
    let table = &stats["figures"][0];
    let groups = table["groups"].as_array().unwrap();
    for (at, (row, group)) in rows.iter().zip(groups).enumerate() {
        assert_eq!(
            (&row[0], &group["group"]),
            (&runs[at][..8].to_owned(), &json!([&runs[at][..8]]))
        );
        assert_eq!(row[1], group["draws"].to_string());
        let value = 100.0 * group["value"].as_f64().unwrap();
        assert_eq!(row[4], format!("{value:.2} %"));
    }
    // The first run is the baseline of all others.
    let differences = table["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 7);
    for (difference, other) in differences.iter().zip(&runs[1..]) {
        let points = 100.0 * difference["difference"].as_f64().unwrap();
        let points = format!("{points:+.2} percentage points").replace("-0.00", "+0.00");
        let said = format!("<li>{} minus {}: {points}", &other[..8], &runs[0][..8]);
        assert!(figures.contains(&said), "{said} in {figures}");
    }
    let strangers = "differences between runs are unpaired: the runs are of different experiments or have different seeds";
    assert!(figures.contains(strangers), "{figures}");
    assert_eq!(page.matches("<details><summary>Run ").count(), 8, "each run is folded");
    // Plots of a single run are left to its report; that of the figure has a row for each run.
    let tables = tables(&page);
    let [(name, numbers)] = tables.as_slice() else { panic!("{tables:?}") };
    assert_eq!(name, "figure_1.csv");
    for (row, run) in numbers.lines().skip(1).zip(&runs) {
        assert!(row.starts_with(&run[..8]), "{row}");
    }
    // The same runs give the same page.
    assert_eq!(page, self::page(&place, &runs.join(" ")));
    let many = vec!["latest"; 31].join(" ");
    let said = place.run(&format!("report {many} -o many.html"));
    assert!(said.code == 2 && said.err.contains("a report has at most 30 runs, and these are 31"));
    assert!(said.err.contains("`retold stats RUN.. --figure FIGURE`"), "{}", said.err);
}

/// What a run cost is what `stats` says, and the date is that of the run.
#[test]
fn a_report_says_when_by_which_models_and_at_what_cost() {
    let place = Place::with_run();
    let page = page(&place, "latest");
    let stats = place.ok("stats latest");
    for line in ["calls", "tokens", "cost", "attempts"] {
        let said =
            stats.lines().find_map(|said| said.strip_prefix(&format!("{line:<9} "))).unwrap();
        assert!(
            page.contains(&format!("<tr><th>{line}</th><td>{said}</td></tr>")),
            "{line}: {said}"
        );
    }
    assert!(page.contains("<tr><th>models asked</th><td>gpt-4 (6 calls)</td></tr>"), "{page}");
    let time = place.json("log latest").0["events"][0]["time"].clone();
    let (day, _) = time.as_str().unwrap().split_once('T').unwrap();
    assert!(page.contains(&format!("<p class=date>recorded {day} ")), "{time}");
    place.write("mine.yaml", "models:\n  gpt-4: {prompt: 1000000, completion: 0}\n");
    place.ok("report latest -o mine.html --prices mine.yaml");
    let mine = place.read("mine.html");
    assert!(mine.contains("<tr><th>cost</th><td>$") && mine != page);
}

/// A run that is named twice is no second run, and the title does not say that all runs are the first.
#[test]
fn runs_of_several_names_are_titled_by_what_they_share() {
    let place = Place::new();
    votes(&place, 0xa1, [8, 3]);
    votes(&place, 0xa2, [5, 3]);
    let said = place.run("report a1a1 a2a2 a1a1 -o page.html");
    let note = "note: run a1a1a1a1 is named more than once and counts once\n";
    assert_eq!((said.code, said.err.as_str()), (0, note));
    assert!(place.read("page.html").contains("<h1>programs, 2 runs</h1>"));
    let said = place.run("stats a1a1 a1a1");
    assert!(said.err.starts_with(note) && !said.out.contains("minus a1a1a1a1"), "{said:?}");
    let said = place.run("table a1a1 a1a1 --as csv");
    assert!(said.err.starts_with(note), "{}", said.err);
}

/// A plot and a table of a hundred groups would be a page of their own.
#[test]
fn at_most_thirty_groups_are_shown_and_the_rest_is_named() {
    let place = Place::new();
    place.ok("run small.yaml -q --no-outputs --set puzzles.rows=0..100 --set samples=1");
    let run = place.json("show latest").0["run"].as_str().unwrap()[..8].to_owned();
    let page = page(&place, "latest");
    let said = format!(
        "The plot shows 30 of 100 values. `retold report {run} -o FILE.html` links to all of them, as CSV."
    );
    assert!(page.contains(&said), "{page}");
    let tables = tables(&page);
    assert!(tables.iter().any(|(_, csv)| csv.lines().count() == 101), "all are in the CSV");
    let figure = "share of game24 = x by puzzle independent";
    let said = place.args(&["report", "latest", "-o", "figure.html", "--figure", figure]);
    assert_eq!(said.code, 0, "{said:?}");
    let page = place.read("figure.html");
    let table = page.split("<h2>share of game24").nth(1).unwrap().split("<h2>").next().unwrap();
    assert_eq!(table.matches("<tr>").count(), 31, "{table}");
    assert!(table.contains("the first 30 of 100 groups"), "{table}");
    let listed = table.split("<ul class=sampled>").nth(1).unwrap();
    assert!(listed.contains("are too many to compare each with each other"), "{listed}");
    let said = format!(
        "Listed are the first 30 of 100 groups; <code>retold stats {run}</code> with the same figure shows them all."
    );
    assert!(table.contains(&said), "{table}");
}
