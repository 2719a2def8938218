//! Which kind of model answers, and which API a server speaks, as configs, flags and logs name them.

use std::fmt;
use std::sync::LazyLock;

use retold::model::providers::{self, StudyAccess};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, VariantAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// The API that a server speaks: one of those that [studies can ask](providers::studies).
#[derive(Debug, Clone, Copy)]
pub struct ApiKind(&'static StudyAccess);

/// Which kind of model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelKind {
    /// A program that makes up answers, for trying things out.
    #[default]
    Simulated,
    /// Answers from an exchanges file.
    Scripted,
    /// A server.
    Server(ApiKind),
}

static API_KINDS: LazyLock<Vec<ApiKind>> =
    LazyLock::new(|| providers::studies().map(ApiKind).collect());

static API_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| API_KINDS.iter().map(ApiKind::as_str).collect());

/// In the order in which help lists them: any server that speaks like OpenAI's is the commonest.
static MODEL_KINDS: LazyLock<Vec<ModelKind>> = LazyLock::new(|| {
    let mut servers = API_KINDS.iter().copied().map(ModelKind::Server);
    let mut all = vec![ModelKind::Simulated];
    all.extend(servers.next());
    all.push(ModelKind::Scripted);
    all.extend(servers);
    all
});

static MODEL_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| MODEL_KINDS.iter().map(|kind| kind.as_str()).collect());

impl ApiKind {
    /// The API with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        API_KINDS.iter().copied().find(|kind| kind.as_str() == name)
    }

    /// The API of the provider whose own model has this name, as far as names say.
    pub fn of_model(name: &str) -> Option<Self> {
        API_KINDS.iter().copied().find(|kind| kind.0.has_model(name))
    }

    /// The two parts of a name such as `anthropic/claude-sonnet-4-5`: the API and the model's own name there. `None` if it
    /// does not begin with an API.
    pub fn in_name(name: &str) -> Option<(Self, &str)> {
        let (kind, rest) = name.split_once('/')?;
        Some((ApiKind::from_name(kind)?, rest)).filter(|_| !rest.is_empty())
    }

    /// Its name in settings.
    pub fn as_str(&self) -> &'static str {
        self.0.kind
    }

    /// How it is asked.
    pub fn access(self) -> &'static StudyAccess {
        self.0
    }

    /// Whether it is the API in whose form studies write their requests, which settings need not name.
    pub(super) fn is_default(&self) -> bool {
        *self == ApiKind::default()
    }
}

impl Default for ApiKind {
    fn default() -> Self {
        // The list is not empty.
        API_KINDS[0]
    }
}

impl PartialEq for ApiKind {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ApiKind {}

impl ModelKind {
    /// All kinds.
    pub fn all() -> &'static [ModelKind] {
        &MODEL_KINDS
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        MODEL_KINDS.iter().copied().find(|kind| kind.as_str() == name)
    }

    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelKind::Simulated => "simulated",
            ModelKind::Scripted => "scripted",
            ModelKind::Server(api) => api.as_str(),
        }
    }

    /// What answers, for the help of the command line.
    pub fn help(self) -> &'static str {
        match self {
            ModelKind::Simulated => "A program that makes up answers",
            ModelKind::Scripted => "Answers from a file",
            ModelKind::Server(api) => api.access().help,
        }
    }

    /// The API of the server that answers; `None` if no server does.
    pub fn api(self) -> Option<ApiKind> {
        match self {
            ModelKind::Simulated | ModelKind::Scripted => None,
            ModelKind::Server(api) => Some(api),
        }
    }
}

impl Serialize for ApiKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for ModelKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ApiKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named = NamedVariant { what: "ApiKind", names: &API_NAMES, find: ApiKind::from_name };
        deserializer.deserialize_enum(named.what, named.names, named)
    }
}

impl<'de> Deserialize<'de> for ModelKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named =
            NamedVariant { what: "ModelKind", names: &MODEL_NAMES, find: ModelKind::from_name };
        deserializer.deserialize_enum(named.what, named.names, named)
    }
}

/// Reads one of several names, as serde reads a variant of an enum.
#[derive(Clone, Copy)]
struct NamedVariant<T> {
    what: &'static str,
    names: &'static [&'static str],
    find: fn(&str) -> Option<T>,
}

impl<'de, T> Visitor<'de> for NamedVariant<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "enum {}", self.what)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<T, A::Error> {
        let (found, variant) = data.variant_seed(VariantName(self))?;
        variant.unit_variant()?;
        Ok(found)
    }
}

/// The name alone.
struct VariantName<T>(NamedVariant<T>);

impl<'de, T> DeserializeSeed<'de> for VariantName<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T> Visitor<'_> for VariantName<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("variant identifier")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        (self.0.find)(name).ok_or_else(|| E::unknown_variant(name, self.0.names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_it_is() {
        for (name, kind) in [
            ("gpt-4o-mini", Some("openai")),
            ("gpt-5", Some("openai")),
            ("o3", Some("openai")),
            ("o4-mini", Some("openai")),
            ("text-embedding-3-small", Some("openai")),
            ("claude-sonnet-4-5", Some("anthropic")),
            ("gemini-2.5-flash", Some("gemini")),
            // Anybody may serve these.
            ("gpt-oss-20b", None),
            ("gpt-j-6b", None),
            ("llama3", None),
            ("openai/gpt-4o", None),
        ] {
            assert_eq!(ApiKind::of_model(name).map(|kind| kind.as_str()), kind, "{name}");
        }
        let parts =
            |name: &'static str| ApiKind::in_name(name).map(|(api, rest)| (api.as_str(), rest));
        assert_eq!(parts("openai/openai/gpt-oss-20b"), Some(("openai", "openai/gpt-oss-20b")));
        assert_eq!(parts("responses/gpt-5"), Some(("responses", "gpt-5")));
        for other in ["gpt-4o", "meta-llama/llama-3", "openai/", "simulated/x"] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn a_kind_is_read_as_it_was_written() {
        let names: Vec<&str> = ModelKind::all().iter().map(|kind| kind.as_str()).collect();
        let due = ["simulated", "openai", "scripted", "anthropic", "gemini", "responses"];
        assert_eq!(names, due, "recorded runs and configs have these names");
        for kind in ModelKind::all() {
            let written = serde_json::to_value(kind).unwrap();
            assert_eq!(written, kind.as_str());
            assert_eq!(serde_json::from_value::<ModelKind>(written).unwrap(), *kind);
        }
        assert_eq!(ApiKind::default().as_str(), "openai");
        let wrong = serde_json::from_value::<ApiKind>("ollama".into()).unwrap_err().to_string();
        let due = "unknown variant `ollama`, expected one of `openai`, `anthropic`, `gemini`, `responses`";
        assert_eq!(wrong, due);
    }
}
