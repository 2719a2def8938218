//! All prompts of a run, for requests that are not found by their key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use retold::id::{CallPath, PromptHash, Seq};
use retold::log::LogError;

use crate::lock::lock;
use crate::nearest_match::Why;
use crate::recorded::Library;
use crate::samples::Samples;

/// The recorded prompts. They are read when a request is first not found by its key, and a replay in which all are found does
/// without them.
pub(crate) struct RecordedPrompts {
    samples: Samples,
    known: Mutex<Option<Arc<KnownPrompts>>>,
}

/// By prompt and call: its first question, and how many samples it has.
pub(crate) type KnownPrompts = BTreeMap<(PromptHash, CallPath), KnownRequest>;

/// The record of one prompt and call.
#[derive(Debug)]
pub(crate) struct KnownRequest {
    /// Its first question.
    pub(crate) request: Seq,
    /// How many of its samples have an answer, or failed attempts that count.
    pub(crate) samples: usize,
    /// Whether anything came of one of them.
    pub(crate) is_tried: bool,
}

impl RecordedPrompts {
    /// Those of these samples.
    pub(crate) fn new(samples: Samples) -> Self {
        RecordedPrompts { samples, known: Mutex::default() }
    }

    /// The prompts by hash and call.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    pub(crate) fn load(&self, library: &Library) -> Result<Arc<KnownPrompts>, LogError> {
        let mut known = lock(&self.known);
        if let Some(known) = known.as_ref() {
            return Ok(known.clone());
        }
        let (mut read, mut answered) = (KnownPrompts::new(), BTreeSet::new());
        for questions in self.samples.all_questions() {
            library.questions(questions.run, &questions.all(), |request, sent| {
                let new = KnownRequest { request, samples: 0, is_tried: false };
                let entry = read.entry((sent.prompt, sent.call.clone())).or_insert(new);
                // A sample that was taken over from a parent is one.
                let is_new = || answered.insert((sent.call, sent.sample));
                entry.samples += usize::from(questions.is_answered(request) && is_new());
                entry.is_tried |= questions.is_tried(request);
            })?;
        }
        Ok(known.insert(Arc::new(read)).clone())
    }
}
impl KnownRequest {
    /// Why there is no more of it.
    pub(crate) fn used_up(&self) -> Why {
        match self.samples {
            0 => Why::Unanswered { failed: self.is_tried },
            samples => Why::Exhausted { samples },
        }
    }
}
