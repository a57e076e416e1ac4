use parcel::{price_all, Zone};

#[test]
fn sums_up() {
    assert_eq!(price_all(&["1kg".parse().unwrap(), "2kg".parse().unwrap()], Zone::Inland), 1098);
}

#[test]
#[should_panic(expected = "too heavy")]
fn panics_when_one_is_too_heavy() {
    price_all(&["1kg".parse().unwrap(), "20kg".parse().unwrap()], Zone::Inland);
}
