//! Where values start and end in an answer: lines, brackets, fences, and quotes that are not
//! closed.

/// The length of the first line.
pub(super) fn line_length(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

/// Where a value in brackets would start: after white space, and after a fence around it.
pub(super) fn opening(text: &str) -> usize {
    let bare = text.trim_start();
    let fenced = bare
        .strip_prefix("```")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start());
    text.len() - fenced.filter(|rest| rest.starts_with(['[', '{'])).unwrap_or(bare).len()
}

/// Where JSON starts, if a value is a list of texts or objects, or an object.
pub(super) fn json_start(rest: &str) -> Option<usize> {
    let open = opening(rest);
    let inner = rest.get(open..)?;
    let first = inner.strip_prefix('[').map(str::trim_start);
    let is_list = first.is_some_and(|first| first.starts_with(['"', '“', '{', '\'']));
    (is_list || inner.starts_with('{')).then_some(open)
}

/// Where a list of texts ends if a quote in it is not closed on its line, and the next line does
/// not belong to the list: names do not continue there, but the story does.
pub(super) fn broken_off(text: &str) -> Option<usize> {
    text.strip_prefix('[')?.trim_start().strip_prefix('"')?;
    let (mut is_text, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => is_text = !is_text,
            ']' if !is_text => return None,
            '\n' if is_text => {
                let next = text.get(at..)?.trim_start();
                let is_over = !next.is_empty() && !next.starts_with(['"', '“', ',', ']', '{', '}']);
                if is_over {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The end of a value, after the fence that was opened before it.
pub(super) fn after_fence(text: &str, start: usize, open: usize, end: usize) -> usize {
    let is_fenced = text.get(start..start + open).is_some_and(|t| t.contains("```"));
    let rest = text.get(end..).unwrap_or("");
    let closed = rest.trim_start().strip_prefix("```").filter(|_| is_fenced);
    closed.map_or(end, |rest| text.len() - rest.len())
}

/// The end of a value, after the characters that close those opened before the marker.
pub(super) fn skip_closers(text: &str, end: usize, closers: &[char]) -> usize {
    let rest = text.get(end..).unwrap_or("");
    let bare = rest.trim_start_matches([' ', '.']).trim_start_matches(|c| closers.contains(&c));
    let is_closed = !closers.is_empty() && bare.len() < rest.trim_start_matches([' ', '.']).len();
    if is_closed { text.len() - bare.len() } else { end }
}
