//! What the fake has seen and done.

use std::collections::BTreeMap;

use serde_json::Value;

use super::routes::Kind;

/// Everything that was counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    /// Requests, by what they do, those included that went wrong.
    pub(crate) requests: BTreeMap<Kind, u64>,
    /// Files that were uploaded whole.
    pub(crate) files: u64,
    pub(crate) batches: u64,
    /// Answers that were paid for, by what was asked.
    pub(crate) paid: BTreeMap<String, u64>,
    /// Answers that were paid for in batches, by the ids of their lines.
    pub(crate) paid_lines: BTreeMap<String, u64>,
    /// Batches that have a line of this id and whose input was not refused.
    pub(crate) submitted: BTreeMap<String, Vec<usize>>,
}

impl Counts {
    /// The number of requests of one kind.
    pub(crate) fn of(&self, kind: Kind) -> u64 {
        self.requests.get(&kind).copied().unwrap_or_default()
    }

    /// All requests.
    pub(crate) fn all(&self) -> u64 {
        self.requests.values().sum()
    }

    /// The ids of lines that were submitted more than once.
    pub(crate) fn doubles(&self) -> Vec<&str> {
        let doubles = self.submitted.iter().filter(|(_, batches)| batches.len() > 1);
        doubles.map(|(id, _)| id.as_str()).collect()
    }

    pub(super) fn pay(&mut self, key: String, custom_id: Option<&str>) {
        *self.paid.entry(key).or_default() += 1;
        if let Some(id) = custom_id {
            *self.paid_lines.entry(id.to_owned()).or_default() += 1;
        }
    }
}

/// What is asked, without the fields that say only how it is sent or what tier is paid for.
pub(super) fn question(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(fields) = body.as_object_mut() {
        for name in ["stream", "stream_options", "service_tier", "serviceTier"] {
            fields.remove(name);
        }
    }
    body
}
