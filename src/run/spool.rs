//! Bytes that are written once and read any number of times.

use std::fs::File;
use std::io::{Error, Read, Result, Seek, SeekFrom, Write};

/// How many bytes are kept in memory; more go to a temporary file without a name.
const MEMORY: usize = 8 << 20;

/// Bytes that are kept in memory while there are few of them, and otherwise in a temporary file. A
/// write error is reported on reading.
#[derive(Debug, Default)]
pub struct Spool {
    file: Option<File>,
    /// How many bytes are in the file.
    written: u64,
    /// The bytes after those.
    recent: Vec<u8>,
    failed: Option<String>,
}

impl Spool {
    /// Adds bytes to the end.
    pub fn add(&mut self, bytes: &[u8]) {
        self.recent.extend_from_slice(bytes);
        if self.recent.len() >= MEMORY
            && self.failed.is_none()
            && let Err(e) = self.spill()
        {
            self.failed = Some(format!("no room for {} bytes: {e}", self.recent.len()));
            self.recent = Vec::new();
        }
    }

    fn spill(&mut self) -> Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile()?,
        };
        let mut file = &*self.file.insert(file);
        file.seek(SeekFrom::Start(self.written))?;
        file.write_all(&self.recent)?;
        self.written += self.recent.len() as u64;
        self.recent.clear();
        Ok(())
    }

    /// All bytes from the beginning, for one reader at a time.
    ///
    /// # Errors
    /// If they could not be written or cannot be read.
    pub fn reader(&self) -> Result<impl Read + '_> {
        if let Some(reason) = &self.failed {
            return Err(Error::other(reason.clone()));
        }
        let file: Box<dyn Read> = match &self.file {
            Some(file) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file.take(self.written))
            }
            None => Box::new(std::io::empty()),
        };
        Ok(file.chain(self.recent.as_slice()))
    }

    /// All bytes in memory.
    ///
    /// # Errors
    /// If they could not be written or cannot be read.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl From<Vec<u8>> for Spool {
    fn from(bytes: Vec<u8>) -> Self {
        Spool { recent: bytes, ..Spool::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_memory_and_from_the_file() {
        let (mut spool, mut due) = (Spool::default(), Vec::new());
        for n in 0..40_000_u32 {
            let line = format!("line {n}, {}\n", "x".repeat(n as usize % 700));
            spool.add(line.as_bytes());
            due.extend_from_slice(line.as_bytes());
        }
        assert!(spool.written as usize > MEMORY && !spool.recent.is_empty());
        assert!(spool.bytes().unwrap() == due, "once");
        assert!(spool.bytes().unwrap() == due, "a second time");
        assert_eq!(Spool::from(b"few".to_vec()).bytes().unwrap(), b"few");
    }
}
