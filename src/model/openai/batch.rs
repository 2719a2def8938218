//! Embeddings requested at the same time are sent together.
//!
//! Each text is a question with its own address; they are only combined for sending, because one
//! request per text would take a hundred times as long. The first text of a batch waits a moment
//! for others. A batch that is rejected is halved until the faulty text is alone, so that one
//! participant's overlong text does not fail the others; any other failure is a failure of every
//! member.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::client::HttpClient;
use crate::model::providers::openai_embeddings;
use crate::model::{EMBEDDINGS_TOGETHER, Failure, FailureKind, Refusal, Response};
use crate::prompt::{Request, canonical};

/// The most bytes of text in one HTTP request: some providers limit the tokens of a whole batch.
const MOST_BYTES: usize = 512 << 10;

/// How long the first text of a batch waits for others: short compared with any answer.
const WINDOW: Duration = Duration::from_millis(5);

type Answer = Result<Response, Failure>;

/// Combines embedding requests into batches.
pub(super) struct Batcher {
    client: Arc<HttpClient>,
    /// Keyed by everything but the text: only questions that agree in everything else can share a
    /// request.
    open: Arc<Mutex<OpenBatch>>,
}

#[derive(Default)]
struct OpenBatch {
    batches: BTreeMap<String, EmbeddingBatch>,
    /// How many batches were ever opened.
    count: u64,
}

struct EmbeddingBatch {
    /// Distinguishes a batch from its successor of the same kind.
    number: u64,
    template: Map<String, Value>,
    members: Vec<BatchMember>,
    bytes: usize,
}

struct BatchMember {
    text: Value,
    reply: oneshot::Sender<Answer>,
}

impl Batcher {
    pub(super) fn new(client: Arc<HttpClient>) -> Self {
        Batcher { client, open: Arc::default() }
    }

    /// Asks for one vector, together with others if there are any.
    pub(super) async fn ask(&self, request: &Request) -> Answer {
        let mut template = request.body().as_object().cloned().unwrap_or_default();
        let text = template.remove("input").unwrap_or(Value::Null);
        // Every service understands decimal numbers. A request that names another encoding is sent
        // unchanged, as it was recorded. Both encodings are understood.
        template.entry("encoding_format").or_insert_with(|| "float".into());
        let (reply, answer) = oneshot::channel();
        let member = BatchMember { text, reply };
        if member.text.is_string() {
            self.join(template, member);
        } else {
            // A list of tokens or a list with one text: it cannot be combined with others.
            let members = vec![member];
            tokio::spawn(send(self.client.clone(), template, members));
        }
        answer.await.unwrap_or_else(|_gone| {
            Err(Failure::new(FailureKind::Connection, "the batch of this text was not sent"))
        })
    }

    fn join(&self, template: Map<String, Value>, member: BatchMember) {
        let key = canonical(&template).unwrap_or_default();
        let bytes = size(&member.text);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(batch) = open.batches.get_mut(&key)
            && batch.bytes + bytes <= MOST_BYTES
        {
            batch.bytes += bytes;
            batch.members.push(member);
            if batch.members.len() >= EMBEDDINGS_TOGETHER {
                self.dispatch(open.batches.remove(&key));
            }
            return;
        }
        self.dispatch(open.batches.remove(&key));
        open.count += 1;
        let batch = EmbeddingBatch { number: open.count, template, members: vec![member], bytes };
        open.batches.insert(key.clone(), batch);
        tokio::spawn(close(self.open.clone(), self.client.clone(), key, open.count));
    }

    fn dispatch(&self, batch: Option<EmbeddingBatch>) {
        if let Some(batch) = batch {
            // A task of its own: the caller that completed the batch may be cancelled, and the
            // others must not be.
            tokio::spawn(send(self.client.clone(), batch.template, batch.members));
        }
    }
}

/// Sends a batch at the end of its window, unless it was full and was sent before.
async fn close(open: Arc<Mutex<OpenBatch>>, client: Arc<HttpClient>, key: String, number: u64) {
    tokio::time::sleep(WINDOW).await;
    let batch = {
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = open.batches.get(&key).is_some_and(|batch| batch.number == number);
        if ours { open.batches.remove(&key) } else { None }
    };
    if let Some(batch) = batch {
        send(client, batch.template, batch.members).await;
    }
}

/// Sends texts in one request and hands out the answers.
fn send(
    client: Arc<HttpClient>,
    template: Map<String, Value>,
    mut members: Vec<BatchMember>,
) -> BoxFuture<'static, ()> {
    async move {
        members.retain(|member| !member.reply.is_closed());
        if members.is_empty() {
            return;
        }
        match post(&client, &template, &members).await {
            Ok(answers) => {
                for (member, answer) in members.into_iter().zip(answers) {
                    // If the receiver is gone, nobody is waiting for this answer.
                    let _ = member.reply.send(Ok(answer));
                }
            }
            // A fault of the model, and not of a text, would fail each half as well.
            Err(failure)
                if failure.kind == FailureKind::Rejected
                    && Refusal::of_any(&failure).is_none()
                    && members.len() > 1 =>
            {
                let rest = members.split_off(members.len() / 2);
                send(client.clone(), template.clone(), members).await;
                send(client, template, rest).await;
            }
            Err(failure) => {
                for member in members {
                    let _ = member.reply.send(Err(failure.clone()));
                }
            }
        }
    }
    .boxed()
}

async fn post(
    client: &HttpClient,
    template: &Map<String, Value>,
    members: &[BatchMember],
) -> Result<Vec<Response>, Failure> {
    let input = match members {
        [single] => single.text.clone(),
        several => several.iter().map(|member| member.text.clone()).collect(),
    };
    let mut body = template.clone();
    body.insert("input".to_owned(), input);
    let reply = client.post(&["embeddings"], &Value::Object(body)).await?;
    let sizes: Vec<usize> = members.iter().map(|member| size(&member.text)).collect();
    let secrets = &client.endpoint.secrets;
    openai_embeddings::responses(&reply.into_body(secrets)?.value, &sizes)
}

fn size(text: &Value) -> usize {
    text.as_str().map_or(0, str::len)
}
