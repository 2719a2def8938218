//! Opening a path that a user names, which may not be a regular file: a named pipe, a device, a
//! sparse file of a terabyte.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How long to wait for a program to write to a named pipe.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// The most bytes that are read from a pipe or a device as a text.
const LONGEST_STREAM: u64 = 64 << 20;

/// Something that was opened for reading.
pub(crate) struct OpenedFile {
    file: File,
    /// The byte that was read to see whether anything is being written.
    first: Option<u8>,
    /// The length, if it is a regular file.
    pub(crate) length: Option<u64>,
}

impl Read for OpenedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (self.first, buffer.first_mut()) {
            (Some(byte), Some(place)) => {
                *place = byte;
                self.first = None;
                Ok(1)
            }
            _ => self.file.read(buffer),
        }
    }
}

/// Opens a file, a pipe or a device. A named pipe that no program writes to is an error after five
/// seconds; without this, the system would wait forever.
///
/// # Errors
/// The system's error, or that no program writes to the pipe.
pub(crate) fn open(path: &Path) -> io::Result<OpenedFile> {
    let file = open_at_once(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    let length = about.is_file().then_some(about.len());
    let first = first_of_pipe(&file, &about)?;
    Ok(OpenedFile { file, first, length })
}

/// Reads a whole file of at most `longest` bytes. Zero bytes are refused at once, since text has
/// none: devices and sparse files are full of them.
///
/// # Errors
/// The system's error, or that it is too long or not text.
pub(crate) fn read_text_bytes(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let mut opened = open(path)?;
    // A source without a length may be endless.
    let longest = if opened.length.is_some() { longest } else { longest.min(LONGEST_STREAM) };
    let too_long = || {
        let message = format!("it is longer than {} MB, the limit", longest >> 20);
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    if opened.length.is_some_and(|length| length > longest) {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let read = match opened.read(&mut chunk) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let chunk = chunk.get(..read).unwrap_or(&[]);
        // Only zeros means a device or a sparse file; a few zeros may be another encoding, which
        // the caller reports.
        if read > 1 && chunk.iter().all(|byte| *byte == 0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it contains only zero bytes"));
        }
        bytes.extend_from_slice(chunk);
        if bytes.len() as u64 > longest {
            return Err(too_long());
        }
        if read == 0 {
            return Ok(bytes);
        }
    }
}

#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // One bit, far below the sign.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(file)
}

/// The first byte of a named pipe, if one arrives in time; afterwards reads block as usual.
#[cfg(unix)]
fn first_of_pipe(file: &File, about: &std::fs::Metadata) -> io::Result<Option<u8>> {
    use std::os::unix::fs::FileTypeExt;
    let mut first = None;
    if about.file_type().is_fifo() {
        let (mut byte, step) = ([0], std::time::Duration::from_millis(20));
        let mut left = PATIENCE;
        loop {
            let mut pipe = file;
            match pipe.read(&mut byte) {
                // Nobody has opened the other end, or somebody did and wrote nothing.
                Ok(0) if left.is_zero() => {
                    let message = "it is a pipe, and no program has written to it for 5 seconds";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
                Ok(0) => {
                    std::thread::sleep(step);
                    left = left.saturating_sub(step);
                }
                Ok(_) => {
                    first = Some(byte[0]);
                    break;
                }
                // Somebody has opened it and is about to write.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
    let flags = rustix::fs::fcntl_getfl(file)?;
    rustix::fs::fcntl_setfl(file, flags - rustix::fs::OFlags::NONBLOCK)?;
    Ok(first)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(not(unix))]
fn first_of_pipe(_: &File, _: &std::fs::Metadata) -> io::Result<Option<u8>> {
    Ok(None)
}
