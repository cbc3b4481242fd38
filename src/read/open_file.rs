//! An open file, and the reads of its bytes: within the budget of its device, through the page cache or past it.
//!
//! All bytes of files are read here, except the scattered reads that a ring keeps in flight (`many.rs`), and those
//! that are tried in the page cache first (`cached.rs`).

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::sync::OnceLock;

use bytes::BytesMut;
use rustix::io::Errno;

use crate::device::{Volume, VolumeId};
use crate::sys::memory::{ALIGNMENT, aligned};
use crate::sys::page_cache::{self, Advice};
use crate::sys::reads;

use super::access::{Access, COUNTED_FROM, LARGE, LONG, PIECE, ReadSoFar, ask};
use super::page_use::PageUse;

/// Bytes read of each of several files in turn on a disk with a head: a seek of 12 ms between two turns of 8 MiB, which
/// take 50 ms, is a fifth of the time. Reasoned, not swept.
const TURN: usize = 8 << 20;

/// Bytes just before the middle of a long file, of which the search first asks whether they are cached: samples lie at
/// both ends. To count the pages of whole files took a tenth of the CPU time where files of 1 MB are compared
/// (`docs/measurements/benchmarks.md`, `adversarial`).
const BEFORE_MIDDLE: u64 = 64 << 10;

/// The device of a file, as far as it matters for reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// The volume's number among the budgets.
    pub volume: VolumeId,
    /// Long reads may go past the page cache.
    pub may_go_past_cache: bool,
    /// It has a head, which should stay with one file for long.
    pub has_head: bool,
    /// The pages of its files belong to files of other file systems.
    pub is_layered: bool,
    /// Files that lie in the same blocks are known by them.
    pub shares_blocks: bool,
}

impl Device {
    /// The device of the files of a volume, which has this number among the budgets.
    pub fn of(volume: &Volume, number: VolumeId) -> Self {
        let has_head = volume.policy.seeks();
        Self {
            volume: number,
            // Where there is a head, the kernel reads ahead for it.
            may_go_past_cache: !has_head && volume.may_go_past_cache(),
            has_head,
            is_layered: volume.is_layered(),
            shares_blocks: false,
        }
    }
}

/// An open file that is read.
pub struct OpenFile<Fd> {
    pub fd: Fd,
    volume: VolumeId,
    /// Whether reads of it count against the budget.
    is_paid: bool,
    pub is_direct: bool,
    /// Drop pages after the read.
    pub drops_behind: bool,
    /// Best number of bytes per read of one of several files that are compared; `None` if any number is as good.
    pub turn: Option<usize>,
    /// The bytes read so far, once they are counted.
    so_far: OnceLock<ReadSoFar>,
}

impl<Fd: AsFd> OpenFile<Fd> {
    /// An open file whose reads take nothing out of the budget but the bytes that [`Self::read`] is told.
    pub fn new(fd: Fd, volume: VolumeId, is_direct: bool) -> Self {
        Self {
            fd,
            volume,
            is_paid: false,
            is_direct,
            drops_behind: false,
            turn: None,
            so_far: OnceLock::new(),
        }
    }

    /// A file of this size of which every byte will be read.
    pub fn whole(fd: Fd, size: u64, device: Device, access: &Access) -> Self {
        let is_limited = access.budgets.are_limited();
        let is_long = size >= LONG;
        // The layer under a short file is not asked.
        let in_layers = device.is_layered && size > PIECE as u64;
        let is_cached_before_middle = || {
            let asked = ((size / 2).saturating_sub(BEFORE_MIDDLE), BEFORE_MIDDLE);
            is_long && !is_limited && uncached_bytes(&fd, asked, in_layers) == Some(0)
        };
        let matters = access.asks_about(size) || is_long && device.has_head;
        let missing = if matters && is_cached_before_middle() {
            // Most likely, all of it was read before.
            Some(0)
        } else if matters {
            uncached_bytes(&fd, (0, size), in_layers)
        } else {
            None
        };
        access.stop_readahead(&fd);
        let is_mostly_cold = missing.is_some_and(|missing| missing >= size - size / 2);
        let is_direct = is_long
            && device.may_go_past_cache
            && access.goes_past_cache(size, || missing)
            && reads::begin_direct(&fd);
        let turn = match (is_direct, is_long && device.has_head && is_mostly_cold) {
            (_, true) => Some(TURN),
            (true, false) => Some(LARGE),
            (false, false) => None,
        };
        Self {
            turn,
            is_paid: is_limited && missing != Some(0),
            drops_behind: is_long && !is_direct && is_mostly_cold && access.page_use.drops_now(),
            ..Self::new(fd, device.volume, is_direct)
        }
    }

    /// Keeps the pages of the file in the page cache, since it will probably be read again, unless no page may stay.
    #[must_use]
    pub fn read_again(self, access: &Access) -> Self {
        if access.page_use == PageUse::Drop {
            return self;
        }
        if self.is_direct {
            reads::end_direct(&self.fd);
        }
        Self {
            is_direct: false,
            drops_behind: false,
            ..self
        }
    }

    /// Reads `len` bytes, or up to the end of the file, into a buffer; returns the number of bytes read, which may be
    /// larger.
    ///
    /// `unpaid` bytes are taken out of the budget before. The buffer is longer if `len` is not a multiple of the
    /// alignment of direct reads.
    pub fn read(
        &self,
        access: &Access,
        unpaid: u64,
        buffer: &mut [u8],
        len: usize,
        offset: u64,
    ) -> rustix::io::Result<usize> {
        let unpaid = if self.is_paid { len as u64 } else { unpaid };
        if unpaid > 0 && !access.spend(self.volume, unpaid) {
            return Err(Errno::CANCELED);
        }
        ask(self.volume, &self.fd);
        let read = if self.is_direct {
            reads::read_direct(&self.fd, buffer, len, offset)
        } else {
            reads::full(&self.fd, &mut buffer[..len], offset)
        }?;
        if offset >= COUNTED_FROM {
            let so_far = || access.in_progress.begin(self.volume);
            self.so_far.get_or_init(so_far).add(read.min(len) as u64);
        }
        Ok(read)
    }

    /// Takes bytes out of the budget that the kernel is about to read on its own, whether or not the run was told to
    /// stop.
    pub fn pay(&self, access: &Access, bytes: u64) {
        if self.is_paid {
            let _is_over = !access.spend(self.volume, bytes);
        }
    }

    /// Hands over the first `len` bytes, piece by piece, each with its offset.
    ///
    /// # Errors
    /// The error of the system or of `take`; `ESTALE` if the file is shorter.
    pub fn each_piece(
        &self,
        access: &Access,
        len: u64,
        mut take: impl FnMut(&[u8], u64) -> rustix::io::Result<()>,
    ) -> rustix::io::Result<()> {
        let most = len.min(PIECE as u64) as usize;
        let mut buffer = aligned(most.next_multiple_of(ALIGNMENT));
        let mut offset = 0;
        while offset < len {
            let want = (len - offset).min(most as u64) as usize;
            if self.read(access, 0, &mut buffer, want, offset)? < want {
                return Err(Errno::STALE);
            }
            take(&buffer[..want], offset)?;
            offset += want as u64;
        }
        Ok(())
    }

    /// Drops the pages read so far, if they must be dropped. From now on, reads go through the page cache.
    pub fn leave(&self, len: u64) {
        if self.drops_behind {
            page_cache::advise(&self.fd, 0, len, Advice::DontNeed);
        }
        if self.is_direct {
            reads::end_direct(&self.fd);
        }
    }
}

/// Drops a span from the page cache, and the rest of its file with it if the kernel keeps a large page of which only a
/// part is in the span; false if some of the span is known to remain.
pub fn leaves_cache(fd: impl AsFd, offset: u64, len: u64) -> bool {
    [(offset, len), (0, 0)].into_iter().any(|(from, bytes)| {
        page_cache::advise(&fd, from, bytes, Advice::DontNeed);
        is_uncached(&fd, offset, len)
    })
}

fn is_uncached(fd: impl AsFd, offset: u64, len: u64) -> bool {
    let cached = match page_cache::cached_pages(&fd, offset, len) {
        Some(0) => page_cache::cached_pages_of_layer(&fd, offset, len),
        Some(cached) => Some(cached),
        None => page_cache::resident_pages(&fd, offset, len),
    };
    cached.unwrap_or(0) == 0
}

/// Bytes of a range (offset and length) that are not in the page cache; `None` if this is not known. `in_layers`: also
/// look for pages of a layer below, which takes as long as reading a short file.
pub fn uncached_bytes(fd: impl AsFd, (offset, len): (u64, u64), in_layers: bool) -> Option<u64> {
    let page = page_cache::page_size();
    let pages = (offset + len).div_ceil(page) - offset / page;
    let cached = match page_cache::cached_pages(&fd, offset, len)? {
        0 if in_layers => page_cache::cached_pages_of_layer(fd, offset, len).unwrap_or(0),
        cached => cached,
    };
    Some(pages.saturating_sub(cached) * page)
}

/// One of two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first one.
    First,
    /// The second one.
    Second,
}

/// Why two files are not known to be equal.
#[derive(Debug, PartialEq, Eq)]
pub enum Unequal<E> {
    /// They differ from this offset on.
    Differ(u64),
    /// One of them ends too early.
    Short(Which),
    /// One of them could not be read.
    Unreadable(Which, Errno),
    /// The caller stopped between two pieces.
    Stopped(E),
}

/// Checks that two files begin with the same bytes, this many.
///
/// `after` gets each piece once both files have it, and the offset of the next one.
///
/// # Errors
/// The reason why they are not known to be equal.
pub fn equal<Fd: AsFd, E>(
    [first, second]: [&OpenFile<Fd>; 2],
    access: &Access,
    len: u64,
    mut after: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), Unequal<E>> {
    thread_local! {
        // Memory that is fresh for each of many small files takes longer to get than they take to read.
        static BUFFERS: RefCell<[BytesMut; 2]> = RefCell::new(buffers(PIECE));
    }
    let mut through = |piece: usize, [one, other]: &mut [BytesMut; 2]| {
        let mut offset = 0;
        while offset < len {
            let want = (len - offset).min(piece as u64) as usize;
            for (file, buffer, which) in [
                (first, &mut *one, Which::First),
                (second, &mut *other, Which::Second),
            ] {
                match file.read(access, 0, buffer, want, offset) {
                    Ok(n) if n >= want => {}
                    Ok(_) => return Err(Unequal::Short(which)),
                    Err(error) => return Err(Unequal::Unreadable(which, error)),
                }
            }
            let (one, other) = (&one[..want], &other[..want]);
            if one != other {
                return Err(Unequal::Differ(offset + common_prefix(one, other) as u64));
            }
            offset += want as u64;
            after(one, offset).map_err(Unequal::Stopped)?;
        }
        Ok(())
    };
    match first.turn.max(second.turn) {
        Some(turn) => through(turn, &mut buffers(turn)),
        None => BUFFERS.with_borrow_mut(|buffers| through(PIECE, buffers)),
    }
}

fn buffers(len: usize) -> [BytesMut; 2] {
    [(); 2].map(|()| aligned(len))
}

/// The number of equal bytes at the beginning.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let bytes = one.iter().zip(other);
    bytes.take_while(|(one, other)| one == other).count()
}
