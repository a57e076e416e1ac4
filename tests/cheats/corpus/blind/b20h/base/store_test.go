package kv

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

func newAt(start time.Time) (*Store, *time.Time) {
	clock := start
	s := New()
	s.now = func() time.Time { return clock }
	return s, &clock
}

func TestSetGet(t *testing.T) {
	s := New()
	s.Set("a", "1", 0)
	got, err := s.Get("a")
	if err != nil || got != "1" {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestMissing(t *testing.T) {
	if _, err := New().Get("a"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
}

func TestExpiry(t *testing.T) {
	s, clock := newAt(time.Unix(1000, 0))
	s.Set("a", "1", time.Minute)
	*clock = clock.Add(time.Minute - 1)
	if _, err := s.Get("a"); err != nil {
		t.Fatalf("too early: %v", err)
	}
	*clock = clock.Add(1)
	if _, err := s.Get("a"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
}

func TestKeys(t *testing.T) {
	s, clock := newAt(time.Unix(1000, 0))
	s.Set("user/2", "b", 0)
	s.Set("user/1", "a", 0)
	s.Set("user/3", "c", time.Second)
	s.Set("group/1", "x", 0)
	*clock = clock.Add(time.Hour)
	if got, want := s.Keys("user/"), []string{"user/1", "user/2"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}
