//! What reading and writing traces of OpenTelemetry share: names, values, messages.
//!
//! - `names`: the attributes of the semantic conventions, in one pinned version, and retold's own
//! - `any_value`: values as OTLP writes them in JSON
//! - `message`: messages as the conventions have them, from and to the form of chat completions

pub(crate) mod any_value;
pub(crate) mod message;
pub(crate) mod names;
