//! A model is named in one way everywhere: `PROVIDER/MODEL`, or by a name that says whose it is. A server that is named counts
//! more.

use std::collections::BTreeSet;

use crate::support::cli::{Place, SMALL, Said};
use crate::support::server::{Received, Reply, Server};
use crate::support::strict::{KINDS, strict};
use crate::support::studies::{STUDIES, answers};

/// The variables of a provider's server and key, and the path after the address.
const VARIABLES: [(&str, &str, &str, &str); 4] = [
    ("anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", ""),
    ("gemini", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", ""),
    ("responses", "OPENAI_BASE_URL", "OPENAI_API_KEY", ""),
    ("openai", "OPENAI_BASE_URL", "OPENAI_API_KEY", "/v1"),
];

/// Runs a command where variables name the servers of providers, and a key for each.
fn with_servers(place: &Place, args: &str, servers: &[(&str, &Server)]) -> Said {
    let mut command = place.command();
    command.args(args.split_whitespace());
    for (kind, server) in servers {
        let of = VARIABLES.iter().find(|(of, ..)| of == kind).unwrap();
        let (_, url, key, path) = of;
        command.env(url, format!("http://{}{path}", server.address())).env(key, "sk-test-1");
    }
    Said::ended(&mut command)
}

/// The models that a server was asked for; Gemini has them in the path.
fn models(received: &[Received]) -> BTreeSet<String> {
    let model = |received: &Received| match received.json()["model"].as_str() {
        Some(name) => name.to_owned(),
        None => {
            let last = received.target.rsplit('/').next().unwrap_or_default().to_owned();
            last.split(':').next().unwrap_or_default().to_owned()
        }
    };
    received.iter().map(model).collect()
}

#[test]
fn every_study_asks_the_model_that_is_named() {
    let names = [
        ("anthropic", "anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("gemini", "gemini-2.5-flash", "gemini-2.5-flash"),
        ("openai", "openai/my-own", "my-own"),
        ("openai", "gpt-4o-mini", "gpt-4o-mini"),
    ];
    for (n, small) in STUDIES.into_iter().enumerate() {
        // The names are read by what studies share: the first has all of them, and each of the others one.
        let named = names.into_iter().cycle().skip(n).take(if n == 0 { names.len() } else { 1 });
        for (kind, given, asked) in named {
            let study = small.name;
            let (_, read) = KINDS.into_iter().find(|(of, _)| *of == kind).unwrap();
            let (place, server) = (Place::new(), Server::handler(strict(kind, read, study)));
            let vectors = Server::handler(answers(study));
            let servers: &[(&str, &Server)] = match kind {
                "openai" => &[("openai", &server)],
                _ => &[("openai", &vectors), (kind, &server)],
            };
            // A server of OpenAI's that a variable names counts more than a name without a provider, unless the provider's is
            // named as well.
            let said = with_servers(&place, &format!("{} --model {given}", small.run()), servers);
            assert_eq!(said.code, 0, "{study} {given}: {}{}", said.out, said.err);
            let embeds = matches!(study, "deliberation" | "public_goods");
            let embedding = "text-embedding-3-small".to_owned();
            let mut due = BTreeSet::from([asked.to_owned()]);
            if embeds && kind == "openai" {
                due.insert(embedding.clone());
            }
            assert_eq!(models(&server.received()), due, "{study} {given}");
            let embedded = models(&vectors.received());
            assert_eq!(
                embedded.contains(&embedding),
                embeds && kind != "openai",
                "{study} {given}"
            );
            place.ok("replay latest");
            // What a resume has to name is nothing, where the variables still do.
            let before = server.received().len();
            let again = with_servers(&place, "run --resume latest --quiet --no-outputs", servers);
            assert_eq!((again.code, server.received().len()), (0, before), "{}", again.err);
        }
    }
}

#[test]
fn a_server_that_is_named_counts_more_than_a_name() {
    let (place, server) = (Place::new(), Server::handler(answers("game24")));
    let url = server.base_url();
    let said =
        place.run(&format!("run small.yaml --quiet --model claude-sonnet-4-5 --base-url {url}"));
    assert_eq!(said.code, 0, "{}", said.err);
    // A variable that names a server for all counts as well.
    let said = with_servers(
        &place,
        "run small.yaml --quiet --new --model claude-x",
        &[("openai", &server)],
    );
    assert_eq!(said.code, 0, "{}", said.err);
    // Also in a config, where names may begin with their provider.
    let config = SMALL.replace("gpt-4", "openai/gpt-4")
        + &format!("model: {{kind: openai, base_url: \"{url}\"}}\n");
    place.write("study.yaml", config);
    place.ok("run study.yaml --quiet");
    assert!(server.received().iter().all(|received| received.target == "/v1/chat/completions"));
    let due = ["claude-sonnet-4-5", "claude-x", "gpt-4"].map(str::to_owned);
    assert_eq!(models(&server.received()), BTreeSet::from(due));
    // A model of another provider is asked there, too, in the words of its API.
    let elsewhere = Server::handler(answers("game24"));
    let (_, read) = KINDS.into_iter().find(|(of, _)| *of == "anthropic").unwrap();
    let claude = Server::handler(strict("anthropic", read, "game24"));
    let config = SMALL.replace("gpt-4", "anthropic/claude-sonnet-4-5");
    let url = format!("http://{}", claude.address());
    for (name, config, named) in [
        ("typed.yaml", format!("{config}model: {{kind: openai}}\n"), format!("--base-url {url}")),
        (
            "named.yaml",
            format!("{config}model: {{kind: openai, base_url: \"{url}\"}}\n"),
            String::new(),
        ),
    ] {
        place.write(name, config);
        let args = format!("run {name} --quiet --new {named}");
        let said = with_servers(&place, &args, &[("anthropic", &elsewhere)]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
    }
    assert_eq!((claude.received().len(), elsewhere.received().len()), (12, 0));
}

/// Players of one table, each at a provider of its own.
#[test]
fn a_config_names_models_of_several_providers() {
    let experiment = "public_goods";
    let place = Place::new();
    let [claude, gemini, openai] = ["anthropic", "gemini", "openai"].map(|kind| {
        let (_, read) = KINDS.into_iter().find(|(of, _)| *of == kind).unwrap();
        Server::handler(strict(kind, read, experiment))
    });
    let servers = [("anthropic", &claude), ("gemini", &gemini), ("openai", &openai)];
    let config =
        std::fs::read_to_string(concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml"));
    let config = config.unwrap().replace(
        "  - {llm_model: gpt-4o-mini}\n  - {llm_model: gpt-4o-mini}\n",
        "  - {llm_model: anthropic/claude-sonnet-4-5}\n  - {llm_model: gemini/gemini-2.5-flash}\n",
    );
    place.write("study.yaml", config.replace("kind: simulated", "kind: openai"));
    let said = with_servers(&place, "run study.yaml --quiet --no-outputs", &servers);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(models(&claude.received()), BTreeSet::from(["claude-sonnet-4-5".to_owned()]));
    assert_eq!(models(&gemini.received()), BTreeSet::from(["gemini-2.5-flash".to_owned()]));
    let due = ["gpt-4o", "text-embedding-3-small"].map(str::to_owned);
    assert_eq!(models(&openai.received()), BTreeSet::from(due));
    place.ok("replay latest");
}

/// `request.model` is the key of all studies; those of the documents are read as well.
#[test]
fn one_key_names_the_model_of_every_study() {
    for small in STUDIES {
        let (place, server) = (Place::new(), Server::handler(answers(small.name)));
        let url = server.base_url();
        let settings =
            "--set request.model=m-1 --set request.temperature=null --set request.max_tokens=700";
        place.ok(&format!("{} --base-url {url} {settings}", small.run()));
        let chats =
            server.received().into_iter().filter(|received| !received.json()["messages"].is_null());
        let mut names = BTreeSet::new();
        for body in chats.map(|received| received.json()) {
            // Two players of the public goods game have models of their own.
            names.insert(body["model"].as_str().unwrap().to_owned());
            assert_eq!(body["max_tokens"], 700, "{}", small.name);
            assert!(body["temperature"].is_null(), "{}: {body}", small.name);
        }
        names.remove("gpt-4o-mini");
        assert_eq!(names, BTreeSet::from(["m-1".to_owned()]), "{}", small.name);
        // In a fork as well.
        let forked = format!("fork latest --base-url {url} --set request.temperature=0.1 --quiet");
        place.ok(&forked);
        let last =
            server.received().into_iter().rev().find(|last| !last.json()["messages"].is_null());
        assert_eq!(last.unwrap().json()["temperature"], 0.1, "{}", small.name);
    }
}

#[test]
fn a_name_that_says_nothing_is_explained() {
    let place = Place::new();
    for (args, due) in [
        ("--model llama3", "write PROVIDER/MODEL, such as openai/llama3"),
        (
            "--model anthropc",
            "--model is one of simulated, openai, scripted, anthropic, gemini, responses",
        ),
        (
            "--model anthropic",
            "the settings name the model \"gpt-4\", which anthropic does not have",
        ),
        ("--model anthropic", "--model openai/gpt-4 asks its own provider"),
        ("--model gemini", "--model gemini/MODEL asks a model of gemini instead"),
        ("--model gpt-4o-mini", "no API key: set OPENAI_API_KEY"),
        ("--model claude-sonnet-4-5", "no API key: set ANTHROPIC_API_KEY"),
        ("--model gpt-4o --answers a.jsonl", "--model gpt-4o and --answers contradict each other"),
    ] {
        let said = place.run(&format!("run small.yaml --quiet {args}"));
        assert_eq!(said.code, 2, "{args}: {}{}", said.out, said.err);
        assert!(said.err.contains(due), "{args}: {}", said.err);
    }
    assert!(!place.path("retold.db").exists(), "nothing was recorded");
    place.ok("plan small.yaml --model openai/gpt-4o-mini");
}

#[test]
fn a_run_keeps_its_model_and_a_fork_may_have_another() {
    let (place, server) = (Place::new(), Server::handler(answers("game24")));
    let url = server.base_url();
    let stopped = place
        .run(&format!("run small.yaml --quiet --model gpt-4o --base-url {url} --max-tokens 20"));
    assert_eq!(stopped.code, 4, "{}", stopped.err);
    let kept = place.run(&format!("run --resume latest --quiet --model gpt-5 --base-url {url}"));
    assert_eq!(kept.code, 2, "{}", kept.err);
    assert!(
        kept.err.contains("asks gpt-4o, and a run that is continued keeps its models"),
        "{}",
        kept.err
    );
    assert!(
        kept.err.contains("--model gpt-5` records a new run with another model"),
        "{}",
        kept.err
    );
    place.ok(&format!(
        "run --resume latest --quiet --model gpt-4o --base-url {url} --max-tokens 9000"
    ));
    place.ok(&format!("fork latest --quiet --model gpt-5 --base-url {url} --max-tokens 9000"));
    assert_eq!(models(&server.received()), BTreeSet::from(["gpt-4o", "gpt-5"].map(str::to_owned)));
}

/// A provider's list says what it has, before anything is asked.
#[test]
fn a_model_that_is_not_in_the_list_is_refused_before_the_first_call() {
    for (kind, listed, wrong, near) in [
        ("openai", &["gpt-4o-mini", "gpt-4o", "o3"][..], "gpt-4o-nano", "openai/gpt-4o-mini"),
        (
            "anthropic",
            &["claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805"],
            "claude-sonnet-9",
            "anthropic/claude-sonnet-4-5-20250929",
        ),
        (
            "gemini",
            &["gemini-2.5-flash", "gemini-2.5-pro"],
            "gemini-2.5-flush",
            "gemini/gemini-2.5-flash",
        ),
    ] {
        let (_, read) = KINDS.into_iter().find(|(of, _)| *of == kind).unwrap();
        let server = Server::handler(strict(kind, read, "game24")).with_models(listed);
        let place = Place::new();
        let said = with_servers(
            &place,
            &format!("run small.yaml --quiet --model {kind}/{wrong}"),
            &[(kind, &server)],
        );
        assert_eq!(said.code, 2, "{kind}: {}{}", said.out, said.err);
        assert!(said.err.contains(&format!("does not have the model \"{wrong}\"")), "{}", said.err);
        assert!(said.err.contains("nothing was asked"), "{}", said.err);
        assert!(said.err.contains(&format!("--model {near} asks that one")), "{}", said.err);
        assert_eq!(server.received().len(), 0);
        assert!(!place.path("retold.db").exists());
        // A name that stands for a dated one is there.
        let alias = listed[0].trim_end_matches("-20250929");
        let said = with_servers(
            &place,
            &format!("run small.yaml --quiet --model {kind}/{alias}"),
            &[(kind, &server)],
        );
        assert_eq!(said.code, 0, "{kind}: {}", said.err);
    }
    // A server with one model may answer for any name, and one that a name is given for is taken at the user's word.
    for (args, listed) in [("", &["the-model.gguf"][..]), ("--endpoint gpt-4=URL", &["a", "b"])] {
        let server = Server::handler(answers("game24")).with_models(listed);
        let place = Place::new();
        let url = server.base_url();
        let args = args.replace("URL", &url);
        place.ok(&format!("run small.yaml --quiet --base-url {url} {args}"));
    }
}

#[test]
fn embeddings_that_a_provider_lacks_are_said_before_the_first_call() {
    let (place, server) = (Place::new(), Server::handler(|_| Reply::new(500, "")));
    let small = STUDIES.iter().find(|small| small.name == "deliberation").unwrap();
    let args = format!("{} --model claude-sonnet-4-5", small.run());
    let said = with_servers(&place, &args, &[("anthropic", &server)]);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    for due in [
        "\"text-embedding-3-small\" cannot be asked: the API of kind anthropic: it has no embeddings",
        "set OPENAI_API_KEY: then text-embedding-3-small is asked of its own provider",
        "nothing was asked. --endpoint 'text-embedding-3-small=URL'",
    ] {
        assert!(said.err.contains(due), "{}", said.err);
    }
    assert_eq!(server.received().len(), 0);
}
