//! Dialogue blocks: the speaker and the speech, and separately, the speaker's actions.
//!
//! A block is a line that begins with a name of up to four words in capitals and a colon. Text in
//! parentheses, in brackets or between single asterisks at the beginning of a sentence or after
//! one, or in parentheses after the name, is an action. If the rest begins with a quote, the text
//! in quotes is speech and the rest are actions; otherwise all of it is speech.

use super::model::DialogueLine;

/// The blocks of a story.
pub(super) fn blocks(story: &str) -> Vec<DialogueLine> {
    story.lines().filter_map(block).collect()
}

fn block(line: &str) -> Option<DialogueLine> {
    let (head, said) = line.split_once(':')?;
    let (speaker, manner) = speaker(head)?;
    if said.trim_start().starts_with(['{', '[']) && said.trim_end().ends_with(['}', ']']) {
        return None;
    }
    let (text, mut done) = apart(said.strip_prefix("**").unwrap_or(said).trim());
    if let Some(manner) = manner {
        done.insert(0, manner);
    }
    let action = (!done.is_empty()).then(|| done.join("; "));
    let is_block = !text.is_empty() || action.is_some();
    is_block.then(|| DialogueLine { speaker: speaker.to_owned(), text, action })
}

/// The name before a colon, and the text in parentheses after it.
fn speaker(head: &str) -> Option<(&str, Option<String>)> {
    let bare = |text: &str| -> usize { text.trim_matches(['*', ' ', '_']).len() };
    let (name, manner) = match head.trim_end_matches(['*', ' ']).strip_suffix(')') {
        Some(inner) => {
            let (name, manner) = inner.split_once('(')?;
            (name, Some(manner.trim().to_owned()))
        }
        None => (head, None),
    };
    let name = name.trim_matches(['*', ' ', '_', '\t']);
    let mut words = name.split_whitespace();
    let is_name = bare(name) > 0
        && name.chars().count() <= 40
        && words.clone().count() <= 4
        && words.all(|w| w.starts_with(char::is_uppercase) || w == "the" || w == "of");
    let manner = manner.filter(|manner| !manner.is_empty());
    (is_name && !is_label(name)).then_some((name, manner))
}

/// The speech, and the actions in order.
fn apart(line: &str) -> (String, Vec<String>) {
    let mut done = Vec::new();
    let mut plain = String::new();
    let mut quoted: Vec<&str> = Vec::new();
    let mut quotes = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        // Checked before searching for the end of an action: most brackets do not begin one.
        let may_begin = || {
            let before = plain.trim_end();
            before.is_empty() || before.ends_with(['.', '!', '?', '…', '"', '”', '—'])
        };
        if matches!(c, '(' | '[' | '*')
            && may_begin()
            && let Some((inner, behind)) = action(rest)
        {
            push(&mut done, inner);
            rest = behind;
            continue;
        }
        let closer = match c {
            '"' => Some('"'),
            '“' => Some('”'),
            _ => None,
        };
        let opens = closer.is_some() && *quotes.get_or_insert(plain.trim().is_empty());
        let inner = closer
            .filter(|_| opens)
            .and_then(|closer| rest.get(c.len_utf8()..)?.split_once(closer));
        if let Some((inner, behind)) = inner {
            if !quoted.is_empty() || !plain.trim().is_empty() {
                push(&mut done, &std::mem::take(&mut plain));
            }
            quoted.push(inner.trim());
            rest = behind;
            continue;
        }
        if opens {
            // A quote that is not closed: the following text is speech, unchanged.
            quotes = Some(false);
        }
        plain.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or("");
    }
    if quoted.is_empty() {
        return (strip_bold(&plain).to_owned(), done);
    }
    push(&mut done, &plain);
    (quoted.join(" "), done)
}

/// The action at the beginning of a text, and what follows it.
fn action(text: &str) -> Option<(&str, &str)> {
    let closer = match text.chars().next()? {
        '(' => ')',
        '[' => ']',
        '*' if !text.starts_with("**") => '*',
        _ => return None,
    };
    // Actions are short; a longer text would be searched for each bracket.
    let inner = text.get(1..)?;
    if !inner.starts_with(char::is_alphabetic) {
        return None;
    }
    let end = inner.char_indices().take(200).find(|(_, c)| *c == closer).map(|(at, _)| at)?;
    let (inner, behind) = inner.split_at(end);
    Some((inner, behind.get(closer.len_utf8()..).unwrap_or("")))
}

fn push(done: &mut Vec<String>, text: &str) {
    let text = text.trim_matches(|c: char| c.is_whitespace() || ",;.:-–—*".contains(c));
    if !text.is_empty() {
        done.push(text.to_owned());
    }
}

/// A text without asterisks around all of it, and without a quote that is not closed.
fn strip_bold(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("**").and_then(|t| t.strip_suffix("**"));
    let text = inner.filter(|inner| !inner.contains('*')).unwrap_or(text);
    text.trim()
}

/// Lines of the game, not of a character.
pub(super) fn is_label(speaker: &str) -> bool {
    let first = speaker.split_whitespace().next().unwrap_or("");
    let labels = ["Roll", "Target", "Round", "Combat", "Note", "Health", "Damage", "Location"];
    labels.contains(&first) || speaker.ends_with("Health") || speaker.ends_with("Strength")
}
