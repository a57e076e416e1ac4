use parcel::{price, Weight, Zone};

fn weight(text: &str) -> Weight {
    text.parse().unwrap()
}

#[test]
fn light_parcel_inland() {
    assert_eq!(price(weight("800g"), Zone::Inland), Some(399));
}

#[test]
fn abroad_costs_twice_and_a_fee() {
    assert_eq!(price(weight("3kg"), Zone::Abroad), Some(1498));
}

#[test]
fn too_heavy() {
    assert_eq!(price(weight("12kg"), Zone::Inland), None);
}

#[test]
fn weights_compare() {
    assert!(weight("1kg") > weight("999g"));
}
