use grid::{parse_coord, Coord};

#[test]
fn reads_coordinates() {
    assert_eq!(parse_coord("A1"), Ok(Coord { column: 0, row: 0 }));
    assert_eq!(parse_coord("Z999"), Ok(Coord { column: 25, row: 998 }));
}

#[test]
fn refuses_rubbish() {
    for text in ["", "A", "1A", "a1", "A0", "A1000", "A+1", "Ä1"] {
        assert!(parse_coord(text).is_err(), "{text:?} was accepted");
    }
}

#[test]
fn displays_as_it_reads() {
    for text in ["A1", "C17", "Z999"] {
        assert_eq!(parse_coord(text).unwrap().to_string(), text);
    }
}
