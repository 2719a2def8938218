//! Explains helpfully why there is no answer.

use std::collections::BTreeMap;

use super::{Samples, ScriptedModel};
use crate::counted::count_of;
use crate::id::{PromptHash, Sample};
use crate::model::Ask;
use crate::prompt::{Request, first_difference, shared_messages};

/// The question, what comes nearest to it in the file, and what to do.
pub(super) fn explain(scripted: &ScriptedModel, ask: &Ask<'_>) -> String {
    let hash = ask.request.hash();
    let what = format!(
        "{} has no answer to call \"{}\", sample {}, prompt {}",
        scripted.source,
        ask.call,
        ask.sample,
        hash.short(12)
    );
    let nearest = match scripted.calls.get(ask.call) {
        Some(prompts) => match prompts.get(&hash) {
            Some(samples) => more_samples(samples),
            None => other_prompt(scripted, prompts, ask),
        },
        None => unknown_call(scripted, ask, hash),
    };
    format!("{what}.\n{nearest}")
}

fn more_samples(samples: &Samples) -> String {
    format!(
        "The file has {} of this call with this prompt.\n\
         Add a line for the missing sample, or ask for no more samples than were recorded.",
        ranges(samples.keys().copied())
    )
}

/// The call exists, but with another request: a divergence.
fn other_prompt(
    scripted: &ScriptedModel,
    prompts: &BTreeMap<PromptHash, Samples>,
    ask: &Ask<'_>,
) -> String {
    let recorded =
        prompts.iter().filter_map(|(hash, samples)| Some((scripted.requests.get(hash)?, samples)));
    let Some((request, samples)) =
        recorded.max_by_key(|(request, _)| likeness(request, ask.request))
    else {
        return "The file has this call, but not its request.".to_owned();
    };
    let count = match prompts.len() {
        1 => "with another prompt,".to_owned(),
        n => format!("with {n} other prompts, the nearest"),
    };
    let line = samples.values().map(|recorded| recorded.line).min().unwrap_or(0);
    let difference = first_difference(request, ask.request).map(|d| d.to_string());
    format!(
        "The file has this call {count} {} (line {line}); {}\n\
         Ask as it was recorded, or record this call again with the current prompt.",
        request.hash().short(12),
        difference.unwrap_or_default()
    )
}

/// Prompts that share more messages are more alike; then those with the same number of messages.
fn likeness(recorded: &Request, asked: &Request) -> (bool, usize, std::cmp::Reverse<usize>) {
    let lengths = recorded.messages().len().abs_diff(asked.messages().len());
    (recorded.api() == asked.api(), shared_messages(recorded, asked), std::cmp::Reverse(lengths))
}

fn unknown_call(scripted: &ScriptedModel, ask: &Ask<'_>, hash: PromptHash) -> String {
    if let Some(queue) = scripted.queues.get(&hash) {
        return format!(
            "The file has {} to this prompt without a call, and {} been given: such an answer \
             serves once.\nAdd lines for this prompt, or name the calls so that answers can be \
             told apart.",
            count_of(queue.total as u64, "answer"),
            if queue.total == 1 { "it has" } else { "all have" }
        );
    }
    let elsewhere: Vec<&str> = scripted
        .calls
        .iter()
        .filter(|(_, prompts)| prompts.contains_key(&hash))
        .map(|(call, _)| call.as_str())
        .collect();
    if !elsewhere.is_empty() {
        return format!(
            "The file has this prompt, but under {}: {}.\n\
             Is the call named as it was recorded? Samples of one call never serve another, for \
             they must be independent draws.",
            if elsewhere.len() == 1 { "another call" } else { "other calls" },
            some_of(&elsewhere)
        );
    }
    if scripted.is_empty() {
        return "The file has no answers at all.".to_owned();
    }
    let calls = nearest_calls(scripted, ask);
    let known = if calls.is_empty() {
        "its lines name no calls".to_owned()
    } else {
        format!(
            "it has {}, such as {}",
            count_of(scripted.calls.len() as u64, "call"),
            calls.join(", ")
        )
    };
    format!(
        "The file has neither this call nor this prompt; {known}.\n\
         Is it the exchanges file of this experiment, recorded with these settings?"
    )
}

/// A few calls of the file, first those that begin like the one asked.
fn nearest_calls(scripted: &ScriptedModel, ask: &Ask<'_>) -> Vec<String> {
    let first = ask.call.as_str().split_once('/').map_or(ask.call.as_str(), |(first, _)| first);
    let (alike, other): (Vec<_>, Vec<_>) =
        scripted.calls.keys().partition(|call| call.as_str().split('/').next() == Some(first));
    alike.into_iter().chain(other).take(3).map(|call| format!("\"{call}\"")).collect()
}

fn some_of(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(3).map(|name| format!("\"{name}\"")).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// `sample 0`, `samples 0 to 99`, `samples 0 to 3, 7 and 9 to 12`.
fn ranges(samples: impl Iterator<Item = Sample>) -> String {
    let mut runs: Vec<(Sample, Sample)> = Vec::new();
    for sample in samples {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(sample) => *last = sample,
            _ => runs.push((sample, sample)),
        }
    }
    const SHOWN: usize = 5;
    let more = runs.len().saturating_sub(SHOWN);
    let single = matches!(runs[..], [(first, last)] if first == last);
    let shown: Vec<String> = runs
        .iter()
        .take(SHOWN)
        .map(
            |(first, last)| {
                if first == last { first.to_string() } else { format!("{first} to {last}") }
            },
        )
        .collect();
    let list = match shown.split_last() {
        Some((last, rest)) if !rest.is_empty() && more == 0 => {
            format!("{} and {last}", rest.join(", "))
        }
        _ if more > 0 => format!("{} and others", shown.join(", ")),
        _ => shown.join(", "),
    };
    format!("{} {list}", if single { "sample" } else { "samples" })
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn samples_are_said_in_ranges() {
        assert_eq!(ranges([0].into_iter()), "sample 0");
        assert_eq!(ranges(0..100), "samples 0 to 99");
        assert_eq!(ranges([0, 1, 2, 5, 7, 8].into_iter()), "samples 0 to 2, 5 and 7 to 8");
    }
}
