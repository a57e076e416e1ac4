use parcel::{price_all, Zone};

#[test]
fn sums_up() {
    assert_eq!(price_all(&["1kg".parse().unwrap(), "2kg".parse().unwrap()], Zone::Inland), Some(1098));
}

#[test]
fn none_when_one_is_too_heavy() {
    assert_eq!(price_all(&["1kg".parse().unwrap(), "20kg".parse().unwrap()], Zone::Inland), None);
}
