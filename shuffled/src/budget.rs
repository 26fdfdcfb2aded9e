//! A bound on the bytes that the node holds for reducers: who wants more waits.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// So many bytes and no more.
pub struct Budget {
    left: Mutex<u64>,
    freed: Condvar,
    all: u64,
}

/// Bytes that are in use until this is dropped.
pub struct Reserved {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    pub fn new(bytes: u64) -> Arc<Budget> {
        Arc::new(Budget { left: Mutex::new(bytes), freed: Condvar::new(), all: bytes })
    }

    /// Waits until so many bytes are free; more than there are count as all.
    pub fn reserve(self: &Arc<Self>, bytes: u64) -> Reserved {
        let bytes = bytes.min(self.all);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left < bytes {
            left = self.freed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        *left -= bytes;
        Reserved { budget: Arc::clone(self), bytes }
    }

    /// Returns the bytes in use now.
    pub fn used(&self) -> u64 {
        self.all - *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        *self.budget.left.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn no_more_is_in_use_than_there_is() {
        let budget = Budget::new(10);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for bytes in 1..200 {
                        let _held = budget.reserve(bytes % 12);
                        assert!(budget.used() <= 10);
                    }
                });
            }
        });
        assert_eq!(budget.used(), 0);
    }
}
