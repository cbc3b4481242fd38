//! A reader between a JSON report and its parser, which limits the length of texts.

use std::io::{self, BufRead, Read};

use super::room;

/// Passes on what it reads, and refuses a text (what stands between quotes) longer than any name can be.
pub struct ShortTexts<R> {
    input: R,
    state: StringState,
    length: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StringState {
    Outside,
    Inside,
    Escaped,
}

impl<R> ShortTexts<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            state: StringState::Outside,
            length: 0,
        }
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (StringState::Outside, b'"') => StringState::Inside,
                (StringState::Outside, _) => StringState::Outside,
                (StringState::Inside, b'"') => StringState::Outside,
                (StringState::Inside, b'\\') => StringState::Escaped,
                (StringState::Inside | StringState::Escaped, _) => StringState::Inside,
            };
            self.length = if self.state == StringState::Outside {
                0
            } else {
                self.length + 1
            };
            if self.length > room::TEXT {
                let why = "a text in it is longer than any name";
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for ShortTexts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.pass(&buffer[..read])?;
        Ok(read)
    }
}

/// Ends where a line does, and takes its end along.
pub struct OneLine<'a, R> {
    input: &'a mut R,
    is_over: bool,
}

impl<'a, R> OneLine<'a, R> {
    pub fn new(input: &'a mut R) -> Self {
        Self {
            input,
            is_over: false,
        }
    }
}

impl<R: BufRead> Read for OneLine<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over {
            return Ok(0);
        }
        let there = self.input.fill_buf()?;
        let there = &there[..there.len().min(buffer.len())];
        let length = match there.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                self.is_over = true;
                end + 1
            }
            None => there.len(),
        };
        buffer[..length].copy_from_slice(&there[..length]);
        self.input.consume(length);
        Ok(length)
    }
}

/// Passes over blank lines; tells how many lines further the next one is, `None` at the end.
pub fn skip_blank(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut lines = 1;
    loop {
        let there = input.fill_buf()?;
        if there.is_empty() {
            return Ok(None);
        }
        let blank = there.iter().take_while(|byte| byte.is_ascii_whitespace());
        let blank = blank.count();
        lines += there[..blank].iter().filter(|&&byte| byte == b'\n').count();
        let is_next = blank < there.len();
        input.consume(blank);
        if is_next {
            return Ok(Some(lines));
        }
    }
}
