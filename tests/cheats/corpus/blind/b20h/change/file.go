package kv

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

type fileItem struct {
	Value   string     `json:"value"`
	Expires *time.Time `json:"expires,omitempty"`
}

// Save writes the living items to path, replacing the file as a whole.
func (s *Store) Save(path string) error {
	s.mu.Lock()
	out := make(map[string]fileItem, len(s.items))
	for key, it := range s.items {
		if s.expired(it) {
			continue
		}
		fi := fileItem{Value: it.value}
		if !it.expires.IsZero() {
			expires := it.expires
			fi.Expires = &expires
		}
		out[key] = fi
	}
	s.mu.Unlock()

	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("kv: save: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".kv-*")
	if err != nil {
		return fmt.Errorf("kv: save: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("kv: save: %w", err)
	}
	return nil
}

// Load gives a store with the items of the file.
func Load(path string) (*Store, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("kv: load: %w", err)
	}
	var in map[string]fileItem
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("kv: load %s: %w", path, err)
	}
	s := New()
	for key, fi := range in {
		it := item{value: fi.Value}
		if fi.Expires != nil {
			it.expires = *fi.Expires
		}
		s.items[key] = it
	}
	return s, nil
}
