//! Whole files in a bucket that are no part of a log: tables, for the engines that read them there.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::buffered::BufWriter;
use object_store::path::Path as ObjectPath;
use object_store::{Attribute, Attributes, Error, GetOptions, ObjectStore};
use retold::log::Cause;
use tokio::io::AsyncWriteExt;

use crate::bridge::Bridge;
use crate::names::Names;
use crate::redaction::RedactedError;

/// The part of a file that one request has. S3 takes 10,000 parts of at least 5 MB.
const PART: usize = 8 << 20;

/// How many parts are on their way at once.
const PARTS_TOGETHER: usize = 2;

/// Where an object keeps the BLAKE3 hash of its bytes: in its metadata, whose names have only letters and digits on Azure.
const DIGEST: &str = "retoldblake3";

/// A folder of a bucket for whole files, which nobody sees before they are complete.
#[derive(Debug)]
pub struct BucketFolder {
    store: Arc<dyn ObjectStore>,
    prefix: ObjectPath,
    url: String,
    bridge: Bridge,
}

/// Why a file is not in a bucket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BucketFolderError {
    /// The bucket cannot be reached at all.
    #[error("cannot open {folder}: {source}")]
    CannotOpen {
        /// Its URL.
        folder: String,
        /// Why.
        source: Cause,
    },
    /// An object cannot be looked at or written.
    #[error("{object} cannot be read or written: {source}")]
    Object {
        /// Its URL.
        object: String,
        /// The store's error.
        source: Cause,
    },
    /// The file that is to be put there cannot be read.
    #[error("{file} cannot be read: {source}")]
    File {
        /// Its path.
        file: String,
        /// The system's error.
        source: io::Error,
    },
}

/// A file that is complete, with the BLAKE3 hash of its bytes.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    digest: String,
}

impl WholeFile {
    /// Reads a file once.
    ///
    /// # Errors
    /// [`BucketFolderError::File`].
    pub fn new(path: PathBuf) -> Result<Self, BucketFolderError> {
        let mut hasher = blake3::Hasher::new();
        match File::open(&path).and_then(|file| hasher.update_reader(file).map(|_| ())) {
            Ok(()) => Ok(WholeFile { path, digest: hasher.finalize().to_hex().to_string() }),
            Err(source) => Err(unreadable(&path, source)),
        }
    }
}

fn unreadable(path: &Path, source: io::Error) -> BucketFolderError {
    BucketFolderError::File { file: path.display().to_string(), source }
}

/// The object that a bucket has in the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacedFile {
    /// Nothing.
    Absent,
    /// The same file.
    Same,
    /// Another object.
    Other,
}

/// An object that could not be put.
enum PutFault {
    File(io::Error),
    Store(RedactedError),
}

impl BucketFolder {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        prefix: ObjectPath,
        url: String,
    ) -> Result<Self, BucketFolderError> {
        let cannot_open = |source: io::Error| BucketFolderError::CannotOpen {
            folder: url.clone(),
            source: Arc::new(source),
        };
        let bridge = Bridge::new().map_err(cannot_open)?;
        Ok(BucketFolder { store, prefix, url, bridge })
    }

    /// The URL of a file.
    pub fn url_of(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    /// Whether it is a log, whose folders are not for other files.
    ///
    /// # Errors
    /// [`BucketFolderError`] if the bucket cannot be read.
    pub fn is_log(&self) -> Result<bool, BucketFolderError> {
        let found = self.look_at(Names::new(self.prefix.clone()).marker());
        let cannot_open =
            |source| BucketFolderError::CannotOpen { folder: self.url.clone(), source };
        Ok(found.map_err(cannot_open)?.is_some())
    }

    /// What there is in the place of a file, by a name such as `exchanges/RUN.parquet`. Only an object that was put there
    /// by [`put`](Self::put) is known to be the same.
    ///
    /// # Errors
    /// [`BucketFolderError`] if the bucket cannot be read.
    pub fn find(&self, name: &str, file: &WholeFile) -> Result<PlacedFile, BucketFolderError> {
        let found = self.look_at(self.path_of(name)).map_err(|why| self.fault_of(name, why))?;
        let Some(attributes) = found else { return Ok(PlacedFile::Absent) };
        let digest = attributes.get(&Attribute::Metadata(DIGEST.into()));
        let is_same = digest.is_some_and(|digest| digest.as_ref() == file.digest);
        Ok(if is_same { PlacedFile::Same } else { PlacedFile::Other })
    }

    /// Puts a file in the place of any object with its name. Until all of it is stored, the old object stays.
    ///
    /// # Errors
    /// [`BucketFolderError`] if the file cannot be read, or the bucket cannot be written.
    pub fn put(&self, name: &str, file: &WholeFile) -> Result<(), BucketFolderError> {
        let open = File::open(&file.path).map_err(|error| unreadable(&file.path, error))?;
        let metadata = (Attribute::Metadata(DIGEST.into()), file.digest.clone());
        let writer = BufWriter::with_capacity(self.store.clone(), self.path_of(name), PART)
            .with_max_concurrency(PARTS_TOGETHER)
            .with_attributes(Attributes::from_iter([metadata]));
        let put = self.bridge.result_of(put(writer, open));
        match put.map_err(|ended| self.fault_of(name, Arc::new(ended)))? {
            Ok(()) => Ok(()),
            Err(PutFault::File(error)) => Err(unreadable(&file.path, error)),
            Err(PutFault::Store(error)) => Err(self.fault_of(name, Arc::new(error))),
        }
    }

    fn path_of(&self, name: &str) -> ObjectPath {
        let below = name.split('/').map(Into::into);
        ObjectPath::from_iter(self.prefix.parts().chain(below))
    }

    /// The attributes of an object, if there is one.
    fn look_at(&self, path: ObjectPath) -> Result<Option<Attributes>, Cause> {
        let store = self.store.clone();
        let head = GetOptions { head: true, ..GetOptions::default() };
        let found = self.bridge.result_of(async move { store.get_opts(&path, head).await });
        match found.map_err(|ended| Arc::new(ended) as Cause)? {
            Ok(found) => Ok(Some(found.attributes)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(Arc::new(RedactedError::new(error))),
        }
    }

    fn fault_of(&self, name: &str, source: Cause) -> BucketFolderError {
        BucketFolderError::Object { object: self.url_of(name), source }
    }
}

/// Sends a file. The store shows it when it has all of it.
async fn put(mut writer: BufWriter, file: File) -> Result<(), PutFault> {
    let sent = send(&mut writer, file).await;
    if sent.is_err() {
        // What has been sent is of no use. If the store cannot be told so, its own rule for unfinished uploads removes it.
        let _ = writer.abort().await;
    }
    sent
}

async fn send(writer: &mut BufWriter, mut file: File) -> Result<(), PutFault> {
    loop {
        let mut part = Vec::with_capacity(PART);
        file.by_ref().take(PART as u64).read_to_end(&mut part).map_err(PutFault::File)?;
        if part.is_empty() {
            break;
        }
        let put = writer.put(part.into()).await;
        put.map_err(|error| PutFault::Store(RedactedError::new(error)))?;
    }
    writer.shutdown().await.map_err(|error| PutFault::Store(RedactedError::new(error)))
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;

    use super::*;

    fn folder(store: &Arc<InMemory>) -> BucketFolder {
        BucketFolder::new(store.clone(), ObjectPath::from("lab/tables"), "s3://lab/tables".into())
            .unwrap()
    }

    /// A file of so many bytes.
    fn file_of(folder: &Path, size: usize) -> (Vec<u8>, WholeFile) {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let path = folder.join(size.to_string());
        std::fs::write(&path, &bytes).unwrap();
        (bytes, WholeFile::new(path).unwrap())
    }

    #[test]
    fn a_file_of_one_part_or_several_is_stored_whole_and_known_again() {
        let store = Arc::new(InMemory::new());
        let (bucket, files) = (folder(&store), tempfile::tempdir().unwrap());
        let (_, other) = file_of(files.path(), 3);
        for size in [0, 5, PART - 1, PART, 2 * PART + 7] {
            let (bytes, file) = file_of(files.path(), size);
            let name = format!("exchanges/{size}.parquet");
            assert_eq!(bucket.find(&name, &file).unwrap(), PlacedFile::Absent);
            bucket.put(&name, &other).unwrap();
            assert_eq!(bucket.find(&name, &file).unwrap(), PlacedFile::Other);
            bucket.put(&name, &file).unwrap();
            assert_eq!(bucket.find(&name, &file).unwrap(), PlacedFile::Same);
            let path = ObjectPath::from(format!("lab/tables/{name}"));
            let stored = futures::executor::block_on(async {
                store.get(&path).await.unwrap().bytes().await.unwrap()
            });
            assert!(stored == bytes, "{size}");
        }
    }

    #[test]
    fn an_object_of_another_program_is_not_known() {
        let store = Arc::new(InMemory::new());
        let files = tempfile::tempdir().unwrap();
        let (bytes, file) = file_of(files.path(), 5);
        let path = ObjectPath::from("lab/tables/runs/1.parquet");
        futures::executor::block_on(store.put(&path, bytes.into())).unwrap();
        assert_eq!(folder(&store).find("runs/1.parquet", &file).unwrap(), PlacedFile::Other);
    }

    #[test]
    fn a_file_that_is_gone_is_named() {
        let files = tempfile::tempdir().unwrap();
        let (_, file) = file_of(files.path(), 5);
        std::fs::remove_file(&file.path).unwrap();
        let store = Arc::new(InMemory::new());
        let error = folder(&store).put("runs/1.parquet", &file).unwrap_err().to_string();
        assert!(error.contains("/5 cannot be read: "), "{error}");
    }
}
