// Package kv is a small in-memory key-value store with expiry.
package kv

import (
	"errors"
	"sort"
	"strings"
	"sync"
	"time"
)

// ErrNotFound is returned for keys which are absent or expired.
var ErrNotFound = errors.New("kv: not found")

type item struct {
	value   string
	expires time.Time // zero: never
}

// Store is safe for concurrent use.
type Store struct {
	mu    sync.Mutex
	items map[string]item
	now   func() time.Time
}

// New gives an empty store.
func New() *Store {
	return &Store{items: map[string]item{}, now: time.Now}
}

// Set stores value; a ttl of zero keeps it for good.
func (s *Store) Set(key, value string, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := item{value: value}
	if ttl > 0 {
		it.expires = s.now().Add(ttl)
	}
	s.items[key] = it
}

// Get returns the value of a key.
func (s *Store) Get(key string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[key]
	if !ok || s.expired(it) {
		return "", ErrNotFound
	}
	return it.value, nil
}

func (s *Store) expired(it item) bool {
	return !it.expires.IsZero() && s.now().After(it.expires)
}

// Keys lists the living keys with the prefix, in order.
func (s *Store) Keys(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := []string{}
	for key, it := range s.items {
		if strings.HasPrefix(key, prefix) && !s.expired(it) {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	return keys
}
