//! Opening what a user names, which may not be a plain file: a named pipe, a device, a file with a hole of a terabyte.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How long a named pipe may have nobody who writes to it.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// The most that is taken from a pipe or a device for a text, in bytes.
const LONGEST_STREAM: u64 = 64 << 20;

/// Something opened for reading.
pub(crate) struct Opened {
    file: File,
    /// What was read to see whether anybody writes.
    first: Option<u8>,
    /// The length of a plain file.
    pub(crate) length: Option<u64>,
}

impl Read for Opened {
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

/// Opens a file, a pipe or a device. A named pipe that no program writes to is an error after five seconds; the
/// system would wait forever.
///
/// # Errors
/// What the system says, or that nobody writes.
pub(crate) fn open(path: &Path) -> io::Result<Opened> {
    let file = open_at_once(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    let length = about.is_file().then_some(about.len());
    let first = first_of_pipe(&file, &about)?;
    Ok(Opened { file, first, length })
}

/// Reads a whole file of at most `longest` bytes. One with a zero byte is refused at once, since no text has any:
/// that is what devices and holes are made of.
///
/// # Errors
/// What the system says, or that it is too long or not text.
pub(crate) fn read_text_bytes(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let mut opened = open(path)?;
    // What has no length may have no end.
    let longest = if opened.length.is_some() { longest } else { longest.min(LONGEST_STREAM) };
    let too_long = || {
        let message = format!("it is longer than {} MB, the most that is read", longest >> 20);
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
        let chunk = chunk.get(..read).unwrap_or_default();
        // Zeros throughout are a device or a hole; a few may be another encoding, which the caller names.
        if read > 1 && chunk.iter().all(|byte| *byte == 0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it has nothing but zeros"));
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
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(file)
}

/// The first byte of a named pipe, if it has one; afterwards, reading waits as usual.
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
                // Nobody has opened its other end, or somebody has and wrote nothing.
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
                // Somebody has it open and is about to write.
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
