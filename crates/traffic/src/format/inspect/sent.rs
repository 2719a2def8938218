//! The request of a model event as it went over HTTP, if the API of its provider is known.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;

use crate::exchange::Http;

/// The request as it went over HTTP, if its provider is one whose API is known.
pub(super) fn http(event: &Value, eval: &Value, request: Value) -> Option<Http> {
    let Value::Object(mut body) = request else { return None };
    let mut headers = json_headers();
    let extra = body.remove("extra_headers");
    for (name, value) in extra.as_ref().and_then(Value::as_object).into_iter().flatten().take(1000)
    {
        let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
        if let (Ok(name), Some(value)) = (HeaderName::try_from(name.as_str()), value) {
            headers.insert(name, value);
        }
    }
    // Arguments of the SDK, which are not sent as they are.
    if let Some(Value::Object(more)) = body.remove("extra_body") {
        body.extend(more);
    }
    for name in ["timeout", "extra_query"] {
        body.remove(name);
    }
    // Arguments that were not given are null.
    body.retain(|_, value| !value.is_null());
    let provider = event["model"].as_str().and_then(|model| model.split('/').next())?;
    let named = eval["model_base_url"].as_str();
    let has = |name: &str| body.contains_key(name);
    let (base, path) = match provider {
        "openai" if has("input") => {
            (named.unwrap_or("https://api.openai.com/v1"), "/responses".to_owned())
        }
        "openai" if has("messages") => {
            (named.unwrap_or("https://api.openai.com/v1"), "/chat/completions".to_owned())
        }
        "anthropic" if has("messages") => {
            if !headers.contains_key("anthropic-version") {
                headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
            }
            (named.unwrap_or("https://api.anthropic.com"), "/v1/messages".to_owned())
        }
        // Servers with OpenAI's API.
        _ if has("messages") && event["call"]["response"]["object"] == "chat.completion" => {
            (named?, "/chat/completions".to_owned())
        }
        _ => return None,
    };
    let url = format!("{}{path}", base.trim_end_matches('/'));
    let body = Bytes::from(Value::Object(body).to_string());
    Some(Http { method: Method::POST, url, headers, body, ..Http::default() })
}

/// What an answer in JSON says of itself.
pub(super) fn json_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}
