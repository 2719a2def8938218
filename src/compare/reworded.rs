//! Calls of programs whose prompts changed. A call without a name is named after what it asks, so that it has another name with each
//! word of it; and in a fork, a call with a name asks a changed prompt as its next sample.

use std::collections::BTreeMap;

use super::gather::ComparedRun;
use crate::id::{CallPath, Sample};
use crate::log::{LogError, Reader};

/// The most prompts of one run alone that are paired with those of the other run.
const MOST: usize = 5_000;

/// In how many prompts a word may be that tells which of them belong together.
const RARE: usize = 50;

/// The share of their words that two versions of a prompt have in common, at least.
const ALIKE: f64 = 0.3;

/// A prompt that one run alone has.
struct LonePrompt<'a> {
    call: &'a CallPath,
    /// Its samples, by their places in the run.
    asked: Vec<usize>,
    /// Its words, by number, each once.
    words: Vec<usize>,
    /// All of its words, as they stand there.
    text: Vec<usize>,
}

/// Which call of the first run that the second does not have is asked there in other words, by the places of both.
///
/// Samples of a named call are taken in their order. Of the others, prompts with the most rare words in common belong together,
/// such as those about one participant; in doubt, those that have the most words in the same places.
pub(super) fn reworded(
    (first, one): (&ComparedRun, &mut dyn Reader),
    (second, other): (&ComparedRun, &mut dyn Reader),
) -> Result<BTreeMap<usize, usize>, LogError> {
    let mut pairs = named(first, second);
    let (mut gone, mut come) = (lone(first, second), lone(second, first));
    if gone.is_empty() || come.is_empty() || gone.len().max(come.len()) > MOST {
        return Ok(pairs);
    }
    let mut numbers = BTreeMap::new();
    read_words(first, &mut gone, one, &mut numbers)?;
    read_words(second, &mut come, other, &mut numbers)?;
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); numbers.len()];
    for (at, prompt) in come.iter().enumerate() {
        prompt.words.iter().for_each(|word| places[*word].push(at));
    }
    let mut is_taken = vec![false; come.len()];
    for prompt in &gone {
        let mut scores = vec![0.0_f64; come.len()];
        for word in &prompt.words {
            let having = &places[*word];
            if having.len() <= RARE {
                for at in having {
                    if let Some(score) = scores.get_mut(*at) {
                        *score += 1.0 / having.len() as f64;
                    }
                }
            }
        }
        let may_be = |at: &usize| {
            !is_taken[*at] && prompt.call.is_streamed() == come[*at].call.is_streamed()
        };
        let most = (0..come.len()).filter(may_be).map(|at| scores[at]).fold(0.0, f64::max);
        // Of several with the same rare words, the first of those that stay the same for longest from both ends.
        let equal = (0..come.len()).filter(may_be).filter(|at| scores[*at] >= most);
        let best = equal.rev().max_by_key(|at| prompt.words_in_place(&come[*at]));
        if let Some(at) = best.filter(|at| prompt.is_like(&come[*at])) {
            if let Some(is_taken) = is_taken.get_mut(at) {
                *is_taken = true;
            }
            pairs.extend(prompt.asked.iter().copied().zip(come[at].asked.iter().copied()));
        }
    }
    Ok(pairs)
}

impl LonePrompt<'_> {
    /// How many words two prompts have in the same places, from the beginning and from the end.
    fn words_in_place(&self, other: &LonePrompt<'_>) -> usize {
        let same = |(one, other): &(&usize, &usize)| one == other;
        let begin = self.text.iter().zip(&other.text).take_while(same).count();
        let end = self.text.iter().rev().zip(other.text.iter().rev()).take_while(same).count();
        begin + end
    }

    fn is_like(&self, other: &LonePrompt<'_>) -> bool {
        let common =
            self.words.iter().filter(|word| other.words.binary_search(word).is_ok()).count();
        common as f64 >= ALIKE * self.words.len().max(other.words.len()) as f64
    }
}

/// The samples of named calls that one run alone has, by the places of both.
fn named(first: &ComparedRun, second: &ComparedRun) -> BTreeMap<usize, usize> {
    let samples = |run: &ComparedRun, other: &ComparedRun| {
        let mut found: BTreeMap<CallPath, Vec<(Sample, usize)>> = BTreeMap::new();
        for (at, asked) in run.asked.iter().enumerate() {
            if !asked.call.is_unnamed() && other.find(&asked.call, asked.sample).is_none() {
                found.entry(asked.call.clone()).or_default().push((asked.sample, at));
            }
        }
        found.values_mut().for_each(|samples| samples.sort_unstable());
        found
    };
    let (gone, mut come) = (samples(first, second), samples(second, first));
    let pairs = gone.into_iter().flat_map(|(call, gone)| {
        let come = come.remove(&call).unwrap_or_default();
        gone.into_iter().zip(come).map(|((_, one), (_, other))| (one, other))
    });
    pairs.collect()
}

/// The unnamed calls of a run that another run does not have.
fn lone<'a>(run: &'a ComparedRun, other: &ComparedRun) -> Vec<LonePrompt<'a>> {
    let mut found: Vec<LonePrompt<'a>> = Vec::new();
    let mut by_call: BTreeMap<&CallPath, usize> = BTreeMap::new();
    for (at, asked) in run.asked.iter().enumerate() {
        // With fewer samples it has been asked in the same words.
        if !asked.call.is_unnamed() || other.find(&asked.call, 0).is_some() {
            continue;
        }
        let place = *by_call.entry(&asked.call).or_insert_with(|| {
            found.push(LonePrompt {
                call: &asked.call,
                asked: Vec::new(),
                words: Vec::new(),
                text: Vec::new(),
            });
            found.len() - 1
        });
        found[place].asked.push(at);
    }
    for prompt in &mut found {
        prompt.asked.sort_by_key(|at| run.asked[*at].sample);
    }
    found
}

fn read_words(
    run: &ComparedRun,
    prompts: &mut [LonePrompt<'_>],
    reader: &mut dyn Reader,
    numbers: &mut BTreeMap<String, usize>,
) -> Result<(), LogError> {
    for prompt in prompts {
        let Some(asked) = prompt.asked.first().and_then(|at| run.asked.get(*at)) else { continue };
        let Some(request) = reader.request(asked.prompt)? else { continue };
        for (_, text) in request.messages() {
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                let next = numbers.len();
                prompt.words.push(*numbers.entry(word.to_owned()).or_insert(next));
            }
        }
        prompt.text.clone_from(&prompt.words);
        prompt.words.sort_unstable();
        prompt.words.dedup();
    }
    Ok(())
}
