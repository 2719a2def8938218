//! The values that a sample stores once: texts as attachments, messages in pools, and references to both.
//!
//! Where they are depends on the release: `events_data`, before that `message_pool` and `call_pool`
//! (`log/_pool.py`), and in the first ones `transcript.content` (`EvalSample.migrate_deprecated`).

use serde_json::{Value, json};

use crate::error::FileProblem;

use retold::members::Members;

/// The prefix of a reference to an attachment, before its hash.
const ATTACHMENT: &str = "attachment://";

/// The same prefix in the first releases, at the beginning of a text (`log/_condense.py`).
const CONTENT: &str = "tc://";

/// How much the attachments and messages of a log may amount to when they are put back.
pub(super) const MOST_BYTES: usize = 512 << 20;

/// The pools of a sample.
pub(super) struct SamplePool<'a> {
    sample: &'a Value,
    /// How much of [`MOST_BYTES`] is left.
    left: &'a mut usize,
}

impl<'a> SamplePool<'a> {
    pub(super) fn new(sample: &'a Value, left: &'a mut usize) -> Self {
        SamplePool { sample, left }
    }

    /// The request and the response as they were sent, if the log has them.
    pub(super) fn call(&mut self, event: &Value) -> Result<Option<(Value, Value)>, FileProblem> {
        let call = &event["call"];
        if !call["request"].is_object() {
            return Ok(None);
        }
        let mut request = call["request"].clone();
        if call["call_refs"].is_array() {
            let key = call["call_key"].as_str().unwrap_or("messages");
            request.set(key, self.ranges(&call["call_refs"], "calls", "call_pool")?);
        }
        let mut response = call["response"].clone();
        self.attach(&mut request)?;
        self.attach(&mut response)?;
        Ok(Some((request, response)))
    }

    /// The messages of an event as Inspect has them.
    pub(super) fn messages(&mut self, event: &Value) -> Result<Value, FileProblem> {
        let mut messages = match event["input_refs"].is_array() {
            true => self.ranges(&event["input_refs"], "messages", "message_pool")?,
            false => event["input"].clone(),
        };
        self.attach(&mut messages)?;
        for message in messages.as_array_mut().into_iter().flatten() {
            if let Some(fields) = message.as_object_mut() {
                // Made up for each log.
                fields.retain(|name, _| !matches!(name.as_str(), "id" | "source" | "model"));
            }
        }
        Ok(if messages.is_array() { messages } else { json!([]) })
    }

    /// Items of a pool by ranges, each from its first item to the one after its last.
    fn ranges(
        &mut self,
        ranges: &Value,
        list: &str,
        earlier: &'static str,
    ) -> Result<Value, FileProblem> {
        let pool = &self.sample["events_data"][list];
        let (pool, name) = match pool.is_array() {
            true => (pool, format!("events_data.{list}")),
            false => (&self.sample[earlier], earlier.to_owned()),
        };
        let wrong = || FileProblem::Said(format!("a reference leads out of {name}"));
        let all = pool.as_array().map_or(&[][..], Vec::as_slice);
        let mut items = Vec::new();
        for range in ranges.as_array().into_iter().flatten() {
            let bound = |at: usize| range[at].as_u64().and_then(|at| usize::try_from(at).ok());
            let (begin, end) = bound(0).zip(bound(1)).ok_or_else(wrong)?;
            let found = all.get(begin..end).ok_or_else(wrong)?;
            for item in found {
                self.spend(item.to_string().len())?;
                items.push(item.clone());
            }
        }
        Ok(items.into())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), FileProblem> {
        let most = MOST_BYTES >> 20;
        *self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            FileProblem::Said(format!("the messages of the log amount to more than {most} MiB"))
        })?;
        Ok(())
    }

    /// The text of an attachment.
    fn attachment(&self, hash: &str) -> Option<&'a str> {
        let first = self.sample["attachments"][hash].as_str();
        first.or_else(|| self.sample["transcript"]["content"][hash].as_str())
    }

    /// Puts attachments back where they are referred to.
    fn attach(&mut self, value: &mut Value) -> Result<(), FileProblem> {
        match value {
            Value::String(text) if text.starts_with(CONTENT) => {
                if let Some(found) = self.attachment(&text[CONTENT.len()..]) {
                    self.spend(found.len())?;
                    found.clone_into(text);
                }
            }
            Value::String(text) if text.contains(ATTACHMENT) => {
                let (mut out, mut rest) = (String::new(), text.as_str());
                while let Some(at) = rest.find(ATTACHMENT) {
                    let (before, after) = rest.split_at(at);
                    let hash = &after[ATTACHMENT.len()..];
                    let end = hash.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(hash.len());
                    let attached = self.attachment(&hash[..end]);
                    out.push_str(before);
                    out.push_str(attached.unwrap_or(&after[..ATTACHMENT.len() + end]));
                    rest = &hash[end..];
                }
                out.push_str(rest);
                self.spend(out.len())?;
                *text = out;
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.attach(item))?,
            Value::Object(fields) => {
                fields.values_mut().try_for_each(|item| self.attach(item))?;
            }
            _ => {}
        }
        Ok(())
    }
}
