//! The structures of `infiniband/verbs.h` and `rdma/rdma_cma.h` that this crate uses, on 64-bit machines. Their layout
//! is that of the headers of rdma-core 44, which the libraries' version (`.so.1`) keeps; it is checked at compile time.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::{offset_of, size_of};

/// A structure of which only the address is used here.
#[repr(C)]
pub struct Opaque([u8; 0]);

pub type PollCq = unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int;
pub type NotifyCq = unsafe extern "C" fn(*mut Cq, c_int) -> c_int;
pub type PostSend = unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int;
pub type PostRecv = unsafe extern "C" fn(*mut Qp, *mut RecvWr, *mut *mut RecvWr) -> c_int;

/// The beginning of `struct ibv_context`: the functions that the headers call in line.
#[repr(C)]
pub struct Context {
    device: *mut Opaque,
    before_poll_cq: [*mut Opaque; 11],
    pub poll_cq: PollCq,
    pub req_notify_cq: NotifyCq,
    before_post_send: [*mut Opaque; 12],
    pub post_send: PostSend,
    pub post_recv: PostRecv,
}

/// The beginning of `struct ibv_qp`.
#[repr(C)]
pub struct Qp {
    pub context: *mut Context,
}

/// The beginning of `struct ibv_cq`.
#[repr(C)]
pub struct Cq {
    pub context: *mut Context,
}

#[repr(C)]
pub struct CompChannel {
    context: *mut Context,
    pub fd: c_int,
    refcnt: c_int,
}

#[repr(C)]
pub struct Mr {
    context: *mut Context,
    pd: *mut Opaque,
    addr: *mut c_void,
    length: usize,
    handle: u32,
    pub lkey: u32,
    rkey: u32,
}

#[repr(C)]
pub struct Sge {
    pub addr: u64,
    pub length: u32,
    pub lkey: u32,
}

#[repr(C)]
pub struct RecvWr {
    pub wr_id: u64,
    pub next: *mut RecvWr,
    pub sg_list: *mut Sge,
    pub num_sge: c_int,
}

#[repr(C)]
pub struct SendWr {
    pub wr_id: u64,
    pub next: *mut SendWr,
    pub sg_list: *mut Sge,
    pub num_sge: c_int,
    pub opcode: c_uint,
    pub send_flags: c_uint,
    pub imm_data: u32,
    /// For other operations than a send.
    pub rest: [u64; 11],
}

#[repr(C)]
#[derive(Default)]
pub struct Wc {
    pub wr_id: u64,
    pub status: c_uint,
    pub opcode: c_uint,
    pub vendor_err: u32,
    pub byte_len: u32,
    pub imm_data: u32,
    pub qp_num: u32,
    pub src_qp: u32,
    pub wc_flags: c_uint,
    pub rest: u64,
}

#[repr(C)]
pub struct QpInitAttr {
    pub qp_context: *mut c_void,
    pub send_cq: *mut Cq,
    pub recv_cq: *mut Cq,
    pub srq: *mut Opaque,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
    pub qp_type: c_uint,
    pub sq_sig_all: c_int,
}

#[repr(C)]
pub struct EventChannel {
    pub fd: c_int,
}

/// The beginning of `struct rdma_cm_id`.
#[repr(C)]
pub struct CmId {
    pub verbs: *mut Context,
    channel: *mut EventChannel,
    context: *mut c_void,
    pub qp: *mut Qp,
    pub source: libc::sockaddr_storage,
    pub destination: libc::sockaddr_storage,
}

#[repr(C)]
pub struct ConnParam {
    pub private_data: *const c_void,
    pub private_data_len: u8,
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub flow_control: u8,
    pub retry_count: u8,
    pub rnr_retry_count: u8,
    pub srq: u8,
    pub qp_num: u32,
}

/// The beginning of `struct rdma_cm_event`, for connections.
#[repr(C)]
pub struct CmEvent {
    pub id: *mut CmId,
    listen_id: *mut CmId,
    pub event: c_uint,
    pub status: c_int,
    pub param: ConnParam,
}

pub const ACCESS_LOCAL_WRITE: c_int = 1;
pub const WR_SEND_WITH_IMM: c_uint = 3;
pub const SEND_SIGNALED: c_uint = 2;
pub const WC_WITH_IMM: c_uint = 2;
pub const WC_SUCCESS: c_uint = 0;
pub const WC_WR_FLUSH_ERR: c_uint = 5;
pub const WC_RETRY_EXC_ERR: c_uint = 12;
pub const QPT_RC: c_uint = 2;
pub const PS_TCP: c_uint = 0x0106;

pub const ADDR_RESOLVED: c_uint = 0;
pub const ROUTE_RESOLVED: c_uint = 2;
pub const CONNECT_REQUEST: c_uint = 4;
pub const UNREACHABLE: c_uint = 7;
pub const REJECTED: c_uint = 8;
pub const ESTABLISHED: c_uint = 9;

const _: () = {
    assert!(offset_of!(Context, poll_cq) == 96 && offset_of!(Context, req_notify_cq) == 104);
    assert!(offset_of!(Context, post_send) == 208 && offset_of!(Context, post_recv) == 216);
    assert!(offset_of!(CompChannel, fd) == 8 && offset_of!(Mr, lkey) == 36 && size_of::<Sge>() == 16);
    assert!(size_of::<RecvWr>() == 32 && size_of::<SendWr>() == 128 && offset_of!(SendWr, imm_data) == 36);
    assert!(size_of::<Wc>() == 48 && offset_of!(Wc, wc_flags) == 36 && offset_of!(Wc, byte_len) == 20);
    assert!(size_of::<QpInitAttr>() == 64 && offset_of!(QpInitAttr, sq_sig_all) == 56);
    assert!(offset_of!(CmId, qp) == 24 && offset_of!(CmId, source) == 32 && offset_of!(CmId, destination) == 160);
    assert!(size_of::<ConnParam>() == 24 && offset_of!(ConnParam, rnr_retry_count) == 13);
    assert!(offset_of!(CmEvent, event) == 16 && offset_of!(CmEvent, param) == 24);
};
