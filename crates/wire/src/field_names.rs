//! The fields of requests by the names that their APIs give them, where a log stores them under others.

use retold::model::providers::{self, Dialect, OTHER};
use retold::prompt::Request;

use crate::restored_request::plain;
use crate::wire_request::ADDRESS;

/// The field of a stored body that has the conversation.
const STORED: &str = "messages";

/// Where the body of a request whose API is not known is stored.
const OF_OTHER: [&str; 3] = [STORED, "0", "content"];

/// The API of a stored request.
pub(crate) fn dialect_of(request: &Request) -> &'static dyn Dialect {
    let named = request.body()[ADDRESS]["dialect"].as_str();
    let named = named.and_then(|name| providers::named(name.split('@').next()?));
    named.or_else(|| Some(plain(request)?.0)).unwrap_or(&OTHER)
}

/// The field of the conversation in a stored request, as its API names it.
fn conversation_field(dialect: &dyn Dialect, request: &Request) -> &'static str {
    dialect.conversation_field(request.body()[ADDRESS]["path"].as_str().unwrap_or_default())
}

/// Where a field of a stored request is, if that is elsewhere.
pub(crate) fn stored_path(request: &Request, path: &[String]) -> Option<Vec<String>> {
    let dialect = dialect_of(request);
    let (first, rest) = path.split_first()?;
    if dialect.name() == OTHER.name() {
        return Some(OF_OTHER.iter().map(|name| (*name).to_owned()).chain(path.to_vec()).collect());
    }
    let field = conversation_field(dialect, request);
    let is_moved = first == field && field != STORED;
    is_moved.then(|| std::iter::once(STORED.to_owned()).chain(rest.to_vec()).collect())
}

/// The path of a stored field as its API names it.
pub(crate) fn named_path(request: &Request, path: &[String]) -> Vec<String> {
    let dialect = dialect_of(request);
    if dialect.name() == OTHER.name()
        && path.len() > OF_OTHER.len()
        && path.iter().zip(OF_OTHER).all(|(name, due)| name == due)
    {
        return path[OF_OTHER.len()..].to_vec();
    }
    let field = conversation_field(dialect, request);
    match path.split_first() {
        Some((first, rest)) if first == STORED => {
            // A text that is stored as the conversation which it stands for.
            let is_text = field == "prompt" || request.body()[field].is_string();
            let rest = if is_text && rest == ["0", "content"] { &[] } else { rest };
            std::iter::once(field.to_owned()).chain(rest.to_vec()).collect()
        }
        _ => path.to_vec(),
    }
}
