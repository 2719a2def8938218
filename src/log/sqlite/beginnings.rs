//! What a new request begins with, among those that are stored.

use rusqlite::Connection;

use super::known::find_request;
use super::requests::{Fault, Requests};
use super::stop::Stop;
use crate::id::PromptHash;
use crate::log::format::Format;
use crate::log::lists::{Base, Beginnings as Hashes, Cost, Lists, MOST_SHARED};
use crate::prompt::Request;

/// How many beginnings are looked up for one request that nobody remembers.
const LOOKED_UP: usize = 4;

/// How many requests may be looked up in vain, before it is taken for granted that none is there.
const IN_VAIN: u32 = 64;

/// How many more may be for each that was found.
const FOR_EACH_FOUND: u32 = 8;

/// The requests that others may begin with: those that this process has met, and, so that a run that is resumed or
/// forked goes on with what it has, those that are found by the hash they must have.
pub(super) struct Beginnings {
    lists: Lists<i64>,
    stored: Requests,
    /// How many requests may still be looked up in vain.
    tries: u32,
}

/// What is known of a new request.
pub(super) struct Shared {
    hashes: Hashes,
    pub(super) base: Option<Base<i64>>,
    /// What it takes to read what it begins with.
    cost: Cost,
}

impl Beginnings {
    pub(super) fn new(format: Format) -> Self {
        Beginnings { lists: Lists::default(), stored: Requests::new(format), tries: IN_VAIN }
    }

    /// What a request begins with.
    pub(super) fn of(&mut self, tx: &Connection, request: &Request) -> Result<Shared, Stop> {
        let hashes = self.lists.beginnings(request);
        let mut found = self.lists.find(&hashes);
        let shared = found.map_or(0, |(base, _)| base.messages);
        if self.look_up(tx, request, &hashes, shared)? {
            found = self.lists.find(&hashes);
        }
        let (base, cost) = found.unzip();
        Ok(Shared { hashes, base, cost: cost.unwrap_or_default() })
    }

    /// Looks for the request that a dialogue went on from: the one that is answered by the last messages of the
    /// model that stand in this one. Whether it was found and is remembered now.
    fn look_up(
        &mut self,
        tx: &Connection,
        request: &Request,
        hashes: &Hashes,
        shared: usize,
    ) -> Result<bool, Stop> {
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

    /// A request that has been stored just now.
    pub(super) fn stored(&mut self, request: &Request, shared: &Shared, id: i64) {
        let Shared { hashes, base, cost } = shared;
        self.lists.add_new(request, hashes, id, *base, *cost);
    }

    /// A request that was stored before.
    pub(super) fn met(
        &mut self,
        tx: &Connection,
        request: &Request,
        shared: &Shared,
    ) -> Result<(), Stop> {
        let messages = request.listed().map_or(0, |list| list.len());
        self.remember(tx, request, &shared.hashes, messages, request.hash())
    }

    /// Remembers a stored request, which has the first so many messages of this one. Nothing is stored upon one
    /// that is damaged.
    fn remember(
        &mut self,
        tx: &Connection,
        request: &Request,
        hashes: &Hashes,
        messages: usize,
        prompt: PromptHash,
    ) -> Result<(), Stop> {
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

    /// What it takes to read a stored request; `None` if it cannot be read.
    fn cost(&mut self, tx: &Connection, id: i64) -> Result<Option<Cost>, Stop> {
        let mut unknown = Vec::new();
        let mut next = Some(id);
        let mut cost = Cost::default();
        while let Some(id) = next {
            if let Some(known) = self.lists.cost(id) {
                cost = known;
                break;
            }
            let Some(part) = sound(self.stored.part(tx, id))? else { return Ok(None) };
            // Each has a smaller id than the one before.
            next = part.base.map(|base| base.of);
            unknown.push(id);
        }
        for id in unknown.into_iter().rev() {
            let Some(part) = sound(self.stored.part(tx, id))? else { return Ok(None) };
            cost = Cost::of(&part.request, 0, cost);
            self.lists.note(id, cost);
        }
        Ok(Some(cost))
    }
}

/// `None` of what is damaged.
fn sound<T>(read: Result<T, Fault>) -> Result<Option<T>, Stop> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Fault::Wrong(_)) => Ok(None),
        Err(Fault::Sqlite(e)) => Err(e.into()),
    }
}
