package kv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

var scratch string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kv-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return m.Run()
}

func TestSaveLoad(t *testing.T) {
	path := filepath.Join(scratch, "round.json")
	s := New()
	s.Set("a", "1", 0)
	s.Set("b", "2", time.Hour)
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := loaded.Keys(""), []string{"a", "b"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if !loaded.items["a"].expires.IsZero() || !loaded.items["b"].expires.Equal(s.items["b"].expires) {
		t.Fatal("expiry not kept")
	}
}

func TestSaveLeavesOutExpired(t *testing.T) {
	path := filepath.Join(scratch, "expired.json")
	s, clock := newAt(time.Now())
	s.Set("a", "1", time.Second)
	*clock = clock.Add(time.Minute)
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(path)
	if err != nil || len(loaded.items) != 0 {
		t.Fatalf("got %v, %v", loaded, err)
	}
}

func TestLoadMissing(t *testing.T) {
	if _, err := Load(filepath.Join(scratch, "none.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
}

func TestLoadBroken(t *testing.T) {
	path := filepath.Join(scratch, "broken.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil {
		t.Fatal("no error")
	}
}
