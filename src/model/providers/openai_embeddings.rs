//! OpenAI's embeddings, and the servers that speak them.

use data_encoding::BASE64;
use serde_json::{Map, Value};

use super::dialect::{Dialect, NotRead, PlainAddress};
use super::ending::{Ending, error_in};
use super::openai_chat::{OPENAI, add_whole};
use super::vectors;
use crate::model::parts::{CHOICE, add_rest, leave_out, rest};
use crate::model::{Content, Failure, Response, Usage, keep_exact};
use crate::prompt::Api;

/// Embeddings, which studies ask for together with chat completions.
#[derive(Debug)]
pub(super) struct OpenAiEmbeddings;

impl Dialect for OpenAiEmbeddings {
    fn name(&self) -> &'static str {
        "openai.embeddings"
    }

    fn plain(&self) -> Option<PlainAddress> {
        Some(PlainAddress { api: Api::Embedding, upstream: OPENAI.name, path: "/embeddings" })
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/embeddings"]
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        body.contains_key("input").then_some((Api::Embedding, body))
    }

    fn ending(&self, reply: &Value, _has_end: bool) -> Ending {
        Ending::or(error_in(&reply["error"]), || Ending::Answered)
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        fields.get("data").is_some_and(Value::is_array).then_some("the embeddings API")
    }

    fn is_pasted(&self) -> bool {
        true
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let has_answer = reply.get("content").is_some() || !reply["embedding"].is_null();
        match reply["data"].is_array() && !has_answer {
            true => vectors::of_reply(&reply),
            false => Err(NotRead::OtherForm(reply)),
        }
    }
}

/// The answers, in the order of the questions. `sizes` are the lengths of the texts.
///
/// A vector may be a list of numbers or the base64 of little-endian 32-bit floats, whichever was
/// asked for. The service counts the tokens of a whole batch; each member gets a share by length,
/// so that the sum is right, and likewise for the cost. Whatever else it says about the batch is
/// kept with the first member.
pub(in crate::model) fn responses(body: &Value, sizes: &[usize]) -> Result<Vec<Response>, Failure> {
    let Some(data) = body["data"].as_array() else {
        return Err(Failure::mismatch("it has no \"data\""));
    };
    if data.len() != sizes.len() {
        let (asked, found) = (sizes.len(), data.len());
        return Err(Failure::mismatch(format_args!("asked for {asked} vectors, it has {found}")));
    }
    let mut vectors: Vec<Option<Vector>> = vec![None; sizes.len()];
    for (position, item) in data.iter().enumerate() {
        let index = match &item["index"] {
            Value::Null => Some(position),
            value => value.as_u64().and_then(|i| usize::try_from(i).ok()),
        };
        match index.and_then(|index| vectors.get_mut(index)) {
            Some(place @ None) => {
                let more = item.as_object().map(|item| rest(item, &["index", "embedding"]));
                let more = more.unwrap_or_default();
                *place = Some((vector(&item["embedding"])?, more));
            }
            Some(Some(_)) => {
                return Err(Failure::mismatch("two vectors have the same \"index\""));
            }
            None => {
                return Err(Failure::mismatch("a vector has an \"index\" that was not asked for"));
            }
        }
    }
    let mut whole = Response::text("");
    add_whole(&mut whole, body, "data", "list");
    let Usage { prompt_tokens, cached_tokens, cost, .. } = whole.usage.unwrap_or_default();
    let (tokens, cached) = (shares(prompt_tokens, sizes), shares(cached_tokens, sizes));
    let all = sizes.iter().map(|size| *size as f64 + 1.0).sum::<f64>();
    let mut of_batch = std::mem::take(&mut whole.extra);
    let members = vectors.into_iter().flatten().zip(sizes).zip(tokens.into_iter().zip(cached));
    let member =
        |(((vector, mut more), size), (prompt_tokens, cached_tokens)): VectorMember<'_>| {
            let mut extra = std::mem::take(&mut of_batch);
            leave_out(&mut more, "object", &"embedding".into());
            add_rest(&mut extra, CHOICE, more);
            keep_exact(&mut extra);
            let cost = cost.map(|cost| cost * (*size as f64 + 1.0) / all);
            let usage = Usage { prompt_tokens, cached_tokens, cost, ..Usage::default() };
            let usage = (usage != Usage::default()).then_some(usage);
            Response { content: Content::Vector(vector.into()), usage, extra, ..whole.clone() }
        };
    Ok(members.map(member).collect())
}

/// A vector, and its other fields.
type Vector = (Vec<f32>, Map<String, Value>);

/// A vector, the length of its text, and its share of the tokens.
type VectorMember<'a> = ((Vector, &'a usize), (Option<u64>, Option<u64>));

fn vector(value: &Value) -> Result<Vec<f32>, Failure> {
    let vector = match value {
        // The conversion is exact: the service wrote a 32-bit float in decimal digits.
        #[expect(clippy::cast_possible_truncation, reason = "vectors are 32-bit floats")]
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_f64().map(|x| x as f32))
            .collect::<Option<Vec<f32>>>()
            .ok_or_else(|| Failure::mismatch("a vector has a component that is not a number"))?,
        Value::String(text) => {
            let bytes = BASE64
                .decode(text.as_bytes())
                .map_err(|e| Failure::mismatch(format_args!("a vector is not base64: {e}")))?;
            let (floats, rest) = bytes.as_chunks::<4>();
            if !rest.is_empty() {
                return Err(Failure::mismatch("a vector is cut off in the middle of a float"));
            }
            floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        }
        _ => return Err(Failure::mismatch("a vector is neither a list of numbers nor base64")),
    };
    if vector.is_empty() {
        return Err(Failure::mismatch("a vector is empty"));
    }
    if vector.iter().any(|x| !x.is_finite()) {
        return Err(Failure::mismatch("a vector has a component that is not finite"));
    }
    Ok(vector)
}

/// Divides a total by length; the shares add up to it.
fn shares(total: Option<u64>, sizes: &[usize]) -> Vec<Option<u64>> {
    let Some(total) = total else { return vec![None; sizes.len()] };
    let all = sizes.iter().map(|s| *s as u128 + 1).sum::<u128>().max(1);
    let mut before = 0u128;
    sizes
        .iter()
        .map(|size| {
            let given = u128::from(total) * before / all;
            before += *size as u128 + 1;
            u64::try_from(u128::from(total) * before / all - given).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn floats(response: &Response) -> &[f32] {
        match &response.content {
            Content::Vector(vector) => vector,
            Content::Text(_) => panic!("a text"),
        }
    }

    #[test]
    fn numbers_and_base64_give_the_same_bits_in_the_order_asked() {
        let exact = [0.1f32, -1.0e-7, 3.402_823_5e38];
        let bytes: Vec<u8> = exact.iter().flat_map(|x| x.to_le_bytes()).collect();
        let body = json!({
            "data": [
                {"index": 1, "embedding": BASE64.encode(&bytes)},
                {"index": 0, "embedding": exact},
            ],
            "model": "m",
            "usage": {"prompt_tokens": 11},
        });
        let responses = responses(&body, &[9, 0]).unwrap();
        assert_eq!(floats(&responses[0]), exact);
        assert_eq!(floats(&responses[1]), exact);
        let tokens: Vec<_> =
            responses.iter().map(|r| r.usage.unwrap().prompt_tokens.unwrap()).collect();
        assert_eq!(tokens, [10, 1]);
    }

    #[test]
    fn a_value_that_is_not_a_vector_is_explained() {
        let said = |data: Value, n: usize| {
            responses(&json!({"data": data}), &vec![1; n]).unwrap_err().message
        };
        let all = [
            said(Value::Null, 1),
            said(json!([]), 1),
            said(json!([{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]), 2),
            said(json!([{"index": 7, "embedding": [1]}]), 1),
            said(json!([{"index": 0}]), 1),
            said(json!([{"index": 0, "embedding": []}]), 1),
            said(json!([{"index": 0, "embedding": ["x"]}]), 1),
            said(json!([{"index": 0, "embedding": [1e39]}]), 1),
            said(json!([{"index": 0, "embedding": "?"}]), 1),
            said(json!([{"index": 0, "embedding": "AAAA"}]), 1),
        ];
        insta::assert_snapshot!(all.join("\n"));
    }
}
