//! Orders the requests to one node: first in, first out within a job, and jobs take turns by bytes. It is deficit
//! round robin (Shreedhar and Varghese, 1995), as a data structure without a thread.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Bytes that a job may ask for in one turn: those of the largest single request.
pub const QUANTUM: u64 = 1 << 20;

/// Least bytes that a request is charged with, however few it asks for: the other node reads its disk all the same.
pub const SMALLEST: u64 = 128 << 10;

struct Line<T> {
    waiting: VecDeque<(u64, T)>,
    credit: u64,
}

/// The waiting requests `T` of several jobs `J`.
pub struct Fair<J, T> {
    lines: HashMap<J, Line<T>>,
    turns: VecDeque<J>,
    count: usize,
}

impl<J: Hash + Eq + Clone, T> Default for Fair<J, T> {
    fn default() -> Self {
        Fair { lines: HashMap::new(), turns: VecDeque::new(), count: 0 }
    }
}

impl<J: Hash + Eq + Clone, T> Fair<J, T> {
    /// Adds a request of a job, whose answer is expected to have this many bytes.
    pub fn add(&mut self, job: J, bytes: u64, request: T) {
        let line = self.lines.entry(job.clone()).or_insert_with(|| {
            self.turns.push_back(job);
            Line { waiting: VecDeque::new(), credit: QUANTUM }
        });
        line.waiting.push_back((bytes.clamp(SMALLEST, QUANTUM), request));
        self.count += 1;
    }

    /// Removes and returns the next request of a job for which `may` is true; None if no request of such a job waits.
    pub fn take(&mut self, may: impl Fn(&J) -> bool) -> Option<T> {
        if !self.turns.iter().any(&may) {
            return None;
        }
        loop {
            let job = self.turns.front()?.clone();
            if !may(&job) {
                self.turns.rotate_left(1);
                continue;
            }
            let line = self.lines.get_mut(&job)?;
            match line.waiting.front() {
                Some((bytes, _)) if *bytes <= line.credit => {
                    let (bytes, request) = line.waiting.pop_front()?;
                    line.credit -= bytes;
                    self.count -= 1;
                    if line.waiting.is_empty() {
                        // A job without requests saves no credit.
                        self.lines.remove(&job);
                        self.turns.pop_front();
                    }
                    return Some(request);
                }
                _ => {
                    line.credit += QUANTUM;
                    self.turns.rotate_left(1);
                }
            }
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Removes and returns all waiting requests, in no particular order.
    pub fn drain(&mut self) -> Vec<T> {
        self.turns.clear();
        self.count = 0;
        self.lines.drain().flat_map(|(_, line)| line.waiting).map(|(_, request)| request).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn bytes_are_shared_and_not_requests() {
        let mut fair = Fair::default();
        for _ in 0..1000 {
            fair.add("large", QUANTUM, ("large", QUANTUM));
            fair.add("small", SMALLEST, ("small", SMALLEST));
        }
        let mut bytes = HashMap::new();
        for _ in 0..650 {
            let (job, count) = fair.take(|_| true).unwrap();
            *bytes.entry(job).or_insert(0) += count;
        }
        let (large, small) = (bytes["large"] as f64, bytes["small"] as f64);
        assert!((0.8..1.25).contains(&(large / small)), "{large} {small}");
    }

    #[test]
    fn requests_for_few_bytes_take_their_turns_too() {
        let mut fair = Fair::default();
        for _ in 0..1000 {
            fair.add("looks", 0, "looks");
            fair.add("reads", QUANTUM, "reads");
        }
        let reads = (0..180).filter(|_| fair.take(|_| true) == Some("reads")).count();
        assert!(reads >= 18, "{reads} reads beside {} looks", 180 - reads);
    }

    #[test]
    fn a_job_that_may_not_is_passed_over_and_loses_nothing() {
        let mut fair = Fair::default();
        (0..3).for_each(|number| fair.add("one", QUANTUM, ("one", number)));
        fair.add("two", QUANTUM, ("two", 0));
        assert_eq!(fair.take(|job| *job == "two"), Some(("two", 0)));
        assert_eq!(fair.take(|job| *job == "two"), None);
        assert_eq!(fair.take(|_| true), Some(("one", 0)));
        assert_eq!(fair.len(), 2);
    }

    #[test]
    fn a_jobs_requests_stay_in_order_and_none_is_lost() {
        let mut random = Random::new(8);
        for _ in 0..200 {
            let mut fair = Fair::default();
            let mut expected: HashMap<u64, VecDeque<u64>> = HashMap::new();
            for number in 0..random.below(300) {
                let job = random.below(4);
                if random.below(3) == 0 {
                    if let Some((job, number)) = fair.take(|_| true) {
                        assert_eq!(expected.get_mut(&job).unwrap().pop_front(), Some(number));
                    }
                }
                fair.add(job, random.below(2 * QUANTUM), (job, number));
                expected.entry(job).or_default().push_back(number);
            }
            while let Some((job, number)) = fair.take(|_| true) {
                assert_eq!(expected.get_mut(&job).unwrap().pop_front(), Some(number));
            }
            assert!(fair.len() == 0 && expected.values().all(VecDeque::is_empty));
        }
    }
}
