//! Stock map output in the NodeManager's local directories: found by numbers, opened beneath the
//! application's own directory, owned by its user, verified before its checksums are told.

use crate::index::{self, Index, Part};
use crate::jobs::Job;
use crate::names::{JobKey, MapAttempt};
use crate::wire::{Looked, Refusal, Refused, CHECKSUM_BYTES, MOST_CHECKSUMS};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Files that stay open at most, and bytes of their indexes.
const MOST_OPEN: usize = 512;
const MOST_INDEX_BYTES: usize = 64 << 20;
/// Bytes of IFile's checksum at the end of a segment.
const IFILE_CHECKSUM: u64 = 4;
/// The raw size of a segment without a record: its end marker.
const EMPTY: u64 = 2;

/// One map's output, open.
pub struct Output {
    pub name: MapAttempt,
    pub file: File,
    /// The device that the file is on, as the kernel numbers them.
    pub device: u64,
    index: Index,
}

/// All outputs of this node's local directories.
pub struct Outputs {
    roots: Vec<OwnedFd>,
    open: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    outputs: HashMap<MapAttempt, (Arc<Output>, u64)>,
    index_bytes: usize,
    uses: u64,
}

impl Outputs {
    /// Opens the local directories themselves, whose paths the NodeManager gave.
    pub fn new(local_dirs: &[impl AsRef<Path>]) -> io::Result<Outputs> {
        let open = |path: &Path| {
            rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
        };
        let roots = local_dirs.iter().map(|path| open(path.as_ref())).collect::<Result<_, _>>()?;
        Ok(Outputs { roots, open: Mutex::default() })
    }

    /// Returns the devices of the local directories, each once.
    pub fn devices(&self) -> io::Result<Vec<u64>> {
        let mut devices =
            self.roots.iter().map(|root| Ok(rustix::fs::fstat(root)?.st_dev)).collect::<io::Result<Vec<u64>>>()?;
        devices.sort_unstable();
        devices.dedup();
        Ok(devices)
    }

    /// Returns an attempt's output.
    pub fn get(&self, job: &Job, name: MapAttempt) -> Result<Arc<Output>, Refused> {
        if let Some(output) = self.cache().get(name) {
            return Ok(output);
        }
        let output = Arc::new(self.open(job, name)?);
        self.cache().put(&output);
        Ok(output)
    }

    /// Closes an output that turned out to be damaged, or all of a job that is over.
    pub fn forget(&self, which: impl Fn(MapAttempt) -> bool) {
        let mut cache = self.cache();
        cache.outputs.retain(|name, _| !which(*name));
        cache.index_bytes = cache.outputs.values().map(|(output, _)| output.index.memory()).sum();
    }

    /// Closes the outputs of a job.
    pub fn forget_job(&self, job: JobKey) {
        self.forget(|name| name.job == job);
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, job: &Job, name: MapAttempt) -> Result<Output, Refused> {
        let index = self.find(job, name, "file.out.index")?;
        let file = self.find(job, name, "file.out")?;
        let sick = |error: io::Error| refused_by(error, name);
        let (index_bytes, bytes) = (index.metadata().map_err(sick)?.len(), file.metadata().map_err(sick)?.len());
        if index_bytes > index::LARGEST {
            return Err(damaged(name, "its index is larger than any job's"));
        }
        let mut content = vec![0; index_bytes as usize];
        index.read_exact_at(&mut content, 0).map_err(sick)?;
        let index = Index::parse(&content, bytes).map_err(|why| damaged(name, why))?;
        let device = rustix::fs::fstat(&file).map_err(|error| sick(error.into()))?.st_dev;
        Ok(Output { name, file, device, index })
    }

    // Index and data may be on two disks: Hadoop chooses one for each file.
    fn find(&self, job: &Job, name: MapAttempt, file: &str) -> Result<File, Refused> {
        let application = format!("usercache/{}/appcache/{}", job.user, job.key);
        let path = format!("output/{name}/{file}");
        for root in &self.roots {
            let directory = match beneath(root, &application, OFlags::PATH | OFlags::DIRECTORY) {
                Ok(directory) => directory,
                Err(error) if error == rustix::io::Errno::NOENT => continue,
                Err(error) => return Err(refused_by(error.into(), name)),
            };
            match beneath(&directory, &path, OFlags::RDONLY | OFlags::NONBLOCK) {
                Ok(found) => return owned(found, job, name).map(File::from),
                Err(error) if error == rustix::io::Errno::NOENT => continue,
                Err(error) => return Err(refused_by(error.into(), name)),
            }
        }
        Err(Refused::new(Refusal::Gone, format!("{name}: no {file} in any local directory")))
    }
}

fn beneath(directory: &OwnedFd, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(directory, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
}

fn owned(file: OwnedFd, job: &Job, name: MapAttempt) -> Result<OwnedFd, Refused> {
    let stat = rustix::fs::fstat(file.as_fd()).map_err(|error| refused_by(error.into(), name))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Refused::new(Refusal::Gone, format!("{name}: not a regular file")));
    }
    if stat.st_uid != job.uid {
        return Err(Refused::new(Refusal::Gone, format!("{name}: not its user's file")));
    }
    Ok(file)
}

fn damaged(name: MapAttempt, why: &str) -> Refused {
    Refused::new(Refusal::Damaged, format!("{name}: {why}"))
}

/// Returns who is to blame for an error: a disk that fails, the output that is away, or its links.
pub fn refused_by(error: io::Error, name: MapAttempt) -> Refused {
    use rustix::io::Errno;
    let why = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => Refusal::Gone,
        Some(_) => Refusal::Sick,
        None => Refusal::Damaged,
    };
    Refused::new(why, format!("{name}: {error}"))
}

impl Cache {
    fn get(&mut self, name: MapAttempt) -> Option<Arc<Output>> {
        self.uses += 1;
        let (output, used) = self.outputs.get_mut(&name)?;
        *used = self.uses;
        Some(Arc::clone(output))
    }

    fn put(&mut self, output: &Arc<Output>) {
        self.uses += 1;
        self.index_bytes += output.index.memory();
        if let Some((old, _)) = self.outputs.insert(output.name, (Arc::clone(output), self.uses)) {
            self.index_bytes -= old.index.memory();
        }
        while self.outputs.len() > MOST_OPEN || (self.index_bytes > MOST_INDEX_BYTES && self.outputs.len() > 1) {
            let Some(oldest) = self.outputs.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| *name) else {
                return;
            };
            if let Some((gone, _)) = self.outputs.remove(&oldest) {
                self.index_bytes -= gone.index.memory();
            }
        }
    }
}

impl Output {
    /// Returns where a partition's segment is.
    pub fn part(&self, partition: u32) -> Result<Part, Refused> {
        self.index.part(partition).ok_or_else(|| damaged(self.name, "its index has no such partition"))
    }

    /// Reads a segment once: its sizes, the CRC32C of each 64 KiB, and the bytes themselves if there are
    /// at most `hold`. A segment without a record has no checksums: nothing of it is read by anybody.
    pub fn look(&self, partition: u32, hold: u32, verify: bool) -> Result<Looked, Refused> {
        let part = self.part(partition)?;
        let Part { stored_bytes, raw_bytes, .. } = part;
        if raw_bytes <= EMPTY {
            return Ok(Looked { stored_bytes: 0, raw_bytes, checksums: Vec::new(), held: Vec::new() });
        }
        if stored_bytes.div_ceil(CHECKSUM_BYTES) > u64::from(MOST_CHECKSUMS) {
            let why = format!("{}: a segment of {stored_bytes} bytes is larger than 16 GiB", self.name);
            return Err(Refused::new(Refusal::TooMuch, why));
        }
        let mut held = Vec::new();
        let keep = stored_bytes <= u64::from(hold);
        let (checksums, is_right) = self.checksums(part, |block| if keep { held.extend_from_slice(block) })?;
        if verify && !is_right {
            return Err(damaged(self.name, &format!("partition {partition} has a wrong IFile checksum")));
        }
        Ok(Looked { stored_bytes, raw_bytes, checksums, held })
    }

    fn checksums(&self, part: Part, mut each: impl FnMut(&[u8])) -> Result<(Vec<u32>, bool), Refused> {
        let mut block = vec![0; CHECKSUM_BYTES as usize];
        let mut sums = Vec::with_capacity(part.stored_bytes.div_ceil(CHECKSUM_BYTES) as usize);
        let summed = part.stored_bytes.saturating_sub(IFILE_CHECKSUM);
        let (mut done, mut whole, mut tail) = (0, crc32fast::Hasher::new(), Vec::new());
        while done < part.stored_bytes {
            let count = CHECKSUM_BYTES.min(part.stored_bytes - done) as usize;
            let bytes = &mut block[..count];
            self.file.read_exact_at(bytes, part.start + done).map_err(|error| refused_by(error, self.name))?;
            sums.push(crc32c::crc32c(bytes));
            let inside = summed.saturating_sub(done).min(count as u64) as usize;
            whole.update(&bytes[..inside]);
            tail.extend_from_slice(&bytes[inside..]);
            each(bytes);
            done += count as u64;
        }
        Ok((sums, tail == whole.finalize().to_be_bytes()))
    }
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;
