//! The most recently used requests: many samples of one prompt follow each other.

use crate::id::PromptHash;
use crate::log::{LogError, Reader};
use crate::lookup::LookupMap;
use crate::prompt::Request;

/// How many bytes of requests are kept.
const BYTES: usize = 8 << 20;

/// Requests by their hash.
#[derive(Default)]
pub(super) struct RequestCache {
    known: LookupMap<PromptHash, Request>,
    bytes: usize,
}

impl RequestCache {
    /// A recently used request.
    pub(super) fn get(&self, prompt: PromptHash) -> Option<Request> {
        self.known.get(&prompt).cloned()
    }

    /// Keeps a request.
    pub(super) fn put(&mut self, request: &Request) {
        if self.bytes > BYTES {
            self.known.clear();
            self.bytes = 0;
        }
        self.bytes += request.canonical().len();
        self.known.insert(request.hash(), request.clone());
    }

    /// A recently used request, or else the log's.
    pub(super) fn request(
        &mut self,
        reader: &mut dyn Reader,
        prompt: PromptHash,
    ) -> Result<Option<Request>, LogError> {
        if let Some(request) = self.get(prompt) {
            return Ok(Some(request));
        }
        let request = reader.request(prompt)?;
        request.iter().for_each(|request| self.put(request));
        Ok(request)
    }
}
