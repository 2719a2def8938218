//! Foreign text as HTML shows it.

use retold::escaping::printable;

/// A text as HTML shows it.
pub(crate) fn escape(text: &str, most: usize) -> String {
    let mut out = String::new();
    for c in printable(text, most).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A text of several lines as HTML shows it.
pub(crate) fn escape_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", escape(line, 400))).collect()
}

/// What begins a table that may be wider than the page: it scrolls within itself. On paper, its headings are repeated on
/// each page.
pub(crate) fn begin_table<H: AsRef<str>>(headings: impl IntoIterator<Item = H>) -> String {
    let cells =
        headings.into_iter().map(|heading| format!("<th>{}</th>", escape(heading.as_ref(), 100)));
    let cells: String = cells.collect();
    format!("<div class=wide tabindex=0>\n<table>\n<thead>\n<tr>{cells}</tr>\n</thead>\n<tbody>\n")
}

/// What ends it.
pub(crate) const TABLE_END: &str = "</tbody>\n</table>\n</div>\n";
