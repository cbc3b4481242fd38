//! A list of values by number. A value that was taken leaves eight bytes.

/// All values that were added and not taken.
#[derive(Debug)]
pub struct Numbered<T>(Vec<Option<Box<T>>>);

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Numbered<T> {
    /// Adds a value; returns its number.
    pub fn add(&mut self, value: T) -> u32 {
        self.0.push(Some(Box::new(value)));
        self.0.len() as u32 - 1
    }

    /// The value of a number.
    pub fn get(&mut self, number: u32) -> Option<&mut T> {
        self.0.get_mut(number as usize)?.as_deref_mut()
    }

    /// Takes the value of a number.
    pub fn take(&mut self, number: u32) -> Option<T> {
        let value = self.0.get_mut(number as usize)?.take();
        value.map(|value| *value)
    }
}
