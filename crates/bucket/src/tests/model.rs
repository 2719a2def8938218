//! The protocol as a model, in which everything is tried: every order of the steps of two writers of one run with three
//! segments, with one crash at any moment, and one reply that is lost while its request may still arrive later.
//!
//! The model follows the module's protocol step by step, and leaves out what does not decide anything: bytes, hashes,
//! times. The first segment begins the run and the third ends it, so both have an entry in the ledger.

use std::collections::BTreeSet;

const SEGMENTS: usize = 3;

/// Whether a segment announces an entry.
const ANNOUNCES: [bool; SEGMENTS] = [true, false, true];

/// What a writer does when the object that it wants to create exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finding {
    /// It reads the object and compares: the protocol.
    ReadBack,
    /// It takes the object for its own if a reply of its own was lost.
    AssumeOwn,
    /// It takes the object for another's.
    AssumeOther,
}

/// When readers take a segment that announces an entry for stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counting {
    /// When the ledger has the entry: the protocol.
    WithEntry,
    /// At once.
    AtOnce,
}

/// An object, by who wrote it and which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Object {
    Segment(usize),
    /// The place in the ledger, and the segment that its entry is about.
    Entry(usize, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Takes the lease: looks where the run ends.
    Look,
    /// Creates a segment; whether a reply about it was lost before.
    Put {
        segment: usize,
        lost: bool,
    },
    /// Appends the entry of a segment; whether it is its own segment, and whether a reply was lost.
    Note {
        segment: usize,
        own: bool,
        lost: bool,
    },
    /// Says that another has the run.
    Stopped {
        segment: usize,
    },
    Done,
    Crashed,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct WriterState {
    /// A new one with each start.
    id: u8,
    phase: Phase,
    /// The segments of which its callers were told that they are stored, with its id at that time.
    told: Vec<(usize, u8)>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// Who wrote each segment.
    segments: [Option<u8>; SEGMENTS],
    /// The segments that the entries are about, in order.
    ledger: Vec<usize>,
    /// Requests whose sender has given up waiting.
    travelling: BTreeSet<(Object, u8)>,
    writers: [WriterState; 2],
    crashes: u8,
    losses: u8,
}

#[derive(Debug, Clone, Copy)]
struct Protocol {
    finding: Finding,
    counting: Counting,
}

const OURS: Protocol = Protocol { finding: Finding::ReadBack, counting: Counting::WithEntry };

impl State {
    fn start() -> Self {
        let writer = |id| WriterState { id, phase: Phase::Look, told: Vec::new() };
        State {
            segments: [None; SEGMENTS],
            ledger: Vec::new(),
            travelling: BTreeSet::new(),
            writers: [writer(1), writer(2)],
            crashes: 1,
            losses: 1,
        }
    }

    /// Carries out a request to create an object; whether that was the first of its name.
    fn create(&mut self, object: Object, by: u8) -> bool {
        match object {
            Object::Segment(n) if self.segments[n].is_none() => self.segments[n] = Some(by),
            Object::Entry(place, of) if self.ledger.len() == place => self.ledger.push(of),
            _ => return false,
        }
        true
    }

    fn end(&self) -> usize {
        self.segments.iter().take_while(|segment| segment.is_some()).count()
    }

    fn counts(&self, segment: usize, counting: Counting) -> bool {
        let noted = !ANNOUNCES[segment] || self.ledger.contains(&segment);
        self.segments[segment].is_some() && (noted || counting == Counting::AtOnce)
    }

    /// The writer has stored its segment, entry included.
    fn told(&mut self, who: usize, segment: usize) {
        let writer = &mut self.writers[who];
        writer.told.push((segment, writer.id));
        writer.phase = next(segment + 1);
    }

    /// What a writer does after the store's answer.
    fn answered(&mut self, who: usize, created: bool, protocol: Protocol) {
        let id = self.writers[who].id;
        self.writers[who].phase = match self.writers[who].phase {
            Phase::Put { segment, lost } => {
                let own = created
                    || match protocol.finding {
                        Finding::ReadBack => self.segments[segment] == Some(id),
                        Finding::AssumeOwn => lost,
                        Finding::AssumeOther => false,
                    };
                match own {
                    false => Phase::Stopped { segment },
                    true if ANNOUNCES[segment] => Phase::Note { segment, own: true, lost: false },
                    true => return self.told(who, segment),
                }
            }
            // It reads what others have added, and is done if that has the entry.
            Phase::Note { segment, own, .. } if self.ledger.contains(&segment) => match own {
                true => return self.told(who, segment),
                false => next(segment + 1),
            },
            Phase::Note { segment, own, .. } => Phase::Note { segment, own, lost: false },
            other => other,
        };
    }

    /// Every state that can follow.
    fn successors(&self, protocol: Protocol) -> Vec<State> {
        let mut found = Vec::new();
        for (object, by) in &self.travelling {
            let mut state = self.clone();
            state.travelling.remove(&(*object, *by));
            state.create(*object, *by);
            found.push(state);
        }
        for who in 0..2 {
            let WriterState { id, phase, .. } = self.writers[who];
            let object = match phase {
                Phase::Look => {
                    let mut state = self.clone();
                    let end = self.end();
                    let undecided = end > 0
                        && ANNOUNCES[end - 1]
                        && !self.ledger.contains(&(end - 1))
                        && protocol.counting == Counting::WithEntry;
                    state.writers[who].phase = match undecided {
                        true => Phase::Note { segment: end - 1, own: false, lost: false },
                        false => next(end),
                    };
                    found.push(state);
                    None
                }
                Phase::Put { segment, .. } => Some(Object::Segment(segment)),
                // It has read all objects before the one that it creates, and so knows whether one has the entry.
                Phase::Note { segment, .. } if self.ledger.contains(&segment) => {
                    let mut state = self.clone();
                    state.answered(who, false, protocol);
                    found.push(state);
                    None
                }
                Phase::Note { segment, .. } => Some(Object::Entry(self.ledger.len(), segment)),
                Phase::Crashed => {
                    let mut state = self.clone();
                    state.writers[who].id += 2;
                    state.writers[who].phase = Phase::Look;
                    found.push(state);
                    None
                }
                Phase::Stopped { .. } | Phase::Done => None,
            };
            let Some(object) = object else { continue };
            let mut answered = self.clone();
            let created = answered.create(object, id);
            answered.answered(who, created, protocol);
            found.push(answered);
            // The reply is lost, or the process dies: the request was carried out, or is still on its way, or never
            // arrives.
            for carried_out in [Some(true), Some(false), None] {
                let mut after = self.clone();
                match carried_out {
                    Some(true) => drop(after.create(object, id)),
                    Some(false) => drop(after.travelling.insert((object, id))),
                    None => {}
                }
                if self.losses > 0 {
                    let mut lost = after.clone();
                    lost.losses -= 1;
                    lost.writers[who].phase = match phase {
                        Phase::Put { segment, .. } => Phase::Put { segment, lost: true },
                        Phase::Note { segment, own, .. } => {
                            Phase::Note { segment, own, lost: true }
                        }
                        other => other,
                    };
                    found.push(lost);
                }
                if self.crashes > 0 {
                    let mut crashed = after;
                    crashed.crashes -= 1;
                    crashed.writers[who].phase = Phase::Crashed;
                    found.push(crashed);
                }
            }
        }
        found
    }

    /// What must never be.
    fn violation(&self, protocol: Protocol) -> Option<&'static str> {
        let told = || self.writers.iter().flat_map(|writer| &writer.told);
        if told().any(|(segment, id)| self.segments[*segment] != Some(*id)) {
            return Some("a caller was told of events that are not in the store");
        }
        if told().any(|(segment, _)| !self.counts(*segment, protocol.counting)) {
            return Some("a caller was told of events that readers do not see");
        }
        if self.segments.windows(2).any(|pair| pair[0].is_none() && pair[1].is_some()) {
            return Some("a segment is missing before the last");
        }
        let noted = |segment: usize| self.ledger.iter().filter(|of| **of == segment).count();
        if (0..SEGMENTS).any(|segment| noted(segment) > 1) {
            return Some("an entry is in the ledger twice");
        }
        if (0..SEGMENTS).any(|segment| noted(segment) > 0 && self.segments[segment].is_none()) {
            return Some("an entry is about events that are not in the store");
        }
        let followed = |segment: usize| segment + 1 < self.end();
        if (0..SEGMENTS)
            .any(|segment| followed(segment) && ANNOUNCES[segment] && noted(segment) == 0)
        {
            return Some("the run went on before the ledger had an entry");
        }
        let visible =
            |segment: usize| self.counts(segment, protocol.counting) && ANNOUNCES[segment];
        if (0..SEGMENTS).any(|segment| visible(segment) && noted(segment) == 0) {
            return Some("readers see an event without its entry");
        }
        let stopped = self.writers.iter().find_map(|writer| match writer.phase {
            Phase::Stopped { segment } => Some(self.segments[segment] == Some(writer.id)),
            _ => None,
        });
        stopped.filter(|own| *own).map(|_| "a writer stopped because of its own segment")
    }
}

fn next(segment: usize) -> Phase {
    if segment < SEGMENTS { Phase::Put { segment, lost: false } } else { Phase::Done }
}

/// Tries everything; returns how many states there are, or the first violation.
fn explore(protocol: Protocol) -> Result<usize, &'static str> {
    let mut known = BTreeSet::from([State::start()]);
    let mut left = vec![State::start()];
    while let Some(state) = left.pop() {
        if let Some(violation) = state.violation(protocol) {
            return Err(violation);
        }
        for successor in state.successors(protocol) {
            if known.insert(successor.clone()) {
                left.push(successor);
            }
        }
    }
    Ok(known.len())
}

#[test]
fn no_order_of_the_steps_loses_or_forks_a_run() {
    let states = explore(OURS).unwrap();
    assert!(states > 1000, "{states}");
}

#[test]
fn without_reading_back_events_are_lost_or_a_writer_stops_for_nothing() {
    let mutant = |finding| explore(Protocol { finding, ..OURS });
    assert_eq!(
        mutant(Finding::AssumeOwn),
        Err("a caller was told of events that are not in the store")
    );
    assert_eq!(mutant(Finding::AssumeOther), Err("a writer stopped because of its own segment"));
}

#[test]
fn without_waiting_for_the_ledger_readers_see_events_without_their_entries() {
    let mutant = explore(Protocol { counting: Counting::AtOnce, ..OURS });
    assert!(mutant.is_err(), "{mutant:?}");
}
