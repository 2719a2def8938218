//! Configuration files: YAML, every key checked, mistakes shown with file and line.
//!
//! - [`load`], [`with_overrides`]: a typed config from a file and `--set KEY=VALUE`.
//! - [`located`]: the line of a value that makes no sense.
//! - [`ModelConfig`], [`RequestConfig`]: the parts that all experiments share.

mod common;
mod place;
mod yaml;

pub use common::{ModelConfig, ModelKind, Rates, RequestConfig, Runtime};
pub use place::located;
pub use yaml::{ConfigError, Head, beside, load, read_text, with_overrides};
