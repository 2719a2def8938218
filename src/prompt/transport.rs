//! The fields of a request that cannot change the answer and are therefore left out of the prompt
//! hash.
//!
//! A list that was released never changes, because its version is part of every canonical request
//! that was made with it. One more field is one more list, at the end of [`TRANSPORT_LISTS`]: new
//! runs use the last one, and recorded requests are read, replayed and continued with their own.

/// The fields left out of the hash in one version of the canonical request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransportList {
    /// The version, which is the `v` of the canonical request: so a change to the list never makes
    /// two different requests look the same.
    pub version: u32,
    /// Top-level request fields, each with the reason why it is left out.
    ///
    /// `user`, `seed` and `service_tier` are deliberately not here: providers use them in routing
    /// and sampling, so they may change the answer.
    pub fields: &'static [(&'static str, &'static str)],
}

/// Every list that there has been, in ascending order of their versions.
pub const TRANSPORT_LISTS: &[TransportList] = &[TransportList {
    version: 1,
    fields: &[
        ("stream", "how the bytes of the answer travel, not what they say"),
        ("stream_options", "asks for usage figures at the end of a stream"),
        ("store", "whether the provider keeps a copy"),
        ("metadata", "labels that the provider stores beside the copy it keeps"),
    ],
}];

/// The list for new requests.
pub const TRANSPORT: &TransportList = &TRANSPORT_LISTS[TRANSPORT_LISTS.len() - 1];

/// The list of a version, if there has been one.
pub(super) fn list(
    lists: &'static [TransportList],
    version: u32,
) -> Option<&'static TransportList> {
    lists.iter().find(|list| list.version == version)
}

impl TransportList {
    /// Whether a top-level field is left out of the hash.
    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|(name, _)| *name == field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_rise_and_each_field_has_a_reason() {
        assert!(TRANSPORT_LISTS.is_sorted_by(|a, b| a.version < b.version));
        for list in TRANSPORT_LISTS {
            assert!(list.fields.iter().all(|(name, reason)| !name.is_empty() && reason.len() > 10));
        }
    }

    /// What is recorded depends on these: to leave out another field, add a list.
    #[test]
    fn a_released_list_never_changes() {
        let fields =
            |version| list(TRANSPORT_LISTS, version).unwrap().fields.iter().map(|(name, _)| *name);
        assert!(fields(1).eq(["stream", "stream_options", "store", "metadata"]));
    }
}
