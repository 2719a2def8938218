//! From a stored request to the HTTP request that it was, as far as it is stored.

use bytes::Bytes;
use data_encoding::BASE64;
use hyper::http::{HeaderName, Method};
use retold::id::CallPath;
use retold::members::Members;
use retold::model::give_back_integers;
use retold::model::providers::{self, DIALECTS, Dialect, OTHER, PlainAddress, try_read};
use retold::prompt::Request;
use serde_json::{Map, Value};

use crate::incoming::Incoming;
use crate::stored_fields::{ADDRESS, INTEGERS};

/// The HTTP request that a stored request was. Transport fields and other headers are not stored.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoredRequest {
    /// The name of its upstream.
    pub upstream: String,
    /// The method.
    pub method: Method,
    /// The path below the upstream.
    pub path: String,
    /// The query, without keys.
    pub query: Option<String>,
    /// The headers that counted.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: RestoredBody,
}

/// The body of a restored request.
#[derive(Debug, Clone, PartialEq)]
pub enum RestoredBody {
    /// There was none.
    Empty,
    /// JSON, whose bytes are not stored.
    Json(Value),
    /// A text or bytes, as they were; the boundary of a form is `boundary`.
    Bytes(Vec<u8>),
}

/// The HTTP request that a stored request was; `None` if it was not one, or if its body was too long
/// to be stored.
pub fn restore(request: &Request, call: &CallPath) -> Option<RestoredRequest> {
    let mut body = request.body().as_object()?.clone();
    let is_streamed = call.as_str().ends_with("/stream");
    let Some(address) = body.remove(ADDRESS) else {
        // What a study would ask, too.
        let (dialect, PlainAddress { upstream, path, .. }) = plain(request)?;
        return Some(RestoredRequest {
            upstream: upstream.to_owned(),
            method: Method::POST,
            path: path.to_owned(),
            query: None,
            headers: Vec::new(),
            body: restore_body(dialect, body, path, is_streamed)?,
        });
    };
    if !address["left_out"].is_null() {
        return None;
    }
    let text = |name: &str| address[name].as_str().map(str::to_owned);
    let path = text("path")?;
    let name = address["dialect"].as_str()?.split('@').next()?;
    let method = match address["method"].as_str() {
        Some(method) => Method::from_bytes(method.as_bytes()).ok()?,
        None => Method::POST,
    };
    let headers = address["headers"].as_object().into_iter().flatten();
    let headers =
        headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let mut body = match name == OTHER.name() {
        true => of_other(body),
        false => {
            let by_path = providers::at(&path);
            let by_name = || providers::by_name(name).unwrap_or(by_path);
            let dialect = if by_path.name() == OTHER.name() { by_name() } else { by_path };
            restore_body(dialect, body, &path, is_streamed)?
        }
    };
    if let RestoredBody::Json(value) = &mut body {
        let integers = address[INTEGERS].as_array().into_iter().flatten();
        give_back_integers(value, integers.filter_map(Value::as_str));
    }
    Some(RestoredRequest {
        upstream: text("upstream")?,
        method,
        query: text("query"),
        headers: headers.collect(),
        body,
        path,
    })
}

/// The body that was posted for a stored one; `None` if it is not one of this API.
fn restore_body(
    dialect: &dyn Dialect,
    body: Map<String, Value>,
    path: &str,
    is_streamed: bool,
) -> Option<RestoredBody> {
    let body = try_read(dialect.name(), || dialect.body(body, path, is_streamed)).ok()?;
    Some(RestoredBody::Json(Value::Object(body)))
}

/// The API of a request that has no address, because a study would ask the same.
pub(crate) fn plain(request: &Request) -> Option<(&'static dyn Dialect, PlainAddress)> {
    let mut plain = DIALECTS.iter().filter_map(|dialect| Some((*dialect, dialect.plain()?)));
    plain.find(|(_, plain)| plain.api == request.api())
}

/// As it would arrive again.
impl From<RestoredRequest> for Incoming {
    fn from(restored: RestoredRequest) -> Self {
        let RestoredRequest { upstream, method, path, query, headers, body } = restored;
        let headers = headers.into_iter().filter_map(|(name, value)| {
            Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value.parse().ok()?))
        });
        let body = match body {
            RestoredBody::Empty => Bytes::new(),
            RestoredBody::Json(value) => value.to_string().into(),
            RestoredBody::Bytes(bytes) => bytes.into(),
        };
        let headers = headers.collect();
        Incoming { upstream, is_led: false, method, path, query, headers, body }
    }
}

/// The body of a request whose API is not known.
fn of_other(mut body: Map<String, Value>) -> RestoredBody {
    let content = match body.get_mut("messages").and_then(|messages| messages.get_mut(0)) {
        Some(message) => message.take_at("/content"),
        None => return RestoredBody::Empty,
    };
    match content {
        Value::String(text) => RestoredBody::Bytes(text.into_bytes()),
        Value::Object(fields) => {
            let packed = fields.get("base64").filter(|_| fields.len() == 1).and_then(Value::as_str);
            match packed.and_then(|packed| BASE64.decode(packed.as_bytes()).ok()) {
                Some(bytes) => RestoredBody::Bytes(bytes),
                None => RestoredBody::Json(Value::Object(fields)),
            }
        }
        other => RestoredBody::Json(other),
    }
}

#[cfg(test)]
mod tests {
    use hyper::http::HeaderMap;
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    fn incoming(method: Method, path: &str, body: &[u8], headers: &[(&str, &str)]) -> Incoming {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let name = hyper::http::HeaderName::from_bytes(name.as_bytes()).unwrap();
            all.insert(name, value.parse().unwrap());
        }
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (path, None),
        };
        Incoming {
            is_led: false,
            upstream: "openai".to_owned(),
            method,
            path: path.to_owned(),
            query,
            headers: all,
            body: Bytes::copy_from_slice(body),
        }
    }

    /// A restored request asks for what the original one asked for, under the same key.
    #[test]
    fn what_is_restored_has_the_same_key() {
        let message = json!([{"role": "user", "content": "hi"}]);
        let post = |path: &str, body: Value| {
            incoming(Method::POST, path, body.to_string().as_bytes(), &[])
        };
        let all = [
            post("/chat/completions", json!({"model": "m", "messages": message, "stream": true})),
            post("/v2/chat/completions", json!({"model": "m", "messages": message})),
            post("/embeddings", json!({"model": "m", "input": ["a", "b"]})),
            post("/responses", json!({"model": "m", "input": "hi", "stream": true})),
            post("/responses", json!({"model": "m", "input": message})),
            post("/responses", json!({"model": "m", "prompt": {"id": "p"}})),
            post(
                "/v1beta/models/m:generateContent?alt=sse",
                json!({"contents": [{"parts": [{"text": "hi"}]}]}),
            ),
            post("/models/m:streamGenerateContent", json!({"contents": []})),
            post("/api/chat", json!({"model": "m", "messages": message})),
            post("/api/generate", json!({"model": "m", "prompt": "hi", "stream": false})),
            post("/v2/chat", json!({"model": "m", "messages": message, "stream": true})),
            post(
                "/model/m%3A0/converse",
                json!({"messages": message, "requestMetadata": {"a": "b"}}),
            ),
            post("/model/m%3A0/converse-stream", json!({"messages": message})),
            post("/model/m%3A0/invoke", json!({"prompt": "hi", "max_gen_len": 1})),
            post("/model/m/invoke-with-response-stream", json!({"inputText": "hi"})),
            post("/v1/publishers/anthropic/models/m:rawPredict", json!({"messages": message})),
            post(
                "/v1/publishers/anthropic/models/m:streamRawPredict",
                json!({"messages": message, "stream": true}),
            ),
            post(
                "/openai/deployments/d/chat/completions?api-version=2024-10-21",
                json!({"messages": message}),
            ),
            post("/completions", json!({"model": "m", "prompt": ["a", "b"], "stream": true})),
            post("/fim/completions", json!({"model": "m", "prompt": "a", "suffix": "b"})),
            post("/v2/embed", json!({"model": "m", "texts": ["a", "b"], "input_type": "x"})),
            post("/v2/rerank", json!({"model": "m", "query": "q", "documents": ["a"]})),
            post("/images/generations", json!({"prompt": "a hat", "stream": true})),
            post("/audio/speech", json!({"input": "hi", "voice": "v", "stream_format": "sse"})),
            post("/v1/other", json!({"a": [1, 2.5, null]})),
            post("/v1/other", json!({"a": [u64::MAX, -7, i64::MIN], "b": "18446744073709551615"})),
            post("/chat/completions", json!({"model": "m", "messages": message, "seed": u64::MAX})),
            post(
                "/models/m:generateContent",
                json!({"contents": [{"parts": [{"functionCall": {"args": {"n": 9007199254740993_u64}}}]}]}),
            ),
            incoming(
                Method::POST,
                "/v1/messages",
                json!({"model": "m", "messages": message}).to_string().as_bytes(),
                &[("anthropic-version", "2023-06-01")],
            ),
            incoming(Method::GET, "/models?key=secret-0123456789&x=y", b"", &[]),
            incoming(Method::POST, "/upload", b"a=b&c=d", &[]),
            incoming(Method::POST, "/upload", b" \"a=b\"", &[]),
            incoming(Method::POST, "/upload", b"\"\"", &[]),
            incoming(Method::POST, "/upload", b"{\"base64\":\"/wAB\"}", &[]),
            incoming(Method::PUT, "/bytes", b"\xFF\x00\x01", &[]),
        ];
        for asked in all {
            let original = asked.wire_request(&Rules::default()).unwrap();
            let restored = restore(&original.request, &original.key.call).unwrap();
            let path = restored.path.clone();
            let again = Incoming::from(restored).wire_request(&Rules::default()).unwrap();
            assert_eq!(again.key, original.key, "{path}");
        }
    }

    /// A seed of 64 bits is part of a chat that is read as such, digit for digit, and no other.
    #[test]
    fn long_integers_keep_their_digits_in_the_key() {
        let asked = |seed: &str| {
            let body =
                format!(r#"{{"model":"m","messages":[],"seed":{seed},"metadata":{{"n":{seed}}}}}"#);
            incoming(Method::POST, "/chat/completions", body.as_bytes(), &[])
                .wire_request(&Rules::default())
                .unwrap()
        };
        let keys =
            ["9007199254740993", "9007199254740994", "9007199254740992", "\"9007199254740993\""]
                .map(|seed| {
                    let asked = asked(seed);
                    assert!(asked.key.call.as_str().starts_with("openai.chat/"), "{seed}");
                    asked.key
                });
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
        assert_eq!(asked("9007199254740993").key, keys[0]);
        assert!(asked("123456789012345678901234").key.call.as_str().starts_with("http/"));
    }

    /// As it was before it was compressed.
    #[test]
    fn a_compressed_body_has_the_key_of_what_is_in_it() {
        let body =
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).to_string();
        let plain = incoming(Method::POST, "/chat/completions", body.as_bytes(), &[]);
        let key = plain.wire_request(&Rules::default()).unwrap().key;
        let gzip = |level: u32| {
            let mut out =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
            std::io::Write::write_all(&mut out, body.as_bytes()).unwrap();
            out.finish().unwrap()
        };
        for (encoding, body) in [
            ("gzip", gzip(1)),
            ("GZIP", gzip(9)),
            ("zstd", zstd::stream::encode_all(body.as_bytes(), 3).unwrap()),
            ("gzip, zstd", zstd::stream::encode_all(&gzip(6)[..], 3).unwrap()),
        ] {
            let headers = [("content-encoding", encoding)];
            let asked = incoming(Method::POST, "/chat/completions", &body, &headers);
            assert_eq!(asked.wire_request(&Rules::default()).unwrap().key, key, "{encoding}");
        }
        // What is no such thing is kept as it is.
        let broken = incoming(
            Method::POST,
            "/chat/completions",
            b"\x1f\x8b?",
            &[("content-encoding", "gzip")],
        );
        assert!(
            broken.wire_request(&Rules::default()).unwrap().key.call.as_str().starts_with("http/")
        );
    }

    /// Those without texts, which a log can hold.
    #[test]
    fn fields_that_do_not_count_are_known() {
        let known = |path: &str, body: &str| {
            let asked =
                incoming(Method::POST, path, body.as_bytes(), &[]).wire_request(&Rules::default());
            Value::Object(asked.unwrap().uncounted).to_string()
        };
        let messages = r#""model": "m", "messages": [{"role": "user", "content": "Hi"}]"#;
        for (path, fields, due) in [
            (
                "/chat/completions",
                r#""stream": false, "n": 1, "temperature": 0"#,
                r#"{"n":1,"stream":false}"#,
            ),
            (
                "/chat/completions",
                r#""stream": true, "stream_options": {"include_usage": true}"#,
                r#"{"stream_options":{"include_usage":true}}"#,
            ),
            (
                "/chat/completions",
                r#""store": 9007199254740993, "metadata": {"user": "Ada"}"#,
                "{}",
            ),
            (
                "/v1/messages",
                r#""stream": false, "metadata": {"user_id": "Ada"}"#,
                r#"{"stream":false}"#,
            ),
        ] {
            assert_eq!(known(path, &format!("{{{messages}, {fields}}}")), due, "{fields}");
        }
    }

    /// A JSON text is not the text in it, and an object is not the bytes that it would stand for.
    #[test]
    fn bodies_that_differ_have_different_keys() {
        let key = |body: &[u8]| {
            let asked = incoming(Method::POST, "/upload", body, &[]);
            asked.wire_request(&Rules::default()).unwrap().key
        };
        assert_ne!(key(b"\"a\""), key(b"a"));
        assert_ne!(key(b"\"\""), key(b""));
        assert_ne!(key(b"{\"base64\":\"/wAB\"}"), key(b"\xFF\x00\x01"));
    }
}
