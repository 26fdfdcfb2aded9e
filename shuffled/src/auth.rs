//! Makes the proofs that both ends of a connection know a job's shuffle secret (docs/adr/0019). The secret itself is
//! never sent.

use crate::locked::Bytes;
use crate::names::JobKey;
use crate::random::NONCE;
use crate::wire::{MAC, TAG};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;

/// Most bytes of a secret; Hadoop's secrets have 8.
pub const LONGEST_SECRET: usize = 256;

/// A job's secret, or a key that is made from one. It is overwritten when it is dropped, and nothing prints it.
pub struct Secret(Bytes);

impl Secret {
    pub fn new(bytes: Vec<u8>) -> Secret {
        Secret(Bytes::new(bytes))
    }

    /// Returns the secret that this one spells in hexadecimal: its bytes are digits from 0 to 15, two for each byte.
    pub fn joined(&self) -> Secret {
        Secret::new(self.0.lend(|digits| digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()))
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; MAC] {
        self.0.lend(|key| mac(key, parts)).finalize().into_bytes().into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a secret")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Secret) -> bool {
        let ours = self.0.lend(|bytes| mac(b"compare", &[bytes])).finalize().into_bytes();
        other.0.lend(|bytes| mac(b"compare", &[bytes])).verify_slice(&ours).is_ok()
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).expect("HMAC takes keys of every length");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// The identity of one connection: the nonces and addresses of both ends. A proof is made over it, so a proof for one
/// connection proves nothing on another.
#[derive(Clone, Debug)]
pub struct Transcript {
    pub asker: [u8; NONCE],
    pub answerer: [u8; NONCE],
    /// The addresses of a TCP connection, the asker's first, and under TLS a text that only both ends know; empty on
    /// a Unix socket.
    pub ends: String,
}

impl Transcript {
    /// Returns the proof of the end that asks for a job's outputs.
    pub fn asker_proof(&self, secret: &Secret, job: JobKey) -> [u8; MAC] {
        self.proof(secret, b"vas-jbs 1 asker", job)
    }

    /// Returns the proof of the end that answers with a job's outputs.
    pub fn answerer_proof(&self, secret: &Secret, job: JobKey) -> [u8; MAC] {
        self.proof(secret, b"vas-jbs 1 answerer", job)
    }

    /// Returns the key that makes the tags of this job's messages on this connection.
    pub fn session(&self, secret: &Secret, job: JobKey) -> SessionKey {
        SessionKey(Secret::new(self.proof(secret, b"vas-jbs 1 session", job).to_vec()))
    }

    fn proof(&self, secret: &Secret, role: &[u8], job: JobKey) -> [u8; MAC] {
        let job = [job.cluster.to_be_bytes().as_slice(), &job.number.to_be_bytes()].concat();
        // Every part but the last has a length that its role fixes, so no two inputs are one.
        secret.mac(&[role, &[0], &self.asker, &self.answerer, &job, self.ends.as_bytes()])
    }
}

/// Returns whether two proofs or tags are equal, in a time that does not depend on where they differ.
pub fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let expected = mac(b"compare", &[one]).finalize().into_bytes();
    mac(b"compare", &[other]).verify_slice(&expected).is_ok()
}

/// The direction of a message: from the end that asks, or from the end that answers.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Direction {
    Asked = 1,
    Answered = 2,
}

/// The key that makes the tags of one job's messages on one connection.
#[derive(Debug)]
pub struct SessionKey(Secret);

impl SessionKey {
    /// Returns the tag of a message; `place` counts the tagged messages of the same direction.
    pub fn tag(&self, direction: Direction, place: u64, message: &[u8]) -> [u8; TAG] {
        let whole = self.0.mac(&[&[direction as u8], &place.to_be_bytes(), message]);
        let mut tag = [0; TAG];
        tag.copy_from_slice(&whole[..TAG]);
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobKey = JobKey { cluster: 1, number: 2 };

    fn transcript() -> Transcript {
        Transcript { asker: [1; NONCE], answerer: [2; NONCE], ends: "10.0.0.1:1 10.0.0.2:2".to_owned() }
    }

    #[test]
    fn a_proof_is_of_one_connection_job_secret_and_end() {
        let secret = Secret::new(b"secret".to_vec());
        let right = transcript().asker_proof(&secret, JOB);
        let mut others = vec![
            transcript().answerer_proof(&secret, JOB),
            transcript().asker_proof(&Secret::new(b"other".to_vec()), JOB),
            transcript().asker_proof(&secret, JobKey { cluster: 1, number: 3 }),
        ];
        for change in 0..3 {
            let mut changed = transcript();
            match change {
                0 => changed.asker[31] ^= 1,
                1 => changed.answerer[0] ^= 1,
                _ => changed.ends.push('1'),
            }
            others.push(changed.asker_proof(&secret, JOB));
        }
        assert!(is_equal(&right, &transcript().asker_proof(&secret, JOB)));
        assert!(others.iter().all(|other| !is_equal(&right, other)));
    }

    #[test]
    fn a_tag_is_of_one_message_at_one_place() {
        let session = transcript().session(&Secret::new(vec![7]), JOB);
        let right = session.tag(Direction::Asked, 5, b"message");
        assert_eq!(right, session.tag(Direction::Asked, 5, b"message"));
        assert_ne!(right, session.tag(Direction::Asked, 6, b"message"));
        assert_ne!(right, session.tag(Direction::Answered, 5, b"message"));
        assert_ne!(right, session.tag(Direction::Asked, 5, b"messagf"));
    }

    #[test]
    fn the_mac_is_hmac_sha256() {
        // RFC 4231, test case 2.
        let mac = Secret::new(b"Jefe".to_vec()).mac(&[b"what do ya want ", b"for nothing?"]);
        let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    // The same vector is in Java's ProofsTest.
    #[test]
    fn java_and_rust_prove_the_same() {
        let transcript = Transcript { ends: String::new(), ..transcript() };
        let job = JobKey { cluster: 1_700_000_000_000, number: 3 };
        let secret = Secret::new(b"a job's secret".to_vec());
        let hex = |mac: [u8; MAC]| mac.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(
            hex(transcript.asker_proof(&secret, job)),
            "2e5d17df39591e410619b05e6a14f22f0e8e8aecec4c75bee427395f5546218c"
        );
        assert_eq!(
            hex(transcript.answerer_proof(&secret, job)),
            "09fba75b57fe714671b322e6729874e861d742118e887571bee9b668ae302285"
        );
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Secret::new(b"hush".to_vec())), "a secret");
    }
}
