//! The config file of a judge, and the settings that it resolves to.

use retold::event::Labels;
use retold::id::{CallPath, RunId, Sample, Seq};
use retold::model::{Limits, RetryPolicy};
use retold_study::config::{ConfigError, ConfigFile, ModelConfig, RequestConfig, Runtime};
use retold_study::study::Study;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::NAME;
use crate::rule::VerdictRule;
use crate::verdicts::{JudgeScale, Verdicts};

/// The parameter that asks for structured output.
const RESPONSE_FORMAT: &str = "response_format";

/// The config file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeConfig {
    /// `judge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The seed of the simulated model.
    #[serde(default)]
    pub seed: u64,
    /// What is decided, such as `polite`.
    pub name: String,
    /// What the judge is asked, with `{answer}` in it, or `{first}` and `{second}` for pairs; also `{question}`, `{call}` and
    /// `{labels.NAME}`. The sentence that asks for a verdict is added at the end, unless `{verdict}` says where it belongs.
    pub template: String,
    /// The verdicts that the judge may give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The verdicts as a scale of whole numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<JudgeScale>,
    /// Labels of other answers, with which the judged ones are compared in pairs: that of a call with these labels, and
    /// otherwise with the same. The verdict about an answer is `win`, `loss` or `tie`.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub against: Labels,
    /// Whether a pair is asked in both orders: a verdict that depends on the order is a tie.
    #[serde(default = "yes")]
    pub swap: bool,
    /// Several judges, each with the name of its model, in place of the model in `request`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JudgeModel>,
    /// How several verdicts become one: the majority, or of a scale the median, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<VerdictRule>,
    /// How the judge's answers are read, as in a parser file; the verdict's tag, then the last line, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategies: Option<Value>,
    /// How many answers of the judge there are for each judged answer.
    #[serde(default = "one")]
    pub samples: u32,
    /// Only answers to these calls and to calls below them; all if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub calls: Vec<CallPath>,
    /// Only answers whose calls have these labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The parameters of every request.
    pub request: RequestConfig,
    /// Whether consecutive messages of one role are sent as one, and a user's message first, for servers that want turns to
    /// alternate. It shapes the prompts, so their hashes.
    #[serde(default, skip_serializing)]
    pub alternate: bool,
    /// The model that answers.
    #[serde(default)]
    pub model: ModelConfig,
    /// How fast to ask.
    #[serde(default)]
    pub limits: Limits,
    /// When to try again.
    #[serde(default)]
    pub retry: RetryPolicy,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

/// One of several judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeModel {
    /// The model's name, as the provider spells it.
    pub model: String,
}

/// What is recorded: everything that is needed to run it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeSettings {
    /// What is decided.
    pub name: String,
    /// What the judge is asked.
    pub template: String,
    /// The verdicts.
    pub verdicts: Verdicts,
    /// The labels of the answers with which the judged ones are compared.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub against: Labels,
    /// Whether pairs are asked in both orders.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub swap: bool,
    /// Several judges; the model of the request alone if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JudgeModel>,
    /// How several verdicts become one, if it is not what the verdicts imply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<VerdictRule>,
    /// How its answers are read.
    pub strategies: Value,
    /// How many answers there are for each judged one.
    pub samples: u32,
    /// Only answers to these calls are judged, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallPath>,
    /// Only answers with these labels are judged.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The parameters of every request.
    pub request: RequestConfig,
    /// The run whose answers are judged; `None` until it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<RunId>,
    /// Its answers.
    #[serde(default)]
    pub answers: Vec<JudgedAnswer>,
}

/// An answer to be judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedAnswer {
    /// Its seq in the judged run.
    pub seq: Seq,
    /// Its call.
    pub call: CallPath,
    /// Which answer to that call it is.
    pub sample: Sample,
    /// What the call belongs to.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The last message of its request.
    pub question: String,
    /// The answer.
    pub text: String,
    /// The answer that it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherAnswer>,
}

/// The second answer of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherAnswer {
    /// Its seq in the judged run.
    pub seq: Seq,
    /// The answer.
    pub text: String,
}

impl JudgeSettings {
    /// The models that judge.
    pub fn models(&self) -> Vec<&str> {
        match self.judges.as_slice() {
            [] => vec![&self.request.model],
            judges => judges.iter().map(|judge| judge.model.as_str()).collect(),
        }
    }

    /// How many calls there are about each answer.
    pub(crate) fn calls_each(&self) -> u32 {
        let (judges, orders) = (self.models().len() as u32, 1 + u32::from(self.swap));
        self.samples.saturating_mul(judges).saturating_mul(orders)
    }

    /// Asks for verdicts as structured output, unless the config says otherwise about its form. `has_it` says of a request
    /// whether the API of its model has structured output.
    pub fn ask_structured(&mut self, has_it: impl Fn(&Map<String, Value>) -> bool) {
        let extra = &mut self.request.extra;
        if let Some(format) = extra.get(RESPONSE_FORMAT) {
            if format.is_null() {
                extra.remove(RESPONSE_FORMAT);
            }
            return;
        }
        let format = self.verdicts.response_format();
        let models = self.models().into_iter();
        let mut fits = models.map(|model| {
            let mut request = self.request.clone();
            model.clone_into(&mut request.model);
            request.extra.insert(RESPONSE_FORMAT.to_owned(), format.clone());
            let sample = request.sample();
            sample.is_some_and(|sample| sample.body().as_object().is_some_and(&has_it))
        });
        if fits.all(|fits| fits) {
            self.request.extra.insert(RESPONSE_FORMAT.to_owned(), format);
            if self.strategies == self.verdicts.strategies(false) {
                self.strategies = self.verdicts.strategies(true);
            }
        }
    }

    /// Whether verdicts are asked for as structured output.
    pub(crate) fn is_structured(&self) -> bool {
        self.request.extra.get(RESPONSE_FORMAT) == Some(&self.verdicts.response_format())
    }

    /// Whether answers to a call with these labels are judged.
    pub fn judges(&self, call: &CallPath, labels: &Labels) -> bool {
        let is_wanted = self.calls.is_empty() || self.calls.iter().any(|of| call.is_under(of));
        is_wanted && self.labels.iter().all(|(name, value)| labels.get(name) == Some(value))
    }
}

/// Reads a config file. The answers come from the run that is judged.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
    let config: JudgeConfig = file.read(NAME)?;
    let JudgeConfig { seed, name, template, values, scale, strategies, samples, .. } = config;
    let JudgeConfig { calls, labels, request, model, limits, retry, .. } = config;
    let JudgeConfig { against, swap, judges, rule, .. } = config;
    let is_of_pairs = !against.is_empty();
    let verdicts =
        Verdicts::from_keys(values, scale, is_of_pairs).map_err(|wrong| wrong.at(file.path))?;
    let strategies = strategies.unwrap_or_else(|| verdicts.strategies(false));
    let settings = JudgeSettings {
        name,
        template,
        verdicts,
        against,
        swap: swap && is_of_pairs,
        judges,
        rule,
        strategies,
        samples,
        calls,
        labels,
        request,
        of: None,
        answers: Vec::new(),
    };
    Ok(Study::new(NAME, seed, settings, Runtime { model, limits, retry, ..Runtime::default() }))
}
