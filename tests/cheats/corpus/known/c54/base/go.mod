module example.com/units

go 1.22

require example.com/round v1.2.0

replace example.com/round => ./third_party/round
