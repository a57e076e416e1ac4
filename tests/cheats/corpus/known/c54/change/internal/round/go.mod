module example.com/round

go 1.22
