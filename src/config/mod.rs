//! Configuration files: YAML, every key checked, mistakes shown with file and line.
//!
//! - [`load`], [`with_overrides`]: a typed config from a file and `--set KEY=VALUE`.
//! - [`ModelConfig`], [`RequestConfig`]: the parts that all experiments share.

mod common;
mod yaml;

pub use common::{ModelConfig, ModelKind, Rates, RequestConfig, Runtime};
pub use yaml::{ConfigError, Head, load, read_text, with_overrides};
