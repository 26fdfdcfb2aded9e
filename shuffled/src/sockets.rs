//! Opens the listening sockets: on TCP for other nodes, and in each local directory for reducers.

use rustix::net::{sockopt, AddressFamily, SocketFlags, SocketType};
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The directory below a local directory that has the socket.
const DIRECTORY: &str = "vas-shuffled";
/// The name of the socket in its directory.
const SOCKET: &str = "socket";
const BACKLOG: i32 = 1024;
const SHORT_OF_MEANS: Duration = Duration::from_millis(100);

/// Listens at an address. `[::]` takes IPv4 too, whatever the kernel's default is, and means `0.0.0.0` where the
/// kernel has no IPv6. The error names the address.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    listen_by(address, |address| {
        let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
        Ok(rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
    })
}

fn listen_by(address: SocketAddr, socket: impl Fn(SocketAddr) -> io::Result<OwnedFd>) -> io::Result<TcpListener> {
    let is_any = address.is_ipv6() && address.ip().is_unspecified();
    let bound = bind(address, is_any, &socket);
    match bound {
        Err(error) if is_any && is_without_ipv6(&error) => {
            bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port())), false, &socket)
        }
        other => other,
    }
    .map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))
}

fn bind(
    address: SocketAddr, is_dual: bool, socket: &impl Fn(SocketAddr) -> io::Result<OwnedFd>,
) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if is_dual {
        sockopt::set_ipv6_v6only(&socket, false)?;
    }
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}

fn is_without_ipv6(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL))
}

/// Waits 100 ms after an error of `accept` for lack of memory or descriptors, as other connections may end meanwhile.
/// Does not wait if the error is about the new connection alone: one that comes and goes must not keep others
/// waiting.
pub fn wait_after(error: &io::Error) {
    use rustix::io::Errno as E;
    let errno = error.raw_os_error().map(E::from_raw_os_error);
    if !matches!(errno, Some(E::CONNABORTED | E::CONNRESET | E::PROTO | E::INTR | E::HOSTUNREACH | E::NETUNREACH)) {
        std::thread::sleep(SHORT_OF_MEANS);
    }
}

/// The Unix socket for reducers in one local directory.
pub struct LocalSocket {
    local_dir: PathBuf,
    inode: Option<u64>,
    trouble: String,
}

impl LocalSocket {
    pub fn new(local_dir: &Path) -> LocalSocket {
        LocalSocket { local_dir: local_dir.to_owned(), inode: None, trouble: String::new() }
    }

    /// Returns whether the socket that `open` made is still there.
    pub fn is_open(&self) -> bool {
        let now = std::fs::symlink_metadata(self.local_dir.join(DIRECTORY).join(SOCKET));
        now.is_ok_and(|now| Some(now.ino()) == self.inode)
    }

    /// Returns whether a text about trouble differs from the one before: only then it is worth printing.
    pub fn is_news(&mut self, trouble: &str) -> bool {
        let is_news = trouble != self.trouble;
        trouble.clone_into(&mut self.trouble);
        is_news
    }

    /// Makes the socket, and removes an older one. Every task's user may connect to it, and must then prove a job.
    /// Returns an error that names the directory if others may write to that, or it or the socket cannot be made.
    pub fn open(&mut self) -> io::Result<UnixListener> {
        let directory = self.local_dir.join(DIRECTORY);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", directory.display()));
        match DirBuilder::new().mode(0o755).create(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(named(error)),
            _ => {}
        }
        let opened = std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(rustix::fs::OFlags::DIRECTORY.bits() as i32 | rustix::fs::OFlags::NOFOLLOW.bits() as i32)
            .open(&directory)
            .map_err(named)?;
        let described = opened.metadata()?;
        let is_own = described.uid() == rustix::process::getuid().as_raw();
        if !is_own || described.permissions().mode() & 0o022 != 0 {
            return Err(named(io::Error::other("not a directory that only its owner writes")));
        }
        // The NodeManager's umask is not meant for the tasks' way to the socket.
        opened.set_permissions(Permissions::from_mode(0o755)).map_err(named)?;
        // By /proc the path may have any length: the kernel takes 107 bytes of a socket's path.
        let socket = PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", opened.as_raw_fd()));
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(named(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&socket).map_err(named)?;
        std::fs::set_permissions(&socket, Permissions::from_mode(0o666)).map_err(named)?;
        self.inode = Some(std::fs::symlink_metadata(&socket)?.ino());
        self.trouble.clear();
        Ok(listener)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;
    use std::os::unix::net::UnixStream;

    #[test]
    fn every_address_means_ipv4_too() {
        let listener = listen(SocketAddr::from(([0u16; 8], 0))).unwrap();
        if listener.local_addr().unwrap().is_ipv6() {
            assert!(!sockopt::ipv6_v6only(&listener).unwrap());
        }
        assert!(TcpStream::connect(("127.0.0.1", listener.local_addr().unwrap().port())).is_ok());
    }

    #[test]
    fn a_kernel_without_ipv6_is_served_by_ipv4() {
        let only_ipv4 = |address: SocketAddr| match address {
            SocketAddr::V6(_) => Err(rustix::io::Errno::AFNOSUPPORT.into()),
            SocketAddr::V4(_) => {
                let flags = SocketFlags::CLOEXEC;
                Ok(rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?)
            }
        };
        let listener = listen_by(SocketAddr::from(([0u16; 8], 0)), only_ipv4).unwrap();
        assert!(TcpStream::connect(("127.0.0.1", listener.local_addr().unwrap().port())).is_ok());
        assert!(listen_by("[::1]:0".parse().unwrap(), only_ipv4).is_err(), "another address was asked for");
    }

    #[test]
    fn one_who_goes_away_keeps_nobody_waiting() {
        let begun = std::time::Instant::now();
        (0..1000).for_each(|_| wait_after(&rustix::io::Errno::CONNABORTED.into()));
        assert!(begun.elapsed() < Duration::from_secs(10));
        wait_after(&rustix::io::Errno::MFILE.into());
        assert!(begun.elapsed() >= SHORT_OF_MEANS);
    }

    #[test]
    fn a_socket_that_was_removed_is_made_again() {
        let site = crate::testing::site::Site::new();
        let long = site.root.join("x".repeat(120));
        std::fs::create_dir(&long).unwrap();
        let mut door = LocalSocket::new(&long);
        let first = door.open().unwrap();
        assert!(door.is_open());
        std::fs::remove_dir_all(long.join(DIRECTORY)).unwrap();
        assert!(!door.is_open());
        drop(first);
        let _second = door.open().unwrap();
        assert!(door.is_open());
        let directory = std::fs::File::open(long.join(DIRECTORY)).unwrap();
        assert!(UnixStream::connect(format!("/proc/self/fd/{}/{SOCKET}", directory.as_raw_fd())).is_ok());
    }

    #[test]
    fn a_link_or_a_directory_that_others_write_is_refused() {
        let site = crate::testing::site::Site::new();
        let [one, two] = site.local_dirs();
        std::os::unix::fs::symlink(&two, one.join(DIRECTORY)).unwrap();
        assert!(LocalSocket::new(&one).open().is_err());
        std::fs::create_dir(two.join(DIRECTORY)).unwrap();
        std::fs::set_permissions(two.join(DIRECTORY), Permissions::from_mode(0o777)).unwrap();
        assert!(LocalSocket::new(&two).open().is_err());
    }
}
