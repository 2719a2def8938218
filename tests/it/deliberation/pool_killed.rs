//! The pool is never half-written, no matter when its writer is killed.

use std::path::Path;
use std::time::Duration;

use retold_deliberation::personas::pool::{EnrichedPersona, Pool, add};
use serde_json::json;

use crate::support::child;
use crate::support::cli::Place;

/// A persona long enough that writing a pool of them takes a while.
fn persona(number: usize) -> EnrichedPersona {
    let description = format!("Persona {number}, told at length. ").repeat(200);
    let value = json!({
        "base_persona": format!("Persona {number}"), "enriched_persona": description,
        "demographics": {"age": 40, "sex": "F", "education": "Doctorate", "income": "High income",
            "location_type": "urban", "political_leaning": "moderate"},
    });
    EnrichedPersona::read(&value).unwrap()
}

/// What the other process does: adds personas one by one, and prints when each is in the pool.
#[test]
fn child() {
    let Some(pool) = child::task() else { return };
    let there = Pool::read(Path::new(&pool)).unwrap().personas.len();
    for number in there..10_000 {
        add(Path::new(&pool), &[persona(number)]).unwrap();
        child::say(&format!("added {number}"));
    }
}

#[test]
fn a_writer_killed_at_any_moment_leaves_the_pool_whole() {
    let place = Place::new();
    std::fs::create_dir(place.path("data")).unwrap();
    let pool = place.path("data/personas.json");
    let part = place.path("data/personas.json.part");
    add(&pool, &(0..300).map(persona).collect::<Vec<_>>()).unwrap();
    let mut amid = 0;
    for attempt in 0..30_u64 {
        let said = place.path(&format!("said.{attempt}"));
        let task = pool.display().to_string();
        let mut process = child::start("deliberation::pool_killed::child", &task, &said);
        process.hear_so_many("added", 1);
        // At a different point of a write each time.
        std::thread::sleep(Duration::from_micros(attempt * 700));
        process.kill();
        amid += u32::from(part.exists());
        let personas = Pool::read(&pool).unwrap().personas;
        let last = process.said().last().unwrap().strip_prefix("added ").unwrap().to_owned();
        let last: usize = last.parse().unwrap();
        // Every persona it printed is there; the next one may be, if it died before it could print.
        assert!((last + 1..=last + 2).contains(&personas.len()), "{last}, {}", personas.len());
        assert!((0..).zip(&personas).all(|(number, found)| *found == persona(number)));
    }
    assert!(amid > 3, "killed while the next pool was half-written: {amid} times");

    // The next runs are not affected by what killed processes left: one that draws, and one that
    // adds personas and thereby cleans up.
    let small = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    let small = format!("run {small} -q --no-outputs --set participants_per_condition=1");
    let stored = "--set use_persona_storage=true --set provider.rates.malformed=0";
    place.write("data/personas.json.part", "{\"personas\": [{\"base_pers");
    place.write("new.json.part", "{\"personas\": [{\"base_pers");
    let before = Pool::read(&pool).unwrap();
    place.ok(&format!("{small} {stored}"));
    assert_eq!(Pool::read(&pool).unwrap(), before, "it has enough");
    place.ok(&format!("{small} {stored} --set persona_storage=new.json"));
    assert_eq!(Pool::read(&place.path("new.json")).unwrap().personas.len(), 6);
    assert!(!place.path("new.json.part").exists());
}
