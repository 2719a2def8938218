//! What several tests need.

pub(crate) mod cases;
pub(crate) mod child;
pub(crate) mod data;
pub(crate) mod logs;
pub(crate) mod mixed;
pub(crate) mod oracle;
pub(crate) mod rows;
pub(crate) mod tamper;
pub(crate) mod trial;
