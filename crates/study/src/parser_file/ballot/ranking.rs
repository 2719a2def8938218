//! Rankings: the order in which the options are first mentioned, or that of ranks beside them.

use std::collections::BTreeSet;

use super::super::doubt::{Excerpt, ReadingDoubt};
use super::super::options::OptionMention;

/// The order of the options that a text mentions.
///
/// # Errors
/// The doubt, if the ranks beside them are no order.
pub(super) fn read(text: &str, mentions: &[&OptionMention]) -> Result<Vec<usize>, ReadingDoubt> {
    let mut known = BTreeSet::new();
    let first: Vec<&OptionMention> =
        mentions.iter().copied().filter(|mention| known.insert(mention.option)).collect();
    let ranks = |rank: &dyn Fn(&OptionMention) -> Option<f64>| -> Option<Vec<(usize, f64)>> {
        first.iter().map(|mention| Some((mention.option, rank(mention)?))).collect()
    };
    let before = |it: &OptionMention| rank_before(text.get(..it.at.start)?);
    let after = |it: &OptionMention| rank_after(text.get(it.at.end..)?);
    match ranks(&before).or_else(|| ranks(&after)) {
        Some(ranked) => in_order(ranked),
        None => Ok(first.iter().map(|mention| mention.option).collect()),
    }
}

/// Options in the order of their ranks, which are 1, 2, 3 and so on.
///
/// # Errors
/// The doubt, if they are not.
pub(super) fn in_order(mut ranked: Vec<(usize, f64)>) -> Result<Vec<usize>, ReadingDoubt> {
    ranked.sort_by(|one, other| one.1.total_cmp(&other.1));
    if ranked.iter().zip(1_u32..).any(|((_, rank), due)| *rank != f64::from(due)) {
        let ranks: Vec<String> = ranked.iter().map(|(_, rank)| rank.to_string()).collect();
        return Err(ReadingDoubt::Ranks(Excerpt::new(&ranks.join(", "))));
    }
    Ok(ranked.into_iter().map(|(option, _)| option).collect())
}

/// The rank of an option in a numbered list: `2. B`, `2) B`.
fn rank_before(before: &str) -> Option<f64> {
    let before = before.trim_end_matches([' ', '*', '_', '`', '"', '“']);
    let before = before.strip_suffix(['.', ')', ':'])?;
    let digits = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    let digits = before.get(digits..).or_else(|| before.get(digits + 1..))?;
    (digits.len() <= 4).then(|| digits.parse().ok())?
}

/// The rank after an option: `B: 2`, `B (2)`, `B = 2`.
fn rank_after(after: &str) -> Option<f64> {
    let after = after.trim_start_matches(['*', '_', '`', '"', '”']);
    let rest = after.trim_start_matches([' ', ':', '=', '(', '-', '–', '—']);
    let joiner = after.get(..after.len() - rest.len())?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let digits = rest.get(..end).filter(|digits| digits.len() <= 4)?;
    let is_whole = !rest.get(end..)?.starts_with(|c: char| c.is_alphanumeric() || c == '%');
    (is_whole && !joiner.trim().is_empty()).then(|| digits.parse().ok())?
}
