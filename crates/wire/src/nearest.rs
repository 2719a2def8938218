//! A request that is not recorded: the nearest one that is, and the first field that differs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use retold::escaping::printable;
use retold::id::{CallPath, Seq};
use retold::log::LogError;
use retold::prompt::Request;
use serde_json::{Value, json};

use crate::body_differences::{BodyDifferences, FieldDifference, excerpts, shown_body};
use crate::chance_look::{ChanceLook, are_numbers};
use crate::equivalents::number_ids;
use crate::field_names::named_path;
use crate::key::Key;
use crate::limits::COMPARED;
use crate::nearest_match::{NearestMatch, Why};
use crate::recorded::Library;
use crate::recorded_prompts::{KnownRequest, RecordedPrompts};
use crate::rules::Rules;
use crate::volatile;
use crate::wire_request::WireRequest;

/// The longest excerpt of a value, in characters.
const LONGEST: usize = 100;

/// Why a request has no recorded answer. `is_used_up` says whether all answers under a key were given.
///
/// # Errors
/// [`LogError`] if the recorded ones cannot be read.
pub(crate) fn nearest(
    asked: &WireRequest,
    rules: &Rules,
    prompts: &RecordedPrompts,
    library: &Library,
    is_used_up: &dyn Fn(&Key) -> bool,
) -> Result<NearestMatch, LogError> {
    let call = asked.key.call.clone();
    let miss = |why| NearestMatch {
        call: call.clone(),
        asked: asked.request_line(),
        why,
        look: None,
        is_chance_recorded: false,
        stack: None,
        rules: rules.summary(),
        lacks_key: rules.lacks_key().map(str::to_owned),
    };
    let prompt = asked.request.hash();
    let all = prompts.load(library)?;
    if let Some(known) = all.get(&(prompt, call.clone())) {
        return Ok(miss(known.used_up()));
    }
    let of_prompt = all.iter().find(|((other, _), _)| *other == prompt);
    if let Some(((_, other), known)) = of_prompt {
        return Ok(miss(same_prompt(other, known, &call)));
    }
    let compared = |request: &Request| {
        let mut body = rules.counted_body(request)?;
        number_ids(asked.dialect, &mut body);
        Ok::<_, LogError>(shown_body(request.api(), body))
    };
    let body = compared(&asked.request)?;
    let texts = Texts::new(&body);
    let mut equal = KnownRequest { request: Seq(0), samples: 0, is_tried: false };
    let mut best: Option<(Score, Candidate<'_>)> = None;
    // Those of the same call first, then those of the same form.
    let mut candidates: Vec<_> = all.iter().collect();
    candidates
        .sort_by_key(|((_, other), known)| (*other != call, !alike(other, &call), known.request));
    for ((prompt, other), known) in candidates.into_iter().take(COMPARED) {
        let Some(request) = library.request(*prompt)? else { continue };
        // What a model is asked is no call of a tool.
        if request.tool().is_some() != asked.request.tool().is_some() {
            continue;
        }
        let recorded = compared(&request)?;
        let found = BodyDifferences::between(&recorded, &body);
        let form = usize::from(!alike(other, &call));
        let common = texts.equal_to(&recorded) + found.common;
        let is_served = is_used_up(&Key { call: other.clone(), prompt: rules.key(&request)? });
        let score =
            (known.samples == 0, is_served, Reverse(common), found.fields + form, known.request);
        if found.fields + form == 0 && other.is_unnamed() {
            equal.samples += known.samples;
            equal.is_tried |= known.is_tried;
        }
        if best.as_ref().is_none_or(|(least, _)| score < *least) {
            best = Some((score, Candidate { call: other, known, request, found }));
        }
    }
    let Some((_, Candidate { call: other, known, request, found })) = best else {
        let is_tool = asked.request.tool().is_some() && !all.is_empty();
        return Ok(miss(if is_tool { Why::NoTools } else { Why::Nothing }));
    };
    let Some(FieldDifference { path, recorded, now }) = found.first.first() else {
        // Nothing that counts differs.
        return Ok(miss(match () {
            () if *other == call => known.used_up(),
            () if !call.is_unnamed() || !other.is_unnamed() || !alike(other, &call) => {
                same_prompt(other, known, &call)
            }
            () => equal.used_up(),
        }));
    };
    let options = match found.first.len() == found.fields && alike(other, &call) {
        true => volatile::options((&request, &asked.request), &found.first, rules),
        false => Vec::new(),
    };
    // What looks like ids or times has its own advice, but a long number may be either.
    let is_number = || options.iter().all(|it| it.ends_with("=ID'")) && are_numbers(&found.first);
    let look = match alike(other, &call) && (options.is_empty() || is_number()) {
        true => ChanceLook::of(&compared(&request)?, &body, &found),
        false => None,
    };
    let (recorded, now) = excerpts(recorded.as_ref(), now.as_ref());
    let differs = Why::Differs {
        nearest: known.request,
        call: other.clone(),
        field: named_path(&asked.request, path).join("."),
        fields: found.fields,
        recorded,
        now,
        options,
    };
    Ok(NearestMatch { look, ..miss(differs) })
}

/// A recorded request, and how it differs from the one that is looked for.
struct Candidate<'a> {
    call: &'a CallPath,
    known: &'a KnownRequest,
    request: Request,
    found: BodyDifferences,
}

/// Why a prompt has no answer: it is recorded in another form, or under another name.
fn same_prompt(other: &CallPath, known: &KnownRequest, call: &CallPath) -> Why {
    let (field, recorded, now) = match (other.is_streamed(), call.is_streamed()) {
        (before, now) if before != now => ("stream", json!(before), json!(now)),
        _ => ("X-Retold-Call", json!(other), json!(call)),
    };
    let shown = |value: Value| Some(printable(&value.to_string(), LONGEST));
    Why::Differs {
        nearest: known.request,
        call: other.clone(),
        field: field.to_owned(),
        fields: 1,
        recorded: shown(recorded),
        now: shown(now),
        options: Vec::new(),
    }
}

/// Whether two calls are of one API and form, as far as their names say.
fn alike(a: &CallPath, b: &CallPath) -> bool {
    let api = |call: &CallPath| call.as_str().split('/').next().map(str::to_owned);
    a.is_streamed() == b.is_streamed() && api(a) == api(b)
}

/// Of two recorded requests, the one with the least is the nearer one: whether it has no answer, whether its answers were given, how
/// much of its text is equal (the number of fields says little: two dialogues differ in as many as they have messages), how many
/// fields differ, and where it is.
type Score = (bool, bool, Reverse<usize>, usize, Seq);

/// The texts in a body, wherever they are: a message that was put in moves those behind it.
struct Texts<'a>(BTreeMap<&'a str, usize>);

impl<'a> Texts<'a> {
    fn new(body: &'a Value) -> Self {
        let mut texts = Texts(BTreeMap::new());
        each_text(body, &mut |text| *texts.0.entry(text).or_default() += 1);
        texts
    }

    /// How many bytes of text another body has in common with this one, in whole texts.
    fn equal_to(&self, other: &Value) -> usize {
        let (mut left, mut equal) = (self.0.clone(), 0);
        each_text(other, &mut |text| {
            if let Some(count) = left.get_mut(text).filter(|count| **count > 0) {
                *count -= 1;
                equal += text.len();
            }
        });
        equal
    }
}

fn each_text<'a>(body: &'a Value, each: &mut dyn FnMut(&'a str)) {
    match body {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, each)),
        Value::Object(fields) => fields.values().for_each(|field| each_text(field, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
