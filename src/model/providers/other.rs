//! Everything else below an upstream: recorded by method, path and body, so that nothing is lost.

use serde_json::{Map, Value};

use super::dialect::{Dialect, NotRead};
use super::ending::Ending;
use super::url_fields::UrlFields;
use crate::model::Response;
use crate::prompt::Api;

/// The variables without which the SDKs of Mistral, Cohere and AWS do not start (their clients' sources). They read no base URL
/// that leads elsewhere, so nothing else is known of them here.
pub const KEYS: [&str; 5] = [
    "MISTRAL_API_KEY",
    "CO_API_KEY",
    "COHERE_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
];

/// The fields of requests for tokens that hold a credential, by the ends of their paths (OAuth: RFC 6749, 7009, 7521, 7636, 7662,
/// 8628 and 8693). Elsewhere, fields of these names are content.
pub(super) const GRANTS: &[(&str, &[&str])] = &[
    ("/token", GRANT),
    ("/oauth/access_token", GRANT),
    ("/revoke", &["token", "client_secret", "client_assertion"]),
    ("/introspect", &["token", "client_secret", "client_assertion"]),
];

const GRANT: &[&str] = &[
    "access_token", "actor_token", "assertion", "client_assertion", "code", "code_verifier",
    "device_code", "password", "refresh_token", "subject_token", "token",
];

/// Which variables hold the keys of servers that speak an API of another provider (their documentation).
pub(super) const KEYS_OF_HOSTS: &[(&str, &str)] = &[
    ("MISTRAL_API_KEY", "api.mistral.ai"),
    ("CO_API_KEY", "api.cohere.com"),
    ("COHERE_API_KEY", "api.cohere.com"),
    ("OPENROUTER_API_KEY", "openrouter.ai"),
    ("DEEPSEEK_API_KEY", "api.deepseek.com"),
    ("XAI_API_KEY", "api.x.ai"),
    ("FIREWORKS_API_KEY", "api.fireworks.ai"),
    ("PERPLEXITY_API_KEY", "api.perplexity.ai"),
    ("HF_TOKEN", "router.huggingface.co"),
];

/// Stands for all APIs without a file of their own.
pub const OTHER: Other = Other;

/// See [`OTHER`].
#[derive(Debug)]
pub struct Other;

impl Dialect for Other {
    fn name(&self) -> &'static str {
        "http"
    }

    /// Those of APIs without a file.
    fn hosts(&self) -> &'static [&'static str] {
        &["api-inference.huggingface.co", "api.replicate.com"]
    }

    /// All; and those that look like requests for texts on Vertex, but count tokens (Anthropic) or read documents (Mistral).
    fn paths(&self) -> &'static [&'static str] {
        &[
            "",
            "/publishers/anthropic/models/count-tokens:rawPredict",
            "/publishers/mistralai/models/mistral-ocr*:rawPredict",
        ]
    }

    /// What gateways take for the servers behind them: LiteLLM in the body, in `litellm_params` and in a router's `user_config`;
    /// Cloudflare the headers of each server, Keywords AI and Vercel their customers' own keys.
    fn credentials(&self) -> &'static [&'static str] {
        &[
            "api_key",
            "apiKey",
            "aws_access_key_id",
            "aws_secret_access_key",
            "aws_session_token",
            "aws_bearer_token_bedrock",
            "aws_web_identity_token",
            "azure_ad_token",
            "azure_password",
            "client_secret",
            "clientSecret",
            "vertex_credentials",
            "vertex_credentials.private_key",
            "vertex_ai_credentials",
            "watsonx_api_key",
            "litellm_params.{key}",
            "model_list.*.litellm_params.{key}",
            "user_config.model_list.*.litellm_params.{key}",
            "fallbacks.*.{key}",
            "headers.{key}",
            "extra_headers.{key}",
            "customer_credentials.*.{key}",
            "providerOptions.gateway.byok.*.*.{key}",
        ]
    }

    /// OAuth (RFC 6749, 8628, 8693), and keys that a gateway makes for its users.
    fn credential_paths(&self) -> &'static [(&'static str, &'static [&'static str])] {
        const TOKENS: &[&str] = &["access_token", "refresh_token", "id_token", "token"];
        &[
            ("/token", TOKENS),
            ("/oauth/access_token", TOKENS),
            ("/auth/grant", TOKENS),
            ("/device_authorization", &["device_code", "user_code"]),
            ("/device/code", &["device_code", "user_code"]),
            ("/key/generate", &["key", "token"]),
            ("/auth/keys", &["key"]),
            ("/v1/keys", &["key"]),
            (":generateAccessToken", &["accessToken"]),
        ]
    }

    /// Files of Mistral, videos of xAI, predictions of Replicate.
    fn url_fields(&self) -> &'static [UrlFields] {
        const PREDICTION: &[&str] = &["urls.get", "urls.cancel", "urls.stream"];
        const FIELDS: &[UrlFields] = &[
            UrlFields::new("/files/*/url", &["url"]),
            UrlFields::new("/videos/*", &["video.url"]),
            UrlFields::new("/predictions", PREDICTION),
            UrlFields::new("/predictions/*", PREDICTION),
        ];
        FIELDS
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        Some((Api::Chat, body))
    }

    /// An unknown reply is not called failed.
    fn ending(&self, _reply: &Value, _has_end: bool) -> Ending {
        Ending::Answered
    }

    /// The whole body is its text, which the recorder has already.
    fn answer(&self, _reply: Value) -> Result<Response, NotRead> {
        Ok(Response::text(""))
    }
}
