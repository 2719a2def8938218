//! What a server refuses about every request: the run stops before its second call, and the setting that it says works as typed.

use crate::support::cli::{Place, Said};
use crate::support::server::{Received, Reply, Server};
use crate::support::strict::{alternating, openai, reasoning, strict};
use crate::support::studies::{STUDIES, answers};
use serde_json::Value;

/// The commands that a message gives.
fn commands(err: &str) -> Vec<String> {
    let parts = err.split('`').skip(1).step_by(2);
    parts.filter(|part| part.starts_with("retold ")).map(str::to_owned).collect()
}

/// Runs a command as a message gives it.
fn typed(place: &Place, command: &str) -> Said {
    place.run(command.strip_prefix("retold ").unwrap())
}

#[test]
fn a_model_that_is_not_there_stops_the_run_and_leaves_nothing() {
    let server = Server::handler(|received: &Received| {
        let name = received.json()["model"].as_str().unwrap().to_owned();
        Reply::error(404, "model_not_found", &format!("The model `{name}` does not exist"))
    });
    for small in STUDIES {
        let place = Place::new();
        let command = small.run().replace(" --no-outputs", "");
        let before = server.received().len();
        let said = place.run(&format!("{command} --base-url {}", server.base_url()));
        assert_eq!(said.code, 4, "{}: {}{}", small.name, said.out, said.err);
        assert_eq!(
            server.received().len() - before,
            1,
            "{}: it stops at the first call",
            small.name
        );
        assert!(
            said.err.contains("name one that it has with --model PROVIDER/MODEL"),
            "{}",
            said.err
        );
        assert!(said.err.contains("the run was abandoned and leaves no outputs"), "{}", said.err);
        assert!(!place.path("outputs").exists(), "{}", small.name);
        // The attempt is recorded, and the run is not in the way of the next one.
        assert!(place.json("log latest --failed").0.to_string().contains("does not exist"));
        let answering = Server::handler(answers(small.name));
        place.ok(&format!("{command} --base-url {}", answering.base_url()));
    }
}

#[test]
fn a_limit_is_renamed_once_for_the_run_and_recorded() {
    let small = STUDIES.iter().find(|small| small.name == "society").unwrap();
    let server = Server::handler(strict("openai", reasoning, small.name));
    let (place, url) = (Place::new(), server.base_url());
    let settings = "--set request.temperature=null";
    let said = place.run(&format!(
        "{} --model openai/o3 --base-url {url} {settings} --until day_1 --json",
        small.run()
    ));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let whole: Value = serde_json::from_str(&said.out).unwrap();
    let run = whole["run"].as_str().unwrap();
    assert_eq!(
        said.err.matches("o3 takes the limit of an answer as max_completion_tokens").count(),
        1,
        "{}",
        said.err
    );
    let refused = || {
        server.received().iter().filter(|received| !received.json()["max_tokens"].is_null()).count()
    };
    assert_eq!(refused(), 1, "only the first request has the old name");
    // A resume and a replay know it, and so does a fork.
    place.ok(&format!("run --resume latest --quiet --base-url {url}"));
    place.ok("replay latest");
    place.ok("verify");
    place.ok(&format!("fork latest --quiet --base-url {url} --set days=4"));
    place.ok("replay latest");
    assert_eq!(refused(), 1);
    let log = place.ok(&format!("export {run}"));
    assert!(log.contains("\"max_completion_tokens\":[\"o3\"]"), "the setting is in the log");
    // What is hashed is what was sent.
    let asked = server.received().pop().unwrap().json();
    assert_eq!(asked["max_completion_tokens"], 500, "{asked}");
}

#[test]
fn a_temperature_that_is_refused_stops_the_run_before_its_second_call() {
    for small in STUDIES {
        let server = Server::handler(strict("openai", reasoning, small.name));
        let (place, url) = (Place::new(), server.base_url());
        let command = format!("{} --model openai/gpt-5 --base-url {url}", small.run());
        let said = place
            .run(&format!("{command} --set request.temperature=0.5 --set request.max_tokens=null"));
        assert_eq!(said.code, 4, "{}: {}{}", small.name, said.out, said.err);
        assert_eq!(server.received().len(), 1, "{}: {}", small.name, said.err);
        let commands = commands(&said.err);
        let due =
            commands.iter().find(|command| command.ends_with("--set request.temperature=null"));
        let said = typed(&place, due.unwrap_or_else(|| panic!("{}", said.err)));
        assert_eq!(said.code, 0, "{}: {}{}", small.name, said.out, said.err);
        place.ok("replay latest");
    }
}

#[test]
fn turns_that_have_to_alternate_stop_the_run_and_the_setting_works_as_typed() {
    for small in STUDIES {
        let server = Server::handler(strict("openai", alternating, small.name));
        let (place, url) = (Place::new(), server.base_url());
        let command = format!("{} --base-url {url}", small.run());
        let refused = |server: &Server| {
            let is_refused = |received: &&Received| alternating(&received.json()).is_err();
            server.received().iter().filter(is_refused).count()
        };
        let said = place.run(&command);
        let count = refused(&server);
        assert!(count <= 1, "{}: it stops before the second refusal: {count}", small.name);
        if count == 1 {
            assert_eq!(said.code, 4, "{}: {}{}", small.name, said.out, said.err);
            let commands = commands(&said.err);
            let due = commands.iter().find(|command| command.contains("--set alternate=true"));
            let due = due.unwrap_or_else(|| panic!("{}", said.err));
            // A fork names its server.
            let said = typed(&place, due);
            assert_eq!(said.code, 0, "{}: {}{}", small.name, said.out, said.err);
            place.ok("replay latest");
        }
        let (place, server) =
            (Place::new(), Server::handler(strict("openai", alternating, small.name)));
        place.ok(&format!("{} --base-url {} --set alternate=true", small.run(), server.base_url()));
        assert_eq!(refused(&server), 0, "{}", small.name);
        place.ok("replay latest");
    }
}

/// The messages, as they are.
#[test]
fn refusals_are_explained() {
    let place = Place::new();
    let server = Server::handler(|received: &Received| match openai(&received.json()) {
        Ok(body) if body["temperature"] == 0.7 => {
            let what = "Unsupported value: 'temperature' does not support 0.7 with this model.";
            Reply::error(400, "unsupported_value", what)
        }
        _ => Reply::error(404, "model_not_found", "The model `gpt-4` does not exist"),
    });
    let url = server.base_url();
    let mut shown = String::new();
    for more in ["", " --set request.temperature=null"] {
        let args = format!("run small.yaml --quiet --base-url {url}{more}");
        shown.push_str(&place.shown(&args, &place.run(&args)));
    }
    // A command that names its log names it once.
    let named = place.run(&format!("run small.yaml --quiet --base-url {url} --log other.db"));
    let due = "`retold --log other.db run small.yaml --quiet --base-url ";
    assert!(
        named.err.contains(due) && !named.err.contains("--log other.db --set"),
        "{}",
        named.err
    );
    for due in [
        "--set request.temperature=null`\n  hint: nothing was answered",
        "the server has no model gpt-4: name one that it has with --model PROVIDER/MODEL",
    ] {
        assert!(shown.contains(due), "{shown}");
    }
}

/// Of a run in which a part failed, that is said last, and above a share it is no success.
#[test]
fn what_failed_is_said_last() {
    let small = STUDIES.iter().find(|small| small.name == "deliberation").unwrap();
    let failing = |every: usize| {
        let (answer, mut votes) = (answers("deliberation"), 0);
        Server::handler(move |received: &Received| {
            let body = received.json().to_string();
            let is_vote = body.contains("exact text of your chosen option");
            votes += usize::from(is_vote);
            match is_vote && votes % every == 0 {
                true => Reply::error(400, "content_filter", "this was filtered"),
                false => answer(received),
            }
        })
    };
    for (every, participants, share, code) in
        [(2, 1, "", 4), (2, 1, " --max-failed 1", 0), (24, 6, "", 0)]
    {
        let (place, server) = (Place::new(), failing(every));
        let said = place.run(&format!(
            "{} --base-url {} --set participants_per_condition={participants}{share}",
            small.run(),
            server.base_url()
        ));
        assert_eq!(said.code, code, "{}{}", said.out, said.err);
        let lines: Vec<&str> = said.err.lines().collect();
        let last = lines.iter().rposition(|line| !line.trim_start().starts_with("hint:")).unwrap();
        assert!(
            lines[last].contains(" participants and ") && lines[last].contains(" failed"),
            "{}",
            said.err
        );
        assert_eq!(
            lines[last].contains("more than the 0.1 that --max-failed allows"),
            code == 4,
            "{}",
            said.err
        );
    }
}

/// What shapes a prompt does not change in the middle of a run: the settings of a fork do, and its answers stay.
#[test]
fn a_fork_with_alternating_turns_shares_what_alternated_before() {
    let small = STUDIES.iter().find(|small| small.name == "deliberation").unwrap();
    let server = Server::handler(strict("openai", alternating, small.name));
    let (place, url) = (Place::new(), server.base_url());
    let said = place.run(&format!("{} --base-url {url}", small.run()));
    assert_eq!(said.code, 4, "{}", said.err);
    let asked = server.received().len();
    let (forked, code) = place.json(&format!("fork latest --set alternate=true --base-url {url}"));
    assert_eq!(code, 0, "{forked}");
    let anew = server.received().len() - asked;
    let all = forked["exchanges"].as_u64().unwrap() as usize;
    assert!(anew < all, "{anew} of {all} were asked again");
    // Only a replay that knows the setting asks the same.
    place.ok("replay latest");
}
