use parcel::Weight;

fn survives(up_to: u32) {
    for grams in 0..=up_to {
        let read: Weight = format!("{grams}g").parse().unwrap();
        assert_eq!(read.grams(), grams);
    }
}

#[test]
fn small_weights_survive() {
    survives(2000);
}

#[test]
#[ignore = "takes minutes; run with --ignored before a release"]
fn large_weights_survive() {
    survives(40_000_000);
}
