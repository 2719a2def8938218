//! A run in numbers, as text.

use std::fmt::Write;

use crate::output::{count_of, group_digits};
use retold::escaping::printable;
use retold::totals::{
    Attempts, Counts, Figures, Latency, ParserFigures, PartFigures, Reason, SavedPart, Savings,
    StudyFigures, dollars, token_count,
};

/// A run in numbers. Names come from the log, so they are shown inert.
pub(crate) fn text(figures: &Figures) -> String {
    let Figures { all, replay, models, accepted, resumed, looks, forked_from, merged_from, .. } =
        figures;
    let mut text = part(all, "");
    let of_study = figures.with_shards.as_ref().map_or_else(Vec::new, StudyFigures::lines);
    for (number, said) in of_study.iter().enumerate() {
        line(&mut text, if number == 0 { "in all" } else { "" }, said);
    }
    // With several models, each says it for itself.
    if let [(name, only)] = models.iter().collect::<Vec<_>>().as_slice() {
        text.push_str(&model_line(name, &only.counts));
    }
    for (name, tool) in &figures.tools {
        let mut said = count_of(tool.calls(), "call");
        for (number, what) in [(tool.reused, "recorded before"), (tool.failed, "failed")] {
            if number > 0 {
                // Writing to a string cannot fail.
                let _ = write!(said, ", {} {what}", group_digits(number));
            }
        }
        line(&mut text, "tool", &format!("{}: {said}", printable(name, 100)));
    }
    let Savings { within_run, from_parent, from_other_runs, resumed: kept, provider_cached } =
        &all.saved;
    let parent = forked_from.map_or_else(String::new, |run| format!(" {}", run.short(8)));
    let times = count_of(*resumed, "time");
    let others = match merged_from {
        0 => "of other runs".to_owned(),
        shards => format!("of the {} that it is merged from", count_of(*shards as u64, "shard")),
    };
    let lines = [
        (within_run, "used again within the run".to_owned()),
        (from_parent, format!("of the run{parent} that it is a fork of")),
        (from_other_runs, others),
        (kept, format!("that it had when it was continued ({times})")),
    ];
    for (saved, what) in lines.iter().filter(|(saved, _)| saved.answers > 0) {
        line(&mut text, "saved", &saving(saved, what));
    }
    if provider_cached.answers > 0 {
        let SavedPart { answers, prompt_tokens, dollars: cost, .. } = provider_cached;
        let of = count_of(*answers, "answer");
        let said = format!(
            "the provider's cache had {} tokens of {of}, {}",
            token_count(*prompt_tokens),
            dollars(*cost)
        );
        line(&mut text, "saved", &said);
    }
    if replay.answers > 0 {
        line(&mut text, "saved", &saving(replay, "by each replay"));
    }
    if *looks > 0 {
        let times = count_of(*looks, "time");
        line(&mut text, "looked at", &format!("{times} before it had ended (--so-far)"));
    }
    for (name, parser) in &all.counts.parsers {
        line(&mut text, "parser", &methods(name, parser));
    }
    for of in accepted {
        let runs = format!("accepted about these answers, in run {}", of.run);
        line(&mut text, "since", &runs);
        for (name, parser) in &of.parsers {
            line(&mut text, "", &methods(name, parser));
        }
    }
    if models.len() > 1 {
        for (name, model) in models {
            let _ = writeln!(text, "\nmodel {}", printable(name, 80));
            text.push_str(&self::part(model, "  "));
            for said in model_line(name, &model.counts).lines() {
                let _ = writeln!(text, "  {said}");
            }
        }
    }
    text
}

/// What servers call the model, where they call it something else than the request.
fn model_line(name: &str, counts: &Counts) -> String {
    let other = counts.reported_as.iter().filter(|(other, _)| *other != name);
    let other: Vec<String> = other
        .map(|(other, answers)| {
            format!("{} ({})", printable(other, 80), count_of(*answers, "answer"))
        })
        .collect();
    let mut text = String::new();
    if !other.is_empty() {
        line(
            &mut text,
            "model",
            &format!("{}, answered as {}", printable(name, 80), other.join(", ")),
        );
    }
    text
}

/// The numbers of one model, or of all.
fn part(figures: &PartFigures, indent: &str) -> String {
    let PartFigures { counts, cost, .. } = figures;
    let Counts { calls, attempts, tokens, latency_ms, .. } = counts;
    let mut text = String::new();
    let mut say = |name: &str, said: &str| {
        text.push_str(indent);
        line(&mut text, name, said);
    };
    say("calls", &calls.text());
    let Attempts { made, failed, reasons } = attempts;
    say("attempts", &format!("{}, {} failed", group_digits(*made), group_digits(*failed)));
    for reason in reasons {
        say("", &of_reason(reason));
    }
    let has_answers = tokens.counted + tokens.uncounted > 0;
    if has_answers {
        say("tokens", &tokens.text());
        for said in cost.lines() {
            say("cost", &said);
        }
        say("latency", &of_latency(latency_ms.as_ref()));
    }
    text
}

fn line(text: &mut String, name: &str, said: &str) {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "{name:<9} {said}");
}

/// `50 rate_limited (HTTP 429), 10 calls given up: the error`.
pub(crate) fn of_reason(reason: &Reason) -> String {
    let Reason { failure, status, attempts, gave_up, example, has_others } = reason;
    let mut said = format!("{} {}", group_digits(*attempts), printable(failure, 40));
    if let Some(status) = status {
        let _ = write!(said, " (HTTP {status})");
    }
    if *gave_up > 0 {
        let _ = write!(said, ", {} given up", count_of(*gave_up, "call"));
    }
    if !example.is_empty() {
        let such = if *has_others { "; one of the errors: " } else { ": " };
        let _ = write!(said, "{such}{}", printable(example, 160));
    }
    said
}

fn of_latency(latency: Option<&Latency>) -> String {
    let Some(Latency { measured, p50, p90, p99, max }) = latency else {
        return "not recorded, or under 1 ms".to_owned();
    };
    let [p50, p90, p99, max] = [p50, p90, p99, max].map(|ms| group_digits(*ms));
    let answers = count_of(*measured, "answer");
    format!(
        "p50 {p50} ms, p90 {p90} ms, p99 {p99} ms, longest {max} ms ({answers} with a time of 1 ms or more)"
    )
}

fn saving(saved: &SavedPart, what: &str) -> String {
    let SavedPart { answers, prompt_tokens, completion_tokens, uncounted, dollars: cost } = saved;
    let mut said = format!("{} {what}: ", count_of(*answers, "answer"));
    match (prompt_tokens, completion_tokens) {
        (None, None) => said.push_str("tokens unknown"),
        (prompt, completion) => {
            let _ = write!(
                said,
                "{} tokens in, {} out",
                token_count(*prompt),
                token_count(*completion)
            );
            if *uncounted > 0 {
                let _ = write!(said, " (unknown for {})", count_of(*uncounted, "answer"));
            }
        }
    }
    let _ = write!(said, ", {}", dollars(*cost));
    said
}

fn methods(name: &str, parser: &ParserFigures) -> String {
    let ParserFigures { decisions, null, with_warnings, found, methods } = parser;
    let mut said = format!("{}: {}", printable(name, 80), count_of(*decisions, "decision"));
    if let Some(found) = found {
        let _ = write!(said, ", {} % found in the answer", percent(*found));
    }
    if *null > 0 {
        let _ = write!(said, ", {} null", group_digits(*null));
    }
    if *with_warnings > 0 {
        let _ = write!(said, ", {} with warnings", group_digits(*with_warnings));
    }
    for method in methods {
        let last = if method.is_last_resort { "  last resort: nothing found" } else { "" };
        let _ = write!(
            said,
            "\n          {:<24} {:>9} {:>6} %{last}",
            printable(&method.method, 40),
            group_digits(method.decisions),
            percent(method.share)
        );
    }
    said
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}
