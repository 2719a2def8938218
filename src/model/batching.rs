//! How a model is asked by batch.

use serde_json::Value;

use super::answer::Response;
use super::failure::Failure;
use super::openai::batches::{BatchReply, BatchServer};
use super::providers::PostedRequest;
use crate::prompt::Request;

/// How a model is asked by batch: the same requests and answers, another way.
pub trait Batching: Send + Sync {
    /// The server.
    fn server(&self) -> &BatchServer;

    /// A request as it would be sent alone.
    ///
    /// # Errors
    /// [`Failure`] if the API cannot express it.
    fn posted(&self, request: &Request) -> Result<PostedRequest, Failure>;

    /// The answer in the reply to a request, as if it had come alone.
    ///
    /// # Errors
    /// [`Failure`] if the reply is an error, or has no answer.
    fn answer_in(&self, request: &Request, reply: &BatchReply) -> Result<Response, Failure>;

    /// What is recorded of a failure besides its words: the response that a program gets instead of an answer, as
    /// [`AttemptDetails::http`](crate::event::AttemptDetails) has it. A study gets none.
    fn response_to(
        &self,
        _request: &Request,
        _reply: Option<&BatchReply>,
        _failure: &Failure,
    ) -> Option<Value> {
        None
    }
}
