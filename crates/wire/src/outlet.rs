//! The response that a client gets: a whole body, or chunks that are let through one by one.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body, Frame, Incoming as IncomingBody, SizeHint};
use hyper::http::response::Parts;
use tokio::sync::{mpsc, oneshot};

use crate::limits::WAITING_CHUNKS;

/// A body was broken off: the connection is closed without the end of the body.
#[derive(Debug, thiserror::Error)]
#[error("the answer was broken off")]
pub(crate) struct BrokenOff;

impl From<Infallible> for BrokenOff {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// The body of an answer to a client.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A whole body of known length.
    Whole(Option<Bytes>),
    /// Chunks, as they are let through.
    Chunks(Chunks),
    /// The body of another server, as it arrives.
    Passed(IncomingBody),
}

/// Chunks, as they are let through.
#[derive(Debug)]
pub(crate) struct Chunks {
    receiver: mpsc::Receiver<Result<Bytes, BrokenOff>>,
    /// Whether the next thing is that the body is broken off.
    breaks_off: bool,
}

/// Where chunks are let through.
pub(crate) type ChunkSender = mpsc::Sender<Result<Bytes, BrokenOff>>;

impl Chunks {
    /// A body that is made of the chunks which the sender lets through.
    pub(crate) fn new() -> (ChunkSender, Self) {
        let (sender, receiver) = mpsc::channel(WAITING_CHUNKS);
        (sender, Chunks { receiver, breaks_off: false })
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
        if self.breaks_off {
            return Poll::Ready(Some(Err(BrokenOff)));
        }
        let next = self.receiver.poll_recv(context);
        if let Poll::Ready(Some(Err(BrokenOff))) = next {
            // The server drops unsent bytes when a body fails, and sends them when a body has to be
            // waited for.
            self.breaks_off = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        next
    }
}

impl Outgoing {
    /// Reads it to its end; false if it is broken off there.
    pub(crate) async fn read_to_end(mut self) -> (Bytes, bool) {
        if let Outgoing::Whole(body) = self {
            return (body.unwrap_or_default(), true);
        }
        let mut read = Vec::new();
        while let Some(frame) = self.frame().await {
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) => read.extend_from_slice(&data),
                Ok(Err(_)) => {}
                Err(BrokenOff) => return (read.into(), false),
            }
        }
        (read.into(), true)
    }

    /// A body that is broken off after these bytes.
    pub(crate) fn broken_off_after(bytes: Bytes) -> Self {
        let (sender, chunks) = Chunks::new();
        // There is room for both.
        let _ = sender.try_send(Ok(bytes));
        let _ = sender.try_send(Err(BrokenOff));
        Outgoing::Chunks(chunks)
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self.get_mut() {
            Outgoing::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Outgoing::Chunks(chunks) => {
                chunks.poll_next(context).map(|next| next.map(|chunk| chunk.map(Frame::data)))
            }
            Outgoing::Passed(body) => {
                let next = Pin::new(body).poll_frame(context);
                next.map(|next| next.map(|frame| frame.map_err(|_| BrokenOff)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Outgoing::Whole(body) => body.is_none(),
            Outgoing::Chunks(_) => false,
            Outgoing::Passed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Outgoing::Whole(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            Outgoing::Chunks(_) => SizeHint::default(),
            Outgoing::Passed(body) => body.size_hint(),
        }
    }
}

/// A client that is waiting for its answer.
pub(crate) struct Outlet {
    head: Option<(Parts, oneshot::Sender<Response<Outgoing>>)>,
    chunks: Option<ChunkSender>,
}

impl Outlet {
    /// An outlet for a client, and the receiver of the response that the client waits for.
    pub(crate) fn channel() -> (Waiting, oneshot::Receiver<Response<Outgoing>>) {
        let (sender, receiver) = oneshot::channel();
        (Waiting(sender), receiver)
    }

    /// Sends the head, if it was not sent. What follows are chunks.
    pub(crate) fn begin(&mut self) {
        if let Some((parts, sender)) = self.head.take() {
            let (sending, chunks) = Chunks::new();
            self.chunks = Some(sending);
            // If the client is gone, so is the receiver of the chunks.
            drop(sender.send(Response::from_parts(parts, Outgoing::Chunks(chunks))));
        }
    }

    /// Takes back the head; `None` if the client has got it already.
    pub(crate) fn take_back(&mut self) -> Option<Waiting> {
        self.head.take().map(|(_, sender)| Waiting(sender))
    }

    /// Lets a chunk through. Waits for a client that reads slowly.
    pub(crate) async fn chunk(&mut self, chunk: Bytes) {
        self.begin();
        if let Some(chunks) = &self.chunks
            && !chunk.is_empty()
        {
            // A client that left is noticed by whoever asks.
            drop(chunks.send(Ok(chunk)).await);
        }
    }

    /// Ends the body with the rest of it.
    pub(crate) async fn end(mut self, rest: Bytes) {
        match self.head.take() {
            Some((parts, sender)) => {
                drop(sender.send(Response::from_parts(parts, Outgoing::Whole(Some(rest)))));
            }
            None => self.chunk(rest).await,
        }
    }

    /// Breaks the body off after some more of it.
    pub(crate) async fn break_off(mut self, rest: Bytes) {
        self.chunk(rest).await;
        if let Some(chunks) = &self.chunks {
            drop(chunks.send(Err(BrokenOff)).await);
        }
    }

    /// Whether the client has got the head.
    pub(crate) fn has_begun(&self) -> bool {
        self.head.is_none()
    }

    /// Whether the client has left.
    pub(crate) fn is_gone(&self) -> bool {
        match (&self.head, &self.chunks) {
            (Some((_, sender)), _) => sender.is_closed(),
            (None, chunks) => chunks.as_ref().is_some_and(ChunkSender::is_closed),
        }
    }

    /// Waits until the client leaves.
    pub(crate) async fn wait_for_departure(&mut self) {
        match (&mut self.head, &self.chunks) {
            (Some((_, sender)), _) => sender.closed().await,
            (None, Some(chunks)) => chunks.closed().await,
            (None, None) => {}
        }
    }
}

/// A client for whom not even a head has come.
pub(crate) struct Waiting(oneshot::Sender<Response<Outgoing>>);

impl Waiting {
    /// The outlet for an answer with this head.
    pub(crate) fn with(self, head: Parts) -> Outlet {
        Outlet { head: Some((head, self.0)), chunks: None }
    }

    /// Waits until the client leaves.
    pub(crate) async fn wait_for_departure(&mut self) {
        self.0.closed().await;
    }

    /// Sends a whole answer.
    pub(crate) fn send(self, response: Response<Outgoing>) {
        drop(self.0.send(response));
    }
}
