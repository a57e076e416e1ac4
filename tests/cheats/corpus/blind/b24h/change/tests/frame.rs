use frame::{checksum, encode};

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
fn positions_wrap_too() {
    let mut data = vec![0; 65_537];
    data[65_535] = 9; // position 65536, which is 0 modulo 2^16
    data[65_536] = 2; // position 65537, which is 1
    assert_eq!(checksum(&data), 2);
}

#[test]
fn checksum_comes_last() {
    assert_eq!(encode(&[1, 2, 3]), [1, 2, 3, 0, 14]);
}
