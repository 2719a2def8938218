//! Recorded requests that a new one is equal to though its key is none of theirs: clients have invented other ids, the run was
//! begun under fewer rules, or recorded by a release that stored such requests in another form.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use retold::id::{CallPath, PromptHash};
use retold::log::LogError;
use retold::model::providers::{Dialect, OTHER};
use retold::prompt::{Request, canonical, hash_of};
use serde_json::{Value, json};

use crate::field_names::dialect_of;
use crate::incoming::Incoming;
use crate::key::Key;
use crate::lock::lock;
use crate::recorded::Library;
use crate::recorded_prompts::RecordedPrompts;
use crate::restored_request::restore;
use crate::rules::Rules;
use crate::stored_fields::ADDRESS;
use crate::wire_request::{StoredRequest, WireRequest, version_of};

/// The recorded requests by the parts that are equal in them. All of a run are read when the first is looked for.
#[derive(Default)]
pub(crate) struct Equivalents {
    known: Mutex<Option<Arc<EqualKeys>>>,
    /// Whether the run has requests to APIs that were not known when it was recorded.
    has_other_forms: OnceLock<bool>,
}

/// The keys of recorded requests that are equal, in the order of their first questions.
type EqualKeys = BTreeMap<Equivalence, Vec<Key>>;

/// What equal requests have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Equivalence {
    /// The name of the call, or the API and the form of the answer.
    call: String,
    /// The hash of what counts, with numbers for ids.
    counted: PromptHash,
}

impl Equivalents {
    /// The keys of the recorded requests that are equal to a request, in the order of their first questions.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    pub(crate) fn of(
        &self,
        asked: &WireRequest,
        rules: &Rules,
        prompts: &RecordedPrompts,
        library: &Library,
    ) -> Result<Vec<Key>, LogError> {
        let is_streamed = asked.key.call.is_streamed();
        let form = dialect_of(&asked.request);
        let counted = rules.counted_body(&asked.request)?;
        let (own, has_ids) =
            Equivalence::of(&asked.request, counted, &asked.key.call, form, is_streamed);
        if rules.is_empty() && !has_ids && !self.may_have_another_form(asked, prompts, library)? {
            return Ok(Vec::new());
        }
        let known = self.equal_keys(rules, prompts, library)?;
        Ok(known.get(&own).cloned().unwrap_or_default())
    }

    /// Whether a request may be recorded in another form.
    fn may_have_another_form(
        &self,
        asked: &WireRequest,
        prompts: &RecordedPrompts,
        library: &Library,
    ) -> Result<bool, LogError> {
        if asked.dialect.name() == OTHER.name() {
            return Ok(false);
        }
        if let Some(has_other_forms) = self.has_other_forms.get() {
            return Ok(*has_other_forms);
        }
        let own = format!("{}/", OTHER.name());
        let known = prompts.load(library)?;
        let found = known.keys().any(|(_, call)| call.as_str().starts_with(&own));
        Ok(*self.has_other_forms.get_or_init(|| found))
    }

    fn equal_keys(
        &self,
        rules: &Rules,
        prompts: &RecordedPrompts,
        library: &Library,
    ) -> Result<Arc<EqualKeys>, LogError> {
        // One request reads them, and the others wait for it.
        let mut known = lock(&self.known);
        if let Some(known) = known.as_ref() {
            return Ok(known.clone());
        }
        let all = prompts.load(library)?;
        let mut in_order: Vec<_> = all.iter().collect();
        in_order.sort_by_key(|(_, known)| known.request);
        let mut read = EqualKeys::new();
        for ((prompt, call), _) in in_order {
            let Some(request) = library.request(*prompt)? else { continue };
            // As it would be stored today.
            let again = match is_of_today(&request) {
                true => None,
                false => restore(&request, call).map(Incoming::from),
            };
            let counted = rules.counted_body(&request)?;
            let prompt = rules.key_of(&request, &counted);
            let (equal, _) = match again.and_then(|it| it.stored_request().ok()) {
                Some(StoredRequest { dialect, request, is_streamed, .. }) => {
                    let counted = rules.counted_body(&request)?;
                    Equivalence::of(&request, counted, call, dialect, is_streamed)
                }
                None => {
                    let is_streamed = call.is_streamed();
                    Equivalence::of(&request, counted, call, dialect_of(&request), is_streamed)
                }
            };
            let key = Key { call: call.clone(), prompt };
            read.entry(equal).or_default().push(key);
        }
        Ok(known.insert(Arc::new(read)).clone())
    }
}

/// Whether a request is stored in the form in which it would be today: that of its API, whose version says which fields are
/// left out. Almost all are, and need not be taken apart and put together again.
fn is_of_today(request: &Request) -> bool {
    let form = dialect_of(request);
    let is_known = form.name() != OTHER.name();
    is_known
        && request.body()[ADDRESS]["dialect"].as_str().is_none_or(|named| named == version_of(form))
}

/// The end of the names of calls whose answers are asked for as streams.
const STREAM: &str = "/stream";

impl Equivalence {
    /// That of a request of which this counts, and whether it has ids.
    fn of(
        request: &Request,
        mut body: Value,
        call: &CallPath,
        dialect: &dyn Dialect,
        is_streamed: bool,
    ) -> (Self, bool) {
        let ids = number_ids(dialect, &mut body);
        if let Some(Value::Object(address)) = body.get_mut(ADDRESS) {
            // The version says which fields were left out.
            address.remove("dialect");
        }
        let counted = json!({"api": request.api(), "body": body});
        // The rest of a canonical form has one, too.
        let hash = |text: String| PromptHash(hash_of(text.as_bytes()));
        let counted = canonical(&counted).map_or(request.hash(), hash);
        let form = if is_streamed { STREAM } else { "" };
        let call = match call.is_unnamed() {
            true => format!("{}{form}", dialect.name()),
            false => call.as_str().to_owned(),
        };
        (Equivalence { call, counted }, ids > 0)
    }
}

/// Puts numbers in the place of the ids in a stored body that clients invent, in the order in which they come first. Returns how many
/// there are.
pub(crate) fn number_ids(dialect: &dyn Dialect, body: &mut Value) -> usize {
    let mut ids = BTreeMap::new();
    dialect.invented_ids(body, &mut |id| {
        let next = ids.len() + 1;
        let number = *ids.entry(std::mem::take(id)).or_insert(next);
        *id = format!("id {number}");
    });
    ids.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_by_which_of_them_are_equal() {
        let of = |ids: [&str; 3]| {
            let body = json!({"model": "m", "messages": [
                {"role": "assistant", "tool_calls": [{"id": ids[0]}, {"id": ids[1]}]},
                {"role": "tool", "tool_call_id": ids[2], "content": "x"}]});
            let request = Request::from_body(body).unwrap();
            let call = CallPath::new("openai.chat/0123456789abcdef").unwrap();
            let counted = Rules::default().counted_body(&request).unwrap();
            Equivalence::of(&request, counted, &call, dialect_of(&request), false).0
        };
        assert_eq!(of(["a", "b", "a"]), of(["x", "y", "x"]));
        assert_ne!(of(["a", "b", "a"]), of(["x", "y", "y"]));
        assert_ne!(of(["a", "b", "a"]), of(["x", "x", "x"]));
    }
}
