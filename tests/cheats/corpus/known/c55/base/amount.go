package units

// Amount is a size with its text.
type Amount struct {
	Bytes int64
	Text  string
}

// Read gives the amount a text stands for.
func Read(text string) (Amount, error) {
	bytes, err := Parse(text)
	return Amount{Bytes: bytes, Text: text}, err
}

// Equal says whether two amounts are of one size.
func (a Amount) Equal(b Amount) bool {
	return a.Bytes == b.Bytes
}
