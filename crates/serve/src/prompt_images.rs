//! Images in the messages of a prompt. Only those whose bytes are in the prompt are shown, under an address of the page
//! itself: nothing is loaded from another server, and the type of an image follows from its bytes, never from the prompt.
//! SVG is a document that can hold scripts, so it is shown as text, like anything else.

use data_encoding::BASE64;
use serde_json::Value;

/// The largest image that is shown, in bytes.
const LARGEST: usize = 20 << 20;

/// A part of a message.
#[derive(Debug, PartialEq)]
pub(crate) enum MessagePart<'a> {
    Text(&'a str),
    /// The image in base64.
    Image(&'a str),
    /// The address of an image on another server.
    Remote(&'a str),
    /// Anything else, as the request has it.
    Other(&'a Value),
}

/// The parts of a message, if its content is a list of parts.
pub(crate) fn parts(message: &Value) -> Option<Vec<MessagePart<'_>>> {
    let content = message.get("content").or(message.get("parts"))?;
    Some(content.as_array()?.iter().map(part).collect())
}

fn part(part: &Value) -> MessagePart<'_> {
    if let Some(text) = part["text"].as_str() {
        return MessagePart::Text(text);
    }
    // OpenAI: platform.openai.com/docs/guides/images-vision, in its two APIs.
    let url = part["image_url"]["url"].as_str().or(part["image_url"].as_str());
    // Anthropic: docs.anthropic.com/en/docs/build-with-claude/vision.
    let url = url.or(part["source"]["url"].as_str().filter(|_| part["type"] == "image"));
    if let Some(url) = url {
        return match url.strip_prefix("data:") {
            Some(data) => match data.split_once(";base64,") {
                Some((_, base64)) => MessagePart::Image(base64),
                None => MessagePart::Other(part),
            },
            None => MessagePart::Remote(url),
        };
    }
    let packed = part["source"]["data"].as_str().filter(|_| part["type"] == "image");
    // Gemini: ai.google.dev/gemini-api/docs/image-understanding, with either spelling.
    let packed = packed.or(part["inlineData"]["data"].as_str());
    let packed = packed.or(part["inline_data"]["data"].as_str());
    packed.map_or(MessagePart::Other(part), MessagePart::Image)
}

/// An image that can be shown.
#[derive(Debug, PartialEq)]
pub(crate) struct PromptImage {
    /// Its media type.
    pub(crate) kind: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// The image that base64 stands for; `None` if it is not one of a type that every browser shows and that holds no
/// scripts.
pub(crate) fn image(base64: &str) -> Option<PromptImage> {
    if base64.len() / 4 * 3 > LARGEST {
        return None;
    }
    let bytes = BASE64.decode(base64.as_bytes()).ok()?;
    Some(PromptImage { kind: kind(&bytes)?, bytes })
}

/// The media type that the first bytes show (mimesniff.spec.whatwg.org, section 6.1).
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GIF: &str = "R0lGODlhAQABAAAAACw=";

    #[test]
    fn the_images_of_each_api_are_found() {
        let message = json!({"content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{GIF}")}},
            {"type": "input_image", "image_url": format!("data:image/gif;base64,{GIF}")},
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": GIF}},
            {"inlineData": {"mimeType": "image/gif", "data": GIF}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}},
        ]});
        let found = parts(&message).unwrap();
        assert_eq!(found[0], MessagePart::Text("look"));
        assert!(found[1..5].iter().all(|part| *part == MessagePart::Image(GIF)), "{found:?}");
        assert_eq!(found[5], MessagePart::Remote("https://example.org/a.png"));
        assert!(matches!(found[6], MessagePart::Other(_)), "{found:?}");
        assert_eq!(parts(&json!({"content": "text"})), None);
    }

    #[test]
    fn what_an_image_is_follows_from_its_bytes() {
        assert_eq!(image(GIF).unwrap().kind, "image/gif");
        let svg =
            BASE64.encode(b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>");
        for wrong in [&*svg, "not base64", "", "AAAA"] {
            assert_eq!(image(wrong), None, "{wrong}");
        }
    }
}
