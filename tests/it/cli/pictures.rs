//! Figures as pictures in files.

use serde_json::Value;

use crate::support::cli::Place;

const FIGURE: &str = "share of changed_vote = true by condition against simple_passive";

fn place() -> Place {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("run {config} -q --no-outputs"));
    place
}

/// What stands between two tags of a picture.
fn inside<'a>(svg: &'a str, tag: &str) -> &'a str {
    let rest = svg.split(&format!("<{tag}>")).nth(1).unwrap_or_else(|| panic!("no {tag}: {svg}"));
    rest.split(&format!("</{tag}>")).next().unwrap()
}

fn unescape(text: &str) -> String {
    let text = text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&#39;", "'").replace("&amp;", "&")
}

#[test]
fn a_picture_has_its_figure_its_numbers_and_its_notes() {
    let place = place();
    let told = place.args(&["stats", "latest", "--figure", FIGURE, "-o", "fig.svg"]);
    assert_eq!(told.code, 0, "{}", told.err);
    let due = format!(
        "{FIGURE}: drawn in fig.svg\nSIMULATED: a program made these answers up; they are not data\n"
    );
    assert_eq!(told.out, due);
    let svg = place.read("fig.svg");
    assert!(svg.starts_with("<svg width=\"321\""), "{svg}");
    assert_eq!(unescape(inside(&svg, "title")), FIGURE);
    let figures = place.args(&["stats", "latest", "--figure", FIGURE, "--json"]).out;
    let figures: Value = serde_json::from_str(&figures).unwrap();
    let data: Value = serde_json::from_str(&unescape(inside(&svg, "metadata"))).unwrap();
    assert_eq!(data, figures["figures"][0]);
    assert!(inside(&svg, "desc").contains("acp minus simple_passive: +40.00 percentage points"));
    for part in
        ["SIMULATED: these are not data", ">\nacp\n<", "n 10", "40.00 % [12.16, 73.76]", "baseline"]
    {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    // The same figure, the same bytes.
    let again = place.args(&["stats", "latest", "--figure", FIGURE, "-o", "-"]);
    assert_eq!((again.code, again.out), (0, svg));
}

#[test]
fn what_cannot_be_drawn_is_said_and_nothing_is_written() {
    let place = place();
    place.write("old.svg", "mine");
    let two = ["--figure", FIGURE, "--figure", "share of vote by condition"];
    for (words, why) in [
        (
            &["--figure", FIGURE, "-o", "fig.png"][..],
            "fig.png: a figure is drawn as SVG\n  hint: name a file that ends with .svg",
        ),
        (
            &["--figure", FIGURE, "-o", "old.svg"],
            "old.svg: the file exists\n  hint: --force replaces it",
        ),
        (&["-o", "fig.svg"], "--figure <FIGURE>"),
        (
            &[two[0], two[1], two[2], two[3], "-o", "fig.svg"],
            "a picture is of one figure, and these are 2",
        ),
        (&["--figure", "share of nothing = 1", "-o", "fig.svg"], "nothing"),
        (&["--figure", FIGURE, "-o", "-", "--json"], "--json and -o - both write to stdout"),
    ] {
        let told = place.args(&[&["stats", "latest"], words].concat());
        assert_eq!(told.code, 2, "{words:?}: {}{}", told.out, told.err);
        assert!(told.err.contains(why), "{words:?}: {}", told.err);
        assert!(!place.path("fig.svg").exists() && !place.path("fig.png").exists());
        assert_eq!(place.read("old.svg"), "mine");
    }
    let replaced = place.args(&["stats", "latest", "--figure", FIGURE, "-o", "old.svg", "--force"]);
    assert_eq!(replaced.code, 0, "{}", replaced.err);
    assert!(place.read("old.svg").starts_with("<svg"));
}
