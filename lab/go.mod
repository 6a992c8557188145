module heddle/lab

go 1.19
