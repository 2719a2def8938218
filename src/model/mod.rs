//! Who answers: one trait, request in, response or typed failure out.
//!
//! A model knows no log and no experiment; it makes one attempt at a time. When to try again is
//! decided by [`RetryPolicy`]; the run does the waiting and records each failed attempt.

mod answer;
mod exchange_line;
mod failure;
pub mod openai;
mod retry;
pub mod scripted;
mod seats;
pub mod simulated;
mod throttle;

pub use answer::{Answerer, Ask, Content, Model, ModelInfo, Response, Usage};
pub use exchange_line::{
    ExchangeError, ExchangeLine, ExchangeResponse, ExchangeResponseError, KEPT_PARTS,
};
pub use failure::{Failure, FailureKind};
pub use openai::OpenAi;
pub use retry::{Retry, RetryPolicy};
pub use scripted::Scripted;
pub use seats::Seats;
pub use throttle::{Limits, Permit, SettingError, Throttle};
