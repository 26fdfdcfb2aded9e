//! Turns addresses into the system's structures, and back.

use std::ffi::c_int;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// Returns an address as the system's calls take it.
pub fn raw(address: SocketAddr) -> libc::sockaddr_storage {
    // SAFETY: zeros are a value of this structure: no address.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let start: *mut libc::sockaddr_storage = &mut storage;
    match address {
        SocketAddr::V4(v4) => {
            let sin_addr = libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) };
            let (sin_family, sin_port) = (libc::AF_INET as libc::sa_family_t, v4.port().to_be());
            // SAFETY: the storage is large enough, and aligned, for any kind of address.
            unsafe {
                let written = libc::sockaddr_in { sin_family, sin_port, sin_addr, sin_zero: [0; 8] };
                start.cast::<libc::sockaddr_in>().write(written);
            };
        }
        SocketAddr::V6(v6) => {
            let in6 = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: as above.
            unsafe { start.cast::<libc::sockaddr_in6>().write(in6) };
        }
    }
    storage
}

/// Returns the address that a system's call gave. Returns an error for one of another family than IP.
pub fn cooked(storage: &libc::sockaddr_storage) -> io::Result<SocketAddr> {
    let start: *const libc::sockaddr_storage = storage;
    match c_int::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: an address of this family is a `sockaddr_in`, and the storage is aligned for it.
            let v4 = unsafe { &*start.cast::<libc::sockaddr_in>() };
            Ok((Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes()), u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family is a `sockaddr_in6`, and the storage is aligned for it.
            let v6 = unsafe { &*start.cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            Ok(SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), 0, v6.sin6_scope_id).into())
        }
        _ => Err(io::Error::other("a connection without an IP address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_the_same_after_the_way_to_the_library_and_back() {
        for text in ["10.1.2.3:13563", "[fe80::1%3]:7", "[::]:65535", "0.0.0.0:0"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(cooked(&raw(address)).unwrap(), address);
        }
    }
}
