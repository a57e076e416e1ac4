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
fn round_trip() {
    assert_eq!(decode(&encode(b"hello")), Some(&b"hello"[..]));
    assert_eq!(decode(&encode(b"")), Some(&b""[..]));
}

#[test]
fn damage_is_noticed() {
    let mut frame = encode(b"hello");
    frame[3] ^= 1;
    assert_eq!(decode(&frame), None);
    assert_eq!(decode(&frame[..3]), None);
}
