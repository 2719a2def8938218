//! The deposit of a program's run.

use serde_json::json;

use super::{imported, reader_of, script};
use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server};
use crate::wire::{record, replay};

/// Asks for a vote ten times, in Python without any package.
const PROGRAM: &str = r#"
import json, os, urllib.request
for n in range(10):
    body = {"model": "m", "temperature": 0.5, "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"Vote yes or no, voter {n}."}]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
         "x-retold-call": f"vote/{n}", "x-retold-labels": json.dumps({"participant": f"p{n}", "condition": "ab"[n % 2]})})
    print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"#;

#[test]
#[cfg_attr(not(real_clients), ignore = "needs the Python that scripts/test installs")]
fn a_program_s_run_comes_back_and_the_program_replays_it() {
    let place = Place::new();
    place.write("votes.py", PROGRAM);
    let python = super::python();
    let command = [python.to_str().unwrap(), "votes.py"];
    let mut n = 0;
    let server = Server::handler(move |_| {
        n += 1;
        let said = if n % 3 == 0 { "no" } else { "yes" };
        let body = json!({"id": format!("r{n}"), "object": "chat.completion", "model": "m-1",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 1}});
        Reply::new(200, body.to_string())
    });
    let recorded: Said = record(&place, "--name votes", &server.base_url(), &command);
    assert_eq!(recorded.code, 0, "{recorded:?}");
    drop(server);
    let said =
        place.run("check votes --parser vote@1 --params {\"options\":[\"yes\",\"no\"]} --accept");
    assert!(said.code <= 1, "{said:?}");
    let figure = "share of vote = yes by condition against a clustered by participant";
    let said = place.args(&["export", "votes", "deposit", "--as", "deposit", "--figure", figure]);
    assert_eq!(said.code, 0, "{said:?}");
    let checklist = place.read("deposit/checklists/GUIDE-LLM.md");
    assert!(checklist.contains("10 of 10 requests have instructions to the system"), "{checklist}");
    assert!(checklist.contains("the answers say that `m-1` answered"), "{checklist}");
    let reader = reader_of(&place);
    let (back, code) = imported(&reader);
    assert_eq!((code, &back["same"]), (0, &json!(true)), "{back}");
    assert_eq!(back["runs"][0]["replay"], "not", "{back}");
    assert_eq!(back["figures"].as_array().unwrap().len(), 3, "{back}");
    let said = script(&reader, &["deposit/figures.py"]);
    assert_eq!(said.code, 0, "{said:?}");
    // With the program, its recorded answers are replayed without a network.
    reader.write("votes.py", PROGRAM);
    let run = back["runs"][0]["run"].as_str().unwrap();
    let replayed = replay(&reader, run, &command);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{replayed:?}");
}
