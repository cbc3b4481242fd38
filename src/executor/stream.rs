//! A thread that reads files, one after the other, and keeps the disk busy ahead of itself.
//!
//! Where the thread has more than one file under way, what comes next, of this file and of the following
//! ones, is announced to the kernel (`POSIX_FADV_WILLNEED`) up to a window of bytes ahead; then it is read,
//! mostly from the page cache. So the disk has many requests in the order of the files, and the pieces
//! need no buffers of their own. Where it has one, the kernel's readahead is all there is.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use crate::sys::fadvise::{self, Advice};
use crate::sys::pread;

use super::behind::{Behind, Range};
use super::fold::Fold;
use super::parts::{Parts, Team};
use super::reader::{PIECE, Reader, finished, is_expected, is_whole, refused};
use super::source::Source;
use super::task::{Failure, Outcome, SPANS, Task};

/// Bytes announced with one call: with the usual readahead settings the kernel would cut off more.
const STEP: u64 = PIECE as u64;

/// Bytes that are read of a file before it is decided whether to read on. They cost a disk with a head
/// little once it is there.
pub const UNDECIDED: u64 = 64 << 10;

/// Bytes read at a time while fewer than `SETTLED` of the file have been: the kernel's readahead
/// begins with single pages, four times as many as the first read wants, and only then takes larger
/// and larger pieces of memory, which many a disk fills faster. 2.7 GB of photos, cold, on a network
/// SSD, took 2.1 s when they were read by 256 KiB from the start, and 1.6 s so; 8 and 32 KiB were no better.
const FIRST: u64 = 16 << 10;

/// See `FIRST`. 256 KiB made no difference.
const SETTLED: u64 = 64 << 10;

/// Bytes of a long file after which their pages are given back.
const GIVEN_BACK: u64 = 32 << 20;

/// How far a thread looks ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Bytes that are announced and not yet read, when the next are announced.
    pub bytes: u64,
    /// Files open at most.
    pub files: usize,
}

/// Reads whole files. Lives as long as its thread.
pub struct Stream<F: Fold> {
    window: Window,
    /// In the order in which they are read; the last is the one being announced.
    files: VecDeque<File<F>>,
    /// Bytes of `files` that were announced and not read.
    ahead: u64,
    /// Who helps with long files, if anybody does.
    team: Option<Team<F>>,
    /// The file of which parts are taken.
    parts: Option<Arc<Parts<F>>>,
    /// It is another thread's: tasks come first.
    helps: bool,
}

/// A file under way.
struct File<F: Fold> {
    task: Task,
    fd: Arc<OwnedFd>,
    /// The first span to be read: one that is the beginning of the next comes along with that.
    first: usize,
    /// Bytes of the spans that were announced, and that were read.
    announced: u64,
    read: u64,
    /// Of these, bytes whose pages are given back or about to be.
    given_back: u64,
    state: F::State,
    digests: [Option<F::Digest>; SPANS],
    /// It is a part of a file only, the one with this number.
    part: Option<(Arc<Parts<F>>, usize)>,
    /// Whether it is read to its end is yet to be seen.
    undecided: bool,
    drop_behind: bool,
    /// Nobody announces it.
    is_left_to_readahead: bool,
}

/// Some of a file's bytes that follow one another.
#[derive(Clone, Copy)]
struct Piece {
    span: usize,
    offset: u64,
    len: u64,
}

impl<F: Fold> File<F> {
    fn new(task: Task, fd: Arc<OwnedFd>) -> Self {
        let [head, whole] = task.spans;
        let along = head.offset == whole.offset && head.len <= whole.len.min(PIECE as u64);
        Self {
            first: usize::from(along),
            task,
            fd,
            announced: 0,
            read: 0,
            given_back: 0,
            state: F::State::default(),
            digests: [None; SPANS],
            part: None,
            undecided: along && task.may_end_early && whole.len > UNDECIDED,
            drop_behind: false,
            is_left_to_readahead: false,
        }
    }

    /// Bytes to be read.
    fn len(&self) -> u64 {
        self.task.spans[self.first..].iter().map(|s| s.len).sum()
    }

    /// Bytes to be read as far as that is decided.
    fn decided(&self) -> u64 {
        match self.undecided {
            true => UNDECIDED,
            false => self.len(),
        }
    }

    /// Bytes to be read next.
    fn next_len(&self) -> u64 {
        let begins = self.is_left_to_readahead && self.read < SETTLED;
        let most = match (begins, self.first) {
            (false, _) => PIECE as u64,
            (true, 0) => FIRST,
            // What is the beginning comes along with the first piece.
            (true, _) => FIRST.max(self.task.spans[0].len),
        };
        most.min(self.decided() - self.read)
    }

    /// The piece that begins after so many bytes, of so many at most.
    fn piece_at(&self, mut after: u64, most: u64) -> Piece {
        let mut span = self.first;
        while after >= self.task.spans[span].len && span + 1 < SPANS {
            after -= self.task.spans[span].len;
            span += 1;
        }
        Piece {
            span,
            offset: self.task.spans[span].offset + after,
            len: most.min(self.task.spans[span].len - after),
        }
    }

    /// Folds the piece that was read last, which is in the reader's buffer.
    fn fold(&mut self, reader: &Reader<F>, piece: Piece) {
        let len = piece.len as usize;
        if len == 0 {
            return;
        }
        let head = self.task.spans[0];
        if self.first == 1 && head.len > 0 && piece.offset == head.offset {
            let digest = reader.digest_of_piece(head.len as usize, is_whole(&self.task, head));
            self.digests[0] = Some(digest);
        }
        if self.part.is_some() {
            reader.feed_piece(&mut self.state, len);
            return;
        }
        let span = self.task.spans[piece.span];
        let whole = is_whole(&self.task, span);
        if piece.len == span.len {
            self.digests[piece.span] = Some(reader.digest_of_piece(len, whole));
            return;
        }
        reader.feed_piece(&mut self.state, len);
        if piece.offset + piece.len == span.offset + span.len {
            let state = std::mem::take(&mut self.state);
            self.digests[piece.span] = Some(reader.fold.finish(state, whole));
        }
    }

    /// True if what was read so far calls for more.
    fn is_read_on(&mut self, reader: &Reader<F>) -> bool {
        let was_undecided = std::mem::replace(&mut self.undecided, false);
        let goes_on = |head| reader.fold.goes_on(self.task.expect.size, head);
        was_undecided && self.digests[0].as_ref().is_some_and(goes_on)
    }

    /// What came of it once it was read, or could not be; `None` if that is for others to say.
    fn outcome(&mut self, failure: Option<Failure>, fold: &F) -> Option<Outcome<F::Digest>> {
        if let Some((parts, number)) = self.part.take() {
            let state = std::mem::take(&mut self.state);
            let part = failure.map_or_else(|| Ok(fold.end_part(state)), Err);
            return parts.end(number, part, fold);
        }
        Some(match failure {
            Some(failure) => Outcome::Failed(failure),
            None => finished(&self.task, self.fd.as_fd(), self.digests, self.read),
        })
    }

    /// Has the pages read so far given back.
    fn give_back(&mut self, behind: &Behind) {
        if self.drop_behind {
            behind.push(Range {
                file: Arc::clone(&self.fd),
                offset: self.task.spans[self.first].offset + self.given_back,
                len: self.read - self.given_back,
            });
            self.given_back = self.read;
        }
    }
}

impl<F: Fold> Stream<F> {
    /// A stream with nothing under way.
    pub fn new(window: Window, team: Option<Team<F>>) -> Self {
        Self {
            window,
            files: VecDeque::new(),
            ahead: 0,
            team,
            parts: None,
            helps: false,
        }
    }

    /// Takes parts of a file that another thread has begun with, as long as there are no tasks.
    pub fn help(
        &mut self,
        parts: Arc<Parts<F>>,
        reader: &mut Reader<F>,
        source: &mut Source<'_, F>,
    ) {
        (self.parts, self.helps) = (Some(parts), true);
        self.run(reader, source);
    }

    /// Does tasks as long as there are any.
    pub fn run(&mut self, reader: &mut Reader<F>, source: &mut Source<'_, F>) {
        loop {
            self.announce(reader, source);
            let Some((piece, failure)) = self.read_on(reader) else {
                self.parts = None;
                return;
            };
            // The disk is to be busy while the processor is.
            self.announce(reader, source);
            self.take(piece, failure, reader, source);
        }
    }

    /// Announces as much as the window allows.
    fn announce(&mut self, reader: &mut Reader<F>, source: &mut Source<'_, F>) {
        while (self.files.is_empty()
            || reader.settings.read_ahead && self.ahead < self.window.bytes)
            && self.look_ahead(reader, source)
        {}
    }

    /// Announces one step more; false if there is nothing to announce.
    fn look_ahead(&mut self, reader: &mut Reader<F>, source: &mut Source<'_, F>) -> bool {
        let mut files = self.files.iter_mut();
        if let Some(file) = files.find(|file| file.announced < file.decided()) {
            let most = STEP.min(file.decided() - file.announced);
            let Piece { offset, len, .. } = file.piece_at(file.announced, most);
            reader.spend(&file.task, len);
            fadvise::advise(&file.fd, offset, len, Advice::WillNeed);
            file.announced += len;
            self.ahead += len;
            return true;
        }
        // The head is to stay with a file until it is known whether that is read on.
        let last = self.files.back();
        if self.files.len() >= self.window.files.max(1) || last.is_some_and(|file| file.undecided) {
            return false;
        }
        if !self.helps && self.take_part(reader) {
            return true;
        }
        let Some((task, name)) = source.peek() else {
            return self.helps && !source.met_another() && self.take_part(reader);
        };
        let opened = match reader.stopped() {
            true => Err(Failure::Refused(Errno::CANCELED)),
            false => match reader.try_open(&task, name) {
                Some(opened) => opened,
                // Descriptors are short: ours come free when what we have is read.
                None if !self.files.is_empty() => return false,
                None => reader.open(&task, name),
            },
        };
        source.advance();
        if let Err(failure) = opened.and_then(|fd| self.begin(reader, task, fd)) {
            source.complete(&task, Outcome::Failed(failure));
        }
        true
    }

    fn begin(&mut self, reader: &Reader<F>, task: Task, fd: OwnedFd) -> Result<(), Failure> {
        is_expected(&task, fd.as_fd())?;
        reader.announce(&task, fd.as_fd());
        let fd = Arc::new(fd);
        let parts = self.team.as_ref().and_then(|team| team.cut(&task, &fd));
        if parts.is_some() {
            (self.parts, self.helps) = (parts, false);
            self.take_part(reader);
        } else {
            self.push(reader, File::new(task, fd));
        }
        Ok(())
    }

    /// Takes the next part of the file of which parts are taken; false if there is none.
    fn take_part(&mut self, reader: &Reader<F>) -> bool {
        let taken = |parts: Arc<Parts<F>>| parts.take().map(|(number, task)| (parts, number, task));
        let Some((parts, number, task)) = self.parts.take().and_then(taken) else {
            return false;
        };
        self.push(
            reader,
            File {
                state: reader.fold.begin_part(task.spans[0].offset),
                part: Some((Arc::clone(&parts), number)),
                ..File::new(task, Arc::clone(parts.file()))
            },
        );
        self.parts = Some(parts);
        true
    }

    fn push(&mut self, reader: &Reader<F>, mut file: File<F>) {
        let len = file.len();
        // Of stretches it would read more than is wanted.
        file.is_left_to_readahead =
            self.window.bytes == 0 && (file.part.is_some() || len == file.task.expect.size);
        if len >= PIECE as u64 {
            let missing = reader.uncached_bytes(&file.task, file.fd.as_fd());
            let in_one = len == file.task.spans[file.first].len;
            file.drop_behind = in_one && reader.drops_behind(&file.task, missing);
            if missing == Some(0) {
                file.undecided = false;
                file.is_left_to_readahead = false;
                file.announced = len;
                self.ahead += len;
            }
        }
        if file.is_left_to_readahead {
            let advice = match reader.settings.read_ahead {
                true => Advice::Sequential,
                false => Advice::Random,
            };
            fadvise::advise(&file.fd, 0, 0, advice);
        }
        self.files.push_back(file);
    }

    /// Reads the next piece of the first file into the reader's buffer.
    fn read_on(&mut self, reader: &mut Reader<F>) -> Option<(Piece, Option<Failure>)> {
        let file = self.files.front_mut()?;
        let piece = file.piece_at(file.read, file.next_len());
        let buffer = reader.piece(piece.len as usize);
        let failure = match pread::full(file.fd.as_fd(), buffer, piece.offset) {
            // Shorter than the scan said: cut off meanwhile.
            Ok(n) if n as u64 != piece.len => Some(Failure::Changed),
            Ok(_) if reader.stopped() => Some(Failure::Refused(Errno::CANCELED)),
            Ok(_) => None,
            Err(e) => Some(refused(&file.task, file.fd.as_fd(), e)),
        };
        let before = file.read.min(file.announced);
        file.read += piece.len;
        self.ahead -= file.read.min(file.announced) - before;
        Some((piece, failure))
    }

    /// Takes the piece that was read, and ends the file when it was the last one.
    fn take(
        &mut self,
        piece: Piece,
        failure: Option<Failure>,
        reader: &mut Reader<F>,
        source: &mut Source<'_, F>,
    ) {
        let Some(file) = self.files.front_mut() else {
            return;
        };
        if failure.is_none() {
            file.fold(reader, piece);
        }
        let is_done = file.read == file.decided() && !file.is_read_on(reader);
        if failure.is_none() && !is_done {
            if file.read - file.given_back >= GIVEN_BACK {
                file.give_back(&reader.settings.behind);
            }
            return;
        }
        let Some(mut file) = self.files.pop_front() else {
            return;
        };
        // A failure leaves some of the file announced and not read.
        self.ahead -= file.announced - file.read.min(file.announced);
        if let Some(outcome) = file.outcome(failure, &reader.fold) {
            source.complete(&file.task, outcome);
        }
        // What was long to read may be what others wait for.
        source.flush();
        file.give_back(&reader.settings.behind);
    }
}
