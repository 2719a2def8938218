//! A model that makes answers up: deterministic from seed, prompt hash, call and sample.
//!
//! Its answers are not data. Its [`ModelInfo`] is marked as simulated, and so is every result based
//! on it.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::answer::{Ask, Content, Model, ModelInfo, Response, Usage};
use super::failure::{Failure, FailureKind};
use crate::prompt::{Api, Request};

/// Separates this use of BLAKE3 from all others. Changing it would change every simulated answer.
const CONTEXT: &str = "retold 2026-11 simulated model v1";

/// Plays one experiment: makes up plausible answers to its prompts.
pub trait Player: Send + Sync {
    /// An answer in the format asked for.
    fn reply(&self, request: &Request, dice: &mut Dice) -> String;

    /// Ways in which an answer to this request can break its format: the name of the kind, one of
    /// [`Player::kinds`], and the answer. One per kind; empty if there is no format to break.
    fn defects(&self, request: &Request, dice: &mut Dice) -> Vec<(&'static str, String)> {
        let _ = (request, dice);
        Vec::new()
    }

    /// The names of all kinds of malformed answers, which [`Misbehaviour::malformed_kinds`] may
    /// name.
    fn kinds(&self) -> &'static [&'static str] {
        &[]
    }

    /// The vector of a text, for embedding requests. Experiments without embeddings need not
    /// implement it; such a request is then answered with a text.
    fn vector(&self, text: &str) -> Option<Vec<f32>> {
        let _ = text;
        None
    }
}

impl<F> Player for F
where
    F: Fn(&Request, &mut Dice) -> String + Send + Sync,
{
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        self(request, dice)
    }
}

/// How often a simulated model misbehaves: shares from 0 to 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Misbehaviour {
    /// Answers that break the requested format, in any way that the player knows, each equally
    /// likely.
    pub malformed: f64,
    /// Of the other answers, those that break the format in a named way: the share of the answers
    /// that can be of that kind. If the shares for one question add up to more than 1, every answer
    /// is malformed, and the shares keep their proportions.
    pub malformed_kinds: BTreeMap<String, f64>,
    /// Answers that are cut off before the end, as by a token limit: open brackets stay open.
    pub truncated: f64,
    /// Attempts that are answered with 429.
    pub rate_limited: f64,
    /// Attempts that are answered with 500.
    pub server_error: f64,
    /// Calls that always fail.
    pub failure: f64,
    /// The average time that an answer takes.
    pub latency: Duration,
}

/// The simulated model.
pub struct SimulatedModel {
    seed: u64,
    misbehaviour: Misbehaviour,
    player: Box<dyn Player>,
}

impl SimulatedModel {
    /// A model that plays an experiment.
    pub fn new(seed: u64, misbehaviour: Misbehaviour, player: Box<dyn Player>) -> Self {
        SimulatedModel { seed, misbehaviour, player }
    }

    /// The dice for one purpose at one question.
    fn dice(&self, ask: Ask<'_>, purpose: &str) -> Dice {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&self.seed.to_le_bytes()).update(ask.request.hash().as_bytes());
        hasher.update(&ask.sample.to_le_bytes()).update(ask.call.as_str().as_bytes());
        hasher.update(b"\n").update(purpose.as_bytes());
        Dice(ChaCha12Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    fn reply(&self, ask: Ask<'_>) -> Result<Response, Failure> {
        let Misbehaviour { truncated, rate_limited, server_error, failure, .. } = self.misbehaviour;
        let fail = |kind, status, message: &str| {
            let message = format!("simulated: {message}");
            Err(Failure { status: Some(status), ..Failure::new(kind, message) })
        };
        if self.dice(ask, "failure").chance(failure) {
            return fail(FailureKind::Rejected, 400, "this call fails for good");
        }
        let mut attempt = self.dice(ask, &format!("attempt {}", ask.attempt));
        if attempt.chance(rate_limited) {
            return fail(FailureKind::RateLimited, 429, "too many requests");
        }
        if attempt.chance(server_error) {
            return fail(FailureKind::Server, 500, "internal error");
        }
        if ask.request.api() == Api::Embedding
            && let Some((_, text)) = ask.request.messages().first()
            && let Some(vector) = self.player.vector(text)
        {
            let content = Content::Vector(vector.into());
            let prompt_tokens = Some(text.len() as u64 / 4);
            let usage = Some(Usage { prompt_tokens, ..Usage::default() });
            return Ok(Response { content, usage, ..Response::text("") });
        }
        let mut dice = self.dice(ask, "answer");
        let broken = self.broken(ask, &mut dice);
        let mut text = broken.unwrap_or_else(|| self.player.reply(ask.request, &mut dice));
        let mut cut = self.dice(ask, "truncated");
        let truncated = cut.chance(truncated);
        if truncated {
            text.truncate(cut_within(&text, cut.share()));
        }
        // About four characters per token, the average for tokenisers of English.
        let prompt: usize = ask.request.messages().iter().map(|(_, text)| text.len()).sum();
        let usage = Usage {
            prompt_tokens: Some(prompt as u64 / 4),
            completion_tokens: Some(text.len() as u64 / 4),
            ..Usage::default()
        };
        let finish_reason = Some(if truncated { "length" } else { "stop" }.to_owned());
        Ok(Response { finish_reason, usage: Some(usage), ..Response::text(text) })
    }

    /// A malformed answer, if the rates ask for one and the player knows a way to make it.
    fn broken(&self, ask: Ask<'_>, dice: &mut Dice) -> Option<String> {
        let Misbehaviour { malformed, malformed_kinds, .. } = &self.misbehaviour;
        if dice.chance(*malformed) {
            let ways = self.player.defects(ask.request, dice);
            let at = if ways.is_empty() { 0 } else { dice.below(ways.len()) };
            return ways.into_iter().nth(at).map(|(_, text)| text);
        }
        if malformed_kinds.is_empty() {
            return None;
        }
        // Separate dice: the rates of kinds do not change well-formed answers.
        let mut dice = self.dice(ask, "malformed kind");
        let share = dice.share();
        let ways = self.player.defects(ask.request, &mut dice);
        let rate = |kind: &str| malformed_kinds.get(kind).copied().unwrap_or(0.0);
        let total: f64 = ways.iter().map(|(kind, _)| rate(kind)).sum();
        let mut left = share * total.max(1.0);
        let chosen = ways.into_iter().find(|(kind, _)| {
            left -= rate(kind);
            left < 0.0
        });
        chosen.map(|(_, text)| text)
    }
}

/// A position in the second half of a text, by a share from 0 to 1.
fn cut_within(text: &str, share: f64) -> usize {
    let half = text.len() / 2;
    // It is less than the text's length, so it fits.
    let at = half + ((text.len() - half) as f64 * share) as usize;
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

impl Model for SimulatedModel {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "simulated".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        async move {
            let latency = self.misbehaviour.latency;
            if !latency.is_zero() {
                let factor = 0.5 + self.dice(ask, &format!("latency {}", ask.attempt)).share();
                tokio::time::sleep(latency.mul_f64(factor)).await;
            }
            self.reply(ask)
        }
        .boxed()
    }
}

/// Random choices of a simulated answer.
pub struct Dice(ChaCha12Rng);

impl Dice {
    /// Dice that always fall the same way for a text: for the nature of a persona rather than the
    /// mood of an answer.
    pub fn new(text: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(b"text\n").update(text.as_bytes());
        Dice(ChaCha12Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    /// A number from 0 (inclusive) to 1 (exclusive).
    pub fn share(&mut self) -> f64 {
        // 53 bits: the precision of a double.
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// A number less than the bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The product is below the bound, so it fits.
        (self.share() * bound as f64) as usize
    }

    /// One of the given things.
    pub fn pick<'a, T: ?Sized>(&mut self, things: &[&'a T]) -> &'a T
    where
        &'a T: Default,
    {
        things.get(self.below(things.len())).copied().unwrap_or_default()
    }
}
