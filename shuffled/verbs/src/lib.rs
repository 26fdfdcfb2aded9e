//! Makes RDMA connections (reliable queue pairs, by rdma_cm) and sends messages on them from registered buffers.
//!
//! All unsafe code of the daemon is in this crate. libibverbs and librdmacm are loaded at run time, so that a program
//! runs without them. Nothing gives the other end a right to this process's memory: messages are two-sided, and
//! memory is registered for local use alone.

mod address;
mod cm;
mod endpoint;
mod library;
mod pool;
mod sys;

pub use endpoint::{Completion, QueuePair, Woken};
pub use library::{LIBIBVERBS, LIBRDMACM};
pub use pool::{RegisteredBuffer, BUFFER, BUFFERS};

use cm::Identity;
use library::Library;
use pool::Pool;
use std::collections::HashMap;
use std::ffi::CStr;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A function that makes an end ready before the other may send.
pub type Prepare = fn(&QueuePair) -> io::Result<()>;

/// The libraries, and the registered memory of each RDMA device of this machine.
pub struct Fabric {
    library: &'static Library,
    most_connections: usize,
    pools: Mutex<HashMap<usize, Arc<Pool>>>,
}

impl Fabric {
    /// Loads the libraries. `most_connections` is how many connections may have registered memory at once, on each
    /// device. Returns an error if a library is missing, or the machine has no RDMA device.
    pub fn load(libibverbs: &CStr, librdmacm: &CStr, most_connections: usize) -> io::Result<Arc<Fabric>> {
        let library = Library::load(libibverbs, librdmacm)?;
        // Only this call tells whether there is a device, and whether this process may use it.
        drop(Identity::new(library)?);
        Ok(Arc::new(Fabric { library, most_connections, pools: Mutex::default() }))
    }

    /// Connects to a listener. Both ends must show the same `greeting` of up to 56 bytes. `prepare` gives the device
    /// buffers for the other end's first messages. Returns an error if the other end does not accept before the
    /// instant `end`, or no RDMA device leads there.
    pub fn connect(
        &self, address: SocketAddr, greeting: &[u8], prepare: Prepare, end: Instant,
    ) -> io::Result<QueuePair> {
        let identity = Identity::new(self.library)?;
        identity.resolve(address, end)?;
        let endpoint = self.endpoint(identity)?;
        prepare(&endpoint)?;
        endpoint.identity().connect(greeting, end)?;
        Ok(endpoint)
    }

    fn endpoint(&self, identity: Identity) -> io::Result<QueuePair> {
        let context = identity.context()?;
        let pool = {
            let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
            match pools.get(&(context as usize)) {
                Some(pool) => Arc::clone(pool),
                None => {
                    let pool = Pool::new(self.library, context, self.most_connections)?;
                    pools.insert(context as usize, Arc::clone(&pool));
                    pool
                }
            }
        };
        QueuePair::new(identity, &pool)
    }
}

/// A listener for RDMA connections.
pub struct VerbsListener {
    fabric: Arc<Fabric>,
    identity: Identity,
}

/// A connection that another end asks for. If it is dropped, it is refused.
pub struct ConnectionRequest {
    fabric: Arc<Fabric>,
    identity: Identity,
    greeting: Vec<u8>,
}

impl VerbsListener {
    /// Listens at an address; `[::]` takes IPv4 too. Returns an error if the address is not an RDMA device's.
    pub fn bind(fabric: &Arc<Fabric>, address: SocketAddr, backlog: i32) -> io::Result<VerbsListener> {
        let identity = Identity::new(fabric.library)?;
        identity.listen(address, backlog)?;
        Ok(VerbsListener { fabric: Arc::clone(fabric), identity })
    }

    /// Waits for the next request. Returns an error if the device is gone, or descriptors or memory are short.
    pub fn next(&self) -> io::Result<ConnectionRequest> {
        let (identity, greeting) = self.identity.next_request()?;
        Ok(ConnectionRequest { fabric: Arc::clone(&self.fabric), identity, greeting })
    }
}

impl ConnectionRequest {
    /// Returns the address of the end that asks.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.identity.peer_addr()
    }

    /// Accepts, and does not wait until the other end knows; `QueuePair::establish` does. `prepare` is as for
    /// `connect`. Returns an error if the other end's greeting is another, or there is no registered memory left.
    pub fn accept(self, greeting: &[u8], prepare: Prepare) -> io::Result<QueuePair> {
        if !self.greeting.starts_with(greeting) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an end of another protocol"));
        }
        let endpoint = self.fabric.endpoint(self.identity)?;
        prepare(&endpoint)?;
        endpoint.identity().accept(greeting)?;
        Ok(endpoint)
    }
}
