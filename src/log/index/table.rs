//! The calls and causes of a run in memory, for a program that looks up many of them.

use super::Section;
use super::builder::kind_and_parts;
use super::lookup::{Index, each_row, seq};
use crate::id::{CallPath, Seq};
use crate::log::backend::Reader;
use crate::log::error::LogError;

/// Where the calls of a run are, and what names their questions as its cause: 16 bytes per exchange.
///
/// [`Index`] goes through all its pieces for every look-up; this is read from them once.
#[derive(Debug, Default)]
pub struct CallTable {
    /// The hash of each part of a call that has a digit, or of the empty text; and where it is.
    calls: Vec<(u32, u32)>,
    /// A cause, and where an event is that names it and no other.
    causes: Vec<(u32, u32)>,
}

impl CallTable {
    /// Reads the calls and causes of a run.
    ///
    /// # Errors
    /// [`LogError`] if the index cannot be read.
    pub fn read(index: &Index, reader: &mut dyn Reader) -> Result<Self, LogError> {
        let calls = index.each(reader, Section::Calls, 0, |piece, bytes, calls| {
            each_row(bytes, |hash, [_, at]| {
                calls.extend(short(seq(piece, at)).map(|at| (hash as u32, at)));
                true
            })
        })?;
        let causes = index.each(reader, Section::Causes, 0, |piece, bytes, causes| {
            each_row(bytes, |cause, [more, at]| {
                if let (0, Some(cause), Some(at)) = (more, short(Seq(cause)), short(seq(piece, at)))
                {
                    causes.push((cause, at));
                }
                true
            })
        })?;
        let mut table = CallTable { calls, causes };
        // The pieces are sorted already, which a stable sort makes use of.
        table.calls.sort();
        table.causes.sort();
        Ok(table)
    }

    /// Where a call may be, or one with the same numbered parts; sorted.
    pub fn calls(&self, call: &CallPath) -> Vec<Seq> {
        let (_, parts) = kind_and_parts(call.as_str());
        let mut places = parts.iter().map(|part| of(&self.calls, *part));
        let Some(first) = places.next() else { return Vec::new() };
        let others: Vec<_> = places.collect();
        let everywhere = |at: u32| {
            others.iter().all(|other| other.binary_search_by_key(&at, |row| row.1).is_ok())
        };
        let mut found: Vec<Seq> =
            first.iter().filter(|row| everywhere(row.1)).map(|row| Seq(row.1.into())).collect();
        found.dedup();
        found
    }

    /// Where events are that name this cause and no other; sorted.
    pub fn caused_by(&self, cause: Seq) -> Vec<Seq> {
        let rows = short(cause).map_or(&[][..], |cause| of(&self.causes, cause));
        rows.iter().map(|row| Seq(row.1.into())).collect()
    }

    /// Whether there is such an event.
    pub fn is_cause(&self, seq: Seq) -> bool {
        short(seq).is_some_and(|seq| !of(&self.causes, seq).is_empty())
    }

    /// Where the questions are, sorted.
    pub fn questions(&self) -> Vec<Seq> {
        let mut questions: Vec<u32> = self.calls.iter().map(|row| row.1).collect();
        questions.sort_unstable();
        questions.dedup();
        questions.into_iter().map(|at| Seq(at.into())).collect()
    }
}

/// A seq in half the space: a log keeps a run's number in the other half of an event's id.
fn short(seq: Seq) -> Option<u32> {
    u32::try_from(seq.0).ok()
}

/// The rows that begin with a number; they must be sorted.
///
/// Hashes and seqs are spread evenly, so the place of one is nearly known: looking there first
/// touches a few lines of memory, and halving a long table a dozen.
fn of(rows: &[(u32, u32)], number: u32) -> &[(u32, u32)] {
    let begin = first_from(rows, number);
    let count = rows[begin..].iter().take_while(|row| row.0 == number).count();
    &rows[begin..begin + count]
}

/// The first row that begins with this number or a larger one.
fn first_from(rows: &[(u32, u32)], number: u32) -> usize {
    let (Some(least), Some(most)) = (rows.first(), rows.last()) else { return 0 };
    if number <= least.0 {
        return 0;
    }
    if number > most.0 {
        return rows.len();
    }
    let is_before = |at: usize| rows[at].0 < number;
    let share = u64::from(number - least.0) * (rows.len() as u64 - 1) / u64::from(most.0 - least.0);
    let guess = share as usize;
    let (mut low, mut high, mut step) = (guess, guess, 1);
    // Everything below `low` is before it, and nothing from `high` on is.
    if is_before(guess) {
        low = guess + 1;
        while is_before(high) {
            low = high + 1;
            high = (high + step).min(rows.len() - 1);
            step *= 2;
        }
    } else {
        while low > 0 && !is_before(low - 1) {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
    }
    low + rows[low..high].partition_point(|row| row.0 < number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Wherever the numbers are, evenly spread or not.
        #[test]
        fn a_row_is_where_halving_finds_it(
            mut numbers in prop::collection::vec(prop_oneof![any::<u32>(), 0..50_u32], 0..200),
            wanted in prop_oneof![any::<u32>(), 0..60_u32],
            place in any::<prop::sample::Index>(),
        ) {
            numbers.sort_unstable();
            let rows: Vec<_> = numbers.iter().zip(0..).map(|(number, at)| (*number, at)).collect();
            let mut all = vec![wanted];
            if !numbers.is_empty() {
                all.push(*place.get(&numbers));
            }
            for wanted in all {
                let begin = rows.partition_point(|row| row.0 < wanted);
                prop_assert_eq!(first_from(&rows, wanted), begin);
                let end = rows.partition_point(|row| row.0 <= wanted);
                prop_assert_eq!(of(&rows, wanted), &rows[begin..end]);
            }
        }
    }
}
