//! The fields of a request that cannot change the answer and are therefore left out of the prompt
//! hash.

/// The version of [`TRANSPORT_FIELDS`]. It is part of the canonical request, so that a change to
/// the list never makes two different requests look the same.
pub const TRANSPORT_VERSION: u32 = 1;

/// Top-level request fields left out of the hash, each with its reason.
///
/// `user`, `seed` and `service_tier` are deliberately not here: providers use them in routing and
/// sampling, so they may change the answer.
pub const TRANSPORT_FIELDS: &[(&str, &str)] = &[
    ("stream", "how the bytes of the answer travel, not what they say"),
    ("stream_options", "asks for usage figures at the end of a stream"),
    ("store", "whether the provider keeps a copy"),
    ("metadata", "labels that the provider stores beside the copy it keeps"),
];

/// Whether a top-level field is left out of the hash.
pub(super) fn is_transport(field: &str) -> bool {
    TRANSPORT_FIELDS.iter().any(|(name, _)| *name == field)
}
