//! Configuration files: YAML, every key checked, mistakes shown with file and line.
//!
//! - [`ConfigFile`]: a config as a study loads it, with the templates that it names.
//! - [`load`], [`with_overrides`]: a typed config from a file and `--set KEY=VALUE`.
//! - [`located`]: the line of a value that makes no sense.
//! - [`ModelConfig`], [`RequestConfig`]: the parts that all experiments share.
//! - [`BaseUrl`], [`AnswersFile`], [`KeyVariable`]: what only the user of this invocation may choose.
//! - [`Wrong`]: a value that makes no sense; [`within`], [`names_folder`]: checks that all experiments share.

mod common;
mod file;
mod mistake;
mod named;
mod place;
mod prompts;
mod wrong;
mod yaml;

pub use common::{EndpointConfig, ModelConfig, ModelKind, Rates, RequestConfig, Runtime};
pub use file::ConfigFile;
pub use named::{AnswersFile, BaseUrl, KeyVariable};
pub use place::located;
pub use wrong::{Wrong, figure, names_folder, within};
pub use yaml::{ConfigError, Head, beside, load, read_text, with_overrides};
