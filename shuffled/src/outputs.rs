//! Opens stock map output in the NodeManager's local directories. A file is found by the numbers of its map attempt,
//! opened beneath its application's own directory only, and must belong to the job's user.

use crate::index::{self, Index, Part};
use crate::jobs::Job;
use crate::metrics::Metrics;
use crate::names::{JobKey, MapAttemptId};
use crate::shares::{Payer, Shares};
use crate::wire::{RefusalReason, Refused};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most outputs that are open at once. Jobs and users have fair shares of them.
const MOST_OPEN: u64 = 1024;
/// Most bytes of the indexes of all open outputs, shared in the same way.
const MOST_INDEX_BYTES: u64 = 64 << 20;
/// How long a call on a disk may take before it counts as hanging.
const HANGING: Duration = Duration::from_secs(5);
/// Hanging calls on one disk that make the daemon leave it alone.
const MOST_HANGING: usize = 2;
/// The open output of one map attempt.
pub struct Output {
    pub name: MapAttemptId,
    pub file: File,
    /// The kernel's number of the device that the file is on.
    pub device: u64,
    index: Index,
    _place: Place,
}

/// The map outputs in this node's local directories. Those that were opened stay open until others need their share,
/// or their job is over.
pub struct Outputs {
    local_dirs: Vec<LocalDir>,
    open: Mutex<Cache>,
    held: Arc<Mutex<Held>>,
    metrics: Arc<Metrics>,
}

/// A local directory, and the calls on its disk that have not returned.
struct LocalDir {
    path: PathBuf,
    under_way: Mutex<BTreeMap<u64, Instant>>,
}

/// A call on a local directory's disk, which ends when this is dropped.
struct Call<'a> {
    of: &'a LocalDir,
    number: u64,
}

#[derive(Default)]
struct Cache {
    outputs: HashMap<MapAttemptId, (Arc<Output>, u64)>,
    uses: u64,
}

/// The numbers of open files and of bytes of their indexes. Outputs that have left the cache count as long as an
/// answer uses them.
///
/// A thread that locks the cache too locks the cache first.
struct Held {
    files: Shares,
    index_bytes: Shares,
}

/// The share that one open output has of the files and index bytes, until this is dropped.
struct Place {
    held: Arc<Mutex<Held>>,
    payer: Payer,
    index_bytes: u64,
}

impl Outputs {
    /// Returns the outputs in these local directories, whose paths the NodeManager gave. A directory is opened
    /// whenever it is needed: its disk may fail and be replaced meanwhile.
    pub fn new(local_dirs: &[impl AsRef<Path>], metrics: Arc<Metrics>) -> Outputs {
        Outputs::bounded(local_dirs, metrics, MOST_OPEN, MOST_INDEX_BYTES)
    }

    fn bounded(local_dirs: &[impl AsRef<Path>], metrics: Arc<Metrics>, files: u64, index_bytes: u64) -> Outputs {
        let held = Held { files: Shares::new(files), index_bytes: Shares::new(index_bytes) };
        Outputs {
            local_dirs: local_dirs.iter().map(|path| LocalDir::new(path.as_ref())).collect(),
            open: Mutex::default(),
            held: Arc::new(Mutex::new(held)),
            metrics,
        }
    }

    /// Returns the open output of a map attempt. Refuses if it is gone or damaged, its disk fails, or too many are
    /// open.
    pub fn get(&self, job: &Job, name: MapAttemptId) -> Result<Arc<Output>, Refused> {
        if let Some(output) = self.cache().get(name) {
            self.metrics.outputs_found.add(1);
            return Ok(output);
        }
        let output = Arc::new(self.open(job, name)?);
        self.metrics.outputs_opened.add(1);
        self.cache().put(&output);
        Ok(output)
    }

    /// Closes the outputs whose names `which` selects, each when no answer uses it any more.
    pub fn forget(&self, which: impl Fn(MapAttemptId) -> bool) {
        self.cache().outputs.retain(|name, _| !which(*name));
    }

    /// Closes all outputs of a job, each when no answer uses it any more.
    pub fn forget_job(&self, job: JobKey) {
        self.forget(|name| name.job == job);
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a share for one more output, and closes unused ones for it, of the job with the most first. Returns None
    /// if none of them is unused.
    fn place(&self, payer: Payer, index_bytes: u64) -> Option<Place> {
        loop {
            let mut cache = self.cache();
            let mut held = lock(&self.held);
            let has_file = held.files.may_take(payer, 1);
            if has_file && held.index_bytes.may_take(payer, index_bytes) {
                held.files.charge(payer, 1);
                held.index_bytes.charge(payer, index_bytes);
                return Some(Place { held: Arc::clone(&self.held), payer, index_bytes });
            }
            let short = if has_file { &held.index_bytes } else { &held.files };
            let idle = cache.outputs.iter().filter(|(_, (output, _))| Arc::strong_count(output) == 1);
            let most = idle.max_by_key(|(name, (_, used))| (short.of_job(name.job), u64::MAX - used));
            let name = *most?.0;
            drop(held);
            cache.outputs.remove(&name);
        }
    }

    fn open(&self, job: &Job, name: MapAttemptId) -> Result<Output, Refused> {
        let index = self.find(job, name, "file.out.index")?;
        let file = self.find(job, name, "file.out")?;
        let sick = |error: io::Error| refused_by(error, name);
        let (index_bytes, bytes) = (index.metadata().map_err(sick)?.len(), file.metadata().map_err(sick)?.len());
        if index_bytes > index::LARGEST {
            return Err(damaged(name, "its index is larger than any job's"));
        }
        let busy =
            || Refused::new(RefusalReason::Busy, format!("{name}: too many outputs of its job or user are open"));
        let place = self.place(job.payer(), index_bytes).ok_or_else(busy)?;
        let mut content = vec![0; index_bytes as usize];
        index.read_exact_at(&mut content, 0).map_err(sick)?;
        let index = Index::parse(&content, bytes).map_err(|why| damaged(name, why))?;
        let device = rustix::fs::fstat(&file).map_err(|error| sick(error.into()))?.st_dev;
        Ok(Output { name, file, device, index, _place: place })
    }

    // Index and data may be on two disks: Hadoop chooses one for each file. A disk that fails does not hide what the
    // others have.
    fn find(&self, job: &Job, name: MapAttemptId, file: &str) -> Result<File, Refused> {
        let mut trouble = None;
        for directory in &self.local_dirs {
            match directory.find(job, name, file) {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                Err(refused) => drop(trouble.get_or_insert(refused)),
            }
        }
        let gone = || Refused::new(RefusalReason::Gone, format!("{name}: no {file} in any local directory"));
        Err(trouble.unwrap_or_else(gone))
    }
}

impl LocalDir {
    fn new(path: &Path) -> LocalDir {
        LocalDir { path: path.to_owned(), under_way: Mutex::default() }
    }

    fn find(&self, job: &Job, name: MapAttemptId, file: &str) -> Result<Option<File>, Refused> {
        let path = self.path.display();
        let here = |refused: Refused| Refused { text: format!("{} in {path}", refused.text), ..refused };
        let Some(_call) = self.begin() else {
            return Err(here(Refused::new(RefusalReason::Sick, format!("{name}: the disk does not answer"))));
        };
        match open_below(&self.path, job, &format!("output/{name}/{file}")) {
            Ok(found) => owned(found, job, name).map(|found| Some(File::from(found))),
            Err(error) if error == rustix::io::Errno::NOENT => Ok(None),
            Err(error) => Err(here(refused_by(error.into(), name))),
        }
    }

    /// Notes a call on the disk that may hang. Returns None where `MOST_HANGING` calls hang, so that no further
    /// thread does.
    fn begin(&self) -> Option<Call<'_>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let hanging = under_way.values().filter(|begun| begun.elapsed() > HANGING).count();
        if hanging >= MOST_HANGING {
            return None;
        }
        let number = under_way.last_key_value().map_or(0, |(last, _)| last + 1);
        under_way.insert(number, Instant::now());
        Some(Call { of: self, number })
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.of.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

fn open_below(local_dir: &Path, job: &Job, path: &str) -> rustix::io::Result<OwnedFd> {
    let root = rustix::fs::open(local_dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let application = format!("usercache/{}/appcache/{}", job.user, job.key);
    let directory = beneath(&root, &application, OFlags::PATH | OFlags::DIRECTORY)?;
    beneath(&directory, path, OFlags::RDONLY | OFlags::NONBLOCK)
}

// The path may not cross a mount either: a user may mount what never answers over a directory of its own.
fn beneath(directory: &OwnedFd, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    rustix::fs::openat2(directory, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
}

fn owned(file: OwnedFd, job: &Job, name: MapAttemptId) -> Result<OwnedFd, Refused> {
    let stat = rustix::fs::fstat(file.as_fd()).map_err(|error| refused_by(error.into(), name))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Refused::new(RefusalReason::Gone, format!("{name}: not a regular file")));
    }
    if stat.st_uid != job.uid {
        return Err(Refused::new(RefusalReason::Gone, format!("{name}: not its user's file")));
    }
    Ok(file)
}

pub fn damaged(name: MapAttemptId, why: &str) -> Refused {
    Refused::new(RefusalReason::Damaged, format!("{name}: {why}"))
}

/// Returns the refusal for an error of a map's output: Gone if it is not there or behind a link or mount, Damaged if
/// it ends too early, Sick if its disk fails.
pub fn refused_by(error: io::Error, name: MapAttemptId) -> Refused {
    use rustix::io::Errno;
    let why = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => RefusalReason::Gone,
        Some(_) => RefusalReason::Sick,
        None => RefusalReason::Damaged,
    };
    Refused::new(why, format!("{name}: {error}"))
}

impl Cache {
    fn get(&mut self, name: MapAttemptId) -> Option<Arc<Output>> {
        self.uses += 1;
        let (output, used) = self.outputs.get_mut(&name)?;
        *used = self.uses;
        Some(Arc::clone(output))
    }

    fn put(&mut self, output: &Arc<Output>) {
        self.uses += 1;
        self.outputs.insert(output.name, (Arc::clone(output), self.uses));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = lock(&self.held);
        held.files.give(self.payer, 1);
        held.index_bytes.give(self.payer, self.index_bytes);
    }
}

fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Output {
    /// Returns the place and sizes of a partition's segment. Refuses as damaged if the index does not have that
    /// partition.
    pub fn part(&self, partition: u32) -> Result<Part, Refused> {
        self.index.part(partition).ok_or_else(|| damaged(self.name, "its index has no such partition"))
    }
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;
