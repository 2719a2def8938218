//! Finds the stored request that a new one begins with.

use rusqlite::Connection;

use super::requests::{RequestFault, RequestReader, find_request};
use super::stop::TransactionError;
use crate::id::PromptHash;
use crate::log::lists::{Base, BeginningHashes as Hashes, Lists, MOST_SHARED, ReadCost};
use crate::prompt::Request;

/// How many candidates are looked up for a request that is not in memory.
const LOOKED_UP: usize = 4;

/// How many look-ups may fail before we assume that there is nothing to find.
const IN_VAIN: u32 = 64;

/// How many more may fail for each one that succeeds.
const FOR_EACH_FOUND: u32 = 8;

/// The requests that others may begin with: those that this process has seen, and stored ones that
/// are found by the hash they must have, so that a resumed or forked run can build on them.
pub(super) struct KnownBeginnings {
    lists: Lists<i64>,
    stored: RequestReader,
    /// How many more look-ups may fail.
    tries: u32,
}

/// A new request: the hashes of its beginnings, its base and its cost.
pub(super) struct NewRequest {
    hashes: Hashes,
    pub(super) base: Option<Base<i64>>,
    /// The cost of reading its beginning.
    cost: ReadCost,
}

impl Default for KnownBeginnings {
    fn default() -> Self {
        KnownBeginnings {
            lists: Lists::default(),
            stored: RequestReader::default(),
            tries: IN_VAIN,
        }
    }
}

impl KnownBeginnings {
    /// Finds the stored request that a request begins with.
    pub(super) fn shared_by(
        &mut self,
        tx: &Connection,
        request: &Request,
    ) -> Result<NewRequest, TransactionError> {
        let hashes = self.lists.beginnings(request);
        let mut found = self.lists.find(&hashes);
        let shared = found.map_or(0, |(base, _)| base.messages);
        if self.look_up(tx, request, &hashes, shared)? {
            found = self.lists.find(&hashes);
        }
        let (base, cost) = found.unzip();
        Ok(NewRequest { hashes, base, cost: cost.unwrap_or_default() })
    }

    /// Looks for the request that this one continues: the one that the last messages of the model
    /// in this request answer. Returns whether it was found, in which case it is now in memory.
    fn look_up(
        &mut self,
        tx: &Connection,
        request: &Request,
        hashes: &Hashes,
        shared: usize,
    ) -> Result<bool, TransactionError> {
        let messages = request.body()["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let upto = messages.len().min(MOST_SHARED);
        let answers = (shared + 1..upto).rev().filter(|i| messages[*i]["role"] == "assistant");
        let mut answers = answers.take(LOOKED_UP).peekable();
        if self.tries == 0 || answers.peek().is_none() {
            return Ok(false);
        }
        for answer in answers {
            let Some(hash) = request.hash_of_first(answer) else { break };
            if find_request(tx, hash)?.is_some() {
                self.tries += FOR_EACH_FOUND;
                self.remember(tx, request, &hashes.up_to(answer), answer, hash)?;
                return Ok(true);
            }
        }
        self.tries -= 1;
        Ok(false)
    }

    /// Notes that a request was just stored.
    pub(super) fn note_new(&mut self, request: &Request, shared: &NewRequest, id: i64) {
        let NewRequest { hashes, base, cost } = shared;
        self.lists.add_new(request, hashes, id, *base, *cost);
    }

    /// Notes that a request had been stored before.
    pub(super) fn note_known(
        &mut self,
        tx: &Connection,
        request: &Request,
        shared: &NewRequest,
    ) -> Result<(), TransactionError> {
        let messages = request.message_list().map_or(0, |list| list.len());
        self.remember(tx, request, &shared.hashes, messages, request.hash())
    }

    /// Remembers a stored request that has the same first messages as this one. Nothing is built on
    /// a damaged one.
    fn remember(
        &mut self,
        tx: &Connection,
        request: &Request,
        hashes: &Hashes,
        messages: usize,
        prompt: PromptHash,
    ) -> Result<(), TransactionError> {
        let Some(stored) = self.stored.find(tx, prompt)? else { return Ok(()) };
        if sound(self.stored.check(tx, &stored, prompt, &mut |_| {}))?.is_none() {
            return Ok(());
        }
        let Some(cost) = self.cost(tx, stored.id)? else { return Ok(()) };
        let Some(part) = sound(self.stored.part(tx, stored.id))? else { return Ok(()) };
        if part.base.is_none_or(|base| base.messages < messages) {
            self.lists.add(request, hashes, stored.id, part.base, cost);
        }
        Ok(())
    }

    /// The cost of reading a stored request; `None` if it cannot be read.
    fn cost(&mut self, tx: &Connection, id: i64) -> Result<Option<ReadCost>, TransactionError> {
        let mut unknown = Vec::new();
        let mut next = Some(id);
        let mut cost = ReadCost::default();
        while let Some(id) = next {
            if let Some(known) = self.lists.cost(id) {
                cost = known;
                break;
            }
            let Some(part) = sound(self.stored.part(tx, id))? else { return Ok(None) };
            // Each base has a smaller id than the request that builds on it.
            next = part.base.map(|base| base.of);
            unknown.push(id);
        }
        for id in unknown.into_iter().rev() {
            let Some(part) = sound(self.stored.part(tx, id))? else { return Ok(None) };
            cost = ReadCost::new(&part.request, 0, cost);
            self.lists.note(id, cost);
        }
        Ok(Some(cost))
    }
}

/// `None` if it is damaged.
fn sound<T>(read: Result<T, RequestFault>) -> Result<Option<T>, TransactionError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(RequestFault::Wrong(_)) => Ok(None),
        Err(RequestFault::Sqlite(e)) => Err(e.into()),
    }
}
