//! Where the answers of an API have URLs that a client may ask next.

/// The fields of an answer that hold URLs, by the end of the path that was asked; `*` stands for any text in the path, and for
/// any item in a field.
#[derive(Debug, Clone, Copy)]
pub struct UrlFields {
    /// The end of the path.
    pub path: &'static str,
    /// The fields.
    pub fields: &'static [&'static str],
    /// A header of clients that never ask such a URL but read a name out of it; they get it as it is.
    pub unless: Option<&'static str>,
}

impl UrlFields {
    /// The fields that hold a URL, each as the API has it.
    pub const fn new(path: &'static str, fields: &'static [&'static str]) -> Self {
        UrlFields { path, fields, unless: None }
    }
}
