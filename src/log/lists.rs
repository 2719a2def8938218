//! Lists of messages with a common beginning, which is stored once.
//!
//! Each request of a dialogue begins with the messages of an earlier one. It is stored with its new
//! messages only, and names the earlier request (its base) and how many messages the two share. The
//! base may have a base in turn. The shared messages always end among the base's own messages,
//! since otherwise the request would name the base's base. So the number of shared messages falls
//! from base to base, and every row of bases ends.

use std::hash::BuildHasher;
use std::sync::Arc;

use crate::lookup::LookupMap;
use crate::prompt::{LONGEST_REQUEST, Messages, Request, RequestError};
use crate::values::too_many;

/// The messages that a request shares with an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base<K> {
    /// The earlier request.
    pub(crate) of: K,
    /// How many of its messages, counted from the first.
    pub(crate) messages: usize,
}

/// A request as it is stored.
#[derive(Debug)]
pub(crate) struct StoredPart<K> {
    /// The request with its own messages only.
    pub(crate) request: Request,
    /// Where the messages before its own are found.
    pub(crate) base: Option<Base<K>>,
}

/// The most messages that a request may share.
pub(crate) const MOST_SHARED: usize = 65_536;

/// The most bytes of requests that are read to assemble one. This release writes requests that need
/// a quarter of that.
pub(crate) const MOST_BYTES: usize = 2 * LONGEST_REQUEST;

impl<K: Copy> StoredPart<K> {
    /// How many messages come before its own.
    fn offset(&self) -> usize {
        self.base.map_or(0, |base| base.messages)
    }

    /// How many messages there are, including its own.
    fn len(&self) -> Option<usize> {
        Some(self.offset() + self.request.message_list()?.len())
    }

    /// How many of its own messages are among the first `messages`. `None` if there are fewer
    /// messages than that, or if none of them is its own.
    pub(crate) fn own_among(&self, messages: usize) -> Option<usize> {
        let fits = messages > self.offset() && messages <= self.len()?;
        fits.then(|| messages - self.offset())
    }
}

/// A part, and how many of its own messages are used, counted from the first.
type First<K> = (Arc<StoredPart<K>>, usize);

/// The requests whose first messages precede the own messages of a part, listed from the last to
/// the first.
///
/// # Errors
/// [`RequestError::NotCanonical`] if a base does not exist, and whatever `find` raises.
pub(crate) fn bases<K: Copy, E: From<RequestError>>(
    mut base: Option<Base<K>>,
    find: &mut dyn FnMut(K) -> Result<Arc<StoredPart<K>>, E>,
) -> Result<Vec<First<K>>, E> {
    let not = |what: &str| E::from(RequestError::NotCanonical(what.to_owned()));
    let mut found = Vec::new();
    let mut bytes = 0;
    while let Some(Base { of, messages }) = base {
        let part = find(of)?;
        let own = part.own_among(messages);
        let own = own.ok_or_else(|| not("its base does not have the messages that it shares"))?;
        bytes += part.request.canonical().len();
        if bytes > MOST_BYTES {
            return Err(E::from(too_far()));
        }
        base = part.base;
        found.push((part, own));
    }
    Ok(found)
}

/// The error for a request whose bases are too many or too long.
pub(crate) fn too_far() -> RequestError {
    let what = "its chain of shared messages is longer than is allowed";
    RequestError::NotCanonical(what.to_owned())
}

/// A whole request.
///
/// # Errors
/// As [`bases`], and [`RequestError::TooLong`].
pub(crate) fn whole<K: Copy, E: From<RequestError>>(
    part: &StoredPart<K>,
    find: &mut dyn FnMut(K) -> Result<Arc<StoredPart<K>>, E>,
) -> Result<Request, E> {
    if part.base.is_none() {
        return Ok(part.request.clone());
    }
    let bases = bases(part.base, find)?;
    let first: Vec<_> = bases.iter().rev().map(|(part, own)| (&part.request, *own)).collect();
    Ok(part.request.after(&first)?)
}

/// The cost of reading a request with all its bases.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadCost {
    /// Bytes in messages that are shorter than a reference to a text.
    messages: usize,
    /// All bytes.
    bytes: usize,
}

impl ReadCost {
    /// The cost of a request whose first `shared` messages come from its bases, which cost `bases`.
    pub(crate) fn new(request: &Request, shared: usize, bases: ReadCost) -> Self {
        let list = request.message_list();
        let own = list.map_or(0, |list| storage_size(request, shared, list.len()));
        let left_out = list.map_or(0, |list| list.text(0, shared).len());
        ReadCost {
            messages: bases.messages + own,
            bytes: bases.bytes + request.canonical().len() - left_out,
        }
    }
}

/// Where a beginning is stored.
#[derive(Debug, Clone, Copy)]
struct BeginningPlace<K> {
    base: Base<K>,
    /// The bytes that are saved by referring to it.
    saved: usize,
    cost: ReadCost,
}

/// The most that a stored message takes: a long text is replaced by a reference.
const REFERENCE: usize = 48;

/// The least that must be saved, since every reader has to look up the base.
const WORTH: usize = 64;

/// How many times the saving may have to be read in addition.
const DETOUR: usize = 4;

/// A base is not used if reading it takes more bytes than this.
const FAR: usize = LONGEST_REQUEST / 2;

/// How many beginnings are remembered, in each of two generations.
const REMEMBERED: usize = 32_768;

/// The beginnings of the most recently stored requests.
///
/// They are identified by two independently seeded hashes: 128 bits that nobody can predict.
pub(crate) struct Lists<K> {
    seeds: [foldhash::quality::RandomState; 2],
    recent: LookupMap<u128, BeginningPlace<K>>,
    older: LookupMap<u128, BeginningPlace<K>>,
    costs: LookupMap<K, ReadCost>,
    older_costs: LookupMap<K, ReadCost>,
}

/// The beginnings of one request: one hash per message, over it and all before it.
pub(crate) struct BeginningHashes(Vec<u128>);

impl BeginningHashes {
    /// The beginnings of at most this many messages.
    pub(crate) fn up_to(&self, messages: usize) -> Self {
        BeginningHashes(self.0[..messages.min(self.0.len())].to_vec())
    }
}

impl<K: Copy + Eq + std::hash::Hash> Default for Lists<K> {
    fn default() -> Self {
        Lists {
            seeds: Default::default(),
            recent: LookupMap::default(),
            older: LookupMap::default(),
            costs: LookupMap::default(),
            older_costs: LookupMap::default(),
        }
    }
}

impl<K: Copy + Eq + std::hash::Hash> Lists<K> {
    /// The beginnings of a request; empty if its messages cannot be separated.
    pub(crate) fn beginnings(&self, request: &Request) -> BeginningHashes {
        // Readers do not assemble longer ones.
        let readable = |_: &Messages<'_>| !too_many(request.canonical().as_bytes());
        let Some(list) = request.message_list().filter(readable) else {
            return BeginningHashes(Vec::new());
        };
        let [a, b] = &self.seeds;
        let mut last = (0, 0);
        let next = |message| {
            let text = list.text(message, message + 1);
            last = (a.hash_one((last.0, text)), b.hash_one((last.1, text)));
            u128::from(last.0) << 64 | u128::from(last.1)
        };
        BeginningHashes((0..list.len()).map(next).collect())
    }

    /// The longest known beginning of a request that is worth referring to, with the cost of
    /// reading it.
    pub(crate) fn find(&self, beginnings: &BeginningHashes) -> Option<(Base<K>, ReadCost)> {
        let known = beginnings.0.iter().take(MOST_SHARED).rev();
        let mut places =
            known.filter_map(|hash| self.recent.get(hash).or_else(|| self.older.get(hash)));
        let worth = |place: &&BeginningPlace<K>| {
            place.saved >= WORTH
                && place.cost.messages <= DETOUR * place.saved
                && place.cost.bytes <= FAR
        };
        // If it is not worth it, neither is a shorter beginning that is equally far away.
        places.next().filter(worth).map(|place| (place.base, place.cost))
    }

    /// The cost of reading a request, if it is known.
    pub(crate) fn cost(&self, of: K) -> Option<ReadCost> {
        self.costs.get(&of).or_else(|| self.older_costs.get(&of)).copied()
    }

    /// Remembers the cost of reading a request.
    pub(crate) fn note(&mut self, of: K, cost: ReadCost) {
        self.costs.insert(of, cost);
    }

    /// Remembers a request that was just stored on top of a base that costs this much to read.
    pub(crate) fn add_new(
        &mut self,
        request: &Request,
        beginnings: &BeginningHashes,
        id: K,
        base: Option<Base<K>>,
        bases: ReadCost,
    ) {
        let shared = base.map_or(0, |base| base.messages);
        self.add(request, beginnings, id, base, ReadCost::new(request, shared, bases));
    }

    /// Remembers a request that is stored.
    pub(crate) fn add(
        &mut self,
        request: &Request,
        BeginningHashes(hashes): &BeginningHashes,
        id: K,
        base: Option<Base<K>>,
        cost: ReadCost,
    ) {
        let shared = base.map_or(0, |base| base.messages);
        let mut so_far = storage_size(request, 0, shared);
        for (i, hash) in hashes.iter().enumerate().take(MOST_SHARED).skip(shared) {
            so_far += storage_size(request, i, i + 1);
            // An earlier position is as good, and nearer.
            if so_far >= WORTH && self.recent.get(hash).is_none() {
                let base = Base { of: id, messages: i + 1 };
                self.recent.insert(*hash, BeginningPlace { base, saved: so_far, cost });
            }
        }
        if so_far >= WORTH {
            self.costs.insert(id, cost);
        }
        if self.recent.len() >= REMEMBERED || self.costs.len() >= REMEMBERED {
            self.older = std::mem::take(&mut self.recent);
            self.older_costs = std::mem::take(&mut self.costs);
        }
    }
}

/// How many bytes some messages of a request take in storage.
fn storage_size(request: &Request, from: usize, to: usize) -> usize {
    let Some(list) = request.message_list() else { return 0 };
    (from..to).map(|i| list.text(i, i + 1).len().min(REFERENCE)).sum()
}
