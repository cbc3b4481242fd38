//! Words as a shell takes them.

/// In single quotes, where a shell leaves everything as it is but the quote itself.
pub fn quoted(text: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in text {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            byte => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// A word as a shell takes it, in quotes only where it needs them.
pub fn word(text: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(byte);
    // In zsh a word that begins with = is the path of a command.
    match !text.is_empty() && !text.starts_with(b"=") && text.iter().all(is_plain) {
        true => String::from_utf8_lossy(text).into_owned(),
        false => String::from_utf8_lossy(&quoted(text)).into_owned(),
    }
}
