//! `ioprio_set(2)`: whose reads wait when several want the disk. Kernel headers: linux/ioprio.h.

use rustix::io::Errno;

const WHO_PROCESS: libc::c_int = 1;
const CLASS_SHIFT: libc::c_int = 13;
const CLASS_IDLE: libc::c_int = 3;

/// The calling thread reads only when nobody else does, and so do the threads that it starts, until
/// this is dropped.
#[derive(Debug)]
pub struct Idle {
    before: libc::c_int,
}

impl Idle {
    /// Enters the idle class.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn enter() -> Result<Self, Errno> {
        let before = get()?;
        set(CLASS_IDLE << CLASS_SHIFT)?;
        Ok(Self { before })
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        // Going back to a class that one comes from is always allowed, real time apart.
        let _ignored = set(self.before);
    }
}

/// Class and level of the calling thread, as one number.
fn get() -> Result<libc::c_int, Errno> {
    // SAFETY: the call takes numbers only and changes nothing.
    let got = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) };
    libc::c_int::try_from(got)
        .ok()
        .filter(|&priority| priority >= 0)
        .ok_or_else(last_error)
}

fn set(priority: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the call takes numbers only; 0 is the calling thread.
    let done = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, priority) };
    (done == 0).then_some(()).ok_or_else(last_error)
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_class_is_inherited_and_left_again() {
        let class = || get().expect("known") >> CLASS_SHIFT;
        let before = get();
        let idle = Idle::enter().expect("anybody may be idle");
        assert_eq!(class(), CLASS_IDLE);
        let started = std::thread::spawn(move || get().expect("known") >> CLASS_SHIFT);
        assert_eq!(started.join().expect("it ends"), CLASS_IDLE);
        drop(idle);
        assert_eq!(get(), before);
    }
}
