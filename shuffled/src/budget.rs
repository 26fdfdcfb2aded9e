//! Bounds the bytes of memory that the daemon holds, with fair shares. A request for more than is free waits, but not
//! for ever.

use crate::shares::{Payer, Shares};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A fixed number of bytes of memory, of which requests reserve parts.
pub struct MemoryBudget {
    shares: Mutex<Shares>,
    freed: Condvar,
    all: u64,
    given: AtomicU64,
}

/// Bytes of the budget that are reserved until this is dropped.
pub struct Reserved {
    budget: Arc<MemoryBudget>,
    payer: Payer,
    bytes: u64,
}

impl MemoryBudget {
    pub fn new(bytes: u64) -> Arc<MemoryBudget> {
        let shares = Mutex::new(Shares::new(bytes));
        Arc::new(MemoryBudget { shares, freed: Condvar::new(), all: bytes, given: AtomicU64::new(0) })
    }

    /// Reserves bytes. Waits until they are free, and within the shares of the job and of its user; a request for
    /// more than the whole budget gets the whole. Returns None if that takes longer than `patience`.
    pub fn reserve(self: &Arc<Self>, payer: Payer, bytes: u64, patience: Duration) -> Option<Reserved> {
        let (bytes, end) = (bytes.min(self.all), Instant::now() + patience);
        let mut shares = self.lock();
        while !shares.take(payer, bytes) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            shares = self.freed.wait_timeout(shares, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(Reserved { budget: Arc::clone(self), payer, bytes })
    }

    /// Returns the number of bytes that there are.
    pub fn all(&self) -> u64 {
        self.all
    }

    /// Returns how often reserved bytes were given back: while this number grows, waiting is worth it.
    pub fn given(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    /// Returns the most bytes that were reserved at once.
    #[cfg(test)]
    pub fn most(&self) -> u64 {
        self.lock().most()
    }

    /// Returns the number of bytes that are reserved now.
    pub fn used(&self) -> u64 {
        self.lock().held()
    }

    fn lock(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.budget.lock().give(self.payer, self.bytes);
        self.budget.given.fetch_add(1, Ordering::Relaxed);
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::JobKey;
    use std::thread;

    fn payer(job: u32, uid: u32) -> Payer {
        Payer { job: JobKey { cluster: 1, number: job }, uid }
    }

    #[test]
    fn no_more_is_in_use_than_there_is() {
        let budget = MemoryBudget::new(10);
        thread::scope(|scope| {
            for user in 0..8 {
                let budget = &budget;
                scope.spawn(move || {
                    for bytes in 1..200 {
                        let _held = budget.reserve(payer(user, user), bytes % 12, Duration::from_secs(60)).unwrap();
                        assert!(budget.used() <= 10);
                    }
                });
            }
        });
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn one_user_cannot_hold_all_and_waits_no_longer_than_it_may() {
        let budget = MemoryBudget::new(1000);
        let mut held = Vec::new();
        for number in 0..1000 {
            held.extend(budget.reserve(payer(number % 5, 1), 10, Duration::ZERO));
        }
        assert!(budget.used() <= 750, "{} of 1000 bytes are one user's", budget.used());
        assert!(budget.reserve(payer(6, 2), 100, Duration::ZERO).is_some());
        assert!(budget.reserve(payer(0, 1), 100, Duration::from_millis(20)).is_none());
    }
}
