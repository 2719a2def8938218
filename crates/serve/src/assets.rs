//! The files that pages load, embedded in the program.

/// A file: its name, its type and its bytes.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'static [u8],
}

pub(crate) static ASSETS: &[Asset] = &[
    Asset {
        name: "retold.css",
        kind: "text/css; charset=utf-8",
        bytes: include_bytes!("../assets/retold.css"),
    },
    Asset {
        name: "retold.js",
        kind: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../assets/retold.js"),
    },
    Asset { name: "icon.svg", kind: "image/svg+xml", bytes: include_bytes!("../assets/icon.svg") },
];
