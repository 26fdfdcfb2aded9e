//! Loads libibverbs and librdmacm, and finds their functions.

use crate::sys::{CmEvent, CmId, CompChannel, ConnParam, Context, Cq, EventChannel, Mr, Opaque, QpInitAttr};
use std::ffi::{c_char, c_int, c_uint, c_void, CStr, CString};
use std::io;

/// The names by which the system's loader finds the libraries (Debian: libibverbs1, librdmacm1; Rocky: libibverbs,
/// librdmacm).
pub const LIBIBVERBS: &CStr = c"libibverbs.so.1";
pub const LIBRDMACM: &CStr = c"librdmacm.so.1";

type Addr = *const libc::sockaddr;

macro_rules! functions {
    ($($of:ident $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of both libraries, as their headers declare them.
        pub struct Library {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn find(verbs: *mut c_void, cm: *mut c_void) -> io::Result<Library> {
                let libraries = Libraries { verbs, cm };
                Ok(Library {
                    $($name: {
                        let found = symbol(libraries.$of, stringify!($name))?;
                        // SAFETY: the library's header declares the function of this name with these arguments.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
                        }
                    },)*
                })
            }
        }
    };
}

struct Libraries {
    verbs: *mut c_void,
    cm: *mut c_void,
}

functions! {
    verbs ibv_alloc_pd(*mut Context) -> *mut Opaque;
    verbs ibv_reg_mr(*mut Opaque, *mut c_void, usize, c_int) -> *mut Mr;
    verbs ibv_create_comp_channel(*mut Context) -> *mut CompChannel;
    verbs ibv_destroy_comp_channel(*mut CompChannel) -> c_int;
    verbs ibv_create_cq(*mut Context, c_int, *mut c_void, *mut CompChannel, c_int) -> *mut Cq;
    verbs ibv_destroy_cq(*mut Cq) -> c_int;
    verbs ibv_get_cq_event(*mut CompChannel, *mut *mut Cq, *mut *mut c_void) -> c_int;
    verbs ibv_ack_cq_events(*mut Cq, c_uint);
    cm rdma_create_event_channel() -> *mut EventChannel;
    cm rdma_destroy_event_channel(*mut EventChannel);
    cm rdma_create_id(*mut EventChannel, *mut *mut CmId, *mut c_void, c_uint) -> c_int;
    cm rdma_destroy_id(*mut CmId) -> c_int;
    cm rdma_migrate_id(*mut CmId, *mut EventChannel) -> c_int;
    cm rdma_bind_addr(*mut CmId, Addr) -> c_int;
    cm rdma_listen(*mut CmId, c_int) -> c_int;
    cm rdma_resolve_addr(*mut CmId, Addr, Addr, c_int) -> c_int;
    cm rdma_resolve_route(*mut CmId, c_int) -> c_int;
    cm rdma_create_qp(*mut CmId, *mut Opaque, *mut QpInitAttr) -> c_int;
    cm rdma_destroy_qp(*mut CmId);
    cm rdma_connect(*mut CmId, *mut ConnParam) -> c_int;
    cm rdma_accept(*mut CmId, *mut ConnParam) -> c_int;
    cm rdma_disconnect(*mut CmId) -> c_int;
    cm rdma_get_cm_event(*mut EventChannel, *mut *mut CmEvent) -> c_int;
    cm rdma_ack_cm_event(*mut CmEvent) -> c_int;
}

impl Library {
    /// Loads both libraries, for the rest of the process's life. The error names what is missing.
    pub fn load(libibverbs: &CStr, librdmacm: &CStr) -> io::Result<&'static Library> {
        let (verbs, cm) = (open(libibverbs)?, open(librdmacm)?);
        Ok(Box::leak(Box::new(Library::find(verbs, cm)?)))
    }
}

fn open(name: &CStr) -> io::Result<*mut c_void> {
    // SAFETY: the name ends with a zero. The libraries' constructors are the system's own code.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() { Err(last_error()) } else { Ok(handle) }
}

fn symbol(library: *mut c_void, name: &str) -> io::Result<*mut c_void> {
    let name = CString::new(name)?;
    // SAFETY: `library` is a handle of `open`, which is never closed, and the name ends with a zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() { Err(last_error()) } else { Ok(found) }
}

fn last_error() -> io::Error {
    // SAFETY: the loader's text stays until the next call of it by this thread, and is copied before.
    let text: *const c_char = unsafe { libc::dlerror() };
    if text.is_null() {
        return io::Error::new(io::ErrorKind::NotFound, "the loader gives no reason");
    }
    // SAFETY: as above; a text of the loader ends with a zero.
    let text = unsafe { CStr::from_ptr(text) };
    io::Error::new(io::ErrorKind::NotFound, text.to_string_lossy().into_owned())
}

/// Returns the error of a call that returned -1 and set errno, or returned an errno itself.
pub fn checked(result: c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        -1 => Err(io::Error::last_os_error()),
        errno => Err(io::Error::from_raw_os_error(errno.abs())),
    }
}

/// Returns the error of a call that returned no object and set errno.
pub fn made<T>(pointer: *mut T) -> io::Result<*mut T> {
    if pointer.is_null() { Err(io::Error::last_os_error()) } else { Ok(pointer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_named() {
        let error = Library::load(c"libibverbs-of-nobody.so.1", LIBRDMACM).err().unwrap();
        assert!(error.to_string().contains("libibverbs-of-nobody.so.1"), "{error}");
    }

    #[test]
    fn a_function_that_is_missing_is_named() {
        let libc = open(c"libc.so.6").unwrap();
        let error = Library::find(libc, libc).err().unwrap();
        assert!(error.to_string().contains("ibv_alloc_pd"), "{error}");
    }
}
