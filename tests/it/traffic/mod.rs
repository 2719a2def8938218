//! Files in which other tools record requests: imported, replayed to a plain client, and exported.

mod cassettes;
mod exports;
mod llm;
mod others;
mod otlp;
mod recorders;
mod reviews;
mod text_cassettes;

/// Where programs find others.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
