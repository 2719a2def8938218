//! Programs that take retold for their proxy. If they have a host written into them, connections to the
//! named hosts (`CONNECT`) are opened with a certificate of our own, which only they trust. All others
//! are passed on and counted.

mod authority;
mod connections;
mod hosts;
mod interception;
mod tunnel;

pub use authority::AuthorityError;
pub(crate) use connections::{connect, pass_on};
pub use hosts::{NamedHosts, not_hiding};
pub use interception::{ConnectionReport, Interception};
