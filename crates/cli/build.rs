//! Tells the tests where the workspace is (`RETOLD_ROOT`), whether the real data is there
//! (`cfg(shared_data)`), whether `scripts/test` has installed the SDKs of other languages
//! (`cfg(real_clients)`) and a browser with its driver (`cfg(real_browser)`), whether tests can act as another user
//! (`cfg(other_users)`), as root, and whether they are built without optimisation (`cfg(unoptimised)`).
//!
//! Tests on data and documents that are not part of the repository are marked
//! `#[cfg_attr(not(shared_data), ignore = "..")]`, so that a plain clone lists them as ignored,
//! with the reason, instead of failing or passing without having run.

use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "cargo says in the environment where the package is")]
fn main() {
    println!("cargo::rustc-check-cfg=cfg(unoptimised)");
    if std::env::var_os("OPT_LEVEL").is_some_and(|level| level == "0") {
        println!("cargo::rustc-cfg=unoptimised");
    }
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    println!("cargo::rerun-if-changed=build.rs");
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    // `crates/cli` is two folders below it.
    let root = Path::new(&manifest).ancestors().nth(2).unwrap_or(Path::new(""));
    println!("cargo::rustc-env=RETOLD_ROOT={}", root.display());
    println!("cargo::rustc-check-cfg=cfg(real_clients)");
    let clients = root.join("target/clients/ready");
    if clients.is_file() {
        println!("cargo::rustc-cfg=real_clients");
        println!("cargo::rerun-if-changed={}", clients.display());
    } else {
        println!("cargo::rerun-if-env-changed=RETOLD_CLIENTS");
    }
    println!("cargo::rustc-check-cfg=cfg(real_browser)");
    let browser = root.join("target/browser/ready");
    if browser.is_file() {
        println!("cargo::rustc-cfg=real_browser");
        println!("cargo::rerun-if-changed={}", browser.display());
    } else {
        println!("cargo::rerun-if-env-changed=RETOLD_BROWSER");
    }
    println!("cargo::rustc-check-cfg=cfg(other_users)");
    #[cfg(target_os = "linux")]
    if std::fs::metadata("/proc/self").is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0)
    {
        println!("cargo::rustc-cfg=other_users");
    }
    let data = root.join("../shared/data");
    if data.is_dir() {
        println!("cargo::rustc-cfg=shared_data");
        println!("cargo::rerun-if-changed={}", data.join("README.md").display());
    } else {
        // A missing file would count as changed at every build. `scripts/test` sets this variable
        // once the data has appeared.
        println!("cargo::rerun-if-env-changed=RETOLD_SHARED_DATA");
    }
}
