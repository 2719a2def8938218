//! The sources of the prompt: as they were declared, and by equal texts.

use std::fmt::Write;

use super::SHOWN;
use retold::audit::{Audit, DeclaredSources, Link, MadeFrom, Match, Origin, PromptRelation};
use retold::escaping::printable;

/// How many of the earlier prompts that led to the audited one are shown to people.
const SHOWN_BEHIND: usize = 20;

/// The prompts whose sources are shown to people.
pub(super) fn listed_prompts(prompts: &[MadeFrom]) -> impl Iterator<Item = &MadeFrom> {
    let mut behind = 0;
    prompts.iter().filter(move |made| {
        behind += usize::from(made.part == PromptRelation::Behind);
        behind <= SHOWN_BEHIND
    })
}

/// The declared sources of the prompt, and those of earlier prompts.
pub(super) fn declared_text(declared: &DeclaredSources, out: &mut String) {
    let DeclaredSources::Kept { prompts, complete, .. } = declared else {
        out.push_str(
            "\nnothing was declared: this run does not keep what its prompts were made from\n",
        );
        return;
    };
    for MadeFrom { call, sample, part, from, .. } in listed_prompts(prompts) {
        // Writing to a string cannot fail.
        let _ = match (part, from.is_empty()) {
            (PromptRelation::Itself, true) => {
                writeln!(out, "\ndeclared: the prompt was not made from anything in the run")
            }
            (_, true) => continue,
            (PromptRelation::Itself, false) => {
                writeln!(out, "\ndeclared: the prompt was made from")
            }
            (PromptRelation::Within, false) => {
                writeln!(
                    out,
                    "\nand from everything that the prompt of {call}#{sample} was made from"
                )
            }
            (PromptRelation::Behind, false) => {
                writeln!(out, "\nearlier: the prompt of {call}#{sample} was made from")
            }
        };
        from.iter().for_each(|origin| origin_text(origin, out));
    }
    let behind = prompts.iter().filter(|made| made.part == PromptRelation::Behind).count();
    // Writing to a string cannot fail.
    let _ = match (behind.saturating_sub(SHOWN_BEHIND), complete) {
        (0, _) => Ok(()),
        (more, true) => writeln!(out, "\nand {more} more earlier prompts: --json has them all"),
        (more, false) => writeln!(
            out,
            "\nand {more} more earlier prompts, which --json has, and others before these: audit one of them"
        ),
    };
}

pub(super) fn origin_text(origin: &Origin, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match origin {
        Origin::Decision { call, sample, answer, decision, .. } => {
            let decision = decision.as_ref().map(|made| format!("decision seq {}", made.seq));
            let decision = decision.unwrap_or_else(|| "no decision".to_owned());
            writeln!(out, "  {call}#{sample}  answer seq {}, {decision}", answer.seq)
        }
        Origin::Fact { fact: Link { seq, event, .. }, causes: _ } => {
            let fact = printable(&event.to_string(), SHOWN);
            writeln!(out, "  fact seq {seq}: {fact}")
        }
        Origin::Question { call, sample, question } => {
            writeln!(out, "  everything that {call}#{sample} was made from, seq {}", question.seq)
        }
        Origin::Draws { start } => writeln!(out, "  the draws of the run, seq {}", start.seq),
        Origin::Other { event: Some(Link { seq, event, .. }), .. } => {
            writeln!(out, "  {event}, which is not a source of prompts, seq {seq}")
        }
        Origin::Other { event: None, seq } => writeln!(out, "  seq {seq}, which does not exist"),
    };
}

/// Texts that are in the prompt, and how rare they are.
pub(super) fn matches_text(audit: &Audit, out: &mut String) {
    if audit.same_text.is_empty() {
        return;
    }
    out.push_str(
        "\nthe same text is in the prompt, which alone does not prove where it came from\n",
    );
    for found in &audit.same_text {
        let Match { message, role, text, origins, declared, of, prompts, looked_at } = found;
        let having = origins.len();
        let declared = if *declared { "; declared above" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  message {message} {role}: \"{}\"", printable(text, SHOWN));
        let _ = writeln!(
            out,
            "    a text of {having} of {of} answers and facts, and in {prompts} of {looked_at} other prompts{declared}"
        );
        let mut shown = String::new();
        origins.iter().for_each(|origin| origin_text(origin, &mut shown));
        for line in shown.lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retold::id::{EventHash, Seq};

    #[test]
    fn what_no_prompt_is_made_from_is_named() {
        let mut text = String::new();
        let event = Link { seq: Seq(1), hash: EventHash([0; 32]), event: "RunStarted".to_owned() };
        origin_text(&Origin::Other { event: Some(event), seq: Seq(1) }, &mut text);
        origin_text(&Origin::Other { event: None, seq: Seq(9) }, &mut text);
        assert_eq!(
            text,
            "  RunStarted, which is not a source of prompts, seq 1\n  seq 9, which does not exist\n"
        );
    }
}
