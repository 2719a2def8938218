//! Configuration files: YAML, every key checked, mistakes shown with file and line.
//!
//! - [`load`], [`with_overrides`]: a typed config from a file and `--set KEY=VALUE`.
//! - [`ModelConfig`], [`RequestConfig`]: the parts that all experiments share.
//! - [`Wrong`]: a value that makes no sense, told with its line.
//! - [`prompts()`]: the templates of an experiment, with a user's own in their place.

mod common;
mod prompts;
mod wrong;
mod yaml;

pub use common::{ModelConfig, ModelKind, Rates, RequestConfig, Runtime};
pub use prompts::{PromptText, prompts};
pub use wrong::{Wrong, beside};
pub use yaml::{ConfigError, Head, explain, load, read_text, with_overrides};
