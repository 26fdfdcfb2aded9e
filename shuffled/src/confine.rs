//! Gives up what the daemon never needs, for as long as it runs: a fault in it is then worth less to an attacker.

use seccompiler::{
    apply_filter_all_threads, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;
use std::io;

/// System calls that start programs, look into other processes, or change the machine.
const REFUSED: [i64; 27] = [
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_io_uring_setup,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
];

/// The permission of this process to open files for writing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FileWrites {
    Refused,
    /// For RDMA, whose devices are opened for reading and writing.
    Allowed,
}

/// Refuses these calls to every thread of this process, with EPERM, and gains no rights by any program file. Returns an
/// error where the kernel has no such filters. Where writing is refused, no file can be made, cut, or opened for
/// writing by `openat`; `openat2`, whose flags a filter cannot read, is called for map output alone.
pub fn confine(writes: FileWrites) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    apply_filter_all_threads(&filter(writes)?).map_err(io::Error::other)
}

fn filter(writes: FileWrites) -> io::Result<BpfProgram> {
    let mut refused: BTreeMap<i64, Vec<_>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    if writes == FileWrites::Refused {
        refused.insert(libc::SYS_openat, writing(2)?);
        #[cfg(target_arch = "x86_64")]
        refused.extend([(libc::SYS_open, writing(1)?), (libc::SYS_creat, Vec::new())]);
        refused.extend([libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_fallocate].map(|call| (call, Vec::new())));
    }
    let here = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32), here)
        .map_err(io::Error::other)?;
    filter.try_into().map_err(|error: seccompiler::BackendError| io::Error::other(error))
}

/// Returns rules for an open whose argument of this number has a flag of writing, making or cutting a file.
fn writing(argument: u8) -> io::Result<Vec<SeccompRule>> {
    let flags = [
        (libc::O_ACCMODE, libc::O_WRONLY), (libc::O_ACCMODE, libc::O_RDWR), (libc::O_CREAT, libc::O_CREAT),
        (libc::O_TRUNC, libc::O_TRUNC),
    ];
    let rule = |(mask, value): (i32, i32)| {
        let has = SeccompCmpOp::MaskedEq(mask as u64);
        SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, has, value as u64)?])
    };
    flags.into_iter().map(rule).collect::<Result<_, _>>().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// In a process of its own, as a filter cannot be taken back: this test, started again by its name.
    #[test]
    fn a_confined_process_starts_no_program_and_writes_no_file() {
        const CHILD: &str = "VAS_SHUFFLED_TEST_CONFINED";
        if std::env::var_os(CHILD).is_none() {
            let name = "confine::tests::a_confined_process_starts_no_program_and_writes_no_file";
            let ran = Command::new(std::env::current_exe().unwrap())
                .args([name, "--exact", "--nocapture"])
                .env(CHILD, "1")
                .output()
                .unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            return;
        }
        assert!(Command::new("/bin/true").status().unwrap().success());
        let program = std::env::current_exe().unwrap();
        confine(FileWrites::Refused).unwrap();
        let refused = Command::new("/bin/true").status().unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EPERM));
        let (listener, file) = (std::net::TcpListener::bind("127.0.0.1:0"), std::fs::File::open("/proc/self/status"));
        assert!(listener.is_ok() && file.is_ok(), "what it needs is left");
        let mut options = std::fs::OpenOptions::new();
        for options in [options.clone().write(true), options.clone().append(true), options.read(true).write(true)] {
            assert_eq!(options.open(&program).unwrap_err().raw_os_error(), Some(libc::EPERM));
        }
        let made = std::fs::File::create(std::env::temp_dir().join("vas-shuffled-confined"));
        assert_eq!(made.unwrap_err().raw_os_error(), Some(libc::EPERM));
        assert!(std::thread::spawn(|| Command::new("/bin/true").status().is_err()).join().unwrap());
    }
}
