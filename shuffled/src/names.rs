//! Checks names of applications, users and hosts on the way in, and builds names of applications and attempts from
//! numbers on the way out.

use std::fmt;

/// Most bytes of a user's name; longer ones are refused.
const LONGEST_USER: usize = 64;
/// Most bytes of a host's name in the DNS.
const LONGEST_HOST: usize = 253;

/// The key of a MapReduce job: the two numbers of its YARN application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobKey {
    /// The start of the ResourceManager, in milliseconds since 1970.
    pub cluster: u64,
    pub number: u32,
}

impl JobKey {
    /// Reads `application_CLUSTER_NUMBER`; None for anything else.
    pub fn parse(text: &str) -> Option<JobKey> {
        let (cluster, number) = text.strip_prefix("application_")?.split_once('_')?;
        let key = JobKey { cluster: digits(cluster)?, number: u32::try_from(digits(number)?).ok()? };
        // One spelling for each key: what is parsed is what is printed.
        (key.to_string() == text).then_some(key)
    }
}

fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.len() <= 19 && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for JobKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "application_{}_{:04}", self.cluster, self.number)
    }
}

/// The key of one attempt of a map task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MapAttemptId {
    pub job: JobKey,
    pub map: u32,
    pub attempt: u32,
}

impl fmt::Display for MapAttemptId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JobKey { cluster, number } = self.job;
        write!(out, "attempt_{cluster}_{number:04}_m_{:06}_{}", self.map, self.attempt)
    }
}

/// Returns whether a user's name can be one component of a path, and nothing but that.
pub fn is_user(name: &str) -> bool {
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'@' | b'$');
    !name.is_empty()
        && name.len() <= LONGEST_USER
        && name.bytes().all(inside)
        && !name.starts_with(['.', '-'])
}

/// Returns whether a text can be a host's name or address.
pub fn is_host(name: &str) -> bool {
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b':');
    !name.is_empty() && name.len() <= LONGEST_HOST && name.bytes().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn an_application_has_one_spelling() {
        let key = JobKey::parse("application_1700000000000_0007").unwrap();
        assert_eq!(key, JobKey { cluster: 1_700_000_000_000, number: 7 });
        for wrong in ["application_1_7", "application_01_0007", "application_1_0007/..", "job_1_0007",
            "application_1_00007", "application__0001", "application_1_", "application_+1_0001"] {
            assert_eq!(JobKey::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_key_is_read_back() {
        let mut random = Random::new(1);
        for _ in 0..10_000 {
            let key = JobKey { cluster: random.below(1 << 50), number: random.next() as u32 };
            assert_eq!(JobKey::parse(&key.to_string()), Some(key));
        }
    }

    #[test]
    fn a_users_name_leads_nowhere_else() {
        for wrong in ["", ".", "..", "a/b", ".hidden", "-rf", "a\0b", "a b", "a\nb"] {
            assert!(!is_user(wrong), "{wrong:?}");
        }
        assert!(is_user("alice") && is_user("svc-1.x@REALM"));
    }

    #[test]
    fn an_attempt_is_named_as_hadoop_names_it() {
        let job = JobKey { cluster: 5, number: 12 };
        let attempt = MapAttemptId { job, map: 3, attempt: 1000 };
        assert_eq!(attempt.to_string(), "attempt_5_0012_m_000003_1000");
    }
}
