//! Foreign text in Markdown.

use retold::escaping::printable;

/// How much of a text is shown.
const LONGEST: usize = 300;

/// A text of the log as code: nothing in it is read as Markdown or HTML.
pub(crate) fn code(text: &str) -> String {
    format!("`{}`", printable(text, LONGEST).replace('`', "'").replace('|', "\u{2223}"))
}

/// Several texts as code, in order, with a comma between them; `none` if there are none.
pub(crate) fn codes<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(code).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}
