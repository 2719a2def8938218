//! Files that clients uploaded and files of results.

use super::routes::Api;
use super::world::World;

#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) id: String,
    pub(super) api: Api,
    /// The key that uploaded it, which alone can see it.
    pub(super) owner: String,
    /// Its name, or Gemini's display name.
    pub(super) name: String,
    pub(super) purpose: String,
    pub(super) mime: String,
    pub(super) bytes: Vec<u8>,
    pub(super) created: i64,
    pub(super) expires: i64,
    pub(super) is_uploaded: bool,
    /// The batch whose results it has.
    pub(super) batch: Option<usize>,
}

/// A resumable upload that was started.
#[derive(Debug, Clone)]
pub(super) struct Started {
    pub(super) id: String,
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) mime: String,
    pub(super) size: usize,
    pub(super) bytes: Vec<u8>,
    /// The file that it became.
    pub(super) file: Option<String>,
}

impl World {
    /// The file of this id, if its owner asks and it has not expired.
    pub(super) fn file(&self, api: Api, id: &str, owner: &str) -> Option<&File> {
        self.list_files(api, owner).into_iter().find(|file| file.id == id)
    }

    /// The files of an owner, the newest first.
    pub(super) fn list_files(&self, api: Api, owner: &str) -> Vec<&File> {
        let is_there = |file: &&File| {
            file.api == api && file.owner == owner && file.expires > self.now && self.is_shown(file)
        };
        self.files.iter().rev().filter(is_there).collect()
    }

    pub(super) fn delete_file(&mut self, id: &str) {
        self.files.iter_mut().filter(|file| file.id == id).for_each(|file| file.expires = 0);
    }

    /// Whether a file is no result, or a result that can be read now.
    fn is_shown(&self, file: &File) -> bool {
        file.batch.is_none_or(|number| self.is_readable(&self.batches[number]))
    }
}
