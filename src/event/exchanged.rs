//! The outcome digest of a run that no study executes: a program's, or an import of exchanges.
//!
//! Such a run may have neither decisions nor facts, and the parts of its program may run in parallel. So its digest covers
//! the answers as well, and nothing in it depends on the schedule, on failed attempts, or on the clock. It is the BLAKE3
//! hash of
//!
//! - `retold outcome v2` and a line feed;
//! - how many samples have an answer, as 64 bits, little-endian;
//! - for each of them, ordered by exchange and then by number: the hash of the exchange, and the lane;
//! - for each lane of facts, ordered by the hash of its name: that hash, and the lane.
//!
//! An exchange is a call and a prompt hash; the number of a sample only orders those of one exchange, so a sample that
//! failed does not count. A lane begins with the hash of an answer, or for facts with 32 zero bytes. A decision about the
//! answer makes it the hash of: the lane before, the hash of what decided, and the hash of the decision. A fact makes it the
//! hash of: the lane before, the sorted names of the fact's causes, and the hash of the fact. The name of an answer, a
//! decision or a fact is the hash of: its exchange (for a fact, the hash of the name of its lane), and the lane after it.

use serde_json::{Map, Value, json};

use super::kinds::{FactOccurred, ResponseDetails, lane_of};
use crate::content::Content;
use crate::id::{CallPath, OutcomeDigest, PromptHash, Sample, Seq};
use crate::lookup::LookupMap;
use crate::prompt::canonical;

/// Separates this use of BLAKE3 from every other.
const DOMAIN: &[u8] = b"retold outcome v2\n";

/// The parts of an answer that say something next to its text.
const SAID: [&str; 11] = [
    "audio", "content_parts", "function_call", "message", "other_choices", "reasoning",
    "reasoning_content", "reasoning_details", "refusal", "thinking", "tool_calls",
];

type Hash = [u8; 32];

/// What decisions and facts add to.
#[derive(Debug, Clone)]
struct Lane {
    /// The exchange of the answer, or the name of the lane of facts.
    of: Hash,
    sample: Sample,
    now: Hash,
}

impl Lane {
    /// Adds a decision or a fact.
    fn add(&mut self, parts: &[Hash]) {
        self.now = hash([&self.now[..], parts.as_flattened()]);
    }

    fn name(&self) -> Hash {
        hash([&self.of[..], &self.now])
    }
}

fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// Computes the outcome digest of a run that no study executes, from its events in their order.
#[derive(Debug, Clone, Default)]
pub struct ExchangesHasher {
    questions: LookupMap<Seq, (Hash, Sample)>,
    /// The lane of each question that has an answer.
    answered: LookupMap<Seq, usize>,
    answers: Vec<Lane>,
    /// The lane of each answer, by its own seq.
    by_answer: LookupMap<Seq, usize>,
    by_name: LookupMap<Hash, usize>,
    facts: Vec<Lane>,
    /// What facts may rest on.
    names: LookupMap<Seq, Hash>,
}

impl ExchangesHasher {
    /// Adds a question.
    pub fn question(&mut self, seq: Seq, call: &CallPath, sample: Sample, prompt: PromptHash) {
        let exchange = hash([&hash([call.as_str().as_bytes()])[..], &prompt.0]);
        self.questions.insert(seq, (exchange, sample));
    }

    /// Adds the answer to a question; the last one counts.
    pub fn answer(
        &mut self,
        seq: Seq,
        question: Seq,
        content: &Content,
        details: &ResponseDetails,
    ) {
        let Some(&(of, sample)) = self.questions.get(&question) else { return };
        let lane = Lane { of, sample, now: answer_hash(content, details) };
        self.names.insert(seq, lane.name());
        let at = match self.answered.get(&question) {
            Some(&at) => {
                self.answers[at] = lane;
                at
            }
            None => {
                self.answers.push(lane);
                self.answers.len() - 1
            }
        };
        self.answered.insert(question, at);
        self.by_answer.insert(seq, at);
    }

    /// Adds a decision about an answer: what decided, and the decision, both canonical.
    pub fn decision(&mut self, seq: Seq, answer: Seq, by: &str, body: &str) {
        let at = self.by_answer.get(&answer).copied();
        let Some(lane) = at.and_then(|at| self.answers.get_mut(at)) else { return };
        lane.add(&[hash([by.as_bytes()]), hash([body.as_bytes()])]);
        self.names.insert(seq, lane.name());
    }

    /// Adds a fact, with its canonical text.
    pub fn fact(&mut self, seq: Seq, occurred: &FactOccurred, fact: &str) {
        let mut causes: Vec<Hash> =
            occurred.causes.iter().filter_map(|cause| self.names.get(cause).copied()).collect();
        causes.sort_unstable();
        let of = hash([lane_of(&occurred.fact).as_bytes()]);
        let at = match self.by_name.get(&of) {
            Some(&at) => at,
            None => {
                self.facts.push(Lane { of, sample: 0, now: [0; 32] });
                self.by_name.insert(of, self.facts.len() - 1);
                self.facts.len() - 1
            }
        };
        let Some(lane) = self.facts.get_mut(at) else { return };
        causes.push(hash([fact.as_bytes()]));
        lane.add(&causes);
        self.names.insert(seq, lane.name());
    }

    /// The digest so far.
    pub fn digest(&self) -> OutcomeDigest {
        let mut answers: Vec<&Lane> = self.answers.iter().collect();
        answers.sort_unstable_by_key(|lane| (lane.of, lane.sample, lane.now));
        let mut facts: Vec<&Lane> = self.facts.iter().collect();
        facts.sort_unstable_by_key(|lane| lane.of);
        let count = (answers.len() as u64).to_le_bytes();
        let lanes = answers.iter().chain(&facts).flat_map(|lane| [&lane.of[..], &lane.now]);
        OutcomeDigest(hash([DOMAIN, &count].into_iter().chain(lanes)))
    }
}

/// The hash of an answer's content and details, without tokens, times and ids.
fn answer_hash(content: &Content, details: &ResponseDetails) -> Hash {
    let is_vector = matches!(content, Content::Vector(_));
    hash([&[u8::from(is_vector)][..], &content.hash().0, &details_digest(content, details)])
}

/// The hash of what an answer says next to its text; of one that was not read, of its bytes.
pub(crate) fn details_digest(content: &Content, details: &ResponseDetails) -> Hash {
    let extra = &details.extra;
    let said: Map<String, Value> = SAID
        .iter()
        .filter_map(|part| Some(((*part).to_owned(), extra.get(*part)?.clone())))
        .collect();
    let bytes = match extra.get("http") {
        Some(http) if http["long"].is_object() => json!([http["long"]["blake3"]]),
        Some(http) if said.is_empty() && *content == Content::from("") => {
            json!([http["base64"], http["body"]])
        }
        _ => json!([]),
    };
    // Values from a log have a canonical form.
    hash([canonical(&json!({"bytes": bytes, "said": said})).unwrap_or_default().as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls, samples, answers and lanes, in an order of their events.
    fn digest(events: &[(&str, u32, &str)], facts: &[(&str, Value)]) -> OutcomeDigest {
        let mut hasher = ExchangesHasher::default();
        let mut seq = 1;
        for (call, sample, text) in events {
            let (question, answer) = (Seq(seq), Seq(seq + 1));
            seq += 3;
            hasher.question(question, &CallPath::new(*call).unwrap(), *sample, PromptHash([7; 32]));
            if text.is_empty() {
                continue;
            }
            hasher.answer(answer, question, &Content::from(*text), &ResponseDetails::default());
            hasher.decision(Seq(seq - 1), answer, "{}", &format!("{{\"value\":\"{text}\"}}"));
            let fact = json!({"lane": call, "name": "heard", "value": text});
            let text = canonical(&fact).unwrap();
            hasher.fact(Seq(seq), &FactOccurred { causes: vec![Seq(seq - 1)], fact }, &text);
            seq += 1;
        }
        for (lane, value) in facts {
            let fact = json!({"lane": lane, "value": value});
            let text = canonical(&fact).unwrap();
            hasher.fact(Seq(seq), &FactOccurred { causes: Vec::new(), fact }, &text);
            seq += 1;
        }
        hasher.digest()
    }

    #[test]
    fn the_schedule_and_failed_samples_do_not_count_and_all_else_does() {
        let facts = [("a", json!(1)), ("b", json!(2)), ("a", json!(3))];
        let one = digest(&[("a", 0, "x"), ("b", 0, "y"), ("a", 1, "z")], &facts);
        let other = [("b", json!(2)), ("a", json!(1)), ("a", json!(3))];
        assert_eq!(one, digest(&[("b", 0, "y"), ("a", 0, "x"), ("a", 1, "z")], &other));
        // A sample without an answer, before one that has one.
        assert_eq!(
            one,
            digest(&[("a", 0, ""), ("a", 1, "x"), ("b", 4, "y"), ("a", 2, "z")], &facts)
        );
        for changed in [
            digest(&[("a", 0, "x"), ("b", 0, "y"), ("a", 1, "w")], &facts),
            digest(&[("a", 0, "z"), ("b", 0, "y"), ("a", 1, "x")], &facts),
            digest(&[("a", 0, "x"), ("b", 0, "y")], &facts),
            digest(&[("a", 0, "x"), ("c", 0, "y"), ("a", 1, "z")], &facts),
            digest(&[("a", 0, "x"), ("b", 0, "y"), ("a", 1, "z")], &facts[1..]),
            digest(
                &[("a", 0, "x"), ("b", 0, "y"), ("a", 1, "z")],
                &[("a", json!(3)), ("b", json!(2)), ("a", json!(1))],
            ),
        ] {
            assert_ne!(one, changed);
        }
    }

    #[test]
    fn an_answer_is_what_it_says_and_not_how_it_travelled() {
        let of = |extra: Value| {
            let extra = extra.as_object().unwrap().clone();
            let details = ResponseDetails { extra, latency_ms: 3, id: None, ..Default::default() };
            answer_hash(&Content::from(""), &details)
        };
        let call = |name: &str| json!({"tool_calls": [{"function": {"name": name}}], "http": {"body": name}});
        assert_ne!(of(call("a")), of(call("b")));
        let travelled = |status: u16| json!({"refusal": "no", "completion": {"created": status}, "http": {"body": status}});
        assert_eq!(of(travelled(200)), of(travelled(201)));
        let unread = |body: &str, time: u64| json!({"http": {"body": body, "chunks": [[1, time]]}});
        assert_eq!(of(unread("a", 1)), of(unread("a", 2)));
        assert_ne!(of(unread("a", 1)), of(unread("b", 1)));
    }
}
