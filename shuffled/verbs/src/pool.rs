//! Keeps the registered memory of one device: it is registered once, and lent to one connection after another.

use crate::library::{made, Library};
use crate::sys::{Context, Mr, Opaque, ACCESS_LOCAL_WRITE};
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of one buffer: the most that a message carries.
pub const BUFFER: usize = 32 << 10;
/// Buffers of one connection.
pub const BUFFERS: usize = 16;
const PAGE: usize = 4096;

/// The registered memory of one device.
pub struct Pool {
    library: &'static Library,
    pub domain: *mut Opaque,
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    free: Vec<Chunk>,
    registered: usize,
}

/// The memory of one connection. It stays registered until the process ends.
struct Chunk {
    start: NonNull<u8>,
    lkey: u32,
}

/// A chunk that a connection has; it is free again when the last of its buffers is dropped.
struct Lease {
    pool: Arc<Pool>,
    chunk: Option<Chunk>,
}

/// One buffer of registered memory, which nobody else has.
pub struct RegisteredBuffer {
    start: NonNull<u8>,
    pub(crate) lkey: u32,
    _lease: Arc<Lease>,
}

// SAFETY: verbs may be called by any thread; `domain` is only handed to them.
unsafe impl Send for Pool {}
// SAFETY: as above, and what changes is behind a mutex.
unsafe impl Sync for Pool {}
// SAFETY: a chunk owns its memory, which has no tie to a thread.
unsafe impl Send for Chunk {}
// SAFETY: through a shared chunk nothing is read or written.
unsafe impl Sync for Chunk {}
// SAFETY: a buffer owns its part of the memory, and keeps it alive by the lease.
unsafe impl Send for RegisteredBuffer {}

impl Pool {
    /// Returns the pool of a device, for at most `most` connections at once.
    pub fn new(library: &'static Library, context: *mut Context, most: usize) -> io::Result<Arc<Pool>> {
        // SAFETY: `context` is an open device's; librdmacm keeps it open for the rest of the process's life.
        let domain = made(unsafe { (library.ibv_alloc_pd)(context) })?;
        Ok(Arc::new(Pool { library, domain, most, state: Mutex::default() }))
    }

    /// Returns the `BUFFERS` buffers of a new connection. Returns an error if too many connections have theirs, or
    /// no more memory may be locked.
    pub fn lend(self: &Arc<Self>) -> io::Result<Vec<RegisteredBuffer>> {
        let chunk = {
            let mut state = self.state();
            match state.free.pop() {
                Some(chunk) => chunk,
                None if state.registered >= self.most => {
                    return Err(io::Error::new(io::ErrorKind::OutOfMemory, "all registered memory is in use"));
                }
                None => {
                    let chunk = self.register()?;
                    state.registered += 1;
                    chunk
                }
            }
        };
        let (start, lkey) = (chunk.start, chunk.lkey);
        let lease = Arc::new(Lease { pool: Arc::clone(self), chunk: Some(chunk) });
        let buffer = |index: usize| RegisteredBuffer {
            // SAFETY: `index` is below `BUFFERS`, so that the buffer lies within the chunk.
            start: unsafe { start.add(index * BUFFER) },
            lkey,
            _lease: Arc::clone(&lease),
        };
        Ok((0..BUFFERS).map(buffer).collect())
    }

    fn register(&self) -> io::Result<Chunk> {
        let layout = Layout::from_size_align(BUFFERS * BUFFER, PAGE).map_err(io::Error::other)?;
        // SAFETY: the layout has a size.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        let bytes = start.as_ptr().cast();
        // SAFETY: the memory is this chunk's own, and stays until the process ends.
        let region: *mut Mr =
            unsafe { (self.library.ibv_reg_mr)(self.domain, bytes, layout.size(), ACCESS_LOCAL_WRITE) };
        if region.is_null() {
            let error = io::Error::last_os_error();
            // SAFETY: it was allocated just now by this layout, and the device does not know it.
            unsafe { dealloc(start.as_ptr(), layout) };
            let text = format!("no memory can be registered: {error}; see ulimit -l");
            return Err(io::Error::new(error.kind(), text));
        }
        // SAFETY: the library returned this region, which is never deregistered.
        Ok(Chunk { start, lkey: unsafe { (*region).lkey } })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            self.pool.state().free.push(chunk);
        }
    }
}

impl Deref for RegisteredBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is initialized and this buffer's own. While a device uses it, the endpoint has the buffer.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), BUFFER) }
    }
}

impl DerefMut for RegisteredBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed by nobody else.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), BUFFER) }
    }
}
