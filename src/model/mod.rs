//! The models that answer: one trait, request in, response or typed failure out.
//!
//! A model knows neither log nor experiment; it makes one attempt at a time. [`RetryPolicy`]
//! decides when to try again; the run does the waiting and records each failed attempt.

mod answer;
#[cfg(feature = "openai")]
mod batching;
mod by_name;
mod choices;
mod content_parts;
mod exchange_line;
mod exchange_response;
mod failure;
mod key_names;
mod learned_pace;
#[cfg(test)]
mod learned_pace_tests;
mod mend;
#[cfg(feature = "openai")]
mod named;
mod not_read;
pub mod openai;
mod parts;
mod prices;
pub mod providers;
mod refusal;
mod request_form;
mod retry;
mod retry_settings;
pub mod scripted;
mod seats;
#[cfg(feature = "openai")]
mod secrets;
mod service_tier;
pub mod simulated;
mod throttle;
mod timeouts;
mod unreadable;
mod usage;

pub use crate::exact::{
    EXACT_INTEGERS, exact_json, give_back_integers, keep_exact, longer_integer,
};
pub use answer::{Answerer, Ask, Content, Model, ModelInfo, Response, Usage};
#[cfg(feature = "openai")]
pub use batching::Batching;
pub use by_name::ByName;
pub use choices::{OtherChoice, choice_count, other_choices};
pub use content_parts::NotACompletion;
pub use exchange_line::{ExchangeError, ExchangeLine, answer_in};
pub use exchange_response::{ExchangeResponse, ExchangeResponseError};
pub use failure::{Failure, FailureKind};
pub use key_names::{is_a_key, is_placeholder, percent_decoded, query_without_keys};
pub use mend::{Halves, IntegerMark, join_halves, mended_json};
#[cfg(feature = "openai")]
pub use named::{NamedUrl, is_loopback, without_secrets};
pub use not_read::{NOT_READ, is_not_read};
#[cfg(feature = "openai")]
pub use openai::OpenAi;
pub use parts::{ANSWERING_PARTS, HTTP, RESERVED_PARTS, UNENDED};
pub(crate) use prices::Dollars;
pub use prices::{
    Bill, Destinations, Order, Price, PriceFile, Prices, ProviderPrices, Rate, WrongPrice,
};
pub use refusal::{LIMIT, Refusal};
pub use request_form::{RequestForm, RequestFormError};
pub use retry::{Retry, RetryPolicy, RetryRule};
pub use retry_settings::RetrySettings;
pub use scripted::ScriptedModel;
pub use seats::Seats;
#[cfg(feature = "openai")]
pub use secrets::{STRUCK, Secrets, command_without_keys};
pub use service_tier::ServiceTier;
pub use throttle::{EMBEDDINGS_TOGETHER, Limits, Permit, SettingError, Throttle};
pub(crate) use timeouts::{TimeIsUp, within};
pub use unreadable::{UNREADABLE, Unreadable};
