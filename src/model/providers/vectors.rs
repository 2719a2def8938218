//! The vectors of a reply to a request with many inputs. A log has one content per answer: several vectors of one length
//! are one after the other, and `vectors` says how many they are.

use serde_json::{Value, json};

use super::dialect::NotRead;
use super::openai_embeddings::responses;
use crate::model::parts::VECTORS;
use crate::model::{Content, ExchangeResponseError, Failure, Response, Usage, keep_exact};

/// The answer in a reply that has vectors where OpenAI has them.
pub(super) fn of_reply(reply: &Value) -> Result<Response, NotRead> {
    let count = reply["data"].as_array().map_or(0, Vec::len);
    let vector = |failure: Failure| ExchangeResponseError::PastedVector(failure.message);
    let all = responses(reply, &vec![1; count]).map_err(vector)?;
    together(all).ok_or(NotRead::Several(count))
}

/// The answer in a reply that has its vectors in a list, or in lists by their types (Cohere, and its models and those
/// of Amazon on Bedrock).
pub(super) fn of_lists(reply: &Value, tokens: &Value) -> Result<Response, NotRead> {
    let list = match &reply["embeddings"] {
        Value::Object(types) => {
            let floats = types.get("float").filter(|it| it.is_array());
            floats.or_else(|| types.values().find(|it| it.is_array()))
        }
        list => Some(list),
    };
    let list = list.and_then(Value::as_array).ok_or(NotRead::Missing("embeddings"))?;
    let vector =
        |item: &Value| if item.is_object() { item["embedding"].clone() } else { item.clone() };
    let data: Vec<Value> = list.iter().map(|item| json!({"embedding": vector(item)})).collect();
    of_reply(&json!({"data": data, "id": reply["id"], "usage": {"prompt_tokens": tokens}}))
}

/// Several answers as one; `None` if there are none, or their vectors are not of one length.
fn together(all: Vec<Response>) -> Option<Response> {
    let count = all.len();
    let (mut numbers, mut whole) = (Vec::new(), Usage::default());
    let mut first: Option<(Response, usize)> = None;
    for response in all {
        let Content::Vector(vector) = &response.content else { return None };
        if first.as_ref().is_some_and(|(_, length)| *length != vector.len()) {
            return None;
        }
        numbers.extend_from_slice(vector);
        let Usage { prompt_tokens, cached_tokens, cost, .. } = response.usage.unwrap_or_default();
        let sum = |all: Option<u64>, more: Option<u64>| more.map(|n| all.unwrap_or(0) + n).or(all);
        whole.prompt_tokens = sum(whole.prompt_tokens, prompt_tokens);
        whole.cached_tokens = sum(whole.cached_tokens, cached_tokens);
        whole.cost = cost.map(|cost| whole.cost.unwrap_or(0.0) + cost).or(whole.cost);
        let length = vector.len();
        first.get_or_insert((response, length));
    }
    let (mut response, _) = first?;
    if count > 1 {
        response.content = Content::Vector(numbers.into());
        response.usage = (whole != Usage::default()).then_some(whole);
        response.extra.insert(VECTORS.to_owned(), count.into());
    }
    keep_exact(&mut response.extra);
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_one_length_are_one_after_the_other() {
        let reply = json!({"data": [{"index": 1, "embedding": [3.0, 4.0]}, {"index": 0, "embedding": [1.0, 2.0]}],
            "model": "m", "usage": {"prompt_tokens": 7}});
        let answer = of_reply(&reply).unwrap();
        assert_eq!(answer.content, Content::Vector([1.0, 2.0, 3.0, 4.0].into()));
        assert_eq!((&answer.extra["vectors"], answer.model.as_deref()), (&2.into(), Some("m")));
        assert_eq!(answer.usage.unwrap().prompt_tokens, Some(7));
        let one = of_reply(&json!({"data": [{"embedding": [1.0]}]})).unwrap();
        assert!(one.extra.is_empty());
        let differ = json!({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]});
        assert!(matches!(of_reply(&differ), Err(NotRead::Several(2))));
    }

    #[test]
    fn vectors_in_lists_are_read_of_every_type() {
        let both = Content::Vector([1.0, 2.0, 3.0, 4.0].into());
        for embeddings in [
            json!({"float": [[1.0, 2.0], [3.0, 4.0]], "int8": [[1, 2], [3, 4]]}),
            json!({"float": null, "int8": [[1, 2], [3, 4]]}),
            json!([[1.0, 2.0], [3.0, 4.0]]),
            json!([{"embeddingType": "TEXT", "embedding": [1.0, 2.0]}, {"embedding": [3.0, 4.0]}]),
        ] {
            let answer =
                of_lists(&json!({"id": "i", "embeddings": embeddings}), &9.into()).unwrap();
            assert_eq!((answer.content, answer.id.as_deref()), (both.clone(), Some("i")));
            assert_eq!(answer.usage.unwrap().prompt_tokens, Some(9));
        }
    }
}
