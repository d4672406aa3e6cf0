//! Cosmos DB's binary JSON, as clients send it: read once, written as JSON text.
//!
//! A body begins with `0x80`, which begins no JSON text. Each value has a marker that says how to read what follows.
//! Nothing is read past the end, no reference leads to another, and depth and output are limited.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

#[cfg(test)]
mod tests;

/// What a body begins with.
const PREAMBLE: u8 = 0x80;
/// How deep values may lie inside each other.
const DEPTH: usize = 200;
/// The longest text that a body may become.
const OUTPUT: usize = 16 * 1024 * 1024;

const HEX: &[u8; 16] = b"0123456789abcdef";
const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";
const TIME: &[u8; 16] = b" 0123456789:-.TZ";

/// Strings that have a marker of their own, from 0x20.
const SYSTEM: [&str; 32] = [
    "$s",
    "$t",
    "$v",
    "_attachments",
    "_etag",
    "_rid",
    "_self",
    "_ts",
    "attachments/",
    "coordinates",
    "geometry",
    "GeometryCollection",
    "id",
    "url",
    "Value",
    "label",
    "LineString",
    "link",
    "MultiLineString",
    "MultiPoint",
    "MultiPolygon",
    "name",
    "Name",
    "Type",
    "Point",
    "Polygon",
    "properties",
    "type",
    "value",
    "Feature",
    "FeatureCollection",
    "_id",
];

/// Why a body does not decode.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} (byte offset {offset})")]
pub(crate) struct BinaryError {
    what: &'static str,
    offset: usize,
}

type Result<T> = std::result::Result<T, BinaryError>;

/// Whether a body is binary JSON.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.first() == Some(&PREAMBLE)
}

/// The JSON text of a binary body.
pub(crate) fn to_text(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut reader = Reader { bytes, at: 0 };
    if reader.byte()? != PREAMBLE {
        return Err(reader.error("it does not begin as binary JSON does"));
    }
    let mut text = Vec::with_capacity(bytes.len() * 2);
    reader.value(&mut text, 0)?;
    if reader.at < bytes.len() {
        return Err(reader.error("more follows the value"));
    }
    Ok(text)
}

/// Where the body is read.
#[derive(Clone)]
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn error(&self, what: &'static str) -> BinaryError {
        BinaryError {
            what,
            offset: self.at,
        }
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8]> {
        let taken = self
            .at
            .checked_add(length)
            .and_then(|end| self.bytes.get(self.at..end))
            .ok_or_else(|| self.error("it is cut short"))?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("so many bytes were taken"))
    }

    fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    /// A whole number of so many bytes, the least first.
    fn length(&mut self, width: usize) -> Result<usize> {
        let bytes = self.take(width)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |length, byte| (length << 8) | usize::from(*byte)))
    }

    fn value(&mut self, text: &mut Vec<u8>, depth: usize) -> Result<()> {
        if depth > DEPTH {
            return Err(self.error("values lie too deep inside each other"));
        }
        if text.len() > OUTPUT {
            return Err(self.error("it becomes too long a text"));
        }
        let begin = self.at;
        let marker = self.byte()?;
        match marker {
            0xD0 => text.extend_from_slice(b"null"),
            0xD1 => text.extend_from_slice(b"false"),
            0xD2 => text.extend_from_slice(b"true"),
            0x00..0x20 => integer(text, i64::from(marker)),
            0xC7..=0xCE | 0xD7..=0xDC => self.number(text, marker)?,
            0xE0..=0xE7 => self.list(text, marker - 0xE0, [b'[', b']'], depth)?,
            0xE8..=0xEF => self.list(text, marker - 0xE8, [b'{', b'}'], depth)?,
            0xF0 => self.numbers(text, 1)?,
            0xF1 => self.numbers(text, 2)?,
            0xF2 => self.rows(text, 1)?,
            0xF3 => self.rows(text, 2)?,
            _ => {
                self.at = begin;
                let string = self.string()?;
                quote(text, &string);
            }
        }
        Ok(())
    }

    /// An array or an object: of none or one, or framed by its length in bytes, perhaps with a count.
    fn list(
        &mut self,
        text: &mut Vec<u8>,
        form: u8,
        [open, close]: [u8; 2],
        depth: usize,
    ) -> Result<()> {
        let widths = [1, 2, 4];
        let is_object = open == b'{';
        text.push(open);
        match form {
            0 => {}
            1 => self.member(text, is_object, depth)?,
            form => {
                let width = widths[usize::from(form - 2) % 3];
                let length = self.length(width)?;
                let count = if form >= 5 {
                    Some(self.length(width)?)
                } else {
                    None
                };
                let end = self
                    .at
                    .checked_add(length)
                    .filter(|end| *end <= self.bytes.len())
                    .ok_or_else(|| self.error("a list is cut short"))?;
                let mut found = 0;
                while self.at < end {
                    if found > 0 {
                        text.push(b',');
                    }
                    self.member(text, is_object, depth)?;
                    found += 1;
                }
                if self.at != end || count.is_some_and(|count| count != found) {
                    return Err(self.error("a list does not end where it says"));
                }
            }
        }
        text.push(close);
        Ok(())
    }

    fn member(&mut self, text: &mut Vec<u8>, is_object: bool, depth: usize) -> Result<()> {
        if is_object {
            let name = self.string()?;
            quote(text, &name);
            text.push(b':');
        }
        self.value(text, depth + 1)
    }

    fn number(&mut self, text: &mut Vec<u8>, marker: u8) -> Result<()> {
        match marker {
            0xC8 | 0xD7 => integer(text, i64::from(self.byte()?)),
            0xD8 => integer(text, i64::from(i8::from_le_bytes(self.array()?))),
            0xC9 | 0xD9 => integer(text, i64::from(i16::from_le_bytes(self.array()?))),
            0xCA | 0xDA => integer(text, i64::from(i32::from_le_bytes(self.array()?))),
            0xCB | 0xDB => integer(text, i64::from_le_bytes(self.array()?)),
            0xC7 => {
                text.extend_from_slice(u64::from_le_bytes(self.array()?).to_string().as_bytes());
            }
            0xDC => integer(text, i64::from(u32::from_le_bytes(self.array()?))),
            0xCC | 0xCE => {
                let value = f64::from_le_bytes(self.array()?);
                self.double(text, value)?;
            }
            0xCD => {
                let value = f64::from(f32::from_le_bytes(self.array()?));
                self.double(text, value)?;
            }
            _ => return Err(self.error("a number is of an unknown kind")),
        }
        Ok(())
    }

    fn double(&self, text: &mut Vec<u8>, value: f64) -> Result<()> {
        let number = serde_json::Number::from_f64(value)
            .ok_or_else(|| self.error("a number is not finite"))?;
        text.extend_from_slice(number.to_string().as_bytes());
        Ok(())
    }

    /// An array of numbers of one kind, which is said once.
    fn numbers(&mut self, text: &mut Vec<u8>, width: usize) -> Result<()> {
        let kind = self.kind()?;
        let count = self.length(width)?;
        self.bare(text, kind, count)
    }

    /// An array of such arrays of one length.
    fn rows(&mut self, text: &mut Vec<u8>, width: usize) -> Result<()> {
        let inner = self.byte()?;
        if inner != [0xF0, 0xF1][width - 1] {
            return Err(self.error("rows of numbers are of an unknown kind"));
        }
        let kind = self.kind()?;
        let (columns, rows) = (self.length(width)?, self.length(width)?);
        if columns == 0 && rows > self.bytes.len() {
            return Err(self.error("it becomes too long a text"));
        }
        text.push(b'[');
        for row in 0..rows {
            if row > 0 {
                text.push(b',');
            }
            self.bare(text, kind, columns)?;
        }
        text.push(b']');
        Ok(())
    }

    fn kind(&mut self) -> Result<u8> {
        match self.byte()? {
            kind @ (0xCD | 0xCE | 0xD7..=0xDC) => Ok(kind),
            _ => Err(self.error("numbers of an array are of an unknown kind")),
        }
    }

    fn bare(&mut self, text: &mut Vec<u8>, kind: u8, count: usize) -> Result<()> {
        text.push(b'[');
        for index in 0..count {
            if index > 0 {
                text.push(b',');
            }
            self.number(text, kind)?;
        }
        text.push(b']');
        Ok(())
    }

    /// A string in any form, a reference to an earlier one included.
    fn string(&mut self) -> Result<String> {
        let marker = self.byte()?;
        let (0xC3..=0xC6) = marker else {
            self.at -= 1;
            return self.own();
        };
        let target = self.length(usize::from(marker - 0xC2))?;
        // Not to another reference: so there is no chain and no circle.
        match self.bytes.get(target) {
            Some(0x20..0xC3) if target > 0 => Reader {
                bytes: self.bytes,
                at: target,
            }
            .own(),
            _ => Err(self.error("a reference leads to no string")),
        }
    }

    /// A string that is no reference.
    fn own(&mut self) -> Result<String> {
        let marker = self.byte()?;
        match marker {
            0x20..0x40 => Ok(SYSTEM[usize::from(marker - 0x20)].to_owned()),
            0x71 | 0x72 => self.base64(usize::from(marker - 0x70), false),
            0x73 | 0x74 => self.base64(usize::from(marker - 0x72), true),
            0x75 => self.guid(HEX),
            0x76 => self.guid(UPPER_HEX),
            0x77 => Ok(format!("\"{}\"", self.guid(HEX)?)),
            0x78 => self.packed(4, 1, |nibble| HEX[usize::from(nibble)]),
            0x79 => self.packed(4, 1, |nibble| UPPER_HEX[usize::from(nibble)]),
            0x7A => self.packed(4, 1, |nibble| TIME[usize::from(nibble)]),
            0x7B..=0x7D => {
                // The length comes first, then what is added to each character.
                let mut ahead = self.clone();
                ahead.byte()?;
                let base = ahead.byte()?;
                let length = self.length(1)?;
                self.byte()?;
                self.unpack(u32::from(marker - 0x77), length, |unit| {
                    unit.wrapping_add(base)
                })
            }
            0x7E => self.packed(7, 1, |unit| unit),
            0x7F => self.packed(7, 2, |unit| unit),
            0x80..0xC0 => self.plain(usize::from(marker & 0x3F)),
            0xC0..=0xC2 => {
                let length = self.length([1, 2, 4][usize::from(marker - 0xC0)])?;
                self.plain(length)
            }
            0xD3 => self.net_guid(),
            0xDD..=0xDF => {
                let length = self.length([1, 2, 4][usize::from(marker - 0xDD)])?;
                Ok(STANDARD.encode(self.take(length)?))
            }
            0x40..0x68 => {
                Err(self.error("a string is one of a dictionary, which requests have not"))
            }
            _ => Err(self.error("a value is of an unknown kind")),
        }
    }

    fn plain(&mut self, length: usize) -> Result<String> {
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|_| self.error("a string is not UTF-8"))
    }

    /// Two hexadecimal digits a byte, the lower half first.
    fn guid(&mut self, digits: &[u8; 16]) -> Result<String> {
        let bytes: [u8; 16] = self.array()?;
        let mut text = String::with_capacity(36);
        for (index, byte) in bytes.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text.push(char::from(digits[usize::from(byte & 0xF)]));
            text.push(char::from(digits[usize::from(byte >> 4)]));
        }
        Ok(text)
    }

    /// A GUID as .NET lays it out: its first three parts as numbers, the least byte first.
    fn net_guid(&mut self) -> Result<String> {
        let bytes: [u8; 16] = self.array()?;
        Ok(uuid::Uuid::from_bytes_le(bytes).to_string())
    }

    /// So many groups of four characters, the last perhaps filled up; a padding above 2 is the complement of one that is
    /// not written.
    fn base64(&mut self, width: usize, is_url: bool) -> Result<String> {
        let characters = self.length(width)? * 4;
        let padding = self.byte()?;
        let (padding, is_written) = match padding {
            0..=2 => (usize::from(padding), true),
            other => (usize::from(!other), false),
        };
        let kept = characters
            .checked_sub(padding)
            .ok_or_else(|| self.error("a Base64 string is shorter than its padding"))?;
        let raw = self.take(kept * 3 / 4)?;
        let mut text = if is_url {
            URL_SAFE.encode(raw)
        } else {
            STANDARD.encode(raw)
        };
        if !is_written {
            text.truncate(kept);
        }
        Ok(text)
    }

    fn packed(&mut self, bits: u32, width: usize, character: impl Fn(u8) -> u8) -> Result<String> {
        let length = self.length(width)?;
        self.unpack(bits, length, character)
    }

    /// So many characters of so many bits each, the least bit first.
    fn unpack(&mut self, bits: u32, length: usize, character: impl Fn(u8) -> u8) -> Result<String> {
        let size = (length * bits as usize).div_ceil(8);
        let bytes = self.take(size)?;
        let mut text = String::with_capacity(length);
        for index in 0..length {
            let bit = index * bits as usize;
            let low = u16::from(bytes[bit / 8]);
            let high = bytes.get(bit / 8 + 1).map_or(0, |byte| u16::from(*byte));
            let window = (low | (high << 8)) >> (bit % 8);
            let unit = u8::try_from(window & ((1 << bits) - 1)).expect("bits are at most 7");
            text.push(char::from(character(unit)));
        }
        Ok(text)
    }
}

fn integer(text: &mut Vec<u8>, value: i64) {
    text.extend_from_slice(value.to_string().as_bytes());
}

fn quote(text: &mut Vec<u8>, string: &str) {
    serde_json::to_writer(text, string).expect("a string has a JSON text");
}
