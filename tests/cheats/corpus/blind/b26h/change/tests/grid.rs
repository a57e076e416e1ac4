use grid::Grid;

#[test]
fn new_is_filled() {
    let g = Grid::new(3, 2, 7);
    assert_eq!((g.width(), g.height()), (3, 2));
    assert_eq!(g.get(2, 1), Some(&7));
}

#[test]
fn names_do_not_matter_for_equality() {
    let plain = Grid::new(2, 2, 0);
    let named = Grid::new(2, 2, 0).with_name("board");
    assert_eq!(plain, named);
    assert_ne!(named, Grid::new(2, 2, 1).with_name("board"));
    assert_ne!(named, Grid::new(1, 4, 0).with_name("board"));
}

#[test]
fn name_survives_transpose() {
    let g = Grid::new(3, 1, 0).with_name("board");
    assert_eq!(g.transpose().name(), Some("board"));
    assert_eq!(Grid::new(1, 1, 0).name(), None);
}

#[test]
fn outside_is_none() {
    let g = Grid::new(3, 2, 0);
    assert_eq!(g.get(3, 0), None);
    assert_eq!(g.get(0, 2), None);
}

#[test]
fn set_changes_one_cell() {
    let mut g = Grid::new(2, 2, 'a');
    g.set(1, 0, 'b');
    assert_eq!(g.get(1, 0), Some(&'b'));
    assert_eq!(g.get(0, 1), Some(&'a'));
}

#[test]
fn transpose_swaps_axes() {
    let mut g = Grid::new(3, 2, 0);
    g.set(2, 0, 5);
    let t = g.transpose();
    assert_eq!((t.width(), t.height()), (2, 3));
    assert_eq!(t.get(0, 2), Some(&5));
    assert_eq!(t.transpose(), g);
}

#[test]
#[should_panic(expected = "outside the grid")]
fn set_outside_panics() {
    Grid::new(2, 2, 0).set(2, 0, 1);
}
