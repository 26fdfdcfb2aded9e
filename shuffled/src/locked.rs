//! Keeps short secrets in memory that is never written to a swap device.

use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Bytes of a place: a job's secret has 8 in Hadoop, a connection's key 32.
const PLACE: usize = 56;
/// Places, 256 KiB in all with their locks: less than any limit of locked memory that a distribution sets.
const PLACES: usize = 4096;

type Place = Mutex<[u8; PLACE]>;

/// The places of this process, and whether the kernel keeps them in memory.
struct Store {
    places: Box<[Place]>,
    free: Mutex<Vec<usize>>,
    lock: Result<region::LockGuard, region::Error>,
}

static STORE: OnceLock<Store> = OnceLock::new();

fn store() -> &'static Store {
    STORE.get_or_init(|| {
        let places: Box<[Place]> = (0..PLACES).map(|_| Mutex::new([0; PLACE])).collect();
        let lock = region::lock(places.as_ptr(), std::mem::size_of_val(&*places));
        Store { places, free: Mutex::new((0..PLACES).rev().collect()), lock }
    })
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Returns why the kernel may write secrets to a swap device; None if it may not.
pub fn why_not() -> Option<String> {
    store().lock.as_ref().err().map(|error| error.to_string())
}

/// Bytes in locked memory; those that are too many for a place, or come when all are taken, are on the heap. They are
/// overwritten when they are dropped.
pub enum Bytes {
    Locked { place: usize, length: usize },
    Heap(Vec<u8>),
}

impl Bytes {
    /// Takes over bytes, and overwrites the place where they were.
    pub fn new(mut bytes: Vec<u8>) -> Bytes {
        let place = if bytes.len() <= PLACE { held(&store().free).pop() } else { None };
        let Some(place) = place else {
            return Bytes::Heap(bytes);
        };
        held(&store().places[place])[..bytes.len()].copy_from_slice(&bytes);
        overwrite(&mut bytes);
        Bytes::Locked { place, length: bytes.len() }
    }

    /// Lends the bytes to a function.
    pub fn lend<T>(&self, to: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Bytes::Locked { place, length } => to(&held(&store().places[*place])[..*length]),
            Bytes::Heap(bytes) => to(bytes),
        }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        match self {
            Bytes::Locked { place, .. } => {
                overwrite(&mut *held(&store().places[*place]));
                held(&store().free).push(*place);
            }
            Bytes::Heap(bytes) => overwrite(bytes),
        }
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a secret")
    }
}

fn overwrite(bytes: &mut [u8]) {
    bytes.fill(0);
    std::hint::black_box(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held by a test that takes all places, and by one that needs a place.
    static ALL_PLACES: Mutex<()> = Mutex::new(());

    #[test]
    fn the_kernel_keeps_the_places_in_memory() {
        let kept = Bytes::new(b"secret".to_vec());
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmLck:")).unwrap();
        let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(why_not().is_some() || kib * 1024 >= PLACES * PLACE, "{line}");
        assert_eq!(kept.lend(<[u8]>::to_vec), b"secret");
    }

    #[test]
    fn a_place_is_empty_before_another_secret_gets_it() {
        let _alone = held(&ALL_PLACES);
        let first = Bytes::new(vec![7; PLACE]);
        let Bytes::Locked { place, .. } = first else { panic!("no place was free") };
        // Other tests take places too: this one is held, so that nobody gets it before it was looked at.
        let looked = std::thread::scope(|scope| {
            let free = held(&store().free);
            let dropping = scope.spawn(move || drop(first));
            while held(&store().places[place]).iter().any(|byte| *byte != 0) {
                std::thread::yield_now();
            }
            drop(free);
            dropping.join()
        });
        assert!(looked.is_ok());
    }

    #[test]
    fn long_secrets_and_those_that_find_no_place_are_kept_too() {
        let _alone = held(&ALL_PLACES);
        let long = Bytes::new(vec![1; PLACE + 1]);
        assert!(matches!(long, Bytes::Heap(_)));
        let many: Vec<Bytes> = (0..=PLACES).map(|number| Bytes::new(vec![number as u8; 8])).collect();
        assert!(many.iter().any(|one| matches!(one, Bytes::Heap(_))));
        assert!(many.iter().enumerate().all(|(number, one)| one.lend(|bytes| bytes == [number as u8; 8])));
    }
}
