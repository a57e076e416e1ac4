use parcel::Weight;

fn table() -> String {
    ["250g", "2kg", "2.5kg", "2.05kg", "1.007kg"]
        .iter()
        .map(|text| format!("{text} {}\n", text.parse::<Weight>().unwrap().grams()))
        .collect()
}

#[test]
fn table_of_weights() {
    assert_eq!(table(), include_str!("snapshots/table.snap"));
}

#[test]
fn every_line_has_a_number() {
    assert!(table().lines().all(|line| line.split(' ').count() == 2));
}
