//! Gets random bytes of the kernel; and, for tests, makes numbers that a seed repeats.

use std::io;

/// Bytes of a nonce.
pub const NONCE: usize = 32;

/// Returns 32 bytes that nobody can guess. Returns an error if the kernel gives none.
pub fn nonce() -> io::Result<[u8; NONCE]> {
    let mut bytes = [0; NONCE];
    let mut have = 0;
    while have < bytes.len() {
        have += rustix::rand::getrandom(&mut bytes[have..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Marsaglia's xorshift64, whose numbers make the cases of a test, the same in every run.
#[cfg(test)]
pub struct Random(u64);

#[cfg(test)]
impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}
