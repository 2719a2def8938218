//! A config that somebody else wrote, to get a key or a file.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::cli::{Place, SMALL, Said};
use crate::support::server::{Reply, Server};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/// The config, as it was sent to us, and what it names in its own folder.
fn evil(place: &Place, server: &str) {
    let config = format!(
        "experiment: game24\nseed: 1\npuzzles: {{file: puz.txt}}\nsamples: 1\ntemplate: ./cot.txt\nparser: game24@2\n\
         request: {{model: gpt-4}}\nmodel:\n  kind: openai\n  base_url: {server}\n  endpoints:\n    \
         gpt-4: {{base_url: \"{server}/steal\", key: AWS_SECRET_ACCESS_KEY}}\n"
    );
    place.write("evil.yaml", config);
    place.write("puz.txt", "1 2 3 4\n");
    place.write("cot.txt", "Make 24 of {input}.\n");
}

/// Runs a command of a user who has keys.
fn with_keys(place: &Place, args: &str) -> Said {
    let mut command = place.command();
    command.env("AWS_SECRET_ACCESS_KEY", SECRET).env("OPENAI_API_KEY", "sk-live-0123456789abcdef");
    Said::ended(command.args(args.split_whitespace()))
}

fn server() -> Server {
    Server::handler(|_| Reply::chat("(1 + 2 + 3) * 4"))
}

#[test]
fn a_key_goes_nowhere_on_the_word_of_a_config() {
    let (place, theirs, other) = (Place::new(), server(), server());
    evil(&place, &theirs.base_url());
    let at = theirs.base_url().trim_end_matches("/v1").to_owned();
    for command in
        ["run evil.yaml --no-outputs", "run evil.yaml evil.yaml --no-outputs", "plan evil.yaml"]
    {
        let said = with_keys(&place, command);
        assert_eq!(said.code, 2, "{command}: {}{}", said.out, said.err);
        let due = format!("has the key in AWS_SECRET_ACCESS_KEY sent to {at}, which");
        assert!(said.err.contains(&due) && said.err.contains("--trust"), "{}", said.err);
        assert!(!said.err.contains(SECRET));
    }
    assert!(theirs.received().is_empty() && !place.path(".config").exists());
    // Trusted once, the pair is remembered, for its owner alone.
    let said = with_keys(&place, "run evil.yaml --no-outputs --trust");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(
        theirs.received()[0].header("authorization"),
        Some(format!("Bearer {SECRET}").as_str())
    );
    for (name, mode) in [(".config/retold", 0o700), (".config/retold/trusted", 0o600)] {
        let there = place.path(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(there, mode, "{name}");
    }
    assert_eq!(place.read(".config/retold/trusted"), format!("AWS_SECRET_ACCESS_KEY {at}\n"));
    assert_eq!(with_keys(&place, "run evil.yaml --no-outputs --new").code, 0);
    // At another port, it is another server.
    evil(&place, &other.base_url());
    assert_eq!(with_keys(&place, "run evil.yaml --no-outputs").code, 2);
    assert!(other.received().is_empty());
}

#[test]
fn the_usual_key_goes_to_its_own_provider_alone() {
    let place = Place::new();
    let with = |url: &str| {
        place.write("c.yaml", format!("{SMALL}model:\n  kind: openai\n  base_url: {url}\n"));
        with_keys(&place, "plan c.yaml")
    };
    for own in ["https://api.openai.com/v1", "http://127.0.0.1:1/v1", "http://localhost:1/v1"] {
        let said = with(own);
        assert_eq!(said.code, 0, "{own}: {}", said.err);
    }
    for other in
        ["https://evil.example/v1", "http://api.openai.com/v1", "https://openai.com.evil.example"]
    {
        let said = with(other);
        assert!(said.code == 2 && said.err.contains("OPENAI_API_KEY"), "{other}: {}", said.err);
    }
    // What the user names needs no more.
    place.write("c.yaml", format!("{SMALL}model:\n  kind: openai\n"));
    let url = "https://evil.example/v1";
    let said = with_keys(&place, &format!("plan c.yaml --set model.base_url={url}"));
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn a_server_that_flags_name_gets_the_key_that_they_name() {
    let (place, own) = (Place::new(), server());
    place.write("c.yaml", format!("{SMALL}model:\n  kind: openai\n"));
    let url = own.base_url();
    let flags = format!("--endpoint gpt-4={url} --endpoint-key gpt-4=AWS_SECRET_ACCESS_KEY");
    let said = with_keys(&place, &format!("run c.yaml --no-outputs {flags}"));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!own.received().is_empty());
}

#[test]
fn a_config_names_no_file_outside_its_folder() {
    let place = Place::new();
    for folder in ["theirs", "mine"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    let secret = "mine/secret.txt";
    place.write(secret, "A secret about {input}.\n");
    place.write("mine/puzzles.txt", "1 2 3 4\n");
    place.write("mine/answers.jsonl", "");
    symlink(place.path(secret), place.path("theirs/link.txt")).unwrap();
    symlink(place.path("mine"), place.path("theirs/folder")).unwrap();
    let whole = |name: &str| place.path(name).display().to_string();
    let config = |from: &str, to: &str| {
        place.write("theirs/c.yaml", SMALL.replace(from, to));
    };
    let outside = [
        ("template: cot", format!("template: {}", whole(secret))),
        ("template: cot", "template: ../mine/secret.txt".to_owned()),
        ("template: cot", "template: mine/secret.txt".to_owned()),
        ("template: cot", "template: link.txt".to_owned()),
        ("template: cot", "template: folder/secret.txt".to_owned()),
        ("rows: 0..2", format!("file: {}", whole("mine/puzzles.txt"))),
        (
            "limits:",
            format!("model: {{kind: scripted, answers: {}}}\nlimits:", whole("mine/answers.jsonl")),
        ),
    ];
    for (from, to) in &outside {
        config(from, to);
        for command in ["run theirs/c.yaml --no-outputs", "plan theirs/c.yaml"] {
            let said = place.run(command);
            assert_eq!(said.code, 2, "{command} {to}: {}", said.err);
            assert!(
                said.err.contains("which is outside the folder of this config"),
                "{}",
                said.err
            );
            assert!(said.err.contains("--trust") && !said.err.contains("A secret"), "{}", said.err);
        }
    }
    assert!(!place.path("retold.db").exists());
    config("template: cot", &outside[0].1);
    place.ok("plan theirs/c.yaml --trust");
    config("template: cot", "template: own.txt");
    place.write("theirs/own.txt", "Make 24 of {input}.\n");
    place.ok("plan theirs/c.yaml");
    // Named by the user.
    place.ok(&format!("plan theirs/c.yaml --set template={}", whole(secret)));
}

#[test]
fn a_folder_of_templates_is_one_of_the_config() {
    let place = Place::new();
    let config =
        std::fs::read_to_string(concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml"));
    std::fs::create_dir_all(place.path("theirs/own")).unwrap();
    place.write("secret.txt", "a secret");
    symlink(place.path("secret.txt"), place.path("theirs/own/contribution.txt")).unwrap();
    for prompts in ["..", "own"] {
        place.write("theirs/c.yaml", format!("{}\nprompts: {prompts}\n", config.as_ref().unwrap()));
        let said = place.run("plan theirs/c.yaml");
        assert!(said.code == 2 && !said.err.contains("a secret"), "{prompts}: {}", said.err);
        if prompts == ".." {
            assert!(said.err.contains("outside the folder of this config"), "{}", said.err);
        }
    }
}
