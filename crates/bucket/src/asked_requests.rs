//! In which segments requests are, of those that were read.

use std::collections::{BTreeMap, BTreeSet};

use retold::id::{PromptHash, RunId};

use crate::names::Place;

/// How many requests are kept, and more only for the run that is read: 50 MB.
const MOST: usize = 1 << 20;

/// In which segment a request is, of segments that were read. Else each request that is not in the segments read last would be
/// looked for in all of them.
#[derive(Debug)]
pub(crate) struct AskedRequests {
    /// By the beginning of its hash.
    places: BTreeMap<u64, (RunId, Place)>,
    runs: BTreeSet<RunId>,
    most: usize,
}

impl Default for AskedRequests {
    fn default() -> Self {
        AskedRequests::within(MOST)
    }
}

impl AskedRequests {
    fn within(most: usize) -> Self {
        AskedRequests { places: BTreeMap::new(), runs: BTreeSet::new(), most }
    }

    /// Notes the requests of a segment of a run. Those of the runs before it are forgotten when they are many: a command that goes
    /// through a whole log comes back to none of them, and they would take more memory than anything else.
    pub(crate) fn note<'a>(
        &mut self,
        (run, place): (RunId, Place),
        prompts: impl Iterator<Item = &'a PromptHash>,
    ) {
        if self.places.len() > self.most && !self.runs.contains(&run) {
            self.places.clear();
            self.runs.clear();
        }
        self.runs.insert(run);
        self.places.extend(prompts.map(|prompt| (beginning(*prompt), (run, place))));
    }

    /// The run and the place of a segment that may have a request: another one may begin with the same bytes.
    pub(crate) fn holding(&self, prompt: PromptHash) -> Option<(RunId, Place)> {
        self.places.get(&beginning(prompt)).copied()
    }
}

/// The first eight bytes of a hash.
fn beginning(prompt: PromptHash) -> u64 {
    prompt.as_bytes().first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_of_earlier_runs_are_forgotten_when_they_are_many() {
        let prompt = |n: u8| PromptHash([n; 32]);
        let run = |n: u8| RunId([n; 8]);
        let mut asked = AskedRequests::within(3);
        for n in 0..3 {
            asked.note((run(1), Place::Object(n.into())), [prompt(n)].iter());
        }
        asked.note((run(2), Place::Object(1)), [prompt(3)].iter());
        assert_eq!(
            asked.holding(prompt(0)),
            Some((run(1), Place::Object(0))),
            "three are not many"
        );
        asked.note((run(2), Place::Object(2)), [prompt(4)].iter());
        assert_eq!(
            asked.holding(prompt(3)),
            Some((run(2), Place::Object(1))),
            "the run is being read"
        );
        asked.note((run(3), Place::Object(1)), [prompt(5)].iter());
        let known = [0, 3, 4, 5].map(|n| asked.holding(prompt(n)));
        assert_eq!(known, [None, None, None, Some((run(3), Place::Object(1)))]);
    }
}
