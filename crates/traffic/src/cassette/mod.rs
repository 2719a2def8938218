//! Our own cassettes, as they are written and read: words stay in their place, and a placeholder such as `{{id}}` is in the place of
//! what varies with every recording and of what several exchanges have.

mod body;
mod named_values;
mod repeated;
mod varying;

pub(crate) use body::CassetteBody;
pub(crate) use named_values::{Definitions, NamedValues};
pub(crate) use repeated::Repeated;
pub(crate) use varying::{add_ids, take_ids, take_varying};
