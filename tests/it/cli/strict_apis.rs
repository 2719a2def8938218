//! Every study with every kind of model: each API is played by a server that refuses what the real
//! one refuses.

use crate::support::cli::Place;
use crate::support::server::{Reply, Server};
use crate::support::strict::{KINDS, Reader, strict};
use crate::support::studies::{STUDIES, answers};

/// An API for a study. It refuses with a status that is not tried again.
fn server(kind: &'static str, read: Reader, experiment: &str) -> Server {
    Server::handler(strict(kind, read, experiment))
}

fn command(study: &str, kind: &str, server: &Server) -> String {
    let small = STUDIES.iter().find(|small| small.name == study).unwrap();
    let url = match kind {
        "openai" => server.base_url(),
        _ => format!("http://{}", server.address()),
    };
    format!("{} --model {kind} --base-url {url}", small.run())
}

#[test]
fn every_study_asks_every_api_what_it_accepts() {
    for study in STUDIES.iter().map(|small| small.name) {
        let vectors = Server::handler(answers(study));
        for (kind, read) in KINDS {
            let (place, server) = (Place::new(), server(kind, read, study));
            let mut args = command(study, kind, &server);
            let embeds = matches!(study, "deliberation" | "public_goods");
            if embeds && kind != "openai" {
                let at = vectors.base_url();
                args.push_str(&format!(" --endpoint text-embedding-3-small={at}"));
            }
            let (whole, code) = place.json(&args);
            assert_eq!((code, &whole["failed_calls"]), (0, &0.into()), "{study} {kind}: {whole}");
            if study == "deliberation" {
                let rows = whole["report"]["by_condition"].as_object().unwrap();
                assert!(rows.values().all(|row| row["completed"] == 1), "{kind}: {whole}");
            }
            place.ok("replay latest");
        }
    }
}

/// What an API cannot do is found before anything is asked.
#[test]
fn what_cannot_be_asked_is_refused_before_the_first_call() {
    for (study, kind, more, what) in [
        ("deliberation", "anthropic", "", "\"text-embedding-3-small\" cannot be asked"),
        ("deliberation", "gemini", "", "it has no embeddings"),
        ("deliberation", "responses", "", "give that model an endpoint of its own"),
        (
            "public_goods",
            "gemini",
            "--set reasoning.embedding_model=vectors-1",
            "\"vectors-1\" cannot be asked",
        ),
        ("game24", "anthropic", "--set request.extra.seed=3", "no counterpart of \"seed\""),
        ("society", "responses", "--set request.extra.seed=3", "no counterpart of \"seed\""),
        ("adventure", "anthropic", "--set request.temperature=1.5", "this API allows 0 to 1"),
    ] {
        let (place, server) = (Place::new(), Server::handler(|_| Reply::new(500, "")));
        let said = place.run(&format!("{} {more}", command(study, kind, &server)));
        assert_eq!(said.code, 2, "{study} {kind}: {}{}", said.out, said.err);
        assert!(said.err.contains(what), "{study} {kind}: {}", said.err);
        assert!(said.err.contains("nothing was asked"), "{}", said.err);
        assert_eq!(server.received().len(), 0);
        assert!(!place.path("retold.db").exists());
    }
}
