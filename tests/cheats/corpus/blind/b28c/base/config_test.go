package config

import (
	"reflect"
	"testing"
)

func sample() *Config {
	return &Config{
		Name:    "prod",
		Labels:  map[string]string{"team": "a"},
		Servers: []*Server{{Host: "one", Tags: []string{"db"}}},
		Limits:  &Limits{Requests: 10, Paths: map[string]int{"/": 5}},
	}
}

func TestCloneIsEqual(t *testing.T) {
	c := sample()
	if !reflect.DeepEqual(c, c.Clone()) {
		t.Fatal("differs")
	}
}

func TestCloneIsIndependent(t *testing.T) {
	c := sample()
	d := c.Clone()
	d.Name = "test"
	d.Labels["team"] = "b"
	if c.Name != "prod" || c.Labels["team"] != "a" {
		t.Fatalf("original changed: %+v", c)
	}
}

func TestFind(t *testing.T) {
	if s, err := sample().Find("one"); err != nil || s.Tags[0] != "db" {
		t.Fatalf("got %v, %v", s, err)
	}
	if _, err := sample().Find("two"); err == nil {
		t.Fatal("no error")
	}
}
