//! All that retold knows about the APIs of providers, one file per API: reading requests and answers, conversations, streams and
//! their ends, errors, parameters, what SDKs read from the environment, hosts, and how a study asks.
//!
//! Programs that are recorded, studies, imported traffic and exchanges files all use these files. They read and
//! write JSON and know no network.
//!
//! To add an API, write its file, which implements [`Dialect`], add it to [`DIALECTS`], and put a reply of it that has all
//! that it can say into `fixtures/apis`: `docs/apis.md` is made from these.

mod anthropic;
mod bedrock_converse;
mod bedrock_invoke;
mod body_urls;
mod cohere_chat;
mod cohere_chat_v1;
mod cohere_embed;
mod conversation;
#[cfg(test)]
mod conversation_tests;
pub mod credentials;
#[cfg(test)]
mod credentials_tests;
mod dialect;
mod ending;
mod fault;
mod gemini;
mod gemini_embed;
mod ids;
mod json_texts;
mod mcp_tool;
mod ollama;
mod openai_audio;
pub(super) mod openai_chat;
mod openai_chat_stream;
mod openai_completions;
pub(super) mod openai_embeddings;
mod openai_images;
mod openai_responses;
mod other;
mod provider;
mod reply_parts;
mod rerank;
mod study;
mod study_chat;
mod tool;
mod url_fields;
mod vectors;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::prompt::{Api, Request};

pub use body_urls::{BodyUrl, may_have_urls, urls_in_answer};
pub use conversation::{CalledTool, Conversation, reasoning_text};
pub use dialect::{Dialect, NotRead, PlainAddress, Problem};
pub use ending::Ending;
pub use fault::{ReaderFault, try_read};
use other::KEYS_OF_HOSTS;
pub use other::{KEYS, OTHER, Other};
pub use provider::{Provider, RecordedBase, VersionPlace};
pub use study::{BatchApi, Inexpressible, ModelList, PostedRequest, StudyAccess, Translation};
pub use study_chat::alternating;
pub use tool::CALLS_OF_TOOLS;
pub use url_fields::UrlFields;

/// The APIs. The last one stands for all that have no file of their own.
pub const DIALECTS: &[&dyn Dialect] = &[
    &openai_chat::OpenAiChat,
    &openai_completions::OpenAiCompletions,
    &openai_embeddings::OpenAiEmbeddings,
    &anthropic::Anthropic,
    &gemini::Gemini,
    &gemini_embed::GeminiEmbed,
    &ollama::Ollama,
    &openai_responses::OpenAiResponses,
    &openai_images::OpenAiImages,
    &openai_audio::OpenAiAudio,
    &cohere_chat::CohereChat,
    &cohere_chat_v1::CohereChatV1,
    &cohere_embed::CohereEmbed,
    &rerank::Rerank,
    &bedrock_converse::BedrockConverse,
    &bedrock_invoke::BedrockInvoke,
    &tool::Tool,
    &mcp_tool::McpTool,
    &OTHER,
];

fn dialects() -> impl Iterator<Item = &'static dyn Dialect> {
    DIALECTS.iter().copied()
}

/// The API of a POST to a path below an upstream: the one that knows most of its end.
pub fn at(path: &str) -> &'static dyn Dialect {
    let ends =
        |dialect: &'static dyn Dialect| dialect.paths().iter().map(move |end| (end, dialect));
    let known = dialects().flat_map(ends).filter(|(end, _)| ends_like(path, end));
    known.max_by_key(|(end, _)| end.len()).map_or(&OTHER, |(_, dialect)| dialect)
}

/// The API of a POST of this body to a path: a server of tools is known by what it is asked.
pub fn of_body(path: &str, body: &Map<String, Value>) -> &'static dyn Dialect {
    let by_path = at(path);
    if by_path.name() == OTHER.name() && mcp_tool::is_call(body) {
        &mcp_tool::McpTool
    } else {
        by_path
    }
}

/// The API of a name.
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    dialects().find(|dialect| dialect.name() == name)
}

/// Whether a path ends like this; `*` stands for any text that is not empty.
fn ends_like(path: &str, end: &str) -> bool {
    let Some((begin, end)) = end.split_once('*') else { return path.ends_with(end) };
    let rest = path.strip_suffix(end).and_then(|rest| rest.split_once(begin));
    rest.is_some_and(|(_, middle)| !middle.is_empty())
}

/// The ends of the paths to which requests of a known API are posted, at whatever host; `*` stands for any text.
pub fn paths() -> impl Iterator<Item = &'static str> {
    dialects().flat_map(|dialect| dialect.paths().iter().copied()).filter(|end| !end.is_empty())
}

/// The conversation of a stored request to the API of this name; `None` if it has none.
pub fn conversation(dialect: &str, body: &Map<String, Value>) -> Option<Conversation> {
    let messages = body.get("messages")?.as_array()?;
    let dialect = by_name(dialect)?;
    let read = || {
        let mut chat = Conversation::default();
        dialect.converse(body, messages, &mut chat);
        chat
    };
    let chat = try_read(dialect.name(), read).ok()?;
    (!chat.messages.is_empty()).then_some(chat)
}

/// The conversation of a stored request, whichever API it was for; `None` if it has none. Imports of other tools write their
/// messages in the form of chat completions, under names that no API has.
pub fn conversation_of(request: &Request) -> Option<Conversation> {
    if request.api() != Api::Chat {
        return None;
    }
    let body = request.body().as_object()?;
    let chat = openai_chat::OpenAiChat.name();
    let name = body.get("http").and_then(|address| address["dialect"].as_str()).unwrap_or(chat);
    let name = name.split('@').next().unwrap_or(name);
    conversation(if by_name(name).is_some() { name } else { chat }, body)
}

/// How studies ask, API by API. The first is the one in whose form they write their requests.
pub fn studies() -> impl Iterator<Item = &'static StudyAccess> {
    dialects().filter_map(Dialect::study)
}

/// The API that a study asks in this way.
pub fn asked_by(study: &StudyAccess) -> &'static dyn Dialect {
    let is_it = |dialect: &&dyn Dialect| dialect.study().is_some_and(|it| it.kind == study.kind);
    dialects().find(is_it).unwrap_or(&OTHER)
}

/// All providers that SDKs, or requests in recordings, name.
pub fn providers() -> impl Iterator<Item = &'static Provider> {
    dialects().flat_map(Dialect::providers)
}

/// The provider of an upstream.
pub fn provider(upstream: &str) -> Option<&'static Provider> {
    providers().find(|provider| provider.name == upstream)
}

/// The base URL that a provider's SDKs use for everybody, unless a variable names another.
pub fn default_url(upstream: &str) -> Option<&'static str> {
    provider(upstream)?.default
}

/// The base URL of an upstream, from what is given for it: see [`Provider::base_url`].
pub fn base_url(upstream: &str, given: &str) -> String {
    match provider(upstream) {
        Some(provider) => provider.base_url(given),
        None => provider::trim_url(given).to_owned(),
    }
}

/// The path below an upstream, as it is recorded: see [`Provider::path`].
pub fn path<'a>(upstream: &str, path: &'a str) -> Cow<'a, str> {
    match provider(upstream) {
        Some(provider) => provider.path(path),
        None => path.into(),
    }
}

/// The variable with the base URL of an upstream: that of its SDKs, or else `MY_SERVER_BASE_URL` for
/// `my-server` and `_127_0_0_1_BASE_URL` for `127-0-0-1`, because the names that shells know have letters, digits and
/// underscores, and do not begin with a digit.
pub fn variable(upstream: &str) -> Cow<'static, str> {
    match provider(upstream).and_then(|provider| provider.variables.first()) {
        Some(variable) => (*variable).into(),
        None => {
            let fits =
                |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
            let name: String = upstream.chars().map(fits).collect();
            let first = if name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
            format!("{first}{name}_BASE_URL").into()
        }
    }
}

/// The hosts of all providers; `*` stands for any text that is not empty.
pub fn hosts() -> impl Iterator<Item = &'static str> {
    let others = dialects().flat_map(|dialect| dialect.hosts().iter().copied());
    providers().flat_map(Provider::hosts).chain(others)
}

/// Whether a host is that of a provider.
pub fn is_known_host(host: &str) -> bool {
    hosts().any(|known| provider::is_one_of(&[known], host))
}

/// Whether a variable holds the key of a provider.
pub fn is_key_variable(variable: &str) -> bool {
    providers().any(|provider| provider.keys.contains(&variable))
        || KEYS_OF_HOSTS.iter().any(|(key, _)| *key == variable)
}

/// Whether a variable holds the key of the provider that a host belongs to.
pub fn is_key_of_host(variable: &str, host: &str) -> bool {
    let mut own = providers().filter(|provider| provider.keys.contains(&variable));
    own.any(|own| own.hosts().any(|known| provider::is_one_of(&[known], host)))
        || KEYS_OF_HOSTS.contains(&(variable, host))
}

/// The headers of requests that may change an answer, in lower case.
pub fn counted_headers() -> impl Iterator<Item = &'static str> {
    dialects().flat_map(|dialect| dialect.headers().iter().copied())
}

/// The API whose whole reply an object is.
#[derive(Debug, Clone, Copy)]
pub struct ReplyOf {
    /// The API.
    pub dialect: &'static dyn Dialect,
    /// Its name, for people.
    pub api: &'static str,
}

impl ReplyOf {
    /// Recognises the whole reply of an API by its fields.
    pub fn recognise(fields: &Map<String, Value>) -> Option<Self> {
        ReplyOf::with_content(fields, fields.get("content"))
    }

    /// Recognises the whole reply of an API by its content and its other fields.
    pub(super) fn with_content(
        fields: &Map<String, Value>,
        content: Option<&Value>,
    ) -> Option<Self> {
        dialects().find_map(|dialect| {
            let api = dialect.reply_name(fields, content)?;
            Some(ReplyOf { dialect, api })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ollama_s_host_may_be_less_than_a_url() {
        for (value, url) in [
            ("10.0.0.5", "http://10.0.0.5:11434"),
            (":9000", "http://127.0.0.1:9000"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434"),
            ("https://ollama.example/", "https://ollama.example"),
        ] {
            assert_eq!(base_url("ollama", value), url);
        }
        assert_eq!(base_url("openai", "http://h/v1/"), "http://h/v1");
        for (upstream, name) in [
            ("my-server", "MY_SERVER_BASE_URL"),
            ("127-0-0-1-9901", "_127_0_0_1_9901_BASE_URL"),
            ("4chat", "_4CHAT_BASE_URL"),
            ("a.b~c", "A_B_C_BASE_URL"),
            ("\u{e4}", "__BASE_URL"),
        ] {
            assert_eq!(variable(upstream), name);
        }
    }

    #[test]
    fn a_version_has_one_place_wherever_a_client_looks_for_it() {
        for (upstream, given, base) in [
            ("anthropic", "http://h/v1/", "http://h"),
            ("anthropic", "http://h/x/v1?a=b", "http://h/x?a=b"),
            ("anthropic", "http://h/v12", "http://h/v12"),
            ("together", "http://h", "http://h/v1"),
            ("together", "http://h/v1/", "http://h/v1"),
            ("openai", "http://h", "http://h"),
        ] {
            assert_eq!(base_url(upstream, given), base, "{given}");
        }
        for (upstream, asked, due) in [
            ("anthropic", "/messages", "/v1/messages"),
            ("anthropic", "/messages/count_tokens", "/v1/messages/count_tokens"),
            ("anthropic", "/v1/messages", "/v1/messages"),
            ("anthropic", "/api/hello", "/api/hello"),
            ("anthropic", "/", "/"),
            ("together", "/v1/chat/completions", "/chat/completions"),
            ("together", "/chat/completions", "/chat/completions"),
            ("together", "/v1", "/v1"),
            ("openai", "/v1/chat/completions", "/v1/chat/completions"),
        ] {
            assert_eq!(path(upstream, asked), due, "{upstream} {asked}");
        }
        for provider in providers() {
            // The providers' own are in the form in which others are brought.
            assert!(provider.default.is_none_or(|url| provider.base_url(url) == url));
        }
    }

    #[test]
    fn providers_are_known_by_their_hosts() {
        for known in [
            "api.openai.com",
            "eu.api.openai.com",
            "mine.openai.azure.com",
            "bedrock-runtime.eu-central-1.amazonaws.com",
            "us-central1-aiplatform.googleapis.com",
            "aiplatform.googleapis.com",
            "aiplatform.eu.rep.googleapis.com",
            "api.together.xyz",
            "api.together.ai",
            "api.groq.com",
            "api.cohere.com",
        ] {
            assert!(is_known_host(known), "{known}");
        }
        for other in [
            "openai.com",
            "api.openai.com.evil.example",
            ".openai.azure.com",
            "localhost",
            "127.0.0.1",
            "aiplatform..rep.googleapis.com.evil.example",
            "s3.eu-central-1.amazonaws.com",
            "bedrock-runtime..amazonaws.com.evil.example",
        ] {
            assert!(!is_known_host(other), "{other}");
        }
    }

    #[test]
    fn every_name_stands_for_one_thing() {
        let all = |names: Vec<&str>| {
            let mut apart = names.clone();
            apart.sort_unstable();
            apart.dedup();
            assert_eq!(apart.len(), names.len(), "{names:?}");
        };
        all(dialects().map(Dialect::name).collect());
        all(providers().map(|provider| provider.name).collect());
        all(providers().flat_map(|provider| provider.variables.iter().copied()).collect());
        all(studies().map(|study| study.kind).collect());
        all(counted_headers().collect());
        all(hosts().collect());
    }

    #[test]
    fn a_path_belongs_to_the_api_that_knows_most_of_its_end() {
        for (path, api) in [
            ("/chat/completions", "openai.chat"),
            ("/openai/deployments/d/chat/completions", "openai.chat"),
            ("/openai/deployments/d/embeddings", "openai.embeddings"),
            ("/completions", "openai.completions"),
            ("/openai/deployments/d/completions", "openai.completions"),
            ("/v1/fim/completions", "openai.completions"),
            ("/embeddings", "openai.embeddings"),
            ("/v1/messages", "anthropic.messages"),
            (
                "/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict",
                "anthropic.messages",
            ),
            (
                "/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict",
                "anthropic.messages",
            ),
            ("/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", "http"),
            ("/models/m:generateContent", "gemini.content"),
            (
                "/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent",
                "gemini.content",
            ),
            ("/api/chat", "ollama"),
            ("/responses", "openai.responses"),
            ("/v2/chat", "cohere.chat"),
            ("/v1/chat", "cohere.chat_v1"),
            ("/v1beta/models/m:embedContent", "gemini.embed"),
            ("/v1beta/models/m:batchEmbedContents", "gemini.embed"),
            (
                "/v1/projects/p/locations/l/publishers/google/models/text-embedding-005:predict",
                "gemini.embed",
            ),
            ("/v1/projects/p/locations/l/endpoints/7:predict", "http"),
            (
                "/v1/projects/p/locations/l/publishers/mistralai/models/m@1:streamRawPredict",
                "openai.chat",
            ),
            (
                "/v1/projects/p/locations/l/publishers/mistralai/models/mistral-ocr-2505:rawPredict",
                "http",
            ),
            ("/v2/embed", "cohere.embed"),
            ("/v1/rerank", "rerank"),
            ("/images/generations", "openai.images"),
            ("/openai/deployments/d/audio/speech", "openai.audio"),
            ("/model/m%3A0/converse", "bedrock.converse"),
            ("/model/m%3A0/converse-stream", "bedrock.converse"),
            ("/model/m%3A0/invoke", "bedrock.invoke"),
            ("/model/m%3A0/invoke-with-response-stream", "bedrock.invoke"),
            ("/chain/invoke", "http"),
            ("/model//invoke", "http"),
            ("/anything/else", "http"),
        ] {
            assert_eq!(at(path).name(), api, "{path}");
        }
    }

    #[test]
    fn a_whole_reply_is_recognised() {
        let of = |reply: Value| {
            ReplyOf::recognise(reply.as_object().unwrap())
                .map(|reply| (reply.api, reply.dialect.is_pasted()))
        };
        assert_eq!(
            of(json!({"choices": [{"message": {}}]})),
            Some(("the chat completions API", true))
        );
        assert_eq!(of(json!({"data": [{"embedding": [1]}]})), Some(("the embeddings API", true)));
        let message = json!({"type": "message", "content": [{"type": "text", "text": "x"}]});
        assert_eq!(of(message), Some(("Anthropic's Messages API", true)));
        assert_eq!(of(json!({"candidates": []})), Some(("the Gemini API", false)));
        for other in [json!({}), json!({"txt": "a"}), json!({"content": "a", "type": "message"})] {
            assert_eq!(of(other.clone()), None, "{other}");
        }
    }
}
