//! The story for people.

use std::fmt::Write;

use super::{Asked, Told};
use crate::experiments::deliberation::state::{Participant, Status};

/// The whole text. What models said is set off further than anything else, so that no answer can pass
/// for a line of this program.
pub(super) fn text(participant: &Participant, told: &[Told]) -> String {
    let Participant { participant_id, condition, status, error_message, .. } = participant;
    let status = match status {
        Status::Pending => "on the way",
        Status::Complete => "complete",
        Status::Failed => "failed",
        Status::Skipped => "skipped",
    };
    let mut text = format!("participant {participant_id}  {}  {status}\n", condition.as_str());
    // Writing to a string cannot fail.
    if let Some(message) = error_message {
        let _ = writeln!(text, "{}", indented(message));
    }
    for Told { what, fact, lines } in told {
        let fact = fact.map(|seq| format!("  seq {seq}")).unwrap_or_default();
        let _ = writeln!(text, "\n{what}{fact}");
        for line in lines {
            let _ = writeln!(text, "  {}\n{}", line.label, indented(&line.text));
            line.exchanges.iter().for_each(|asked| asked_line(&mut text, asked));
        }
    }
    text
}

fn asked_line(text: &mut String, asked: &Asked) {
    let Asked { call, sample, prompt_hash, question, answer, decision, unused } = asked;
    let place = |what: &str, seq: &Option<crate::id::Seq>| match seq {
        Some(seq) => format!("{what} {seq}"),
        None => format!("no {what}"),
    };
    let _ = writeln!(
        text,
        "    {call}#{sample}  prompt {}  question {question}  {}  {}",
        prompt_hash.short(12),
        place("answer", answer),
        place("decision", decision)
    );
    if let Some(unused) = unused {
        let _ = writeln!(text, "    this answer was of no use:\n{}", indented(unused));
    }
}

fn indented(text: &str) -> String {
    let line = |line| match line {
        "" => String::new(),
        line => format!("        {line}"),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
