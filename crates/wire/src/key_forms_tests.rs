//! A table of the forms in which keys stand in commands, requests and answers: each is kept without its key, or is among those that
//! cannot be, which `docs/limits.md` lists.

use bytes::Bytes;
use hyper::http::{HeaderMap, HeaderName, Method, StatusCode};
use retold::model::{Secrets, command_without_keys, providers};
use serde_json::{Value, json};

use crate::elsewhere::{Elsewhere, LoggedOutcome};
use crate::incoming::Incoming;
use crate::rules::Rules;
use crate::wire_request::WireRequest;

/// Stands for the key; it begins as no provider's keys do.
const KEY: &str = "Zq9Kx7Wm2Rt5Yv8Pn3Lb";

/// A key that stands in the environment under the name of one.
const SET: &str = "Hj4Tg6Bd1Nc8Fs3Qw5Ze";

/// Commands, a word per line; K3Y stands for the key, and S3T for that of the environment.
const COMMANDS: &[&str] = &[
    "run\n--api-key\nK3Y",
    "run\n--api-key=K3Y",
    "run\n--token\nK3Y",
    "run\n--password=K3Y with & signs; and blanks",
    "run\n--openai-api-key-2\nK3Y",
    "run\n--api_keys=K3Y,K3Y",
    "docker\nrun\n--env=OPENAI_API_KEY=K3Y\nimage",
    "docker\nrun\n-e\nOPENAI_API_KEY=K3Y\nimage",
    "docker\nrun\n-eOPENAI_API_KEY=K3Y\nimage",
    "docker\nbuild\n--build-arg\nHF_TOKEN=K3Y\n.",
    "env\nANTHROPIC_API_KEY=K3Y\npython\ns.py",
    "env\nDB_PASSWORD=two words K3Y\npython\ns.py",
    "env\nOTEL_EXPORTER_OTLP_HEADERS=x-team=K3Y,authorization=Bearer%20K3Y\npython\ns.py",
    "env\nANTHROPIC_CUSTOM_HEADERS=X-Team: K3Y\npython\ns.py",
    "env\nOPENAI_API_KEY_3=K3Y\npython\ns.py",
    "java\n-Dopenai.api.key=K3Y\n-jar\na.jar",
    "helm\ninstall\n--set\nopenai.apiKey=K3Y",
    "curl\n-H\nAuthorization: Bearer K3Y\nhttps://h/",
    "curl\n-H\nX-Api-Key:K3Y\nhttps://h/",
    "curl\n--header=Cookie: theme=dark; sid=K3Y",
    "curl\n-u\nme:K3Y\nhttps://h/",
    "curl\n-u\nK3Y:\nhttps://h/",
    "curl\n-ume:K3Y\nhttps://h/",
    "curl\n-U\nme:K3Y\nhttps://h/",
    "curl\n--proxy-user\nme:K3Y\nhttps://h/",
    "curl\n--proxy-user=me:K3Y\nhttps://h/",
    "curl\n--oauth2-bearer\nK3Y\nhttps://h/",
    "curl\nhttps://me:K3Y@h.example/x",
    "git\nclone\nhttps://K3Y@h.example/x.git",
    "git\n-c\nhttp.extraHeader=Authorization: Basic K3Y\nfetch",
    "psql\npostgresql://me:K3Y@h/db",
    "curl\nhttps://h/?a=1&api_key=K3Y&b=2",
    "curl\nhttps://h/?%6Bey=K3Y",
    "curl\nhttps://h/?next=https%3A%2F%2Fg%2F%3Fapi_key%3DK3Y%26a%3D1",
    "curl\n-d\n{\"model\":\"m\",\"api_key\":\"K3Y\"}\nhttps://h/",
    "curl\n-d\n{\"env\":[{\"name\":\"api_key\",\"value\":\"K3Y\"}]}\nhttps://h/",
    "curl\n-d\n{\"env\":[{\"value\":\"K3Y\",\"name\":\"API_KEY\"}]}\nhttps://h/",
    "aws\necs\nrun-task\n--overrides\nname=API_KEY,value=K3Y",
    "aws\nconfigure\nset\naws_secret_access_key\nK3Y",
    "setx\nOPENAI_API_KEY\nK3Y",
    "fish\n-c\nset -x OPENAI_API_KEY K3Y; run",
    "csh\n-c\nsetenv OPENAI_API_KEY K3Y; run",
    "sh\n-c\nOPENAI_API_KEY=K3Y run",
    "sh\n-c\nexport OPENAI_API_KEY='K3Y'; run",
    "sh\n-c\nOPENAI_API_KEY=$(echo K3Y) run",
    "sh\n-c\nOPENAI_API_KEY=`echo K3Y`; run",
    "sh\n-c\nOPENAI_API_KEY=\"$(printf %s K3Y)\"; run",
    "sh\n-c\nOPENAI_API_KEY=${OPENAI_API_KEY:-K3Y} run",
    "sh\n-c\nOPENAI_API_KEY=$'K3Y' run",
    "sh\n-c\nrun --api-key K3Y && ls",
    "sh\n-c\nrun --api-key \"K3Y\"",
    "sh\n-c\ncurl -H 'x-auth-token: K3Y' https://h/",
    "sh\n-c\ncurl -H \"Authorization: Bearer K3Y\" https://h/",
    "sh\n-c\ncurl -u me:K3Y https://h/",
    "sh\n-c\ncurl -d '{\\\"api_key\\\": \\\"K3Y\\\"}' https://h/",
    "sh\n-c\ncurl -d 'model=m&api_key=K3Y' https://h/",
    "sh\n-c\ncat > ~/.netrc <<< 'machine h login me password K3Y'",
    "pwsh\n-Command\n$env:OPENAI_API_KEY = 'K3Y'; run",
    "cmd\n/c\nset OPENAI_API_KEY=K3Y&& run",
    "python\n-c\nimport os; os.environ['OPENAI_API_KEY']='K3Y'",
    "python\n-c\nimport os; os.environ[\"OPENAI_API_KEY\"] = \"K3Y\"",
    "python\n-c\nimport os; os.environ.setdefault('OPENAI_API_KEY', 'K3Y')",
    "python\n-c\nimport os; os.putenv(\"OPENAI_API_KEY\", \"K3Y\")",
    "python\n-c\nfrom openai import OpenAI; OpenAI(api_key=\"K3Y\").models.list()",
    "python\n-c\nC(api_key=SecretStr('K3Y'))",
    "python\n-c\nC(headers={'Authorization': f'Bearer K3Y'})",
    "python\n-c\nopenai.api_key = '''K3Y'''",
    "node\n-e\nnew OpenAI({apiKey: 'K3Y'})",
    "node\n-e\nprocess.env.OPENAI_API_KEY='K3Y'",
    "ruby\n-e\nENV['OPENAI_API_KEY'] = 'K3Y'",
    "ruby\n-e\nC.new(:api_key => 'K3Y')",
    "yq\n-n\napi_key: K3Y",
    "kubectl\napply\nspec:\n- name: OPENAI_API_KEY\n  value: K3Y",
    "xmlstarlet\n<apiKey>K3Y</apiKey>",
    "az\nstorage\n--connection-string=AccountName=a;AccountKey=K3Y;EndpointSuffix=s",
    "run\nS3T",
    "run\n--data=user:S3T!",
    "sh\n-c\necho S3T | run",
    "run\nBASE64",
    "run\nHEX",
    "run\nPERCENT",
    "run\nsk-proj-K3Y",
    "run\nsk-ant-api03-K3Y",
    "run\nghp_K3Y",
    "run\ngithub_pat_K3Y",
    "run\nnvapi-K3Y",
    "run\nhf_K3Y",
    "run\ngsk_K3Y",
    "run\nxai-K3Y",
    "run\nAIzaK3Y",
    "run\nglpat-K3Y",
    "run\nxoxb-K3Y",
    "run\nr8_K3Y",
    "run\npplx-K3Y",
    "run\nSG.K3Y.K3Y",
    "run\neyJhbGciOiJIUzI1NiJ9.K3Y.K3Y",
    "run\nAKIAIOSFODNN7EXAMPLE",
    "run\nASIAIOSFODNN7EXAMPLE",
    "sh\n-c\nprintf '%s' 'sk-proj-K3Y' > f",
    "docker\nlogin\n-u\nme\n-p\nK3Y",
    "sshpass\n-pK3Y\nssh\nh",
    "redis-cli\n-a\nK3Y",
    "wandb\nlogin\nK3Y",
    "http\nu\n-a\nme:K3Y",
    "npm\nconfig\nset\n//registry.example/:_authToken\nK3Y",
    "gh\nsecret\nset\nOPENAI_API_KEY\n--body\nK3Y",
    "run\n--authorization\nBearer\nK3Y",
    "run\n{\"api_keys\":[\"K3Y\",\"K3Y\"]}",
    "run\n{\"api_keys\":{\"openai\":\"K3Y\"}}",
    "run\nx%22api_key%22%3A%22K3Y%22",
    "run\n{\\u0022api_key\\u0022:\\u0022K3Y\\u0022}",
    "run\n&quot;api_key&quot;:&quot;K3Y&quot;",
    "run\n<add key=\"ApiKey\" value=\"K3Y\" />",
    "sh\n-c\ncurl -ume:K3Y u",
    "sh\n-c\ncurl -u\"me:K3Y\" u",
    "sh\n-c\ncurl -H Authorization:\\ Bearer\\ K3Y u",
    "sh\n-c\nAPI_KEY='a'\"K3Y\" run",
    "sh\n-c\n: ${API_KEY:=K3Y}; run",
    "python\n-c\nget(u, headers={\"Authorization\": \"Bearer \" + \"K3Y\"})",
    "python\n-c\nget(u, auth=('me', 'K3Y'))",
    "python\n-c\nsetattr(c, 'api_key', 'K3Y')",
    "pwsh\n-c\nSet-Item Env:OPENAI_API_KEY K3Y",
    "pwsh\n-c\n[Environment]::SetEnvironmentVariable('OPENAI_API_KEY', 'K3Y', 'User')",
    "perl\n-e\n$ENV{OPENAI_API_KEY}='K3Y'",
    "R\n-e\nSys.setenv(OPENAI_API_KEY = 'K3Y')",
    "sh\n-c\necho '-----BEGIN PRIVATE KEY-----\\nK3Y\\n-----END PRIVATE KEY-----'",
];

/// Requests: path, content type, body. Every request has the bearer BEARER.
const REQUESTS: &[(&str, &str, &str)] = &[
    (
        "/responses",
        "application/json",
        r#"{"model":"m","input":"hi","tools":[{"type":"mcp","server_url":"https://h","authorization":"KEY"}]}"#,
    ),
    (
        "/responses",
        "application/json",
        r#"{"model":"m","input":"hi","tools":[{"type":"mcp","headers":{"Authorization":"Bearer KEY","X":"KEY"}}]}"#,
    ),
    (
        "/v1/messages",
        "application/json",
        r#"{"model":"m","messages":[],"mcp_servers":[{"type":"url","authorization_token":"KEY"}]}"#,
    ),
    (
        "/v1/messages/batches",
        "application/json",
        r#"{"requests":[{"custom_id":"a","params":{"mcp_servers":[{"authorization_token":"KEY"}]}}]}"#,
    ),
    (
        "/openai/deployments/d/chat/completions",
        "application/json",
        r#"{"messages":[],"data_sources":[{"type":"azure_search","parameters":{"authentication":{"type":"api_key","key":"KEY"}}}]}"#,
    ),
    (
        "/openai/deployments/d/chat/completions",
        "application/json",
        r#"{"messages":[],"data_sources":[{"parameters":{"authentication":{"type":"connection_string","connection_string":"KEY"}}}]}"#,
    ),
    ("/chat/completions", "application/json", r#"{"model":"m","messages":[],"api_key":"KEY"}"#),
    (
        "/chat/completions",
        "application/json",
        r#"{"model":"m","messages":[],"aws_secret_access_key":"KEY","aws_session_token":"KEY"}"#,
    ),
    (
        "/chat/completions",
        "application/json",
        r#"{"model":"m","messages":[],"user_config":{"model_list":[{"litellm_params":{"api_key":"KEY"}}]}}"#,
    ),
    (
        "/chat/completions",
        "application/json",
        r#"{"model":"m","messages":[{"role":"user","content":"my key is BEARER"}]}"#,
    ),
    (
        "/models/m:generateContent",
        "application/json",
        r#"{"contents":[],"tools":[{"mcpServers":[{"streamableHttpTransport":{"headers":{"Authorization":"KEY"}}}]}]}"#,
    ),
    (
        "/v1/chat",
        "application/json",
        r#"{"message":"hi","connectors":[{"id":"c","user_access_token":"KEY"}]}"#,
    ),
    ("/oauth/token", "application/json", r#"{"grant_type":"refresh_token","refresh_token":"KEY"}"#),
    (
        "/oauth/token",
        "application/x-www-form-urlencoded",
        "grant_type=client_credentials&client_id=c&client_secret=KEY",
    ),
    ("/any", "application/x-www-form-urlencoded", "a=1&api_key=KEY&b=2"),
    (
        "/any",
        "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nKEY\r\n--b--\r\n",
    ),
    (
        "/files",
        "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b.jsonl\"\r\n\r\n{\"url\":\"/v1/responses\",\"body\":{\"tools\":[{\"authorization\":\"KEY\"}]}}\r\n--b--\r\n",
    ),
    (
        "/realtime/client_secrets",
        "application/json",
        r#"{"session":{"tools":[{"type":"mcp","authorization":"KEY"}]}}"#,
    ),
    ("/tenants/BEARER/models", "application/json", "{}"),
    ("/any?whatever=BEARER", "application/json", "{}"),
    ("/any?api_key=BEARER", "application/json", "{}"),
];

/// Answers: the path asked, content type, body.
const ANSWERS: &[(&str, &str, &str)] = &[
    (
        "/oauth/token",
        "application/json",
        r#"{"access_token":"KEY","token_type":"Bearer","refresh_token":"KEY","id_token":"KEY"}"#,
    ),
    ("/login/oauth/access_token", "application/x-www-form-urlencoded", "access_token=KEY&scope=x"),
    (
        "/realtime/client_secrets",
        "application/json",
        r#"{"value":"KEY","expires_at":1,"session":{"id":"s"}}"#,
    ),
    (
        "/realtime/sessions",
        "application/json",
        r#"{"id":"s","client_secret":{"value":"KEY","expires_at":1}}"#,
    ),
    (
        "/chat/completions",
        "application/json",
        r#"{"choices":[{"message":{"content":"you sent BEARER"}}]}"#,
    ),
    (
        "/chat/completions",
        "text/event-stream",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"BEAR1\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"BEAR2\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"BEAR3\"}}]}\n\ndata: [DONE]\n\n",
    ),
    (
        "/v1/messages",
        "text/event-stream",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"BEAR1\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"BEAR2\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"BEAR3\"}}\n\n",
    ),
    (
        "/v1/messages",
        "text/event-stream",
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\"}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"BEAR1\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"BEAR2\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"BEAR3\"}}\n\n",
    ),
];

/// Commands whose keys cannot be told from other words, each with the words of `docs/limits.md` that say so.
const NOT_HELD: &[(&str, &str)] = &[
    ("run\nK3Y", "under no name"),
    ("sh\n-c\necho K3Y | docker login --password-stdin", "under no name"),
    ("sh\n-c\nread -r X <<< K3Y", "under no name"),
    ("run\n-k\nK3Y", "of one letter"),
    ("python\n-c\nC('bL3nP8vY5tR2mW7xK9qZ'[::-1])", "put together"),
    ("python\n-c\na = 'Zq9Kx7Wm2R'; b = 't5Yv8Pn3Lb'; C(api_key=a + b)", "put together"),
];

/// What an auditor reads in a command.
const KEPT: &[&str] = &[
    "python\n-u\nstudy.py\n--model\ngpt-4o-mini\n--seed=7",
    "git\ncheckout\n9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "run\n--run-id\n550e8400-e29b-41d4-a716-446655440000\n--data=sha256:9f86d081884c7d659a2feaa0c55ad015",
    "retold\nreplay\n019a2b3c4d5e6f708192a3b4c5d6e7f8",
    "sh\n-c\nOPENAI_API_KEY=$MY_KEY python study.py --max-tokens 100 > out.txt",
    "sh\n-c\ncurl -H \"Authorization: Bearer $OPENAI_API_KEY\" https://api.openai.com/v1/models",
    "python\n-c\nimport os; C(api_key=os.environ['OPENAI_API_KEY'], model='m')",
    "env\n-u\nOPENAI_API_KEY\npython\ns.py",
    "run\n--api-key=<OPENAI_API_KEY>\n--config\nhf_transformers_v2.yaml\n--task\nsk-learn-tutorial",
    "jq\n{\"model\": \"m\", \"monkey\": \"ape\", \"keyword\": \"x\", \"tokens\": 5}",
    "python\n-m\npytest\n-k\ntest_api_key or test_token",
    "python\n-c\nassert os.environ.get(\"OPENAI_API_KEY\"), \"set it\"; run(model=\"m\")",
    "python\n-c\ndef f(api_key: str = None, n: int = 3): pass",
    "python\n-c\nfor key, value in d.items(): print(key, value)",
    "docker\nrun\n-u\n1000:1000\n-p\n8080:80\nimg@sha256:9f86d081884c7d659a2feaa0c55ad015",
    "sh\n-c\nif [ -z \"$API_KEY\" ]; then exit 1; fi; unset TOKEN; date -u +%H:%M; python s.py",
    "sh\n-c\nset -e; for f in *.py; do python $f --keyword=x; done",
];

fn words(command: &str) -> Vec<String> {
    command.split('\n').map(str::to_owned).collect()
}

fn shown(command: &str) -> String {
    let mut keys = Secrets::default();
    keys.add(SET);
    let percent: String = SET.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let command = command
        .replace("K3Y", KEY)
        .replace("S3T", SET)
        .replace("BASE64", &data_encoding::BASE64.encode(format!("me:{SET}").as_bytes()))
        .replace("HEX", &data_encoding::HEXLOWER.encode(SET.as_bytes()))
        .replace("PERCENT", &percent);
    // A document is one word.
    let words = match command.split_once("\nspec:") {
        Some((before, document)) => {
            words(before).into_iter().chain([format!("spec:{document}")]).collect()
        }
        None => words(&command),
    };
    command_without_keys(words, &keys).join("\n")
}

/// Whether a text has a piece of one of the keys.
fn has_key(text: &str) -> bool {
    let pieces = |key: &str| {
        let all: Vec<char> = key.chars().collect();
        all.windows(6).map(|it| it.iter().collect::<String>()).collect::<Vec<_>>()
    };
    [KEY, SET, "IOSFODNN7EXAMPLE"].iter().flat_map(|key| pieces(key)).any(|it| text.contains(&it))
}

#[test]
fn no_form_of_a_key_is_left_in_a_command() {
    let left: Vec<String> = COMMANDS.iter().map(|it| shown(it)).filter(|it| has_key(it)).collect();
    assert!(left.is_empty(), "{} of {}:\n{}", left.len(), COMMANDS.len(), left.join("\n--\n"));
    for command in COMMANDS {
        let once = shown(command);
        let again = command_without_keys(words(&once), &Secrets::default()).join("\n");
        assert_eq!(once.matches("[key]").count(), again.matches("[key]").count(), "{once}");
        let name = command.split('\n').next().unwrap_or_default();
        assert!(once.starts_with(name) && once.contains("[key]"), "{once}");
    }
}

#[test]
fn what_an_auditor_reads_stays() {
    for command in KEPT {
        assert_eq!(command_without_keys(words(command), &Secrets::default()), words(command));
    }
}

#[test]
fn what_cannot_be_held_is_listed_in_the_limits() {
    let limits = include_str!("../../../docs/limits.md");
    assert!(NOT_HELD.len() < 8);
    for (command, due) in NOT_HELD {
        assert!(
            has_key(&shown(command)) || !shown(command).contains("[key]"),
            "now held: {command}"
        );
        assert!(limits.contains(due), "docs/limits.md lacks: {due}");
    }
    assert!(COMMANDS.len() + REQUESTS.len() + ANSWERS.len() + NOT_HELD.len() >= 100);
}

fn incoming(path: &str, content_type: &str, body: &str) -> Incoming {
    let bearer = format!("sk-{SET}");
    let said = |text: &str| text.replace("BEARER", &bearer).replace("KEY", KEY);
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(said(query))),
        None => (path, None),
    };
    let mut headers = HeaderMap::new();
    let labels = json!({"who": format!("p {bearer}"), format!("l {bearer}"): "x"}).to_string();
    for (name, value) in [
        ("authorization", format!("Bearer {bearer}")),
        ("content-type", content_type.to_owned()),
        ("x-retold-call", format!("vote/{bearer}")),
        ("x-retold-labels", labels),
        ("anthropic-beta", format!("beta-{bearer}")),
    ] {
        headers.insert(HeaderName::from_static(name), value.parse().unwrap());
    }
    Incoming {
        upstream: "openai".to_owned(),
        is_led: false,
        method: Method::POST,
        path: said(path),
        query,
        headers,
        body: Bytes::from(said(body)),
    }
}

/// Everything that is stored of a request.
fn stored(asked: &WireRequest) -> String {
    format!("{} {:?} {}", asked.key.call.as_str(), asked.labels, asked.request.body())
}

#[test]
fn no_form_of_a_key_is_left_in_a_request() {
    for (path, content_type, body) in REQUESTS {
        let asked = incoming(path, content_type, body).wire_request(&Rules::default()).unwrap();
        let text = stored(&asked);
        assert!(!has_key(&text), "{text}");
        assert!(text.contains("vote/[key]") && text.contains("l [key]"), "{text}");
        let without = incoming(path, content_type, body);
        let text = stored(&without.asked_without_body(&Rules::default(), "x").unwrap());
        assert!(!has_key(&text), "{text}");
    }
}

#[test]
fn requests_that_differ_in_a_key_alone_are_one_and_all_others_are_several() {
    let key = |body: &str| {
        let mut incoming = incoming("/responses", "application/json", "");
        incoming.body = Bytes::from(body.to_owned());
        incoming.wire_request(&Rules::default()).unwrap().key
    };
    let body = |key: &str, rest: &str| {
        format!(
            r#"{{"model":"m","input":"hi","tools":[{{"type":"mcp","authorization":"{key}"}}]{rest}}}"#
        )
    };
    let one = key(&body("a", ""));
    for same in ["b", "", "x", "Bearer 0123456789abcdef", "\\u0041", "a\\\"b"] {
        assert_eq!(key(&body(same, "")), one, "{same}");
    }
    let mut all = vec![one];
    for other in [
        body("<TOKEN>", ""),
        body("a", r#","temperature":0"#),
        body("a", r#","api_key":"k""#),
        body("a", r#","metadata":{}, "extra":{"api_key":"k"}"#),
        body("a", r#","extra":{"api_key":"l"}"#),
        body("a", r#","n":1"#),
        body("a", r#","n":2"#),
        body("a", "").replace("authorization", "authorisation"),
        body("a", "")
            .replace(r#""authorization":"a""#, r#""authorization":"a","headers":{"A":"x"}"#),
        body("a", "")
            .replace(r#""authorization":"a""#, r#""authorization":"a","headers":{"B":"x"}"#),
        body("a", "").replace(r#""authorization":"a""#, r#""authorization":null"#),
        body("a", "").replace(r#""authorization":"a""#, r#""authorization":["a"]"#),
        body("a", "").replace("mcp", "mcq"),
    ] {
        all.push(key(&other));
    }
    let mut apart = all.clone();
    apart.sort();
    apart.dedup();
    assert_eq!(apart.len(), all.len());
}

#[test]
fn no_form_of_a_key_is_left_in_an_answer() {
    let bearer = format!("sk-{SET}");
    for (path, content_type, body) in ANSWERS {
        let body = body.replace("BEARER", &bearer).replace("KEY", KEY);
        // Cut into three, none of which is long enough to be known.
        let body = body.replace("BEAR1", &format!("is {}", &SET[..7]));
        let body = body.replace("BEAR2", &SET[7..13]).replace("BEAR3", &SET[13..18]);
        let mut headers = HeaderMap::new();
        headers.insert("content-type", content_type.parse().unwrap());
        headers.insert("location", format!("/a?next={bearer}").parse().unwrap());
        headers.insert("x-request-id", format!("req-{bearer}").parse().unwrap());
        let incoming = incoming(path, "application/json", "{}");
        let asked = incoming.wire_request(&Rules::default()).unwrap();
        let answer = Elsewhere { status: StatusCode::OK, headers, body: body.clone().into() };
        let outcome = answer.outcome(&incoming, &asked, 0, &Rules::default()).unwrap();
        let LoggedOutcome::Answer(response) = outcome else { panic!("{body}") };
        let text = format!("{} {}", response.content.text(), Value::Object(response.extra));
        assert!(!has_key(&text), "{text}");
        assert!(text.contains("next=[key]") && text.contains("req-[key]"), "{text}");
    }
    // Elsewhere, a field of that name is an answer.
    let incoming = incoming("/chat/completions", "application/json", "{}");
    let asked = incoming.wire_request(&Rules::default()).unwrap();
    let body = json!({"access_token": KEY, "choices": [{"message": {"content": "x"}}]});
    let answer = Elsewhere {
        status: StatusCode::OK,
        headers: HeaderMap::new(),
        body: body.to_string().into(),
    };
    let outcome = answer.outcome(&incoming, &asked, 0, &Rules::default()).unwrap();
    let LoggedOutcome::Answer(response) = outcome else { panic!() };
    assert!(Value::Object(response.extra).to_string().contains(KEY));
    assert_eq!(asked.dialect.name(), providers::at("/chat/completions").name());
}

#[test]
fn a_key_in_a_body_is_kept_out_of_an_answer_that_repeats_it() {
    let body = r#"{"model":"m","input":"hi","tools":[{"type":"mcp","authorization":"KEY"}]}"#;
    let incoming = incoming("/responses", "application/json", body);
    let asked = incoming.wire_request(&Rules::default()).unwrap();
    let body = json!({"object": "response", "status": "completed", "output": [], "tools": [{"authorization": KEY}]});
    let answer = Elsewhere {
        status: StatusCode::OK,
        headers: HeaderMap::new(),
        body: body.to_string().into(),
    };
    let outcome = answer.outcome(&incoming, &asked, 0, &Rules::default()).unwrap();
    let LoggedOutcome::Answer(response) = outcome else { panic!() };
    let text = Value::Object(response.extra).to_string();
    assert!(!has_key(&text), "{text}");
}
