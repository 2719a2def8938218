//! Formats a story for people.

use std::fmt::Write;

use super::{StoryExchange, StoryPart};

/// The chapters as text. Model output is indented more than anything else, so that no answer can be
/// mistaken for a line of this program.
pub fn text(told: &[StoryPart]) -> String {
    let mut text = String::new();
    for StoryPart { what, fact, lines } in told {
        let fact = fact.map_or_else(String::new, |seq| format!("  seq {seq}"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{what}{fact}");
        for line in lines {
            let _ = writeln!(text, "  {}\n{}", line.label, indent(&line.text));
            let otherwise = if fact.is_empty() { "answered" } else { "could not be used" };
            line.exchanges.iter().for_each(|asked| asked_line(&mut text, asked, otherwise));
        }
    }
    text
}

/// An exchange; `otherwise` is the label for an answer that is only shown here.
fn asked_line(out: &mut String, asked: &StoryExchange, otherwise: &str) {
    let StoryExchange { call, sample, prompt_hash, question, answer, decision, text, failure } =
        asked;
    let place = |what: &str, seq: &Option<retold::id::Seq>| match seq {
        Some(seq) => format!("{what} {seq}"),
        None => format!("no {what}"),
    };
    let _ = writeln!(
        out,
        "    {call}#{sample}  prompt {}  question {question}  {}  {}",
        prompt_hash.short(12),
        place("answer", answer),
        place("decision", decision)
    );
    if let Some(reason) = failure {
        let _ = writeln!(out, "    failed:\n{}", indent(reason));
    }
    match text.as_deref() {
        None => {}
        Some("") => {
            let _ = writeln!(out, "    {otherwise}: an empty answer");
        }
        Some(text) => {
            let _ = writeln!(out, "    {otherwise}:\n{}", indent(text));
        }
    }
}

/// A text that is indented more than the lines of this program.
pub fn indent(text: &str) -> String {
    let line = |line| match line {
        "" => String::new(),
        line => format!("        {line}"),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
