//! Hints for a log that does not exist or cannot be opened.

use std::path::{Path, PathBuf};

use retold_archive::{BucketUrl, MARKER, credential_variables};

/// The file that a log is in if nothing else is named.
const USUAL: &str = "retold.db";

/// What to try when there is no log at a path or URL.
pub(crate) fn missing(log: &str) -> String {
    let within = folder_of(log).and_then(|folder| log_within(&folder));
    within.unwrap_or_else(|| {
        "name the log with --log PATH or RETOLD_LOG; `retold run CONFIG` creates one".to_owned()
    })
}

/// What to look at if a log cannot be opened, read or written at a path or URL.
pub(crate) fn unreachable(log: &str) -> String {
    if !BucketUrl::is_one(Path::new(log)) {
        return open_hint(Path::new(log));
    }
    let (scheme, _) = log.split_once(':').unwrap_or((log, ""));
    let Some(variables) = credential_variables(scheme) else {
        return "check that the folder exists or can be made, and that you may read and write in it"
            .to_owned();
    };
    let region = match scheme {
        "s3" => ", that AWS_REGION is its region (or AWS_ENDPOINT_URL its server)",
        _ => "",
    };
    format!(
        "check that the bucket exists{region}, and that the credentials let you read and write there: {variables}, or the \
         identity of this machine"
    )
}

/// The path of a `file:///FOLDER`.
fn folder_of(log: &str) -> Option<PathBuf> {
    let is_url = BucketUrl::is_one(Path::new(log));
    is_url.then(|| BucketUrl::parse(log).ok()?.folder()).flatten()
}

/// How the log in a folder is named, if it has one.
pub(crate) fn log_within(folder: &Path) -> Option<String> {
    let file = folder.join(USUAL);
    if file.is_file() {
        return Some(format!("the log in it is a file: name it with --log {}", file.display()));
    }
    let whole = folder.canonicalize().ok()?;
    let is_log = whole.join(MARKER).is_file();
    is_log.then(|| {
        format!(
            "the folder is itself a log, which is named by a URL: --log file://{}",
            whole.display()
        )
    })
}

/// Why a log in a file cannot be opened, judging by its path.
fn open_hint(log: &Path) -> String {
    let folder = log.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let shown = folder.display();
    if log.is_dir() {
        return log_within(log).unwrap_or_else(|| {
            let file = log.join(USUAL);
            format!("name a file in it, such as {}", file.display())
        });
    }
    if log.is_file() {
        return format!(
            "check that you can read and write {}, and write to the folder {shown}",
            log.display()
        );
    }
    if folder.is_dir() {
        return format!("check that you can write to the folder {shown}");
    }
    if folder.exists() {
        format!("{shown} is not a folder: name another path with --log")
    } else {
        format!("there is no folder {shown}: create it first, or name another path with --log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_has_its_own_advice() {
        for (url, has, lacks) in [
            ("s3://lab/x", "AWS_ACCESS_KEY_ID", "AZURE"),
            ("gs://lab/x", "GOOGLE_APPLICATION_CREDENTIALS", "AWS"),
            ("az://lab/x", "AZURE_STORAGE_ACCOUNT_KEY", "AWS"),
            ("file:///lab/x", "that you may read and write in it", "credentials"),
        ] {
            let said = unreachable(url);
            assert!(said.contains(has) && !said.contains(lacks), "{url}: {said}");
        }
    }

    #[test]
    fn a_folder_is_told_from_the_log_in_it() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        let (path, url) = (folder.display().to_string(), format!("file://{}", folder.display()));
        assert_eq!(unreachable(&path), format!("name a file in it, such as {path}/{USUAL}"));
        assert!(missing(&url).starts_with("name the log with --log PATH"));
        std::fs::write(folder.join(MARKER), "").unwrap();
        let as_url = format!("the folder is itself a log, which is named by a URL: --log {url}");
        assert_eq!(unreachable(&path), as_url);
        std::fs::write(folder.join(USUAL), "").unwrap();
        let as_file = format!("the log in it is a file: name it with --log {path}/{USUAL}");
        assert_eq!((missing(&url), unreachable(&path)), (as_file.clone(), as_file));
    }
}
