//! The five studies declare what their prompts were made from.

use std::collections::BTreeSet;

use retold::audit::{DeclaredSources, Origin, PromptRelation, Target, audit};
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::Log;

use crate::support::cli::Place;
use crate::support::logs::{events, open};
use crate::support::program::studies;
use crate::support::studies::STUDIES;

/// A run of a small study with the simulated model.
fn recorded(place: &Place, study: &crate::support::studies::Small) -> (Log, RunId) {
    place.ok(&study.run());
    let log = open(&place.path("retold.db"));
    let run = log.reader().unwrap().runs().unwrap().pop().unwrap().run;
    (log, run)
}

/// Every long text of the run that occurs in a prompt was declared, or follows from what was
/// declared; and a study that shows earlier answers declares them.
#[test]
fn the_content_of_each_prompt_was_declared() {
    for study in &STUDIES {
        let place = Place::new();
        let (log, run) = recorded(&place, study);
        let mut reader = log.reader().unwrap();
        let stored = events(reader.as_mut(), run);
        let (mut questions, mut declaring, mut found) = (0, 0, 0);
        for event in &stored {
            let Event::RequestSent(sent) = event.event().unwrap() else { continue };
            let audit =
                audit(reader.as_mut(), run, &Target::Seq(event.seq), studies().parsers()).unwrap();
            let DeclaredSources::Kept { prompts, complete, .. } = &audit.declared else {
                panic!("{}: not kept", study.name)
            };
            assert!(complete);
            questions += 1;
            declaring += u32::from(!prompts[0].from.is_empty());
            for origin in prompts.iter().flat_map(|made| &made.from) {
                assert!(!matches!(origin, Origin::Other { .. }), "{}: {origin:?}", sent.call);
            }
            for same in &audit.same_text {
                found += 1;
                let known = same.declared || follows(&audit, &same.origins);
                assert!(known, "{}: {} is not declared: {same:?}", study.name, sent.call);
            }
        }
        eprintln!("{}: {declaring} of {questions} questions declare, {found} texts", study.name);
        // The Game of 24 asks about each puzzle independently.
        assert_eq!(declaring == 0, study.name == "game24", "{}", study.name);
        assert_eq!(place.json("replay latest").0["identical"], true);
    }
}

/// Whether a source is what caused a declared fact.
fn follows(audit: &retold::audit::Audit, origins: &[Origin]) -> bool {
    let DeclaredSources::Kept { prompts, .. } = &audit.declared else { return false };
    let own = prompts
        .iter()
        .filter(|made| made.part != PromptRelation::Behind)
        .flat_map(|made| &made.from);
    let causes: BTreeSet<Seq> = own
        .filter_map(|origin| match origin {
            Origin::Fact { causes, .. } => Some(causes),
            _ => None,
        })
        .flatten()
        .copied()
        .collect();
    origins.iter().any(|origin| match origin {
        Origin::Decision { decision: Some(decision), .. } => causes.contains(&decision.seq),
        _ => false,
    })
}
