//! Writes map output as Hadoop does, in temporary local directories, and asks as a reducer does, for tests.

use crate::auth::{is_equal, Secret, Transcript};
use crate::index::{encode, Part};
use crate::jobs::Job;
use crate::link::{greet, receive, LinkRole};
use crate::names::{JobKey, MapAttemptId};
use crate::random::{nonce, Random};
use crate::wire::{Accept, Ask, LookAnswer, Message, Refused, Request};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

pub const JOB: JobKey = JobKey { cluster: 1_700_000_000_000, number: 3 };
pub const USER: &str = "alice";

/// Two temporary local directories, which are removed when this is dropped.
pub struct Site {
    pub root: PathBuf,
}

impl Site {
    pub fn new() -> Site {
        let unique: String = nonce().unwrap()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let site = Site { root: std::env::temp_dir().join(format!("vas-shuffled-{unique}")) };
        site.local_dirs().iter().for_each(|directory| fs::create_dir_all(directory).unwrap());
        site
    }

    pub fn local_dirs(&self) -> [PathBuf; 2] {
        [self.root.join("one"), self.root.join("two")]
    }

    /// Makes the directory of a map's files in the first or second local directory (`disk` 0 or 1), and returns it.
    pub fn output(&self, map: u32, disk: usize) -> PathBuf {
        let directory = self.local_dirs()[disk]
            .join(format!("usercache/{USER}/appcache/{JOB}/output/{}", attempt(map)));
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    /// Writes a map's output of these segments, each with IFile's checksum behind it. Returns the segments with these
    /// checksums.
    pub fn write(&self, map: u32, segments: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let plain = |segment: &Vec<u8>| (segment.clone(), segment.len() as u64);
        self.write_coded(map, &segments.iter().map(plain).collect::<Vec<_>>())
    }

    /// Writes segments as `write` does, each with the bytes that come of it when it is decompressed.
    pub fn write_coded(&self, map: u32, segments: &[(Vec<u8>, u64)]) -> Vec<Vec<u8>> {
        let (mut file, mut parts, mut stored) = (Vec::new(), Vec::new(), Vec::new());
        for (segment, raw_bytes) in segments {
            let (mut bytes, raw_bytes) = (segment.clone(), *raw_bytes);
            bytes.extend(crc32fast::hash(segment).to_be_bytes());
            parts.push(Part { start: file.len() as u64, raw_bytes, stored_bytes: bytes.len() as u64 });
            file.extend(&bytes);
            stored.push(bytes);
        }
        // Hadoop chooses a disk for each file.
        fs::write(self.output(map, 0).join("file.out"), file).unwrap();
        fs::write(self.output(map, 1).join("file.out.index"), encode(&parts)).unwrap();
        stored
    }

    pub fn write_random(&self, random: &mut Random, map: u32, partitions: u32, most: u64) -> Vec<Vec<u8>> {
        let mut segment = |_| {
            let count = 3 + random.below(most) as usize;
            random.bytes(count)
        };
        self.write(map, &(0..partitions).map(&mut segment).collect::<Vec<_>>())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

pub fn attempt(map: u32) -> MapAttemptId {
    MapAttemptId { job: JOB, map, attempt: 0 }
}

pub fn own_uid() -> u32 {
    rustix::process::getuid().as_raw()
}

pub fn job(secret: &[u8], uid: u32) -> Job {
    Job { key: JOB, user: USER.to_owned(), uid, secret: Secret::new(secret.to_vec()) }
}

/// A reducer's connection to its own node's daemon, and how many WORKING messages it got.
pub struct Reducer(pub UnixStream, pub usize);

impl Reducer {
    pub fn connect(mut stream: UnixStream, secret: &[u8]) -> Result<Reducer, Refused> {
        let transcript = greet(&mut stream, LinkRole::Asker, String::new()).unwrap();
        Reducer::prove(stream, &transcript, secret)
    }

    fn prove(mut stream: UnixStream, transcript: &Transcript, secret: &[u8]) -> Result<Reducer, Refused> {
        let secret = Secret::new(secret.to_vec());
        let mac = transcript.asker_proof(&secret, JOB);
        stream.write_all(&Message::Auth { job: JOB, mac }.encode(0, false)).unwrap();
        match receive(&mut stream, Accept::Answers).unwrap().message {
            Message::Authenticated { mac } => {
                assert!(is_equal(&mac, &transcript.answerer_proof(&secret, JOB)));
                Ok(Reducer(stream, 0))
            }
            Message::Refused(refused) => Err(refused),
            other => panic!("{other:?}"),
        }
    }

    fn ask(&mut self, host: &str, map: u32, partition: u32, ask: Ask) -> Message {
        let request = Request { map: attempt(map), partition, ask, host: host.to_owned() };
        self.0.write_all(&Message::Ask(request).encode(1, false)).unwrap();
        loop {
            match receive(&mut self.0, Accept::Answers).unwrap().message {
                Message::Working => self.1 += 1,
                other => return other,
            }
        }
    }

    pub fn look(&mut self, host: &str, map: u32, partition: u32, hold: u32) -> Result<LookAnswer, Refused> {
        self.looked(host, map, partition, Ask::Look { hold, verify: true, sealed: false })
    }

    /// Looks at a segment as a job does that demands TLS.
    pub fn look_sealed(&mut self, host: &str, map: u32, partition: u32) -> Result<LookAnswer, Refused> {
        self.looked(host, map, partition, Ask::Look { hold: 0, verify: true, sealed: true })
    }

    fn looked(&mut self, host: &str, map: u32, partition: u32, ask: Ask) -> Result<LookAnswer, Refused> {
        match self.ask(host, map, partition, ask) {
            Message::Looked(looked) => Ok(looked),
            Message::Refused(refused) => Err(refused),
            other => panic!("{other:?}"),
        }
    }

    pub fn read(&mut self, host: &str, map: u32, partition: u32, at: (u64, u32)) -> Result<Vec<u8>, Refused> {
        match self.ask(host, map, partition, Ask::Read { offset: at.0, length: at.1 }) {
            Message::Data { length } => {
                let mut bytes = vec![0; length as usize];
                self.0.read_exact(&mut bytes).unwrap();
                Ok(bytes)
            }
            Message::Refused(refused) => Err(refused),
            other => panic!("{other:?}"),
        }
    }
}
