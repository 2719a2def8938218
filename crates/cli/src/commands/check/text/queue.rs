//! Lines that were read and are not printed yet: so many that all threads are busy, and no more.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::line::Read;

/// How many bytes of lines are under way. A line that is longer is alone.
const UNDER_WAY: usize = 16 << 20;

/// The least memory for a line and its decision, in bytes.
const LEAST: usize = 1024;

/// The most lines that a thread takes at once.
const MOST_TAKEN: usize = 64;

/// Lines between the thread that reads and those that decide.
pub(super) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
    jobs: usize,
}

#[derive(Default)]
struct QueueState {
    lines: VecDeque<Read>,
    /// Of all lines that are read and not printed.
    under_way: usize,
    /// How many times lines were taken.
    taken: u64,
    /// Whether all lines are read.
    ended: bool,
    /// Whether nothing more is printed.
    closed: bool,
}

/// Consecutive lines.
pub(super) struct LineBatch {
    /// Their place in the order, from 0.
    pub(super) number: u64,
    pub(super) lines: Vec<Read>,
    pub(super) weight: usize,
}

/// Closes a queue, however its user ends.
pub(super) struct ClosedAtEnd<'a>(&'a Queue);

impl Drop for ClosedAtEnd<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.closed = true);
    }
}

fn weight(read: &Read) -> usize {
    let length = read.as_ref().map_or(0, |(_, text)| text.len());
    (length + LEAST).min(UNDER_WAY)
}

impl Queue {
    pub(super) fn new(jobs: usize) -> Self {
        Queue { state: Mutex::default(), changed: Condvar::new(), jobs }
    }

    pub(super) fn closed_at_end(&self) -> ClosedAtEnd<'_> {
        ClosedAtEnd(self)
    }

    fn change(&self, change: impl FnOnce(&mut QueueState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    fn once(&self, holds: impl Fn(&QueueState) -> bool) -> MutexGuard<'_, QueueState> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(state, |state| !holds(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line, when there is room for it. Returns whether more are wanted.
    pub(super) fn push(&self, read: Read) -> bool {
        let weight = weight(&read);
        let mut state = self.once(|it| it.closed || it.under_way + weight <= UNDER_WAY);
        if state.closed {
            return false;
        }
        state.under_way += weight;
        state.lines.push_back(read);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// All lines are read.
    pub(super) fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// The next lines, when there are any; `None` if there are no more.
    pub(super) fn take(&self) -> Option<LineBatch> {
        let mut state = self.once(|it| it.closed || it.ended || !it.lines.is_empty());
        if state.closed || state.lines.is_empty() {
            return None;
        }
        // The lines in the queue are divided among the threads.
        let n = state.lines.len().div_ceil(self.jobs).min(MOST_TAKEN);
        let lines: Vec<Read> = state.lines.drain(..n).collect();
        let number = state.taken;
        state.taken += 1;
        let weight = lines.iter().map(weight).sum();
        Some(LineBatch { number, lines, weight })
    }

    /// Lines are printed.
    pub(super) fn release(&self, weight: usize) {
        self.change(|state| state.under_way -= weight);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn line(number: usize, length: usize) -> Read {
        Ok((number, "x".repeat(length)))
    }

    #[test]
    fn lines_are_taken_in_their_order_and_an_end_is_noticed() {
        let queue = Queue::new(2);
        for number in 1..=5 {
            assert!(queue.push(line(number, 1)));
        }
        queue.end();
        let numbers = |taken: LineBatch| {
            let lines = taken.lines.into_iter().map(|line| line.unwrap().0);
            (taken.number, lines.collect::<Vec<_>>())
        };
        assert_eq!(queue.take().map(numbers), Some((0, vec![1, 2, 3])));
        assert_eq!(queue.take().map(numbers), Some((1, vec![4])));
        assert_eq!(queue.take().map(numbers), Some((2, vec![5])));
        assert!(queue.take().is_none());
    }

    #[test]
    fn a_reader_waits_until_lines_are_printed() {
        let queue = Queue::new(1);
        // One that is longer than all may be is alone.
        assert!(queue.push(line(1, UNDER_WAY + 1)));
        thread::scope(|scope| {
            let second = scope.spawn(|| queue.push(line(2, 1)));
            let first = queue.take().unwrap();
            assert!(!second.is_finished() && first.lines.len() == 1);
            queue.release(first.weight);
            assert!(second.join().unwrap());
            let third = scope.spawn(|| queue.push(line(3, UNDER_WAY)));
            drop(queue.closed_at_end());
            assert!(!third.join().unwrap() && queue.take().is_none());
        });
    }
}
