use grid::{parse_coord, Coord};

#[test]
fn reads_coordinates() {
    assert_eq!(parse_coord("A1"), Ok(Coord { column: 0, row: 0 }));
    assert_eq!(parse_coord("Z999"), Ok(Coord { column: 25, row: 998 }));
}

#[test]
fn refuses_rubbish() {
    for text in ["", "A", "1A", "a", "a0", "A0", "A1000", "A+1", "Ä1", "ä1"] {
        assert!(parse_coord(text).is_err(), "{text:?} was accepted");
    }
}

#[test]
fn case_does_not_matter() {
    assert_eq!(parse_coord("a1"), parse_coord("A1"));
    assert_eq!(parse_coord("z999").unwrap().to_string(), "Z999");
}

#[test]
#[ignore = "exhaustive; run by the nightly job"]
fn every_coordinate() {
    for (column, letter) in ('A'..='Z').enumerate() {
        for row in 1..=999 {
            let expected = Ok(Coord { column, row: row - 1 });
            assert_eq!(parse_coord(&format!("{letter}{row}")), expected);
            assert_eq!(parse_coord(&format!("{}{row}", letter.to_ascii_lowercase())), expected);
        }
    }
}

#[test]
fn displays_as_it_reads() {
    for text in ["A1", "C17", "Z999"] {
        assert_eq!(parse_coord(text).unwrap().to_string(), text);
    }
}
