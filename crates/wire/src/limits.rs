//! Limits on memory and time that hold for anything that a program or a server sends.

use std::time::Duration;

/// The longest body of a request that is its prompt: a log accepts no longer prompt. That of a longer one has a digest of the body, which
/// is kept in parts.
pub(crate) const LONGEST_REQUEST: usize = 32 << 20;

/// The longest body of a request or an answer, after decoding, unless another is set. It is kept in memory until it is on disk.
pub const LONGEST_BODY: usize = 256 << 20;

/// How much memory the bodies of all requests under way have together.
pub(crate) const BODIES: usize = 128 << 20;

/// The longest body that is not counted among them, so that it never waits.
pub(crate) const UNCOUNTED: usize = 64 << 10;

/// How much of a body must come in [`BODY_PACE`], unless it ends.
pub(crate) const LEAST_OF_BODY: usize = 4 << 10;

/// How long a client may take for a little of a body.
pub(crate) const BODY_PACE: Duration = Duration::from_secs(15);

/// How much of a longer request is read and forgotten, so that its client hears why it is refused.
pub(crate) const LONGEST_UNKEPT: usize = 1 << 30;

/// The longest answer that is read, after decoding. A longer one is kept in parts.
pub(crate) const LONGEST_READ: usize = 16 << 20;

/// How many answers that are longer may arrive at the same time.
pub(crate) const LONGEST_ANSWERS: usize = 1;

/// How much is kept of a body that cannot be an answer, because it is too long or broken.
pub(crate) const MOST_OF_NONSENSE: usize = 1 << 20;

/// How much of each answer is read side by side with all others.
pub(crate) const READ_TOGETHER: usize = 1 << 20;

/// How many longer answers are read at the same time; the others wait in their sockets.
pub(crate) const LONG_ANSWERS: usize = 8;

/// How long one of them may send nothing before it is not counted among them until it goes on.
pub(crate) const STALLED: Duration = Duration::from_secs(2);

/// How many programs' connections are served at the same time; the others wait to be accepted.
pub(crate) const CONNECTIONS: usize = 1024;

/// How many files each of them needs: itself, and the connection to its upstream.
pub(crate) const FILES: usize = 2;

/// How long to wait before a file is opened again for which there were too many.
pub(crate) const FILES_EXHAUSTED: Duration = Duration::from_millis(50);

/// How often a connection looks whether it can end, while others wait to be accepted.
pub(crate) const SEAT_WANTED: Duration = Duration::from_millis(20);

/// How many chunks may wait for a client that reads slowly. Only its own upstream waits with it.
pub(crate) const WAITING_CHUNKS: usize = 16;

/// The most chunks whose boundaries are kept; what follows counts as one chunk.
pub(crate) const MOST_CHUNKS: usize = 100_000;

/// How long a client may take to send the head of a request.
pub(crate) const HEAD: Duration = Duration::from_secs(30);

/// How long connecting to an upstream may take.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);

/// How long an upstream may be silent. Models that reason think for minutes before the first byte.
pub(crate) const SILENCE: Duration = Duration::from_secs(900);

/// How long an answer is read on after its client has left: it is paid for.
pub(crate) const AFTER_CLIENT: Duration = Duration::from_secs(60);

/// How long a connection may stay open after the last event of a stream.
pub(crate) const AFTER_LAST_EVENT: Duration = Duration::from_secs(2);

/// How many answers can be named in reports: the last ones that the program was given.
pub(crate) const NAMED_ANSWERS: usize = 50_000;

/// How many recorded requests a miss is compared with: about a second of work.
pub(crate) const COMPARED: usize = 20_000;

/// How many misses are compared; later ones are counted and refused.
pub(crate) const MISSES_COMPARED: usize = 100;

/// The longest name of an upstream: one that is made of a host, which has at most 253 characters (RFC 1035,
/// 2.3.4), has a port and a number as well.
pub(crate) const LONGEST_UPSTREAM: usize = 300;
