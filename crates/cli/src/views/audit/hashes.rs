//! The hashes of everything that an audit names, at its end.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::SHOWN_CAUSES;
use super::sources::listed_prompts;
use retold::audit::{Audit, AuditedFact, DeclaredSources, Link, Origin};
use retold::id::{EventHash, Seq};

/// The hash of the prompt, and that of each event that is named, in the order of the log.
pub(super) fn hashes_text(audit: &Audit, out: &mut String) {
    let mut hashes = NamedHashes::default();
    audit.decision.iter().for_each(|link| hashes.add(link));
    audit.answer.iter().for_each(|link| hashes.add(link));
    audit.attempts.iter().for_each(|link| hashes.add(link));
    audit.left.iter().for_each(|link| hashes.add(link));
    hashes.add(&audit.question);
    if let DeclaredSources::Kept { prompts, .. } = &audit.declared {
        listed_prompts(prompts)
            .flat_map(|made| &made.from)
            .for_each(|from| hashes.add_origin(from));
    }
    let same_text = audit.same_text.iter().flat_map(|found| &found.origins);
    same_text.for_each(|origin| hashes.add_origin(origin));
    for AuditedFact { fact, also } in &audit.facts {
        hashes.add(fact);
        also.iter().take(SHOWN_CAUSES).for_each(|origin| hashes.add_origin(origin));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\nhashes\n  prompt  {}", audit.request.hash());
    for (seq, hash) in hashes.0 {
        let _ = writeln!(out, "  seq {seq}  hash {hash}");
    }
}

/// The hashes of events, by their place.
#[derive(Default)]
struct NamedHashes(BTreeMap<Seq, EventHash>);

impl NamedHashes {
    fn add<T>(&mut self, link: &Link<T>) {
        self.0.insert(link.seq, link.hash);
    }

    fn add_origin(&mut self, origin: &Origin) {
        match origin {
            Origin::Decision { answer, decision, .. } => {
                self.add(answer);
                decision.iter().for_each(|link| self.add(link));
            }
            Origin::Fact { fact, .. } => self.add(fact),
            Origin::Question { question, .. } => self.add(question),
            Origin::Draws { start } => self.add(start),
            Origin::Other { event, .. } => event.iter().for_each(|link| self.add(link)),
        }
    }
}
