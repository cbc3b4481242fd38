//! Reading single bytes of a file, bounded: where a parser gets its bytes, and what ends it.

use std::io;

use super::span::Span;

/// A file that is looked at.
pub trait Source {
    /// Its length in bytes.
    fn length(&self) -> u64;

    /// Fills the buffer from this offset on. Only what lies in the file is asked for.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl Source for &[u8] {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..));
        let bytes = rest.and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Why the parts of a file are not known: it is compared as an ordinary file.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// It contradicts its format.
    #[error("damaged: {0}")]
    Damaged(&'static str),
    /// It may be sound, but no rule is known for it.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    #[error(transparent)]
    Io(#[from] io::Error),
}

pub type Result<T> = std::result::Result<T, LookError>;

/// Ends the look at a file that contradicts its format.
pub fn damaged<T>(why: &'static str) -> Result<T> {
    Err(LookError::Damaged(why))
}

/// Ends the look at a file that no rule is known for.
pub fn unsupported<T>(why: &'static str) -> Result<T> {
    Err(LookError::Unsupported(why))
}

/// Nothing for a structure that is damaged or not supported: then it belongs to the picture as it is.
pub fn if_sound<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(LookError::Io(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// Bytes that are read of every file at first. A guess: camera files have their tags in them.
pub const HEAD: u64 = 64 << 10;

/// Bytes at the end that are read together.
const TAIL: u64 = 4 << 10;

/// The fewest bytes that are read elsewhere: a page.
const PAGE: u64 = 4 << 10;

/// The most bytes that one question returns.
const LONGEST: u64 = 1 << 20;

/// The most bytes that are read of one file: the tables of a film of hours, and the search for the end of a JPEG.
const MOST_BYTES: u64 = 64 << 20;

/// The most segments, boxes, chunks, tags and table entries of one file.
const MOST_ELEMENTS: u64 = 4 << 20;

/// How many of them one counts for that is kept with its place and a name, 100 bytes in all.
const KEPT: u64 = 16;

/// Order of the bytes in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

impl Order {
    /// The number that up to eight bytes spell.
    pub fn number(self, bytes: &[u8]) -> u64 {
        let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match self {
            Self::Big => bytes.iter().fold(0, join),
            Self::Little => bytes.iter().rev().fold(0, join),
        }
    }
}

/// Answers questions about bytes of a file, from its head or from a window that moves; limits what a file can cost.
pub struct Reader<'a> {
    source: &'a dyn Source,
    length: u64,
    head: Vec<u8>,
    window: Vec<u8>,
    window_at: u64,
    bytes_left: u64,
    elements_left: u64,
}

impl<'a> Reader<'a> {
    /// Reads the head.
    pub fn new(source: &'a dyn Source) -> Result<Self> {
        let length = source.length();
        let mut head = vec![0; length.min(HEAD) as usize];
        source.read_at(0, &mut head)?;
        Ok(Self {
            source,
            length,
            head,
            window: Vec::new(),
            window_at: 0,
            bytes_left: MOST_BYTES,
            elements_left: MOST_ELEMENTS,
        })
    }

    /// The whole file.
    pub fn whole(&self) -> Span {
        Span::new(0, self.length)
    }

    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Counts parts of the file's structure that are kept: each takes as much memory as many numbers.
    pub fn count_kept(&mut self, elements: u64) -> Result<()> {
        self.count(elements.saturating_mul(KEPT))
    }

    /// Counts parts of the file's structure.
    pub fn count(&mut self, elements: u64) -> Result<()> {
        match self.elements_left.checked_sub(elements) {
            Some(left) => self.elements_left = left,
            None => return unsupported("it has too many parts"),
        }
        Ok(())
    }

    /// The bytes of a span, which is short and in the file.
    pub fn bytes(&mut self, span: Span) -> Result<&[u8]> {
        if span.length > LONGEST {
            return unsupported("a part of it is too long");
        }
        if span.end() > self.length {
            return damaged("it ends too early");
        }
        let length = span.length as usize;
        if span.end() <= self.head.len() as u64 {
            let start = span.start as usize;
            return Ok(&self.head[start..start + length]);
        }
        let window = Span::new(self.window_at, self.window.len() as u64);
        if !window.contains(span) {
            self.move_window(span)?;
        }
        let start = (span.start - self.window_at) as usize;
        Ok(&self.window[start..start + length])
    }

    fn move_window(&mut self, span: Span) -> Result<()> {
        let tail = self.length.saturating_sub(TAIL);
        let goes_on = span.start == self.window_at + self.window.len() as u64;
        self.window_at = if span.start < tail { span.start } else { tail };
        let least = if goes_on { HEAD } else { PAGE };
        let wanted = (span.end() - self.window_at).max(least);
        let wanted = wanted.min(self.length - self.window_at);
        match self.bytes_left.checked_sub(wanted) {
            Some(left) => self.bytes_left = left,
            None => return unsupported("too much of it must be read"),
        }
        self.window.resize(wanted as usize, 0);
        let read = self.source.read_at(self.window_at, &mut self.window);
        if read.is_err() {
            self.window.clear();
        }
        Ok(read?)
    }

    /// The number in up to eight bytes from this offset on.
    pub fn number(&mut self, at: u64, length: u64, order: Order) -> Result<u64> {
        Ok(order.number(self.bytes(Span::new(at, length))?))
    }

    /// The same, most significant byte first.
    pub fn big(&mut self, at: u64, length: u64) -> Result<u64> {
        self.number(at, length, Order::Big)
    }

    /// True if these bytes are at this offset.
    pub fn has(&mut self, at: u64, bytes: &[u8]) -> Result<bool> {
        let span = Span::new(at, bytes.len() as u64);
        Ok(span.end() <= self.length && self.bytes(span)? == bytes)
    }

    /// True if a span begins with these bytes.
    pub fn has_in(&mut self, span: Span, bytes: &[u8]) -> Result<bool> {
        Ok(bytes.len() as u64 <= span.length && self.has(span.start, bytes)?)
    }

    /// True if all bytes of a span are zero.
    pub fn is_zero(&mut self, mut span: Span) -> Result<bool> {
        while span.length > 0 {
            let bytes = self.bytes(span.first(PAGE))?;
            if bytes.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            span = span.skip(PAGE);
        }
        Ok(true)
    }
}
