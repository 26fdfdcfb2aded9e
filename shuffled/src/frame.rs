//! Encodes and decodes what the daemon's protocols have in common: the header of a message, and the parts of bodies
//! that more than one of them has. Pure.

use crate::names::{is_host, JobKey};

/// Bytes of a header: length of the body, kind, flags, number of the request.
pub const HEADER: usize = 4 + 1 + 1 + 8;
/// Most checksums of one segment: each is of 64 KiB, so a segment may have 16 GiB.
pub const MOST_CHECKSUMS: u32 = 1 << 18;
/// Bytes of a segment that have one checksum.
pub const CHECKSUM_BYTES: u64 = 64 << 10;

/// The error for bytes that cannot be a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// The fixed part in front of every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    /// Bytes of the message, without header and tag.
    pub length: u32,
    pub kind: u8,
    pub flags: u8,
    pub id: u64,
}

impl MessageHeader {
    /// Reads a header, whatever its words are.
    pub fn read(bytes: &[u8; HEADER]) -> Result<MessageHeader, Malformed> {
        let mut rest = Cursor(bytes);
        Ok(MessageHeader { length: rest.u32()?, kind: rest.u8()?, flags: rest.u8()?, id: rest.u64()? })
    }
}

/// Returns the bytes of a message with its header, and room for `spare` bytes behind it.
pub fn framed(kind: u8, flags: u8, id: u64, body: &[u8], spare: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + body.len() + spare);
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend([kind, flags]);
    bytes.extend(id.to_be_bytes());
    bytes.extend(body);
    bytes
}

/// Adds a job's key to a body.
pub fn put_job(out: &mut Vec<u8>, job: JobKey) {
    out.extend(job.cluster.to_be_bytes());
    out.extend(job.number.to_be_bytes());
}

/// Adds a host's name to a body, and its length before it.
pub fn put_host(out: &mut Vec<u8>, host: &str) {
    out.push(host.len() as u8);
    out.extend(host.as_bytes());
}

/// Adds checksums to a body, and their number before them.
pub fn put_checksums(out: &mut Vec<u8>, checksums: &[u32]) {
    out.extend((checksums.len() as u32).to_be_bytes());
    checksums.iter().for_each(|sum| out.extend(sum.to_be_bytes()));
}

/// The bytes of a message that are not decoded yet.
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        if count > self.0.len() {
            return Err(Malformed("a message that ends too early"));
        }
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// Returns an error for a number beyond `most`.
    pub fn at_most(&mut self, most: u32) -> Result<u32, Malformed> {
        let number = self.u32()?;
        if number > most { Err(Malformed("a number beyond its bound")) } else { Ok(number) }
    }

    /// Returns an error if bytes are left.
    pub fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed("bytes behind a message")) }
    }

    pub fn job(&mut self) -> Result<JobKey, Malformed> {
        Ok(JobKey { cluster: self.u64()?, number: self.u32()? })
    }

    /// Returns a host's name; empty where none is said.
    pub fn host(&mut self) -> Result<String, Malformed> {
        let length = self.u8()? as usize;
        let host = std::str::from_utf8(self.take(length)?).map_err(|_| Malformed("a host that is not text"))?;
        if !host.is_empty() && !is_host(host) {
            return Err(Malformed("a host that is none"));
        }
        Ok(host.to_owned())
    }

    /// Returns the checksums of a segment of so many bytes: one for each 64 KiB.
    pub fn checksums(&mut self, stored_bytes: u64) -> Result<Vec<u32>, Malformed> {
        let count = self.at_most(MOST_CHECKSUMS)?;
        if u64::from(count) != stored_bytes.div_ceil(CHECKSUM_BYTES) {
            return Err(Malformed("checksums that do not fit the length"));
        }
        (0..count).map(|_| self.u32()).collect()
    }
}
