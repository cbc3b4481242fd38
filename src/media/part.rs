//! Lists of pieces of a file, in the order in which they are hashed.

use std::io;

use super::source::Source;
use super::span::Span;

/// What is hashed next.
pub enum Piece<'a> {
    /// Bytes that stand for structure: names, lengths, normalised headers.
    Literal(&'a [u8]),
    /// Bytes of the file.
    Span(Span),
}

#[derive(Debug)]
enum Stored {
    /// So many of the literal bytes that follow.
    Literal(usize),
    Span(Span),
}

/// A part of what a file shows. Two files have it in common if the concatenated pieces are equal: each item begins with
/// its name and its length, so that no two lists of items concatenate to the same bytes.
#[derive(Debug, Default)]
pub struct Part {
    literals: Vec<u8>,
    stored: Vec<Stored>,
    length: u64,
    from_file: u64,
}

impl Part {
    /// Appends an item of literal bytes.
    pub fn put(&mut self, name: &[u8], bytes: &[u8]) {
        self.begin(name, bytes.len() as u64);
        self.literal(bytes);
    }

    /// Appends an item of numbers.
    pub fn put_numbers(&mut self, name: &[u8], numbers: &[u64]) {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        self.put(name, &bytes.collect::<Vec<u8>>());
    }

    /// Appends an item of bytes of the file.
    pub fn put_span(&mut self, name: &[u8], span: Span) {
        self.put_spans(name, &[span]);
    }

    /// Appends an item of bytes of the file that lie at several places.
    pub fn put_spans(&mut self, name: &[u8], spans: &[Span]) {
        let total = spans
            .iter()
            .fold(0, |total: u64, span| total.saturating_add(span.length));
        self.begin(name, total);
        for span in spans.iter().filter(|span| span.length > 0) {
            self.length = self.length.saturating_add(span.length);
            self.from_file = self.from_file.saturating_add(span.length);
            match self.stored.last_mut() {
                Some(Stored::Span(last)) if last.end() == span.start => last.length += span.length,
                _ => self.stored.push(Stored::Span(*span)),
            }
        }
    }

    /// Appends all items of another part.
    pub fn append(&mut self, other: Self) {
        self.literals.extend(other.literals);
        self.stored.extend(other.stored);
        self.length = self.length.saturating_add(other.length);
        self.from_file = self.from_file.saturating_add(other.from_file);
    }

    fn begin(&mut self, name: &[u8], length: u64) {
        self.literal(&(name.len() as u32).to_le_bytes());
        self.literal(name);
        self.literal(&length.to_le_bytes());
    }

    fn literal(&mut self, bytes: &[u8]) {
        self.literals.extend_from_slice(bytes);
        self.length += bytes.len() as u64;
        match self.stored.last_mut() {
            Some(Stored::Literal(length)) => *length += bytes.len(),
            _ => self.stored.push(Stored::Literal(bytes.len())),
        }
    }

    /// Number of bytes that are hashed. Known before anything is hashed; parts of different length differ.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// How many of them are read from the file.
    pub fn from_file(&self) -> u64 {
        self.from_file
    }

    /// What is hashed, in order.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut rest = &self.literals[..];
        self.stored.iter().map(move |stored| match stored {
            Stored::Literal(length) => {
                let (piece, after) = rest.split_at(*length);
                rest = after;
                Piece::Literal(piece)
            }
            Stored::Span(span) => Piece::Span(*span),
        })
    }

    /// Hashes the pieces in a domain.
    pub fn digest(&self, domain: &str, source: &dyn Source) -> io::Result<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        let mut buffer = vec![0; 64 << 10];
        for piece in self.pieces() {
            match piece {
                Piece::Literal(bytes) => {
                    hasher.update(bytes);
                }
                Piece::Span(mut rest) => {
                    while rest.length > 0 {
                        let next = rest.first(buffer.len() as u64);
                        let bytes = &mut buffer[..next.length as usize];
                        source.read_at(next.start, bytes)?;
                        hasher.update(bytes);
                        rest = rest.skip(next.length);
                    }
                }
            }
        }
        Ok(*hasher.finalize().as_bytes())
    }
}
