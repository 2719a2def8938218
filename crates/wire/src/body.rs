//! Reading the body of a request: as long as it comes, and within a budget that all bodies share.

use std::error::Error;
use std::io::ErrorKind;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Body;
use retold::escaping::printable;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::limits::{BODIES, BODY_PACE, LEAST_OF_BODY, LONGEST_UNKEPT, UNCOUNTED};
use crate::outlet::Outgoing;
use crate::refusal::closing;

/// The memory that the bodies of all requests share. A body that does not fit waits until others have
/// been answered; short ones are not counted, so that they never wait.
#[derive(Clone)]
pub struct Bodies(Arc<Semaphore>);

impl Default for Bodies {
    fn default() -> Self {
        Bodies(Arc::new(Semaphore::new(BODIES)))
    }
}

/// Why a body is not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLong,
    /// Its chunks are not what HTTP says.
    NotHttp(String),
    /// The client did not wait for its own end.
    Left,
    /// Its client stopped sending.
    Stalled,
}

/// A body, and its part of the budget.
struct BudgetedBody {
    body: Vec<u8>,
    _part: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for BudgetedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Bodies {
    /// A body, if it is not too long. Its part of the budget is free again when its bytes are.
    pub(crate) async fn whole<B>(&self, body: B, longest: usize) -> Result<Bytes, Unread>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let announced = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
        let mut coming = Coming::new(body);
        if announced.is_some_and(|length| length > longest) {
            coming.read_on().await;
            return Err(Unread::TooLong);
        }
        let (mut whole, mut part) = (Vec::new(), None);
        while let Some(bytes) = coming.next().await? {
            let length = whole.len() + bytes.len();
            if length > longest {
                drop((whole, part));
                coming.read_on().await;
                return Err(Unread::TooLong);
            }
            if length > UNCOUNTED && part.is_none() {
                // All of it at once: bodies that waited for each other's rest would wait forever.
                let most = announced.unwrap_or(longest);
                part = Some(self.part(most).await?);
                whole.reserve_exact(announced.map_or(0, |most| most - whole.len()));
                coming.renew();
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(match part {
            None => whole.into(),
            Some(mut part) => {
                // A body of unannounced length is usually shorter than the longest.
                drop(part.split(part.num_permits().saturating_sub(whole.len())));
                Bytes::from_owner(BudgetedBody { body: whole, _part: part })
            }
        })
    }

    async fn part(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Unread> {
        let bytes = u32::try_from(bytes.min(BODIES)).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        self.0.clone().acquire_many_owned(bytes).await.map_err(|_| Unread::Left)
    }
}

/// The answer to a request of which only the head counts. Its body is read nevertheless: otherwise its connection would be
/// closed when the next request is on its way.
pub(crate) async fn answer_unread<B>(body: B, answer: Response<Outgoing>) -> Response<Outgoing>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    if Coming::new(body).read_on().await { answer } else { closing(answer) }
}

/// A body that is coming, and how fast.
struct Coming<B> {
    body: B,
    /// When it must have come a little further.
    due: Instant,
    /// How much has come in this time.
    came: usize,
}

impl<B> Coming<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    fn new(body: B) -> Self {
        Coming { body, due: Instant::now() + BODY_PACE, came: 0 }
    }

    /// The client had to wait for us.
    fn renew(&mut self) {
        (self.due, self.came) = (Instant::now() + BODY_PACE, 0);
    }

    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Unread> {
        loop {
            match timeout_at(self.due, self.body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    // Trailers are no bytes of the body.
                    let bytes = frame.into_data().unwrap_or_default();
                    self.came += bytes.len();
                    return Ok(Some(bytes));
                }
                Ok(Some(Err(error))) => return Err(unread(error.into().as_ref())),
                Ok(None) => return Ok(None),
                Err(_) if self.came >= LEAST_OF_BODY => self.renew(),
                Err(_) => return Err(Unread::Stalled),
            }
        }
    }

    /// Reads on without keeping the bytes: many clients listen only when they have sent everything. True at the end of the
    /// body.
    async fn read_on(&mut self) -> bool {
        let mut left = LONGEST_UNKEPT;
        loop {
            match self.next().await {
                Ok(None) => return true,
                Ok(Some(bytes)) if bytes.len() <= left => left -= bytes.len(),
                _ => return false,
            }
        }
    }
}

fn unread(error: &(dyn Error + 'static)) -> Unread {
    let mut cause = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    match cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind) {
        Some(ErrorKind::InvalidData | ErrorKind::InvalidInput) => {
            Unread::NotHttp(printable(&cause.to_string(), 200))
        }
        _ => Unread::Left,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use hyper::body::{Frame, SizeHint};
    use tokio::time::{Sleep, sleep};

    use super::*;

    const MIB: usize = 1 << 20;

    /// A body in pieces, each after a pause.
    struct Paced {
        pieces: Vec<usize>,
        pause: Duration,
        announced: Option<usize>,
        sleep: Pin<Box<Sleep>>,
    }

    fn paced(pieces: Vec<usize>, pause: Duration, announced: Option<usize>) -> Paced {
        Paced { pieces, pause, announced, sleep: Box::pin(sleep(pause)) }
    }

    impl Body for Paced {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            if self.sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.sleep = Box::pin(sleep(self.pause));
            Poll::Ready(self.pieces.pop().map(|it| Ok(Frame::data(vec![b'x'; it].into()))))
        }

        fn size_hint(&self) -> SizeHint {
            self.announced.map_or_else(SizeHint::default, |it| SizeHint::with_exact(it as u64))
        }
    }

    fn at_once(length: usize, announced: bool) -> Paced {
        paced(vec![length], Duration::ZERO, announced.then_some(length))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_keeps_coming_is_read_however_slowly() {
        let bodies = Bodies::default();
        let minutes = paced(vec![LEAST_OF_BODY; 60], BODY_PACE / 2, None);
        assert_eq!(bodies.whole(minutes, MIB).await.unwrap().len(), 60 * LEAST_OF_BODY);
        let drips = paced(vec![1; 600], Duration::from_secs(1), Some(600));
        assert_eq!(bodies.whole(drips, MIB).await, Err(Unread::Stalled));
        let silent = paced(vec![100], Duration::from_secs(86_400), Some(100));
        let before = Instant::now();
        assert_eq!(bodies.whole(silent, MIB).await, Err(Unread::Stalled));
        assert_eq!(before.elapsed(), BODY_PACE);
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_share_a_budget_and_short_ones_never_wait() {
        let bodies = Bodies::default();
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(bodies.whole(at_once(32 * MIB, true), 32 * MIB).await.unwrap());
        }
        let soon = Duration::from_secs(3_600);
        for announced in [true, false] {
            let fifth = bodies.whole(at_once(MIB, announced), 32 * MIB);
            assert!(tokio::time::timeout(soon, fifth).await.is_err(), "it waits");
        }
        assert!(bodies.whole(at_once(UNCOUNTED, false), MIB).await.is_ok());
        // A clone holds the same bytes.
        let clone = held[0].clone();
        held.clear();
        let mut more = Vec::new();
        for _ in 0..3 {
            more.push(bodies.whole(at_once(32 * MIB, false), 32 * MIB).await.unwrap());
        }
        drop((clone, more));
        // One that was not announced keeps no more than it has.
        let short = bodies.whole(at_once(MIB, false), 32 * MIB).await.unwrap();
        assert_eq!(bodies.0.available_permits(), BODIES - MIB);
        drop(short);
        assert_eq!(bodies.0.available_permits(), BODIES);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_long_is_not_kept() {
        let bodies = Bodies::default();
        for announced in [true, false] {
            let long = bodies.whole(at_once(2 * MIB, announced), MIB).await;
            assert_eq!(long, Err(Unread::TooLong));
            let pieces = paced(vec![MIB; 3], Duration::ZERO, announced.then_some(3 * MIB));
            assert_eq!(bodies.whole(pieces, 2 * MIB).await, Err(Unread::TooLong));
        }
        assert_eq!(bodies.0.available_permits(), BODIES);
    }
}
