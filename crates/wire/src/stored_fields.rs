//! Fields of a stored body that are not a server's.

/// The field of an address with the places of integers that are stored as texts, as JSON pointers into the body (RFC 6901).
pub(crate) const INTEGERS: &str = "integers";

/// The field of a stored body that has the address, where it matters.
pub(crate) const ADDRESS: &str = "http";
