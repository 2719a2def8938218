//! Forms as `multipart/form-data`.

use memchr::memmem;

use crate::support::server::Received;

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) filename: Option<String>,
    pub(super) bytes: Vec<u8>,
}

/// The fields of a form; `None` if the body is not one.
pub(super) fn fields(received: &Received) -> Option<Vec<Field>> {
    let kind = received.header("content-type")?.strip_prefix("multipart/form-data;")?;
    let boundary = kind.split(';').find_map(|part| part.trim().strip_prefix("boundary="))?;
    let delimiter = format!("\r\n--{}", boundary.trim_matches('"'));
    // The first delimiter has no line before it.
    let mut rest = received.body.strip_prefix(&delimiter.as_bytes()[2..])?;
    let mut fields = Vec::new();
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let end = memmem::find(part, delimiter.as_bytes())?;
        fields.push(field(&part[..end])?);
        rest = &part[end + delimiter.len()..];
    }
    rest.starts_with(b"--").then_some(fields)
}

fn field(part: &[u8]) -> Option<Field> {
    let end = memmem::find(part, b"\r\n\r\n")?;
    let head = std::str::from_utf8(&part[..end]).ok()?;
    let is_disposition =
        |line: &&str| line.to_ascii_lowercase().starts_with("content-disposition:");
    let disposition = head.lines().find(is_disposition)?;
    let value = |key: &str| {
        let begins = format!("{key}=\"");
        let value = disposition.split(';').find_map(|it| it.trim().strip_prefix(&begins))?;
        Some(value.strip_suffix('"')?.to_owned())
    };
    Some(Field {
        name: value("name")?,
        filename: value("filename"),
        bytes: part[end + 4..].to_vec(),
    })
}
