//! A provider's report of tokens and cost.

use serde_json::{Map, Value};

use super::answer::Usage;
use super::parts::is_nothing;

/// The largest count that canonical JSON can hold exactly.
const EXACT: u64 = 1 << 53;

/// Reads the known fields, and returns the remaining ones for `extra.usage`.
///
/// The counts of cached and reasoning tokens are in the usage itself or, with OpenAI, one level
/// deeper. A total that equals the sum of the two counts, and counts of zero without a field, carry
/// no information.
pub(super) fn read(usage: Value) -> (Option<Usage>, Option<Value>) {
    let mut fields = match usage {
        Value::Object(fields) => fields,
        other => return (None, Some(other).filter(|other| !is_nothing(other))),
    };
    let prompt_tokens = take_count(&mut fields, "prompt_tokens");
    let completion_tokens = take_count(&mut fields, "completion_tokens");
    let cached_tokens = take_detail(&mut fields, "prompt_tokens_details", "cached_tokens");
    let reasoning_tokens =
        take_detail(&mut fields, "completion_tokens_details", "reasoning_tokens");
    let cost = take_cost(&mut fields);
    let sum = prompt_tokens.unwrap_or(0) + completion_tokens.unwrap_or(0);
    if fields.get("total_tokens").and_then(Value::as_u64) == Some(sum) {
        fields.remove("total_tokens");
    }
    without_zeros(&mut fields);
    let usage = Usage { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost };
    let rest = (!fields.is_empty()).then_some(Value::Object(fields));
    ((usage != Usage::default()).then_some(usage), rest)
}

/// The inverse of [`read`]: both parts as one object.
pub(super) fn write(usage: Option<Usage>, rest: Option<Value>) -> Option<Value> {
    // Numbers can always be written as JSON.
    let usage = usage.and_then(|usage| serde_json::to_value(usage).ok());
    match (usage, rest) {
        (Some(Value::Object(mut usage)), Some(Value::Object(rest))) => {
            for (name, value) in rest {
                usage.entry(name).or_insert(value);
            }
            Some(Value::Object(usage))
        }
        (usage, rest) => usage.or(rest),
    }
}

fn take_count(fields: &mut Map<String, Value>, name: &str) -> Option<u64> {
    let count = fields.get(name)?.as_u64().filter(|count| *count <= EXACT)?;
    fields.remove(name);
    Some(count)
}

fn take_detail(fields: &mut Map<String, Value>, within: &str, name: &str) -> Option<u64> {
    if fields.contains_key(name) {
        return take_count(fields, name);
    }
    take_count(fields.get_mut(within)?.as_object_mut()?, name)
}

fn take_cost(fields: &mut Map<String, Value>) -> Option<f64> {
    let cost = fields.get("cost")?.as_f64().filter(|cost| cost.abs() <= EXACT as f64)?;
    fields.remove("cost");
    Some(cost)
}

fn without_zeros(fields: &mut Map<String, Value>) {
    fields.retain(|_, value| {
        if let Value::Object(inner) = value {
            without_zeros(inner);
            return !inner.is_empty();
        }
        !is_nothing(value) && value.as_f64() != Some(0.0)
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_a_field_is_read_and_the_rest_is_left() {
        let openai = json!({
            "prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42,
            "prompt_tokens_details": {"cached_tokens": 20, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 8, "audio_tokens": 3,
                "accepted_prediction_tokens": 0},
            "cost": 0.00014, "is_byok": false,
        });
        let (usage, rest) = read(openai);
        let expected = Usage {
            prompt_tokens: Some(30),
            completion_tokens: Some(12),
            cached_tokens: Some(20),
            reasoning_tokens: Some(8),
            cost: Some(0.00014),
        };
        assert_eq!(usage, Some(expected));
        let left = json!({"completion_tokens_details": {"audio_tokens": 3}, "is_byok": false});
        assert_eq!(rest, Some(left));
    }

    #[test]
    fn what_is_not_as_it_should_be_is_left_as_it_is() {
        let odd = json!({"prompt_tokens": "5", "completion_tokens": 9_007_199_254_740_993_u64,
            "total_tokens": 7, "cached_tokens": 1.5, "prompt_tokens_details": {"cached_tokens": 2}});
        assert_eq!(read(odd.clone()), (None, Some(odd)));
        assert_eq!(read(json!("free")), (None, Some(json!("free"))));
        assert_eq!(read(json!({"total_tokens": 0})), (None, None));
        assert_eq!(read(Value::Null), (None, None));
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<u64>().prop_map(Value::from),
            Just(json!(0)),
            Just(Value::Null),
            (0.0..1e6_f64).prop_map(Value::from),
            "[a-c]{0,2}".prop_map(Value::from),
        ];
        let name = prop_oneof![
            Just("prompt_tokens"),
            Just("completion_tokens"),
            Just("total_tokens"),
            Just("cached_tokens"),
            Just("reasoning_tokens"),
            Just("cost"),
            Just("prompt_tokens_details"),
            Just("completion_tokens_details"),
            Just("x"),
        ];
        leaf.prop_recursive(2, 12, 6, move |inner| {
            prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        })
    }

    proptest! {
        /// A written usage is read back unchanged.
        #[test]
        fn it_is_read_as_it_was_written(usage in anything()) {
            let (usage, rest) = read(usage);
            if let Some(written) = write(usage, rest.clone()) {
                prop_assert_eq!(read(written), (usage, rest));
            }
        }
    }
}
