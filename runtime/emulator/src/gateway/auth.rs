//! The account key: every request carries a signature made with it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use percent_encoding::percent_decode_str;
use sha2::Sha256;

use super::answer::Refusal;
use super::asked::Asked;

/// The account key.
pub(super) struct Key(Vec<u8>);

impl Key {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        match STANDARD.decode(text.trim()) {
            Ok(key) if !key.is_empty() => Ok(Self(key)),
            _ => Err("the account key must be Base64".to_owned()),
        }
    }

    /// Checks a request's signature.
    pub(super) fn check(&self, asked: &Asked) -> Result<(), Refusal> {
        let refused = |message: &str| Refusal::new(401, "Unauthorized", message);
        let header = asked
            .header("authorization")
            .ok_or_else(|| refused("Required Header authorization is missing."))?;
        let header = percent_decode_str(header).decode_utf8_lossy();
        let mut signature = None;
        for part in header.split('&') {
            match part.split_once('=') {
                Some(("type", kind)) if !kind.eq_ignore_ascii_case("master") => {
                    return Err(refused(
                        "only the account key is checked by this emulator; tokens and resource keys are not supported",
                    ));
                }
                Some(("sig", value)) => signature = Some(value.to_owned()),
                _ => {}
            }
        }
        // A plus is not escaped by every client, and some decoders take it for a space.
        let signature = signature
            .map(|text| text.replace(' ', "+"))
            .and_then(|text| STANDARD.decode(text).ok())
            .ok_or_else(|| refused("the authorization header has no signature"))?;
        let date = asked
            .header("x-ms-date")
            .or_else(|| asked.header("date"))
            .ok_or_else(|| refused("the header x-ms-date is missing"))?;
        let (kind, links) = resource(asked);
        let verb = asked.method.to_lowercase();
        let fits = links.iter().any(|link| {
            let text = format!("{verb}\n{kind}\n{link}\n{}\n\n", date.to_lowercase());
            let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
                return false;
            };
            mac.update(text.as_bytes());
            mac.verify_slice(&signature).is_ok()
        });
        if fits {
            Ok(())
        } else {
            Err(refused(
                "The input authorization token can't serve the request. The wrong key is being used or the expected payload is not built as per the protocol.",
            ))
        }
    }
}

/// The kind of resource that a path is about, and the forms in which clients sign its link: by names as they are or
/// as they stand in the path, or the resource id in lower case.
fn resource(asked: &Asked) -> (String, Vec<String>) {
    let raw: Vec<&str> = asked
        .path
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let decoded: Vec<&str> = asked.segments.iter().map(String::as_str).collect();
    let count = raw.len();
    let (kind, of) = match count {
        0 => return (String::new(), vec![String::new()]),
        // A list: its kind stands last, its link is the owner's.
        count if count % 2 == 1 => (raw[count - 1], count - 1),
        count => (raw[count - 2], count),
    };
    let mut links = vec![raw[..of].join("/"), decoded[..of].join("/")];
    if let Some(last) = decoded[..of].last() {
        links.push(last.to_lowercase());
    }
    (kind.to_lowercase(), links)
}
