//! Tells ends of another version of the protocol from strangers, and says so at most once a minute.

use crate::link::malformed;
use crate::wire::{Malformed, MAGIC};
use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the log tells of nodes of another version: each of them tries again and again.
const QUIET: Duration = Duration::from_secs(60);
/// Letters of a greeting before its two digits.
const LETTERS: usize = MAGIC.len() - 2;

/// The error for a greeting of another version.
#[derive(Debug)]
struct OtherVersion(String);

impl fmt::Display for OtherVersion {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            text, "speaks {} of vas-shuffled, and this node {}: install one version on all nodes",
            self.0, String::from_utf8_lossy(MAGIC)
        )
    }
}

impl std::error::Error for OtherVersion {}

/// Returns the error for a greeting that is not this version's.
pub fn refused(greeting: &[u8; MAGIC.len()]) -> io::Error {
    let (letters, digits) = greeting.split_at(LETTERS);
    if letters == &MAGIC[..LETTERS] && digits.iter().all(u8::is_ascii_digit) {
        let version = String::from_utf8_lossy(greeting).into_owned();
        return io::Error::new(io::ErrorKind::InvalidData, OtherVersion(version));
    }
    malformed(Malformed("not a daemon of this protocol"))
}

/// Limits how often the log tells of other versions.
#[derive(Default)]
pub struct VersionNotes(Mutex<Option<Instant>>);

impl VersionNotes {
    /// Returns the line to log for an error that ended the connection of a node at this address; None if the node is
    /// of this version, or such a line was returned within the last minute.
    pub fn line(&self, address: impl fmt::Display, error: &io::Error) -> Option<String> {
        let other = error.get_ref()?.downcast_ref::<OtherVersion>()?;
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_some_and(|before| before.elapsed() < QUIET) {
            return None;
        }
        *told = Some(Instant::now());
        Some(format!("{address} {other}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_named_once_and_a_stranger_is_not() {
        let notes = VersionNotes::default();
        assert_eq!(notes.line("n1", &refused(b"GET / HT")), None);
        assert_eq!(notes.line("n1", &refused(b"VASJBSx\n")), None);
        assert_eq!(notes.line("n1", &io::ErrorKind::TimedOut.into()), None);
        let line = notes.line("n1", &refused(b"VASJBS01")).unwrap();
        assert!(line.starts_with("n1 speaks VASJBS01 of vas-shuffled, and this node VASJBS02: install"), "{line}");
        assert_eq!(notes.line("n2", &refused(b"VASJBS03")), None, "a minute has not passed");
    }
}
