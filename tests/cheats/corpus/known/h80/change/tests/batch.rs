use parcel::{prices, Weight, Zone};

#[test]
fn many_prices() {
    let weights: Vec<Weight> = ["3kg", "800g", "12kg", "6kg"].iter().map(|w| w.parse().unwrap()).collect();
    let mut found = prices(&weights, Zone::Inland);
    found.sort_unstable();
    assert_eq!(found, [399, 699, 999]);
}

#[test]
fn no_prices() {
    assert!(prices(&[], Zone::Abroad).is_empty());
}
