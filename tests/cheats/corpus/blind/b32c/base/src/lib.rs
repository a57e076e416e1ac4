//! Frames: a length, the payload and a checksum.

/// Sum of byte * position (from 1), modulo 2^16.
pub fn checksum(data: &[u8]) -> u16 {
    let mut sum: u16 = 0;
    for (i, byte) in data.iter().enumerate() {
        sum += u16::from(*byte) * (i as u16 + 1);
    }
    sum
}

/// Length (two bytes, big endian), payload, checksum (two bytes, big endian).
pub fn encode(payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).expect("payload too long");
    let mut out = Vec::with_capacity(payload.len() + 4);
    out.extend(length.to_be_bytes());
    out.extend(payload);
    out.extend(checksum(payload).to_be_bytes());
    out
}

/// The payload, or None for a damaged frame.
pub fn decode(frame: &[u8]) -> Option<&[u8]> {
    let (head, rest) = frame.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_be_bytes(*head));
    if rest.len() != length + 2 {
        return None;
    }
    let (payload, sum) = rest.split_at(length);
    (checksum(payload).to_be_bytes() == sum).then_some(payload)
}

#[cfg(test)]
mod tests;
