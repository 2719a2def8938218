//! Stores that do what real ones do on a bad day.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt as _;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What is wrong with a store.
#[derive(Debug)]
enum Trouble {
    /// It answers every third request with an error, in an order that a seed gives: some before they are carried out,
    /// some after, so that the reply is lost.
    Fails(AtomicU64),
    /// It answers so many of the next requests to create something with 412, by mistake: before it has carried them out,
    /// or, each second time, after.
    Denies(AtomicU64),
    /// It does not know conditional writes, and writes.
    Overwrites,
    /// A policy forbids everything but reading and creating: the one in docs/guide/machines.md.
    Forbids,
    /// Nothing.
    Nothing,
}

/// A store that has trouble.
#[derive(Debug)]
pub(super) struct FaultyStore {
    inner: Arc<dyn ObjectStore>,
    trouble: Trouble,
    /// How many requests it was sent to read something.
    reads: AtomicU64,
}

impl FaultyStore {
    pub(super) fn failing(inner: Arc<dyn ObjectStore>, seed: u64) -> Self {
        FaultyStore::new(inner, Trouble::Fails(AtomicU64::new(seed)))
    }

    pub(super) fn denying(inner: Arc<dyn ObjectStore>, times: u64) -> Self {
        FaultyStore::new(inner, Trouble::Denies(AtomicU64::new(times)))
    }

    pub(super) fn overwriting(inner: Arc<dyn ObjectStore>) -> Self {
        FaultyStore::new(inner, Trouble::Overwrites)
    }

    pub(super) fn counting(inner: Arc<dyn ObjectStore>) -> Self {
        FaultyStore::new(inner, Trouble::Nothing)
    }

    fn new(inner: Arc<dyn ObjectStore>, trouble: Trouble) -> Self {
        FaultyStore { inner, trouble, reads: AtomicU64::new(0) }
    }

    /// How many requests there were since this was last asked.
    pub(super) fn reads(&self) -> u64 {
        self.reads.swap(0, Ordering::Relaxed)
    }

    pub(super) fn with_policy(inner: Arc<dyn ObjectStore>) -> Self {
        FaultyStore::new(inner, Trouble::Forbids)
    }

    /// Refuses what the policy forbids.
    fn permit(&self, path: &Path, is_creating: bool) -> Result<()> {
        match self.trouble {
            Trouble::Forbids if !is_creating => Err(forbidden(path)),
            _ => Ok(()),
        }
    }

    /// How many requests are still denied, this one included.
    fn denied(&self) -> u64 {
        let Trouble::Denies(left) = &self.trouble else { return 0 };
        let one_less = |left: u64| left.checked_sub(1);
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).unwrap_or(0)
    }

    /// Whether to fail now: by the next number of a sequence (SplitMix64: Steele, Lea and Flood, 2014).
    fn fails(&self) -> bool {
        let Trouble::Fails(state) = &self.trouble else { return false };
        let step = 0x9E37_79B9_7F4A_7C15;
        let mut z = state.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)).is_multiple_of(6)
    }
}

fn unavailable() -> Error {
    Error::Generic { store: "test", source: "503 Slow Down".into() }
}

fn precondition_failed(path: &Path) -> Error {
    Error::Precondition { path: path.to_string(), source: "412 PreconditionFailed".into() }
}

fn forbidden(path: &Path) -> Error {
    Error::PermissionDenied { path: path.to_string(), source: "403 AccessDenied".into() }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store that has trouble")
    }
}

#[async_trait::async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.permit(location, options.mode == PutMode::Create)?;
        if self.fails() {
            return Err(unavailable());
        }
        let denied = self.denied();
        if !denied.is_multiple_of(2) {
            return Err(precondition_failed(location));
        }
        let mode = match self.trouble {
            Trouble::Overwrites => PutMode::Overwrite,
            _ => options.mode.clone(),
        };
        let done = self.inner.put_opts(location, payload, PutOptions { mode, ..options }).await;
        match self.fails() {
            true => Err(unavailable()),
            false if denied > 0 => Err(precondition_failed(location)),
            false => done,
        }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.permit(location, false)?;
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.fails() { Err(unavailable()) } else { self.inner.get_opts(location, options).await }
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        match self.trouble {
            Trouble::Forbids => locations.map(|path| Err(forbidden(&path?))).boxed(),
            _ => self.inner.delete_stream(locations),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.permit(to, false)?;
        self.inner.copy_opts(from, to, options).await
    }
}
