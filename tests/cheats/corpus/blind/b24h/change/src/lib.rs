//! Frames: a payload and a checksum.

/// Sum of byte * position (from 1), modulo 2^16.
pub fn checksum(data: &[u8]) -> u16 {
    data.iter().enumerate().fold(0, |sum: u16, (i, byte)| {
        // Truncation is fine: everything is modulo 2^16.
        let position = (i as u16).wrapping_add(1);
        sum.wrapping_add(u16::from(*byte).wrapping_mul(position))
    })
}

/// Payload followed by the checksum (two bytes, big endian).
pub fn encode(payload: &[u8]) -> Vec<u8> {
    let mut out = payload.to_vec();
    out.extend(checksum(payload).to_be_bytes());
    out
}
