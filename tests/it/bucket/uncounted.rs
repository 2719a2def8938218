//! What is said when the last object of the ledger is gone, which leaves what a writer leaves that died before it wrote it.

use serde_json::json;

use super::lab::Lab;

fn without_last_of_ledger(lab: &Lab) {
    let last = lab.objects().into_iter().rfind(|name| name.starts_with("ledger/")).unwrap();
    lab.remove(&last);
}

#[test]
fn the_end_of_a_run_comes_back_with_the_command_that_is_named() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    let whole = lab.json("log")["runs"][0].clone();
    let (run, last) = (whole["run"].as_str().unwrap(), whole["events"].as_u64().unwrap());
    assert_eq!(lab.json("verify")["uncounted"], json!([]));
    without_last_of_ledger(&lab);
    let said = lab.ok("verify");
    let due = format!(
        "notice: run {run}: event {last} is stored and does not count, because the ledger does not say that the run was finished: process "
    );
    assert!(said.contains(&due), "{said}");
    let command = format!("run --resume {}", &run[..8]);
    let next =
        format!(" was removed. `retold {command}` writes it to the ledger\n1 run verified\n");
    assert!(said.ends_with(&next), "{said}");
    let verified = lab.json(&format!("verify {run}"));
    assert_eq!(
        (&verified["uncounted"][0]["first"], &verified["ok"]),
        (&json!(last), &json!(true)),
        "{verified}"
    );
    lab.ok(&format!("{command} --quiet --no-outputs"));
    assert_eq!(lab.json("log")["runs"][0], whole);
    assert_eq!(lab.json("verify")["uncounted"], json!([]));
}

#[test]
fn a_copied_run_that_no_list_has_is_named_and_copied_again() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs --log retold.db");
    let copy = format!("copy --from retold.db --to {}", lab.log);
    lab.ok(&copy);
    let run = lab.json("log")["runs"][0]["run"].as_str().unwrap().to_owned();
    without_last_of_ledger(&lab);
    let said = lab.ok("verify");
    assert!(said.starts_with(&format!("notice: run {run}: events 1 to ")), "{said}");
    assert!(said.contains("does not say that the run was imported"), "{said}");
    assert!(
        said.ends_with(
            "Importing or copying the run again writes it to the ledger\n0 runs verified\n"
        ),
        "{said}"
    );
    lab.ok(&copy);
    assert_eq!(lab.json("log")["runs"][0]["run"], json!(run));
    assert!(lab.ok("verify").ends_with("\n1 run verified\n"));
}
