//! The real program, as a user meets it.

mod audits;
mod checks;
mod crowded;
mod damaged;
mod failures;
mod files;
mod folders;
mod forks;
mod hostile;
mod interrupted;
mod json;
mod killed;
mod logs;
mod mixing;
mod names;
mod outputs;
mod pipes;
mod play;
mod real_answers;
mod recordings;
mod servers;
mod settings;
mod stories;
mod templates;
mod tls;
mod unwritable;
