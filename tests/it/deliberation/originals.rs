//! Folders of original runs with missing or inconsistent files: the message for each.

use std::fmt::Write;
use std::path::Path;

use crate::support::program::import_original;

use crate::support::cases::fixtures;

const FILES: [&str; 5] = [
    "config.yaml",
    "participants.json",
    "summary.json",
    "cluster_embeddings.json",
    "individual_embeddings.json",
];

/// What is printed about a sound folder after one change.
fn said(change: impl Fn(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        let from = fixtures("originals/pilot_small").join(file);
        std::fs::copy(from, folder.path().join(file)).unwrap();
    }
    change(folder.path());
    match import_original("deliberation", folder.path()).unwrap().unwrap() {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(e) => e.to_string().replace(&folder.path().display().to_string(), "[folder]"),
    }
}

fn edited(file: &str, from: &str, to: &str) -> String {
    said(|folder| {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has {from:?}");
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    })
}

#[test]
fn each_missing_file_is_named() {
    let mut all = String::new();
    for file in FILES {
        let said = said(|folder| std::fs::remove_file(folder.join(file)).unwrap());
        writeln!(all, "{said}").unwrap();
    }
    writeln!(all, "{}", said(|folder| std::fs::remove_dir_all(folder).unwrap())).unwrap();
    insta::assert_snapshot!(all);
}

#[test]
fn each_inconsistency_is_named() {
    let (people, clusters) = ("participants.json", "cluster_embeddings.json");
    let vectors = "individual_embeddings.json";
    let cases = [
        ("config.yaml", "participants_per_condition: 2", "participants_per_condition: 3"),
        ("config.yaml", "pilot_id: pilot_small", "pilot_id: another"),
        ("config.yaml", "opposition_method: cluster_embedding", "opposition_method: dice"),
        ("config.yaml", "model: gpt-4o", "modell: gpt-4o"),
        ("config.yaml", "max_clarification_exchanges: 2", "max_clarification_exchanges: 1"),
        ("summary.json", "pilot_small", "another"),
        (people, "pilot_small", "another"),
        (people, "{", "["),
        (people, "\"acp\"", "\"apc\""),
        (people, "\"acp\"", "\"simple_voting\""),
        (people, "p_0003", "p_0004"),
        (people, "\"initial_choice\": \"More trees\"", "\"initial_choice\": \"More cars\""),
        (people, "\"initial_choice\": \"More trees\"", "\"initial_choice\": null"),
        (people, "\"final_choice\": \"More benches\"", "\"final_choice\": null"),
        (people, "\"opposition_view\": \"More benches\"", "\"opposition_view\": null"),
        (people, "\"role\": \"participant\"", "\"role\": \"moderator\""),
        (people, "\"individual_summary\": \"Wants shade.\"", "\"individual_summary\": null"),
        (people, "\"cluster_id\": \"More trees_cluster_1\"", "\"cluster_id\": null"),
        (people, "\"age\": 21,", ""),
        (clusters, "\"member_count\": 1", "\"member_count\": 2"),
        (clusters, "\"p_0005\"", "\"p_0009\""),
        (clusters, "\"option\": \"More trees\"", "\"option\": \"More benches\""),
        (clusters, "\"p_0007\"", "\"p_0005\""),
        (clusters, "0.75,", "0.75, 1.0,"),
        (vectors, "p_0005", "p_0001"),
        (vectors, "1.0", "0.5"),
    ];
    let mut all = String::new();
    for (file, from, to) in cases {
        let to_shown = if to.is_empty() { "nothing" } else { to };
        writeln!(all, "{file}: {from} -> {to_shown}\n  {}", edited(file, from, to)).unwrap();
    }
    assert!(!all.contains("nothing is wrong"), "{all}");
    insta::assert_snapshot!(all);
}
