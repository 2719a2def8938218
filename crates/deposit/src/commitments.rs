//! Commitments to texts that are not in a deposit.
//!
//! A bare hash of a short text can be tested with guesses. A commitment is the SHA-256 of 16 random bytes, the nonce, and the
//! text. The author keeps the nonces. To open one is to show its nonce and its text.

use data_encoding::HEXLOWER;
use retold::event::Event;
use retold::id::RunId;
use retold::log::{LogError, Reader, RunEvents};
use ring::digest::{Context, SHA256};

/// The file of the deposit.
pub const COMMITMENTS: &str = "commitments.csv";

/// The bytes of a nonce.
const NONCE: usize = 16;

/// The commitments of runs, and the nonces that open them, each as CSV.
#[derive(Debug)]
pub struct Commitments {
    /// What is published.
    pub commitments: String,
    /// What the author keeps.
    pub nonces: String,
    /// How many there are.
    pub count: u64,
}

impl Default for Commitments {
    fn default() -> Self {
        Commitments {
            commitments: "run,seq,of,commitment\n".to_owned(),
            nonces: "run,seq,of,nonce\n".to_owned(),
            count: 0,
        }
    }
}

impl Commitments {
    /// Adds the texts of a run: each request, in its canonical form, each answer, and the head of the run.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read, or the system has no random bytes.
    pub fn add_run(&mut self, reader: &mut dyn Reader, run: RunId) -> Result<(), LogError> {
        let (mut events, mut last) = (RunEvents::new(run), None);
        while let Some(stored) = events.next(reader)? {
            last = Some((stored.seq, stored.hash));
            let (seq, content) = (stored.seq, stored.content.clone());
            match stored.event()? {
                Event::RequestSent(sent) => {
                    if let Some(request) = reader.request(sent.prompt)? {
                        self.add(run, seq.0, "request", request.canonical())?;
                    }
                }
                Event::ResponseReceived(_) | Event::AnswerReused(_) => {
                    let text = content.as_ref().map_or("", |content| content.text());
                    self.add(run, seq.0, "answer", text)?;
                }
                _ => {}
            }
        }
        match last {
            Some((seq, head)) => self.add(run, seq.0, "head", &head.to_string()),
            None => Ok(()),
        }
    }

    fn add(&mut self, run: RunId, seq: u64, of: &str, text: &str) -> Result<(), LogError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|error| LogError::failure("a nonce", error))?;
        let (commitment, nonce) = (commit(&nonce, text), HEXLOWER.encode(&nonce));
        self.commitments.push_str(&format!("{run},{seq},{of},{commitment}\n"));
        self.nonces.push_str(&format!("{run},{seq},{of},{nonce}\n"));
        self.count += 1;
        Ok(())
    }
}

/// The commitment to a text.
fn commit(nonce: &[u8; NONCE], text: &str) -> String {
    let mut hash = Context::new(&SHA256);
    hash.update(nonce);
    hash.update(text.as_bytes());
    HEXLOWER.encode(hash.finish().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_another_commitment_each_time() {
        let mut all = Commitments::default();
        for seq in 1..=2 {
            all.add(RunId([1; 8]), seq, "answer", "yes").unwrap();
        }
        let last = |text: &str| -> Vec<String> {
            text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned()).collect()
        };
        let (commitments, nonces) = (last(&all.commitments), last(&all.nonces));
        assert_ne!(commitments[0], commitments[1]);
        assert_ne!(nonces[0], nonces[1]);
        let nonce: [u8; NONCE] = HEXLOWER.decode(nonces[0].as_bytes()).unwrap().try_into().unwrap();
        assert_eq!(commit(&nonce, "yes"), commitments[0]);
        assert_ne!(commit(&nonce, "no"), commitments[0]);
    }
}
