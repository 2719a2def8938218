//! `--max-cost` and `--max-tokens`: nothing more is asked, and the run can be continued.

use serde_json::json;

use super::{record, with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// Asks three questions, whatever becomes of them.
const ASK: &str = "
for n in 1 2 3; do
  json='{\"model\":\"MODEL\",\"messages\":[{\"role\":\"user\",\"content\":\"'$n'\"}]}'
  curl -sS --max-time 20 -w ' %{http_code}\\n' $OPENAI_BASE_URL/chat/completions -H 'content-type: application/json' -d \"$json\"
done
";

/// Each answer takes a million tokens.
fn upstream() -> Server {
    Server::handler(|_| {
        let usage =
            json!({"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000});
        let message = json!({"role": "assistant", "content": "yes"});
        let answer = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": usage,
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}]});
        Reply::new(200, answer.to_string())
    })
}

#[test]
fn a_run_that_has_cost_enough_asks_nothing_more_and_can_be_continued() {
    let (place, server) = (Place::new(), upstream());
    place.write("prices.yaml", "models:\n  m: {prompt: 1.5, completion: 1}\n");
    let ask = ASK.replace("MODEL", "m");
    let program = ["sh", "-c", &ask];
    let url = server.base_url();
    let said = record(&place, "--max-cost 2 --prices prices.yaml", &url, &program);
    assert_eq!((said.code, server.received().len()), (4, 2), "{}", said.err);
    assert!(said.out.contains("retold_budget") && said.out.contains(" 402\n"), "{}", said.out);
    let why = "the run has cost 3.0000 dollars, and max_cost is 2: 1 request was not asked";
    assert!(said.err.contains(why) && said.err.contains("record --resume"), "{}", said.err);

    // What it has cost counts, too.
    let args = "record --resume latest --max-cost 3 --prices prices.yaml";
    let again = with(&place, args, &url, &program, &[]);
    assert_eq!((again.code, server.received().len()), (4, 2), "{}", again.err);
    let args = "record --resume latest --max-cost 4 --prices prices.yaml";
    let done = with(&place, args, &url, &program, &[]);
    assert_eq!((done.code, server.received().len()), (0, 3), "{}{}", done.out, done.err);
    place.ok("verify");
}

#[test]
fn a_model_without_a_price_is_not_asked() {
    let (place, server) = (Place::new(), upstream());
    let ask = ASK.replace("MODEL", "unknown");
    let said = record(&place, "--max-cost 2", &server.base_url(), &["sh", "-c", &ask]);
    assert_eq!((said.code, server.received().len()), (4, 0), "{}", said.err);
    assert!(said.err.contains("there is no price for the model \"unknown\""), "{}", said.err);
    assert!(said.err.contains("with its price in the file that --prices names"), "{}", said.err);
}

#[test]
fn tokens_are_limited_without_prices() {
    let (place, server) = (Place::new(), upstream());
    let ask = ASK.replace("MODEL", "m");
    let said = record(&place, "--max-tokens 1000000", &server.base_url(), &["sh", "-c", &ask]);
    assert_eq!((said.code, server.received().len()), (4, 1), "{}", said.err);
    assert!(said.err.contains("2 requests were not asked"), "{}", said.err);
}

#[test]
fn a_limit_that_is_none_is_refused() {
    let place = Place::new();
    let said = record(&place, "--max-cost nan", "http://127.0.0.1:1", &["true"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("max_cost"), "{}", said.err);
    assert!(!place.path("retold.db").exists());
}
