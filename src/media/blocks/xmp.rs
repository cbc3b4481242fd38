//! XMP, read without an XML parser: values by name.

use super::super::source::{Reader, Result};
use super::super::span::Span;

/// Longer blocks are not read. A guess.
const LONGEST: u64 = 256 << 10;

/// The text of a block, or nothing if it is too long.
pub fn text(reader: &mut Reader, block: Span) -> Result<String> {
    if block.length > LONGEST {
        return Ok(String::new());
    }
    Ok(String::from_utf8_lossy(reader.bytes(block)?).into_owned())
}

/// The first values of a property: an attribute, an element, or the items of a list.
pub fn values<'a>(text: &'a str, property: &str) -> Vec<&'a str> {
    if let Some((_, after)) = text.split_once(&format!("<{property}>")) {
        let end = format!("</{property}>");
        let inside = after.split_once(&end).map_or("", |(inside, _)| inside);
        let items = inside.split("<rdf:li").skip(1);
        let items = items.filter_map(|item| item.split_once('>')?.1.split_once('<'));
        let items: Vec<&str> = items.map(|(value, _)| value.trim()).collect();
        return if items.is_empty() {
            vec![inside.trim()]
        } else {
            items
        };
    }
    let attribute = text.split_once(&format!("{property}="));
    let value = attribute.and_then(|(_, after)| {
        let quote = after.chars().next()?;
        after.get(1..)?.split_once(quote)
    });
    value.map(|(value, _)| value.trim()).into_iter().collect()
}

/// Number of values in a block, roughly: attributes that are not empty and name no namespace, items of lists, and
/// elements with text.
pub fn count(text: &str) -> usize {
    let attributes = text.split_whitespace().map(|word| {
        let is_namespace = word.starts_with("xmlns:") || word.starts_with("xml:");
        let named = match word.find(':') {
            Some(colon) if !is_namespace => &word[colon..],
            _ => "",
        };
        named.matches("=\"").count() - named.matches("=\"\"").count()
    });
    let last_end = text.rfind("</").unwrap_or(0);
    let texts = text.match_indices('>').filter(|(at, _)| {
        let next = text[at + 1..].trim_start().chars().next();
        *at < last_end && next.is_some_and(|next| next != '<')
    });
    attributes.sum::<usize>() + texts.count()
}

/// The orientation that a block gives the picture.
pub fn orientation(reader: &mut Reader, block: Span) -> Result<Option<u16>> {
    let text = text(reader, block)?;
    let values = values(&text, "tiff:Orientation");
    Ok(values.first().and_then(|value| value.parse().ok()))
}
