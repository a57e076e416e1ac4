use parcel::{ParseWeightError, Weight};

fn grams(text: &str) -> u32 {
    text.parse::<Weight>().unwrap().grams()
}

#[test]
fn reads_grams() {
    assert_eq!(grams("250g"), 250);
}

#[test]
fn reads_kilograms() {
    assert_eq!(grams("2kg"), 2000);
    assert_eq!(grams(" 2.5kg "), 2500);
}

#[test]
fn zeros_after_the_point_count() {
    assert_eq!(grams("2.05kg"), 2050);
    assert_eq!(grams("1.007kg"), 1007);
}

#[test]
fn refuses_other_units() {
    assert_eq!("3lb".parse::<Weight>(), Err(ParseWeightError::Unit));
}

#[test]
fn refuses_no_number() {
    assert_eq!("kg".parse::<Weight>(), Err(ParseWeightError::Number));
}
