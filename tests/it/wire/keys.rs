//! Keys, wherever a request carries them and however a server repeats them: none of them is in anything that a run leaves.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER};
use serde_json::json;

use super::with;
use crate::support::cli::{Place, Said};
use crate::support::server::{Received, Reply, Server};

/// Where a request carries a key: a name, options of curl, and a query. KEY stands for the key.
const CARRIERS: &[(&str, &str, &str)] = &[
    ("bearer", "-H 'Authorization: Bearer KEY'", ""),
    ("scheme", "-H 'Authorization: Token KEY'", ""),
    ("apikey", "-H 'x-api-key: KEY'", ""),
    ("google", "-H 'X-Goog-Api-Key: KEY'", ""),
    ("azure", "-H 'Ocp-Apim-Subscription-Key: KEY'", ""),
    ("gateway", "-H 'cf-aig-authorization: Bearer KEY'", ""),
    ("amazon", "-H 'X-Amz-Security-Token: KEY'", ""),
    ("proxy", "-H 'X-Proxy-Authorization: KEY'", ""),
    ("cookie", "-H 'Cookie: theme=dark; sid=KEY'", ""),
    ("basic", "-u me:KEY", ""),
    ("key", "", "key=KEY"),
    ("escaped-name", "", "%6Bey=KEY"),
    ("code", "", "code=KEY"),
    ("jwt", "", "a=b&jwt=KEY"),
    ("sid", "", "sid=KEY"),
    ("pwd", "", "pwd=KEY"),
    ("aws", "", "AWSAccessKeyId=KEY"),
    ("signature", "", "X-Amz-Signature=KEY"),
    ("access-token", "", "accessToken=KEY"),
];

/// How the server repeats it.
const ECHOES: &[&str] = &[
    "plain", "error", "json", "nested", "percent", "html", "upper", "base64", "base64url", "hex",
    "header", "events", "tokens", "broken", "text",
];

/// A key of its own for each carrier, in which a piece of another would be seen.
fn key(carrier: usize) -> String {
    let hash = blake3::hash(&carrier.to_le_bytes()).to_hex();
    format!("sk-{}", &hash[..30])
}

fn echo(received: &Received) -> Reply {
    let path = received.target.split('?').next().unwrap();
    let mut parts = path.rsplit('/').skip(if path.ends_with("/chat/completions") { 2 } else { 0 });
    let (how, at) = (parts.next().unwrap(), parts.next().unwrap().parse::<usize>().unwrap());
    let key = key(at);
    let each = |write: fn(char) -> String| key.chars().map(write).collect::<String>();
    let events = |pieces: Vec<serde_json::Value>| {
        let body: String = pieces.iter().map(|piece| format!("data: {piece}\n\n")).collect();
        Reply::new(200, body + "data: [DONE]\n\n").header("content-type", "text/event-stream")
    };
    let delta = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let said = |text: &str| Reply::chat(&format!("The key is {text}, and not another."));
    match how {
        "plain" => said(&key),
        "error" => {
            Reply::error(401, "invalid_api_key", &format!("Incorrect API key provided: {key}."))
        }
        "json" => {
            let written = each(|c| format!("\\u{:04x}", u32::from(c)));
            Reply::new(
                200,
                format!(r#"{{"choices":[{{"message":{{"content":"is {written} it"}}}}]}}"#),
            )
        }
        "nested" => said(&json!({"inner": json!({"key": key}).to_string()}).to_string()),
        "percent" => said(&each(|c| format!("%{:02X}", u32::from(c)))),
        "html" => said(&each(|c| format!("&#{};", u32::from(c)))),
        "upper" => said(&key.to_uppercase()),
        "base64" => said(&BASE64.encode(format!("user:{key}!").as_bytes())),
        "base64url" => said(&BASE64URL_NOPAD.encode(format!("a{key}").as_bytes())),
        "hex" => said(&HEXLOWER.encode(key.as_bytes())),
        "header" => Reply::chat("ok").header("x-request-id", &format!("req-{key}")),
        "events" => events(vec![
            delta("It is "),
            delta(&key[..9]),
            delta(&key[9..20]),
            delta(&key[20..]),
            delta("."),
        ]),
        "tokens" => {
            let tokens: Vec<_> = key.as_bytes().chunks(3)
                .map(|it| json!({"token": std::str::from_utf8(it).unwrap(), "bytes": it, "logprob": -1})).collect();
            let body = json!({"choices": [{"message": {"content": "ok"}, "logprobs": {"content": tokens}}]});
            Reply::new(200, body.to_string())
        }
        "broken" => {
            let body = format!(
                "data: {}\n\ndata: {}\n\ndata: {}",
                delta(&key[..12]),
                delta(&key[12..]),
                "{\"choices\""
            );
            let length = body.len();
            Reply::new(200, body)
                .header("content-type", "text/event-stream")
                .cut_chunks(vec![length / 2, length])
        }
        "text" => Reply::new(403, format!("<p>No access for {key}</p>"))
            .header("content-type", "text/html"),
        other => unreachable!("{other}"),
    }
}

/// What must not be found: any sixteen characters of the key in a row, as they are or in another form.
fn pieces(key: &str) -> Vec<String> {
    let windows = key.as_bytes().windows(16).map(|it| std::str::from_utf8(it).unwrap().to_owned());
    let forms = windows.flat_map(|piece| {
        let upper = piece.to_uppercase();
        let hex = HEXLOWER.encode(piece.as_bytes());
        let shifted = [0, 1, 2].map(|before| {
            let text = format!("{}{piece}", "?".repeat(before));
            let (from, to) = ((8 * before).div_ceil(6), 8 * text.len() / 6);
            BASE64_NOPAD.encode(text.as_bytes())[from..to].to_owned()
        });
        [piece, upper, hex].into_iter().chain(shifted).collect::<Vec<_>>()
    });
    forms.collect()
}

/// Everything that a run leaves, and everything that can be read out of it.
fn left(place: &Place, said: &[Said]) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = std::fs::read_dir(place.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && !path.ends_with("requests"))
        .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()))
        .collect();
    for args in [
        "export latest",
        "export latest --as vcrpy",
        "export latest --as cassette",
        "log latest --json",
        "stats latest",
    ] {
        all.push((args.to_owned(), place.run(args).out.into_bytes()));
    }
    for said in said {
        all.push(("stderr".to_owned(), said.err.clone().into_bytes()));
    }
    all
}

#[test]
fn no_key_is_left_by_whatever_way_it_came() {
    let place = Place::new();
    let upstream = Server::handler(echo);
    let url = upstream.base_url();
    // One request for each carrier and echo; the body repeats the key, as tools do that are asked to use it.
    let mut requests = String::new();
    for (at, (_, options, query)) in CARRIERS.iter().enumerate() {
        let (options, query) = (options.replace("KEY", &key(at)), query.replace("KEY", &key(at)));
        for how in ECHOES {
            let body = json!({"model": "m", "messages": [{"role": "user", "content": format!("{how}: call it with {}.", key(at))}]});
            let query = if query.is_empty() { String::new() } else { format!("?{query}") };
            requests.push_str(&format!(
                "curl -s --max-time 20 {options} -d '{body}' \"$OPENAI_BASE_URL/{at}/{how}/chat/completions{query}\" >/dev/null\n"
            ));
        }
    }
    std::fs::write(place.path("requests"), requests + "true\n").unwrap();
    let recorded = with(&place, "record", &url, &["sh", "requests"], &[]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert_eq!(upstream.received().len(), CARRIERS.len() * ECHOES.len());
    // The upstream got them.
    assert!(upstream.received().iter().all(|it| String::from_utf8_lossy(&it.body).contains("sk-")));
    drop(upstream);
    // A replay needs none of them.
    // Another key is no other request.
    let other =
        std::fs::read_to_string(place.path("requests")).unwrap().replace(&key(0), &key(200));
    std::fs::write(place.path("requests"), other).unwrap();
    let replayed = super::replay(&place, "latest", &["sh", "requests"]);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    // The log says of each answer that it had one, but for those that had it in a header.
    let events = place.ok("log latest --json");
    let masked = events.matches("\"masked\":true").count();
    assert_eq!(masked, CARRIERS.len() * (ECHOES.len() - 1), "{events}");
    let all = left(&place, &[recorded, replayed]);
    let mut found = Vec::new();
    for (at, (carrier, ..)) in CARRIERS.iter().enumerate() {
        for piece in pieces(&key(at)) {
            for (where_, bytes) in &all {
                if let Some(place) = memchr::memmem::find(bytes, piece.as_bytes()) {
                    let around = &bytes[place.saturating_sub(60)..(place + 60).min(bytes.len())];
                    found.push(format!(
                        "{carrier} in {where_}: {}",
                        String::from_utf8_lossy(around)
                    ));
                    break;
                }
            }
        }
    }
    found.dedup_by_key(|it| it.split(':').next().map(str::to_owned));
    assert!(found.is_empty(), "{}\n{}", found.len(), found.join("\n"));
}

/// The base URL of an upstream may have a password or a key of its own.
#[test]
fn no_key_of_an_upstreams_url_is_left() {
    let place = Place::new();
    let upstream = Server::handler(|received| {
        let at = if received.target.contains("plain") { "plain" } else { "error" };
        let said =
            format!("{} {:?} {}", received.target, received.header("authorization"), key(100));
        if at == "plain" { Reply::chat(&said) } else { Reply::error(400, "bad", &said) }
    });
    let base = upstream.base_url();
    let (_, host) = base.split_once("://").unwrap();
    let url = format!("http://me:{}@{host}?api-key={}&v=1", key(100), key(101));
    let ask = "for how in plain error; do curl -s --max-time 20 -d '{\"model\":\"m\",\"messages\":[]}' $OPENAI_BASE_URL/$how/chat/completions; done";
    let recorded = with(&place, "record", &url, &["sh", "-c", ask], &[]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(upstream.received().iter().all(|it| it.target.contains(&key(101))));
    let all = left(&place, &[recorded]);
    for piece in [100, 101].iter().flat_map(|at| pieces(&key(*at))) {
        for (where_, bytes) in &all {
            assert!(memchr::memmem::find(bytes, piece.as_bytes()).is_none(), "{where_}: {piece}");
        }
    }
}

/// Gets a token, which it says, and asks with it and with the credentials of other servers in the bodies; TOKEN stands for another key of
/// a server.
const ASK_WITH_TOKEN: &str = r#"
ask() { curl -sS -L --max-time 20 -H "authorization: Bearer $OPENAI_API_KEY" "$@"; }
token=$(ask "$OPENAI_BASE_URL/oauth/token" -d "grant_type=client_credentials&client_secret=$OTHER" | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
echo "got $token"
ask "$OPENAI_BASE_URL/responses" -H 'content-type: application/json' \
  -d "{\"model\":\"m\",\"input\":\"hi\",\"tools\":[{\"type\":\"mcp\",\"server_url\":\"https://h\",\"authorization\":\"$token\"}]}"
ask "$OPENAI_BASE_URL/responses" -H 'content-type: application/json' \
  -d "{\"model\":\"m\",\"input\":\"hi\",\"tools\":[{\"type\":\"mcp\",\"server_url\":\"https://h\",\"headers\":{\"Authorization\":\"Bearer $OTHER\"}}]}"
ask "$OPENAI_BASE_URL/chat/completions" -H 'content-type: application/json' \
  -d "{\"model\":\"m\", \"messages\":[{\"role\":\"user\",\"content\":\"api_key\"}], \"api_key\":\"$OTHER\"}"
ask "$OPENAI_BASE_URL/moved/$OPENAI_API_KEY?other=$OPENAI_API_KEY" -H "x-retold-call: call/$OPENAI_API_KEY" \
  -H "x-retold-labels: {\"of $OPENAI_API_KEY\": \"$OPENAI_API_KEY\"}"
"#;

#[test]
fn no_key_in_a_body_is_left_and_the_program_has_what_it_was_sent() {
    let (token, other) = (key(300), key(301));
    let upstream = {
        let (token, own) = (token.clone(), super::KEY);
        Server::handler(move |received| {
            match received.target.split('?').next().unwrap_or_default() {
                path if path.ends_with("/oauth/token") => {
                    let body =
                        format!(r#"{{ "access_token":"{token}", "expires_in":3600, "n":1.0 }}"#);
                    Reply::new(200, body)
                }
                path if path.contains("/moved/") => Reply::new(302, String::new())
                    .header("location", &format!("/v1/there/{own}?next={own}")),
                path if path.contains("/there/") => Reply::new(200, r#"{"there":true}"#.to_owned()),
                path => {
                    let said = format!("{path} {}", String::from_utf8_lossy(&received.body));
                    Reply::chat(&said)
                }
            }
        })
    };
    let place = Place::new();
    let program = ["sh", "-c", ASK_WITH_TOKEN];
    let recorded = with(
        &place,
        "record --hide-command",
        &upstream.base_url(),
        &program,
        &[("OTHER", other.as_str())],
    );
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(recorded.out.contains(&format!("got {token}")), "{}", recorded.out);
    let asked = upstream.received();
    assert_eq!(asked.len(), 6, "{}", recorded.out);
    assert!(String::from_utf8_lossy(&asked[1].body).contains(&token));
    drop(upstream);
    // Another key, and another token, are no other requests.
    let set =
        [("OTHER", "another-key-0123456789"), ("OPENAI_API_KEY", "sk-another-9876543210-abcdef")];
    let replayed = super::replay_with(&place, "latest", &program, &set);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    assert!(replayed.out.contains("got [key]") && replayed.out.contains("\"there\":true"));
    let all = left(&place, &[recorded, replayed]);
    for piece in [&*token, &*other, super::KEY].iter().flat_map(|key| pieces(key)) {
        for (where_, bytes) in &all {
            assert!(memchr::memmem::find(bytes, piece.as_bytes()).is_none(), "{where_}: {piece}");
        }
    }
    let run = place.ok("export latest");
    assert!(run.contains(r#"\"command\":[\"sh\"]"#) && !run.contains("ask() {"), "{run}");
    assert!(run.contains(r#""expires_in\":3600, \"n\":1.0 }"#), "{run}");
}

/// What was recorded elsewhere loses its keys in the same way, but not what stands for one.
#[test]
fn an_import_loses_its_keys_and_keeps_what_stands_for_them() {
    let place = Place::new();
    let body = |key: &str| {
        json!({"model": "m", "input": "hi", "tools": [{"type": "mcp", "authorization": key}], "note": "<OPENAI_ACCESS_TOKEN>"})
            .to_string()
    };
    let exchange = |bearer: &str, key: &str| {
        json!({"request": {"method": "POST", "uri": "https://api.openai.com/v1/responses", "body": body(key),
                "headers": {"Authorization": [format!("Bearer {bearer}")], "Content-Type": ["application/json"]}},
            "response": {"status": {"code": 200, "message": "OK"}, "headers": {"Content-Type": ["application/json"]},
                "body": {"string": json!({"object": "response", "status": "completed", "output": [],
                    "tools": [{"authorization": key}], "said": "<OPENAI_ACCESS_TOKEN>"}).to_string()}}})
    };
    let interactions =
        [exchange("<OPENAI_ACCESS_TOKEN>", "**REDACTED**"), exchange(&key(400), &key(401))];
    let cassette = json!({"version": 1, "interactions": interactions}).to_string();
    std::fs::write(place.path("cassette.yaml"), cassette).unwrap();
    place.ok("import cassette.yaml");
    std::fs::remove_file(place.path("cassette.yaml")).unwrap();
    let all = left(&place, &[]);
    for piece in [400, 401].iter().flat_map(|at| pieces(&key(*at))) {
        for (where_, bytes) in &all {
            assert!(memchr::memmem::find(bytes, piece.as_bytes()).is_none(), "{where_}: {piece}");
        }
    }
    let run = place.ok("export latest");
    assert!(
        run.contains("**REDACTED**") && run.matches("<OPENAI_ACCESS_TOKEN>").count() >= 4,
        "{run}"
    );
}
