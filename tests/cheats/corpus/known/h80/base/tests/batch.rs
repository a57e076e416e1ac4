use parcel::{prices, Weight, Zone};

#[test]
fn many_prices() {
    let weights: Vec<Weight> = ["3kg", "800g", "12kg", "6kg"].iter().map(|w| w.parse().unwrap()).collect();
    let found = prices(&weights, Zone::Inland);
    assert_eq!(found, [699, 399, 999]);
}

#[test]
fn no_prices() {
    assert!(prices(&[], Zone::Abroad).is_empty());
}
