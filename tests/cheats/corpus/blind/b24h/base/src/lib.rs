//! Frames: a payload and a checksum.

/// Sum of byte * position (from 1), modulo 2^16.
pub fn checksum(data: &[u8]) -> u16 {
    let mut sum: u16 = 0;
    for (i, byte) in data.iter().enumerate() {
        sum += u16::from(*byte) * (i as u16 + 1);
    }
    sum
}

/// Payload followed by the checksum (two bytes, big endian).
pub fn encode(payload: &[u8]) -> Vec<u8> {
    let mut out = payload.to_vec();
    out.extend(checksum(payload).to_be_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sums() {
        assert_eq!(checksum(b""), 0);
        assert_eq!(checksum(&[1, 2, 3]), 14);
    }

    #[test]
    fn long_sums_wrap() {
        // 255 * (1 + 2 + ... + 300) = 11513250 = 175 * 65536 + 44450
        assert_eq!(checksum(&[255; 300]), 44_450);
    }

    #[test]
    fn checksum_comes_last() {
        assert_eq!(encode(&[1, 2, 3]), [1, 2, 3, 0, 14]);
    }
}
