//! Names of OpenTelemetry's semantic conventions for generative AI, version 1.41.0: the last one before they moved to a
//! repository of their own (`docs/gen-ai/gen-ai-spans.md` of open-telemetry/semantic-conventions).

/// The schema whose names these are.
pub(crate) const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";

/// `SPAN_KIND_INTERNAL` of OTLP.
pub(crate) const INTERNAL: u64 = 1;
/// `SPAN_KIND_CLIENT` of OTLP.
pub(crate) const CLIENT: u64 = 3;
/// `STATUS_CODE_ERROR` of OTLP.
pub(crate) const ERROR: u64 = 2;

pub(crate) const OPERATION: &str = "gen_ai.operation.name";
pub(crate) const PROVIDER: &str = "gen_ai.provider.name";
/// The name of the provider's attribute up to version 1.36.
pub(crate) const SYSTEM: &str = "gen_ai.system";
pub(crate) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(crate) const AGENT: &str = "gen_ai.agent.name";
pub(crate) const OUTPUT_TYPE: &str = "gen_ai.output.type";
pub(crate) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(crate) const CHOICE_COUNT: &str = "gen_ai.request.choice.count";
pub(crate) const STREAM: &str = "gen_ai.request.stream";
pub(crate) const RESPONSE_ID: &str = "gen_ai.response.id";
pub(crate) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(crate) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(crate) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(crate) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(crate) const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(crate) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
pub(crate) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(crate) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(crate) const INSTRUCTIONS: &str = "gen_ai.system_instructions";
pub(crate) const TOOLS: &str = "gen_ai.tool.definitions";
pub(crate) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(crate) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub(crate) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(crate) const ERROR_TYPE: &str = "error.type";

/// The event with the score of an answer, and its attributes.
pub(crate) const EVALUATION: &str = "gen_ai.evaluation.result";
pub(crate) const EVALUATION_NAME: &str = "gen_ai.evaluation.name";
pub(crate) const EVALUATION_NUMBER: &str = "gen_ai.evaluation.score.value";
pub(crate) const EVALUATION_LABEL: &str = "gen_ai.evaluation.score.label";
pub(crate) const EVALUATION_WHY: &str = "gen_ai.evaluation.explanation";

/// A decision that retold recorded about an answer: an event, and its attributes.
pub(crate) const DECISION: &str = "retold.decision";
pub(crate) const DECISION_NAME: &str = "retold.decision.name";
pub(crate) const DECISION_VALUE: &str = "retold.decision.value";
pub(crate) const DECISION_REASONING: &str = "retold.decision.reasoning";

/// Who was asked, as retold names it.
pub(crate) const UPSTREAM: &str = "retold.upstream";

/// The prefix of the attribute for a label of the call; the label's name follows.
pub(crate) const LABEL: &str = "retold.label.";

/// The kind of a parameter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    Real,
    Integer,
    /// A list of texts; one text alone is a list of one.
    Texts,
}

/// A parameter of requests: its attribute, its kind, its name in chat completions, and its names in other APIs.
pub(crate) struct RequestParameter {
    pub(crate) attribute: &'static str,
    pub(crate) kind: ParameterKind,
    pub(crate) name: &'static str,
    pub(crate) others: &'static [&'static str],
}

/// The parameters of requests that have an attribute.
pub(crate) const PARAMETERS: [RequestParameter; 9] = {
    use ParameterKind::{Integer, Real, Texts};
    const fn parameter(
        attribute: &'static str,
        kind: ParameterKind,
        name: &'static str,
        others: &'static [&'static str],
    ) -> RequestParameter {
        RequestParameter { attribute, kind, name, others }
    }
    [
        parameter(
            "gen_ai.request.frequency_penalty",
            Real,
            "frequency_penalty",
            &["frequencyPenalty"],
        ),
        parameter(
            "gen_ai.request.max_tokens",
            Integer,
            "max_tokens",
            &[
                "max_completion_tokens",
                "max_output_tokens",
                "maxOutputTokens",
                "maxTokens",
                "num_predict",
                "max_gen_len",
            ],
        ),
        parameter(
            "gen_ai.request.presence_penalty",
            Real,
            "presence_penalty",
            &["presencePenalty"],
        ),
        parameter("gen_ai.request.seed", Integer, "seed", &[]),
        parameter(
            "gen_ai.request.stop_sequences",
            Texts,
            "stop",
            &["stop_sequences", "stopSequences"],
        ),
        parameter("gen_ai.request.temperature", Real, "temperature", &[]),
        parameter("gen_ai.request.top_k", Real, "top_k", &["topK", "k"]),
        parameter("gen_ai.request.top_p", Real, "top_p", &["topP", "p"]),
        parameter(CHOICE_COUNT, Integer, "n", &["candidateCount"]),
    ]
};

/// The conventions' name for the operation of an API; an API that they do not know has the name that docs/apis.md gives it.
pub(crate) fn operation(dialect: &str) -> &str {
    match dialect {
        "gemini.content" => "generate_content",
        "openai.completions" => "text_completion",
        "openai.embeddings" | "cohere.embed" | "gemini.embed" => "embeddings",
        "tool" => "execute_tool",
        "openai.audio" | "openai.images" | "rerank" | "http" | "grpc" | "websocket" => dialect,
        _ => "chat",
    }
}

/// The operations that ask a model. Those of agents and tools are none of them.
pub(crate) const ASKING: [&str; 4] = ["chat", "generate_content", "text_completion", "embeddings"];

/// The conventions' name for a provider; `None` if they have none, so that it may have any name.
pub(crate) fn provider(upstream: &str) -> Option<&str> {
    Some(match upstream {
        "azure" => "azure.ai.openai",
        "bedrock" => "aws.bedrock",
        "gemini" => "gcp.gemini",
        "mistral" => "mistral_ai",
        "vertex" | "anthropic-vertex" => "gcp.vertex_ai",
        "xai" => "x_ai",
        "anthropic" | "cohere" | "deepseek" | "groq" | "openai" | "perplexity" => upstream,
        _ => return None,
    })
}
