//! Where a log in a bucket or a shared folder is, as a URL.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use retold::log::{Cause, LogError};
use url::Url;

use crate::backend::BucketBackend;
use crate::bucket_folder::{BucketFolder, BucketFolderError};
use crate::cache::user_cache;
use crate::redaction::RedactedError;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How often the client of a store repeats a request about a whole file.
const FILE_RETRIES: usize = 6;

/// A log in a bucket or a shared folder: `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`, or
/// `file:///folder`.
///
/// It has no secrets: those come from where the provider's programs have them (variables of the environment, the
/// identity of a machine or a job), and a URL that has some is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketUrl {
    url: Url,
}

/// Why a text is not the URL of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BucketUrlError {
    /// It does not have the form of a URL.
    #[error("it is not a URL: {0}")]
    NotAUrl(String),
    /// It is a URL of another kind.
    #[error("{0}:// is not supported: write s3://, gs://, az:// or file:///")]
    Scheme(String),
    /// It has a user name or a password.
    #[error(
        "it has a name or a password, which would end up in logs and process lists: take it out{}",
        set_variables(scheme)
    )]
    Secret {
        /// Whose URL it is.
        scheme: String,
    },
    /// It has a part that such a URL does not have.
    #[error("it has a query or a fragment: leave it out")]
    Query,
    /// No bucket is named.
    #[error("it names no bucket: write {0}://BUCKET/PREFIX")]
    NoBucket(String),
    /// The bucket is a directory bucket.
    #[error(
        "it names a directory bucket (S3 Express One Zone), which lists names in no order, and retold needs them in order: \
         name a general purpose bucket"
    )]
    Unordered,
    /// The folder is not absolute.
    #[error("a folder is named by its whole path, as file:///shared/folder")]
    NotAbsolute,
    /// A file is where a folder is named.
    #[error("it is a file, and a log in a file is named by its path: {}", path.display())]
    AFile {
        /// The file.
        path: PathBuf,
    },
}

/// What to do instead of writing a secret into a URL.
fn set_variables(scheme: &str) -> String {
    let variables = credential_variables(scheme);
    variables.map_or_else(String::new, |variables| format!(", and set {variables}"))
}

/// The variables in which the programs of a provider look for credentials; `None` for a folder.
///
/// They are those of [AWS](https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html), [Google
/// Cloud](https://cloud.google.com/docs/authentication/application-default-credentials) and [Azure's
/// CLI](https://learn.microsoft.com/en-us/cli/azure/azure-cli-configuration).
pub fn credential_variables(scheme: &str) -> Option<&'static str> {
    match scheme {
        "s3" => Some("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        "gs" => Some("GOOGLE_APPLICATION_CREDENTIALS"),
        "az" => Some("AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"),
        _ => None,
    }
}

/// How the name of every directory bucket ends ([rules for their
/// names](https://docs.aws.amazon.com/AmazonS3/latest/userguide/directory-bucket-naming-rules.html)), which no other may.
const DIRECTORY_BUCKET: &str = "--x-s3";

/// The schemes of buckets and folders.
const SCHEMES: [&str; 4] = ["s3", "gs", "az", "file"];

impl BucketUrl {
    /// True if the log that a user gives is a URL, and not the path of a file.
    pub fn is_one(log: &Path) -> bool {
        let Some((scheme, rest)) = log.to_str().and_then(|text| text.split_once(':')) else {
            return false;
        };
        let is_ours = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let is_any = scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric());
        // A file may have such a name, too; one that is not there is more likely a URL that lacks its slashes.
        let is_meant = rest.starts_with('/') || !log.is_file();
        is_ours && is_meant || is_any && rest.starts_with("//")
    }

    /// Reads one.
    ///
    /// # Errors
    /// [`BucketUrlError`].
    pub fn parse(text: &str) -> Result<Self, BucketUrlError> {
        let url = Url::parse(text).map_err(|error| BucketUrlError::NotAUrl(error.to_string()))?;
        if !SCHEMES.contains(&url.scheme()) {
            return Err(BucketUrlError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BucketUrlError::Secret { scheme: url.scheme().to_owned() });
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(BucketUrlError::Query);
        }
        match (url.scheme(), url.host_str()) {
            ("file", Some(_)) => return Err(BucketUrlError::NotAbsolute),
            // The path in `file:folder` is not absolute, though the crate reads it as if it were.
            ("file", None) if !text[url.scheme().len() + 1..].starts_with('/') => {
                return Err(BucketUrlError::NotAbsolute);
            }
            ("file", None) if url.path().trim_matches('/').is_empty() => {
                return Err(BucketUrlError::NotAbsolute);
            }
            ("file", None) => {}
            (scheme, None | Some("")) => return Err(BucketUrlError::NoBucket(scheme.to_owned())),
            ("s3", Some(bucket)) if bucket.ends_with(DIRECTORY_BUCKET) => {
                return Err(BucketUrlError::Unordered);
            }
            _ => {}
        }
        Ok(BucketUrl { url })
    }

    /// The place in one spelling, so that two URLs of it are equal.
    pub fn place(&self) -> String {
        let folder = self.folder().map(|folder| std::fs::canonicalize(&folder).unwrap_or(folder));
        folder.map_or_else(|| self.to_string(), |folder| format!("file://{}", folder.display()))
    }

    /// Opens a log that exists. Segments that are read in a bucket are kept in the [user's cache](user_cache).
    ///
    /// # Errors
    /// [`LogError`]; see [`BucketBackend::open`].
    pub fn open(&self) -> Result<BucketBackend, LogError> {
        Ok(self.with_cache(self.open_as_it_is()?))
    }

    /// The same, but everything is read in the store itself.
    ///
    /// # Errors
    /// [`LogError`]; see [`BucketBackend::open`].
    pub fn open_as_it_is(&self) -> Result<BucketBackend, LogError> {
        self.is_not_a_file()?;
        if let Some(folder) = self.folder()
            && !folder.is_dir()
        {
            return Err(LogError::Missing { path: self.to_string() });
        }
        // Requests are repeated where a lost reply is recognised.
        let (store, prefix) = self.store(0).map_err(|source| self.cannot_open(source))?;
        BucketBackend::open(store, prefix, &self.to_string())
    }

    /// Opens a log, and creates it if there is none.
    ///
    /// # Errors
    /// [`LogError`]; see [`BucketBackend::open_or_create`].
    pub fn open_or_create(&self) -> Result<BucketBackend, LogError> {
        self.is_not_a_file()?;
        if let Some(folder) = self.folder() {
            let created = std::fs::create_dir_all(folder);
            created.map_err(|error| self.cannot_open(Arc::new(RedactedError::new(error))))?;
        }
        let (store, prefix) = self.store(0).map_err(|source| self.cannot_open(source))?;
        Ok(self.with_cache(BucketBackend::open_or_create(store, prefix, &self.to_string())?))
    }

    fn is_not_a_file(&self) -> Result<(), LogError> {
        match self.folder().filter(|path| path.is_file()) {
            Some(path) => {
                let why = BucketUrlError::AFile { path };
                Err(LogError::cannot_open(self.to_string(), why))
            }
            None => Ok(()),
        }
    }

    /// A folder is as near as the cache.
    fn with_cache(&self, backend: BucketBackend) -> BucketBackend {
        match user_cache().filter(|_| self.url.scheme() != "file") {
            Some(cache) => backend.keeping_segments_in(cache.join("segments")),
            None => backend,
        }
    }

    /// The place as one for whole files that are not a log; see [`BucketFolder`].
    ///
    /// # Errors
    /// [`BucketFolderError::CannotOpen`].
    pub fn files(&self) -> Result<BucketFolder, BucketFolderError> {
        let cannot_open =
            |source| BucketFolderError::CannotOpen { folder: self.to_string(), source };
        // Putting a file again is harmless, so the client of the store repeats what failed.
        let (store, prefix) = self.store(FILE_RETRIES).map_err(cannot_open)?;
        BucketFolder::new(store, prefix, self.to_string())
    }

    /// The path of a `file:///FOLDER`; `None` for a bucket.
    pub fn folder(&self) -> Option<PathBuf> {
        (self.url.scheme() == "file").then(|| self.url.to_file_path().ok()).flatten()
    }

    fn cannot_open(&self, source: Cause) -> LogError {
        LogError::CannotOpen { path: self.to_string(), source }
    }

    fn store(
        &self,
        max_retries: usize,
    ) -> Result<(Arc<dyn ObjectStore>, object_store::path::Path), Cause> {
        let failed = |error: object_store::Error| -> Cause { Arc::new(RedactedError::new(error)) };
        if let Some(folder) = self.folder() {
            let store = LocalFileSystem::new_with_prefix(folder).map_err(failed)?;
            return Ok((Arc::new(store.with_fsync(true)), object_store::path::Path::default()));
        }
        // A program has one, which may have been chosen before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let prefix = object_store::path::Path::from_url_path(self.url.path())
            .map_err(|error| failed(error.into()))?;
        let options = ClientOptions::new().with_timeout(TIMEOUT);
        let retries = RetryConfig { max_retries, ..RetryConfig::default() };
        let url = self.url.as_str();
        let store: Arc<dyn ObjectStore> = match self.url.scheme() {
            "gs" => {
                let builder = GoogleCloudStorageBuilder::from_env().with_url(url);
                let builder = builder.with_client_options(options).with_retry(retries);
                Arc::new(builder.build().map_err(failed)?)
            }
            "az" => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(url);
                let builder = builder.with_client_options(options).with_retry(retries);
                Arc::new(builder.build().map_err(failed)?)
            }
            _ => {
                let builder = AmazonS3Builder::from_env().with_url(url);
                let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
                if endpoint.as_ref().is_some_and(|endpoint| !endpoint.contains("://")) {
                    let why: Box<dyn std::error::Error + Send + Sync> =
                        "AWS_ENDPOINT_URL is not a URL: write http://HOST:PORT or https://HOST"
                            .into();
                    return Err(why.into());
                }
                // Whoever names an endpoint without TLS means it: a store on this machine, or in a cluster.
                let is_plain = endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"));
                let options = options.with_allow_http(is_plain);
                let builder = builder.with_client_options(options).with_retry(retries);
                Arc::new(builder.build().map_err(failed)?)
            }
        };
        Ok((store, prefix))
    }
}

impl fmt::Display for BucketUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_told_from_a_path() {
        for url in ["s3://b/p", "gs://b", "az://c/p", "file:///shared"] {
            assert!(BucketUrl::is_one(Path::new(url)), "{url}");
        }
        for url in ["S3://b", "s3:/b", "s3:b", "file:/b", "file:b", "https://b/p"] {
            assert!(BucketUrl::is_one(Path::new(url)), "{url}, which is then refused or read");
        }
        for path in ["retold.db", "/a/s3://b", "C:/x", "C://x", ""] {
            assert!(!BucketUrl::is_one(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn what_is_not_the_url_of_a_log_is_refused_and_secrets_are_not_repeated() {
        let said = |text: &str| BucketUrl::parse(text).unwrap_err().to_string();
        assert!(said("s3://AKIA:SECRET@bucket/p").starts_with("it has a name or a password"));
        assert!(
            said("az://me:SECRET@lab/p")
                .ends_with(", and set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY")
        );
        assert!(!said("s3://AKIA:HUSH@bucket/p").contains("HUSH"));
        assert!(said("s3://bucket/p?sig=SECRET").starts_with("it has a query"));
        assert_eq!(said("s3:///p"), "it names no bucket: write s3://BUCKET/PREFIX");
        assert_eq!(said("s3:lab/p"), "it names no bucket: write s3://BUCKET/PREFIX");
        assert!(said("s3://lab--use1-az4--x-s3/p").starts_with("it names a directory bucket"));
        assert!(BucketUrl::parse("s3://lab--x-s3-of-mine/p").is_ok());
        for relative in ["file://shared/folder", "file:folder"] {
            assert!(
                said(relative).starts_with("a folder is named by its whole path"),
                "{relative}"
            );
        }
        assert!(said("file:///").starts_with("a folder is named by its whole path"));
        assert!(said("s4://lab/x").starts_with("s4:// is not supported"));
        assert_eq!(BucketUrl::parse("s3://bucket/p/").unwrap().to_string(), "s3://bucket/p");
    }
}
