//! Configuration files: YAML, with every key checked, and errors reported with file and line.
//!
//! - [`ConfigFile`]: a config as a study loads it, with the templates that it names.
//! - [`load`], [`with_overrides`]: a typed config from a file and `--set KEY=VALUE`.
//! - [`locate`]: the line of an invalid value.
//! - [`ModelConfig`], [`RequestConfig`]: the parts that all experiments have in common; [`RequestKeys`]: a config that has
//!   keys of its own for the second.
//! - [`BaseUrl`], [`AnswersFile`], [`KeyVariable`]: settings that only the user of this invocation
//!   may choose.
//! - [`schema_of`]: the JSON Schema of a file.
//! - [`ConfigProblem`]: an invalid value; [`within`], [`names_folder`]: common checks.

mod change;
mod common;
mod error;
mod file;
mod kinds;
mod named;
mod node;
mod place;
mod prompts;
mod request_keys;
mod schema;
mod typed;
mod wrong;
mod yaml;

pub use common::{EndpointConfig, ModelConfig, Rates, RequestConfig, Runtime};
pub use error::ConfigError;
pub use file::ConfigFile;
pub use kinds::{ApiKind, ModelKind};
pub use named::{AnswersFile, BaseUrl, KeyVariable};
pub use place::locate;
pub use request_keys::RequestKeys;
pub use schema::{drawn_if_left_out, schema_of};
pub use wrong::{ConfigProblem, figure, names_folder, within};
pub use yaml::{ConfigHead, load, read_text, relative_to, with_overrides};
