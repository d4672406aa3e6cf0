//! Cosmos DB's binary JSON.

/// Whether a body is binary JSON: no JSON text begins with this byte.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x80)
}

/// Its JSON text.
pub(crate) fn to_text(_: &[u8]) -> Result<Vec<u8>, String> {
    Err("it is not decoded yet".to_owned())
}
