//! Configuration files: YAML, every key checked, mistakes shown with file and line.
//!
//! - [`load`], [`with_overrides`]: a typed config from a file and `--set KEY=VALUE`.
//! - [`located`]: the line of a value that makes no sense.
//! - [`ModelConfig`], [`RequestConfig`]: the parts that all experiments share.
//! - [`BaseUrl`], [`AnswersFile`], [`KeyVariable`]: what only the user of this invocation may choose.
//! - [`Wrong`]: a value that makes no sense, told with its line.
//! - [`prompts()`]: the templates of an experiment, with a user's own in their place.

mod common;
mod mistake;
mod named;
mod place;
mod prompts;
mod wrong;
mod yaml;

pub use common::{EndpointConfig, ModelConfig, ModelKind, Rates, RequestConfig, Runtime};
pub use named::{AnswersFile, BaseUrl, KeyVariable};
pub use place::located;
pub use prompts::prompts;
pub use wrong::{Wrong, figure};
pub use yaml::{ConfigError, Head, beside, load, read_text, with_overrides};
