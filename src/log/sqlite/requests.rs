//! Reading requests, which may begin with the messages of earlier ones.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::id::PromptHash;
use crate::log::lists::{Base, MOST_BYTES, MOST_SHARED, StoredPart, bases, too_far, whole};
use crate::log::skeleton::expand;
use crate::lookup::LookupMap;
use crate::prompt::{LONGEST_REQUEST, Request, RequestError};
use crate::values::{MOST_VALUES, count};

/// How many bytes of requests are cached, in each of two generations.
const READY: usize = 4 << 20;

/// How many hashed beginnings are cached, in each of two generations; each takes two kilobytes.
const HASHED: usize = 2048;

/// How many beginnings of one request are cached: those at its end.
const AT_ITS_END: usize = 4;

/// Why a request cannot be read.
pub(super) enum RequestFault {
    /// It is not as it was written.
    Wrong(String),
    Sqlite(rusqlite::Error),
}

impl From<RequestError> for RequestFault {
    fn from(error: RequestError) -> Self {
        RequestFault::Wrong(error.to_string())
    }
}

impl From<rusqlite::Error> for RequestFault {
    fn from(error: rusqlite::Error) -> Self {
        RequestFault::Sqlite(error)
    }
}

/// A row of the table.
pub(super) struct RequestRow {
    pub(super) id: i64,
    skeleton: Option<String>,
    base: Option<i64>,
    shared: Option<i64>,
}

impl RequestRow {
    /// The columns of a row of `requests q`.
    pub(super) const COLUMNS: &str = "q.id, q.skeleton, q.base, q.shared";

    /// Reads them from the first columns of a row.
    pub(super) fn new(row: &Row<'_>) -> rusqlite::Result<Self> {
        // A number of another type is read as one that no request has.
        let number = |column| row.get::<_, Option<i64>>(column).unwrap_or(Some(-1));
        let (base, shared) = (number(2), number(3));
        Ok(RequestRow { id: row.get(0)?, skeleton: row.get(1).ok(), base, shared })
    }

    /// The row as a request with its own messages, and its base; `note` receives the ids of its
    /// texts.
    fn part(
        &self,
        db: &Connection,
        note: &mut dyn FnMut(i64),
    ) -> Result<StoredPart<i64>, RequestFault> {
        let skeleton = self.skeleton.as_deref();
        let skeleton = skeleton.ok_or_else(|| RequestFault::Wrong("it is not text".to_owned()))?;
        let mut texts = texts_of_a_request(db);
        let request = expand(skeleton, &mut |id| {
            id.parse().into_iter().for_each(&mut *note);
            texts(id)
        })?;
        let base = match (self.base, self.shared.map(usize::try_from)) {
            (None, None) => None,
            (Some(_), Some(Ok(messages))) if messages > MOST_SHARED => return Err(too_far().into()),
            (Some(of), Some(Ok(messages))) if of > 0 && of < self.id && messages > 0 => {
                Some(Base { of, messages })
            }
            _ => {
                return Err(RequestFault::Wrong("its base is not an earlier request".to_owned()));
            }
        };
        Ok(StoredPart { request, base })
    }
}

/// Reads requests and caches those that others may begin with.
#[derive(Default)]
pub(super) struct RequestReader {
    parts: LookupMap<i64, Arc<StoredPart<i64>>>,
    older_parts: LookupMap<i64, Arc<StoredPart<i64>>>,
    /// How many bytes are in `parts`.
    bytes: usize,
    /// By request and number of messages.
    hashed: LookupMap<(i64, usize), RequestHashState>,
    older_hashed: LookupMap<(i64, usize), RequestHashState>,
}

/// The hash of a request up to one of its messages.
#[derive(Clone)]
struct RequestHashState {
    /// What comes before the messages.
    before: Arc<str>,
    bytes: usize,
    /// How many bytes the parts have that it was assembled from.
    parts: usize,
    /// How many values there are so far.
    values: usize,
    hasher: Box<blake3::Hasher>,
}

impl RequestHashState {
    fn begin(before: &str) -> Self {
        let hasher = Box::default();
        let mut hashed =
            RequestHashState { before: before.into(), bytes: 0, parts: 0, values: 1, hasher };
        hashed.add(before);
        hashed
    }

    fn add(&mut self, text: &str) {
        self.hasher.update(text.as_bytes());
        self.bytes += text.len();
        self.values += count(text.as_bytes()) - 1;
    }
}

impl RequestReader {
    /// The row of a request.
    pub(super) fn find(
        &self,
        db: &Connection,
        prompt: PromptHash,
    ) -> rusqlite::Result<Option<RequestRow>> {
        let find = "SELECT id, skeleton, base, shared FROM requests
            WHERE substr(hash, 1, 8) = ?1 AND hash = ?2";
        let find = &mut db.prepare_cached(find)?;
        find.query_row(params![&prompt.0[..8], prompt.as_bytes()], RequestRow::new).optional()
    }

    /// A request with only its own messages.
    pub(super) fn part(
        &mut self,
        db: &Connection,
        id: i64,
    ) -> Result<Arc<StoredPart<i64>>, RequestFault> {
        if let Some(part) = self.parts.get(&id).or_else(|| self.older_parts.get(&id)) {
            return Ok(part.clone());
        }
        let find = "SELECT id, skeleton, base, shared FROM requests WHERE id = ?1";
        let stored = db.prepare_cached(find)?.query_row([id], RequestRow::new).optional()?;
        let missing = || RequestFault::Wrong("its base is missing".to_owned());
        let part = Arc::new(stored.ok_or_else(missing)?.part(db, &mut |_| {})?);
        self.keep(id, &part);
        Ok(part)
    }

    fn keep(&mut self, id: i64, part: &Arc<StoredPart<i64>>) {
        if self.bytes > READY {
            self.older_parts = std::mem::take(&mut self.parts);
            self.bytes = 0;
        }
        self.bytes += part.request.canonical().len();
        self.parts.insert(id, part.clone());
    }

    /// The whole request of a row.
    pub(super) fn whole(
        &mut self,
        db: &Connection,
        stored: &RequestRow,
        prompt: PromptHash,
    ) -> Result<Request, RequestFault> {
        let part = Arc::new(stored.part(db, &mut |_| {})?);
        let request = whole(&part, &mut |id| self.part(db, id))?;
        if part.base.is_some() {
            // The next request of a dialogue begins with it.
            self.keep(stored.id, &part);
        }
        same(request.hash(), prompt)?;
        Ok(request)
    }

    /// Checks that a row is the request that it is stored as. If its base was checked recently,
    /// this takes only as long as its own messages are. `note` receives the ids of its texts. Returns
    /// it with only its own messages.
    pub(super) fn check(
        &mut self,
        db: &Connection,
        stored: &RequestRow,
        prompt: PromptHash,
        note: &mut dyn FnMut(i64),
    ) -> Result<Arc<StoredPart<i64>>, RequestFault> {
        let part = Arc::new(stored.part(db, note)?);
        let Some(base) = part.base else {
            same(part.request.hash(), prompt)?;
            return Ok(part);
        };
        let list = part.request.message_list();
        let list =
            list.ok_or_else(|| RequestFault::Wrong("it has no list of messages".to_owned()))?;
        let key = (base.of, base.messages);
        let known = self.hashed.get(&key).or_else(|| self.older_hashed.get(&key));
        let mut hashed = match known.filter(|hashed| *hashed.before == *list.before()) {
            Some(hashed) => hashed.clone(),
            None => {
                let hashed = self.first(db, base, list.before())?;
                self.remember(key, &hashed);
                hashed
            }
        };
        if hashed.parts > MOST_BYTES {
            return Err(too_far().into());
        }
        hashed.parts += part.request.canonical().len();
        for message in 0..list.len() {
            hashed.add(",");
            hashed.add(list.text(message, message + 1));
            if message + AT_ITS_END >= list.len() {
                self.remember((stored.id, base.messages + message + 1), &hashed);
            }
        }
        hashed.add(list.after());
        if hashed.bytes > LONGEST_REQUEST {
            return Err(RequestError::TooLong { bytes: hashed.bytes }.into());
        }
        if hashed.values > MOST_VALUES {
            return Err(RequestError::TooManyValues.into());
        }
        self.keep(stored.id, &part);
        same(PromptHash(*hashed.hasher.finalize().as_bytes()), prompt)?;
        Ok(part)
    }

    /// The hash of the messages that a request begins with.
    fn first(
        &mut self,
        db: &Connection,
        base: Base<i64>,
        before: &str,
    ) -> Result<RequestHashState, RequestFault> {
        let mut hashed = RequestHashState::begin(before);
        let bases = bases(Some(base), &mut |id| self.part(db, id))?;
        for (i, (part, own)) in bases.iter().rev().enumerate() {
            if i > 0 {
                hashed.add(",");
            }
            hashed.add(part.request.message_list().map_or("", |list| list.text(0, *own)));
            hashed.parts += part.request.canonical().len();
        }
        Ok(hashed)
    }

    fn remember(&mut self, beginning: (i64, usize), hashed: &RequestHashState) {
        if self.hashed.len() >= HASHED {
            self.older_hashed = std::mem::take(&mut self.hashed);
        }
        self.hashed.insert(beginning, hashed.clone());
    }
}

fn same(found: PromptHash, due: PromptHash) -> Result<(), RequestFault> {
    if found == due { Ok(()) } else { Err(RequestFault::Wrong(format!("it hashes to {found}"))) }
}

/// Finds the texts of one request by their content ids, as they are written in a skeleton.
fn texts_of_a_request(db: &Connection) -> impl FnMut(&str) -> Option<String> {
    let mut left = LONGEST_REQUEST;
    move |id| {
        let id: i64 = id.parse().ok()?;
        let mut find = db.prepare_cached("SELECT body FROM contents WHERE id = ?1").ok()?;
        let text: String = find.query_row([id], |r| r.get(0)).ok()?;
        left = left.checked_sub(text.len())?;
        Some(text)
    }
}

/// The id of the stored request with a hash.
pub(super) fn find_request(tx: &Connection, hash: PromptHash) -> rusqlite::Result<Option<i64>> {
    let find = "SELECT id FROM requests WHERE substr(hash, 1, 8) = ?1 AND hash = ?2";
    tx.prepare_cached(find)?
        .query_row(params![&hash.0[..8], hash.as_bytes()], |r| r.get(0))
        .optional()
}
