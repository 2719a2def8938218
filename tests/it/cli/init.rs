//! A first config, and what git leaves alone.

use std::process::Command;

use crate::support::cli::Place;

#[test]
fn each_experiment_has_a_config_that_runs_at_once() {
    for experiment in ["game24", "deliberation", "public_goods", "society", "adventure"] {
        let place = Place::new();
        let said = place.ok(&format!("init {experiment}"));
        assert!(said.ends_with(&format!("next:\n  retold run {experiment}.yaml\n")), "{said}");
        let text = place.read(&format!("{experiment}.yaml"));
        assert!(text.starts_with("# "), "it has comments: {text}");
        let fewer = if experiment == "game24" { " --set samples=1" } else { "" };
        place.ok(&format!("run {experiment}.yaml --quiet{fewer}"));
    }
}

#[test]
fn what_is_there_is_neither_replaced_nor_repeated() {
    let place = Place::new();
    place.write(".gitignore", "*.csv");
    place.ok("init game24 mine.yaml");
    place.ok("init");
    assert_eq!(
        place.read(".gitignore"),
        "*.csv\n# The log of retold, and what it keeps beside it.\n/retold.db\n/retold.db-*\n"
    );
    place.write("mine.yaml", "mine");
    let refused = place.run("init game24 mine.yaml");
    assert_eq!((refused.code, place.read("mine.yaml")), (2, "mine".to_owned()));
    assert!(refused.err.contains("mine.yaml already exists"), "{}", refused.err);
    let unknown = place.run("init game25");
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("there is one for game24, deliberation"), "{}", unknown.err);
}

/// Git sees neither the log nor any file beside it.
#[test]
fn git_leaves_the_log_alone() {
    let place = Place::with_run();
    place.ok("init");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        place.shut_off(&mut command);
        let path = "/usr/local/bin:/usr/bin:/bin";
        let done = command.env("PATH", path).args(args).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    let seen = git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(place.path("retold.db-mark").exists());
    assert!(seen.contains(".gitignore") && !seen.contains("retold.db"), "{seen}");
}
