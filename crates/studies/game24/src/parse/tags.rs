//! Delimiters of an answer: `<answer>` in upper or lower case, and `\boxed{..}`.

use memchr::{memchr, memrchr};

/// A complete block and where its content begins.
pub(super) struct TagBlock<'t> {
    pub(super) content: &'t str,
    pub(super) start: usize,
    /// Another complete block precedes it that is not blank.
    pub(super) is_repeated: bool,
}

const OPEN: &str = "<answer>";
const CLOSE: &str = "</answer>";

/// The last complete block that is not blank, and its position.
pub(super) fn last_block(text: &str) -> Option<TagBlock<'_>> {
    memchr(b'<', text.as_bytes())?;
    let mut blocks = blocks(text);
    let content = blocks.next()?;
    let is_repeated = blocks.next().is_some();
    Some(TagBlock { content, start: within(text, content), is_repeated })
}

/// The position of a part of a text within it.
pub(super) fn within(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// The complete blocks that are not blank, last first. Each extends from an opening tag to the
/// first closing tag after it, with no other opening tag in between.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut before = text;
    let mut close = None;
    std::iter::from_fn(move || {
        while let Some(at) = memrchr(b'<', before.as_bytes()) {
            let (head, tag) = before.split_at(at);
            before = head;
            if starts_with(tag, CLOSE) {
                close = Some(at);
            } else if starts_with(tag, OPEN) {
                let content = close.take().and_then(|end| text.get(at + OPEN.len()..end));
                if let Some(content) = content.filter(|content| !content.trim().is_empty()) {
                    return Some(content);
                }
            }
        }
        None
    })
}

/// What follows each opening tag, up to the next `<`, last first. No character is in two of them.
pub(super) fn unclosed_blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut before = text;
    std::iter::from_fn(move || {
        while let Some(at) = memrchr(b'<', before.as_bytes()) {
            let (head, tag) = before.split_at(at);
            before = head;
            if starts_with(tag, OPEN) {
                return tag.get(OPEN.len()..);
            }
        }
        None
    })
}

/// The content of the last `\boxed{..}`, up to its closing brace or the end of the text, and where it
/// begins.
pub(super) fn last_boxed(text: &str) -> Option<(usize, &str)> {
    memchr(b'\\', text.as_bytes())?;
    let (_, content) = text.rsplit_once("\\boxed{")?;
    let mut depth = 1_usize;
    let end = content.bytes().position(|byte| {
        depth = match byte {
            b'{' => depth + 1,
            b'}' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    Some((within(text, content), end.map_or(content, |end| &content[..end])))
}

fn starts_with(text: &str, tag: &str) -> bool {
    text.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag))
}
