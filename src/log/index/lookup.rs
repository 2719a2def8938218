//! Looking things up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use super::builder::{Builder, IndexEntry, IndexPiece, is_numbered, kind_and_parts};
use super::codec::{MalformedNumber, Numbers};
use super::strings::{TextKeys, hash};
use super::{KeptPiece, Section, first, last, place};
use crate::id::{CallPath, RunId, Seq};
use crate::log::backend::Reader;
use crate::log::error::LogError;
use crate::log::finding::EventFault;

/// The number of events per read.
const BATCH: usize = 1024;

/// How many events of each kind, and how many questions of each kind there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Census {
    /// By the kind of the question: its call without the parts that have a digit.
    pub calls: BTreeMap<String, u64>,
    /// By the kind of event.
    pub events: BTreeMap<String, u64>,
}

/// The index of one run.
#[derive(Debug)]
pub struct Index {
    run: RunId,
    /// The pieces that the log stores.
    stored: Vec<KeptPiece>,
    /// The other pieces, made in memory.
    made: Vec<(u64, IndexPiece)>,
    end: Seq,
}

impl Index {
    /// The index of a run. Reads the events that no stored piece covers.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    pub fn open(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let stored = reader.pieces(run)?;
        let mut index = Index { run, stored, made: Vec::new(), end: Seq(0) };
        let mut piece = 0;
        loop {
            if let Some(kept) = index.piece(piece) {
                index.end = kept.last;
                if !kept.is_whole() {
                    return Ok(index);
                }
            } else if !index.make(reader, piece)? {
                // A missing event may be followed by later ones. After the last event, there is nothing to index.
                let before = index.end.max(Seq(first(piece).0 - 1));
                if reader.events(run, before, 1)?.is_empty() {
                    index.stored.retain(|stored| stored.number < piece);
                    return Ok(index);
                }
            }
            piece += 1;
        }
    }

    /// A piece, if the log keeps it.
    fn piece(&self, piece: u64) -> Option<KeptPiece> {
        let found = self.stored.binary_search_by_key(&piece, |kept| kept.number);
        found.ok().map(|at| self.stored[at])
    }

    /// Makes a piece from its events; returns whether it is complete.
    fn make(&mut self, reader: &mut dyn Reader, piece: u64) -> Result<bool, LogError> {
        let (made, end) = of_events(reader, self.run, piece)?;
        if end >= first(piece) {
            self.end = end;
            self.made.push((piece, made));
        }
        Ok(end == last(piece))
    }

    /// The last event that it covers.
    pub fn end(&self) -> Seq {
        self.end
    }

    /// How many events and questions of each kind there are.
    ///
    /// # Errors
    /// [`LogError`] if the index cannot be read.
    pub fn census(&self, reader: &mut dyn Reader) -> Result<Census, LogError> {
        let mut all = Census::default();
        let counted = |_, bytes: &[u8], found: &mut Vec<_>| {
            found.push(census_of(bytes)?);
            Ok(())
        };
        for Census { calls, events } in self.each(reader, Section::Census, 0, counted)? {
            calls.into_iter().for_each(|(kind, n)| *all.calls.entry(kind).or_default() += n);
            events.into_iter().for_each(|(kind, n)| *all.events.entry(kind).or_default() += n);
        }
        Ok(all)
    }

    /// The facts, in order.
    ///
    /// # Errors
    /// [`LogError`] if the index cannot be read.
    pub fn facts(&self, reader: &mut dyn Reader) -> Result<Vec<Seq>, LogError> {
        self.each(reader, Section::Facts, 0, |piece, bytes, facts| {
            each_row(bytes, |at, []| {
                facts.push(seq(piece, at));
                true
            })
        })
    }

    /// Where a call may be, or one with the same parts in another order; sorted.
    ///
    /// # Errors
    /// [`LogError`] if the index cannot be read.
    pub fn calls(&self, reader: &mut dyn Reader, call: &CallPath) -> Result<Vec<Seq>, LogError> {
        let (kind, parts) = kind_and_parts(call.as_str());
        let kind = sorted_parts(&kind);
        let mut met: BTreeMap<Seq, usize> = BTreeMap::new();
        let same = |other: &str| sorted_parts(other) == kind;
        let with = |seq, _: &Arc<str>, hash| parts.contains(&hash).then_some(seq);
        for seq in self.each_call(reader, &same, with)? {
            *met.entry(seq).or_default() += 1;
        }
        Ok(met.into_iter().filter(|(_, n)| *n == parts.len()).map(|(seq, _)| seq).collect())
    }

    /// Where calls with the given part may be, sorted, and how many kinds of calls these are.
    ///
    /// # Errors
    /// [`LogError`] if the index cannot be read.
    pub fn calls_with(
        &self,
        reader: &mut dyn Reader,
        part: &str,
    ) -> Result<(Vec<Seq>, usize), LogError> {
        let (wanted, any) = (hash(part.as_bytes()), !is_numbered(part));
        let with = |kind: &str| is_numbered(part) || kind.split('/').any(|p| p == part);
        let calls = self.each_call(reader, &with, |seq, kind, hash| {
            (any || hash == wanted).then(|| (seq, kind.clone()))
        })?;
        let kinds: BTreeSet<&str> = calls.iter().map(|(_, kind)| &**kind).collect();
        let mut found: Vec<Seq> = calls.iter().map(|(seq, _)| *seq).collect();
        found.sort_unstable();
        found.dedup();
        Ok((found, kinds.len()))
    }

    /// Passes on each part by which a call of the given kinds is found: its position, kind and
    /// hash. Returns what `each` makes of them.
    fn each_call<T>(
        &self,
        reader: &mut dyn Reader,
        wanted: &dyn Fn(&str) -> bool,
        mut each: impl FnMut(Seq, &Arc<str>, u32) -> Option<T>,
    ) -> Result<Vec<T>, LogError> {
        // The numbers in a piece refer to its own census: the kinds, and whether each is wanted.
        let of_piece = |piece, bytes: &[u8], found: &mut Vec<(u64, Vec<_>)>| {
            let calls = census_of(bytes)?.calls.into_keys();
            let calls: Vec<_> = calls.map(|kind| (wanted(&kind), Arc::<str>::from(kind))).collect();
            if calls.iter().any(|(wanted, _)| *wanted) {
                found.push((piece, calls));
            }
            Ok(())
        };
        let kinds = self.each(reader, Section::Census, 0, of_piece)?;
        let kinds: BTreeMap<u64, Vec<(bool, Arc<str>)>> = kinds.into_iter().collect();
        self.each_of(reader, Section::Calls, kinds.keys().copied(), |piece, bytes, found| {
            let Some(kinds) = kinds.get(&piece) else { return Ok(()) };
            each_row(bytes, |hash, [kind, at]| {
                let kind = usize::try_from(kind).ok().and_then(|kind| kinds.get(kind));
                if let Some((true, kind)) = kind {
                    found.extend(each(seq(piece, at), kind, hash as u32));
                }
                true
            })
        })
    }

    /// Where events may be that name some of the given events as causes: in order, by the cause.
    ///
    /// # Errors
    /// [`LogError`] if the index cannot be read.
    pub fn caused_by(
        &self,
        reader: &mut dyn Reader,
        causes: &BTreeSet<Seq>,
    ) -> Result<BTreeMap<Seq, Vec<Seq>>, LogError> {
        let mut found: BTreeMap<Seq, Vec<Seq>> = BTreeMap::new();
        let (Some(earliest), Some(latest)) = (causes.first(), causes.last()) else {
            return Ok(found);
        };
        let from = place(*earliest).0;
        let caused = self.each(reader, Section::Causes, from, |piece, bytes, caused| {
            each_row(bytes, |from, [more, at]| {
                let to = Seq(from.saturating_add(more));
                // The rows are sorted by the first cause.
                if Seq(from) > *latest {
                    return false;
                }
                caused.extend(causes.range(Seq(from)..=to).map(|cause| (*cause, seq(piece, at))));
                true
            })
        })?;
        for (cause, seq) in caused {
            found.entry(cause).or_default().push(seq);
        }
        found.values_mut().for_each(|seqs| seqs.sort_unstable());
        Ok(found)
    }

    /// Passes on the only cause of each event that has just one, and where the event is; by pieces, and within a piece by the
    /// cause. A pair may be passed on twice.
    ///
    /// # Errors
    /// [`LogError`] if the index cannot be read.
    pub(crate) fn each_with_one_cause(
        &self,
        reader: &mut dyn Reader,
        mut each: impl FnMut(Seq, Seq),
    ) -> Result<(), LogError> {
        let nothing: Vec<()> = self.each(reader, Section::Causes, 0, |piece, bytes, _| {
            each_row(bytes, |cause, [more, at]| {
                if more == 0 {
                    each(Seq(cause), seq(piece, at));
                }
                true
            })
        })?;
        drop(nothing);
        Ok(())
    }

    /// Where events may be that contain one of the given texts, sorted.
    ///
    /// # Errors
    /// [`LogError`] if the index cannot be read.
    pub(crate) fn texts(
        &self,
        reader: &mut dyn Reader,
        texts: &TextKeys,
    ) -> Result<Vec<Seq>, LogError> {
        let mut found = self.each(reader, Section::Texts, 0, |piece, bytes, found| {
            each_row(bytes, |key, [at]| {
                if texts.contains(key as u32) {
                    found.push(seq(piece, at));
                }
                true
            })
        })?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Passes on a section of each piece, starting at the given piece, and returns what `each` adds to a
    /// list.
    pub(super) fn each<T>(
        &self,
        reader: &mut dyn Reader,
        section: Section,
        from: u64,
        each: impl FnMut(u64, &[u8], &mut Vec<T>) -> Result<(), MalformedNumber>,
    ) -> Result<Vec<T>, LogError> {
        let made = self.made.iter().map(|(piece, _)| *piece);
        let mut pieces: Vec<u64> = self.stored.iter().map(|kept| kept.number).chain(made).collect();
        pieces.retain(|piece| *piece >= from);
        pieces.sort_unstable();
        self.each_of(reader, section, pieces.into_iter(), each)
    }

    /// A stored piece that is damaged is made again from its events: it only saves time.
    fn each_of<T>(
        &self,
        reader: &mut dyn Reader,
        section: Section,
        pieces: impl Iterator<Item = u64>,
        mut each: impl FnMut(u64, &[u8], &mut Vec<T>) -> Result<(), MalformedNumber>,
    ) -> Result<Vec<T>, LogError> {
        let mut found = Vec::new();
        for number in pieces {
            let before = found.len();
            let read = match self.made.binary_search_by_key(&number, |(piece, _)| *piece) {
                Ok(i) => each(number, self.made[i].1.section(section), &mut found),
                Err(_) => match reader.piece(self.run, number, section) {
                    Ok(Some(bytes)) => each(number, &bytes, &mut found),
                    Ok(None) | Err(LogError::Damaged { .. }) => Err(MalformedNumber),
                    Err(error) => return Err(error),
                },
            };
            let Err(MalformedNumber) = read else { continue };
            found.truncate(before);
            let (made, _) = of_events(reader, self.run, number)?;
            each(number, made.section(section), &mut found).map_err(|MalformedNumber| {
                let fault = EventFault::Unindexable { last: last(number) };
                LogError::corrupt(self.run, first(number), fault)
            })?;
        }
        Ok(found)
    }
}

/// A piece from the events that there are of it, and the last of them.
fn of_events(
    reader: &mut dyn Reader,
    run: RunId,
    piece: u64,
) -> Result<(IndexPiece, Seq), LogError> {
    let (mut builder, mut after, end) = (Builder::default(), Seq(first(piece).0 - 1), last(piece));
    while after < end {
        let limit = BATCH.min(usize::try_from(end.0 - after.0).unwrap_or(BATCH));
        let events = reader.events(run, after, limit)?;
        let events: Vec<_> = events.into_iter().take_while(|e| e.seq <= end).collect();
        let Some(newest) = events.last() else { break };
        after = newest.seq;
        events.iter().for_each(|event| builder.add(event.seq, IndexEntry::from(event)));
    }
    Ok((builder.finish(), after))
}

/// Passes on the rows of a section that is sorted by the first number, until `each` stops it.
pub(super) fn each_row<const N: usize>(
    bytes: &[u8],
    mut each: impl FnMut(u64, [u64; N]) -> bool,
) -> Result<(), MalformedNumber> {
    let (mut numbers, mut rising) = (Numbers(bytes), 0_u64);
    while !numbers.is_empty() {
        rising = rising.checked_add(numbers.take()?).ok_or(MalformedNumber)?;
        let mut others = [0; N];
        for other in &mut others {
            *other = numbers.take()?;
        }
        if !each(rising, others) {
            break;
        }
    }
    Ok(())
}

fn census_of(bytes: &[u8]) -> Result<Census, MalformedNumber> {
    serde_json::from_slice(bytes).map_err(|_| MalformedNumber)
}

/// The event at a position in a piece.
pub(super) fn seq(piece: u64, at: u64) -> Seq {
    Seq((first(piece).0 - 1).saturating_add(at))
}

fn sorted_parts(kind: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = kind.split('/').collect();
    parts.sort_unstable();
    parts
}
