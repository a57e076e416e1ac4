package kv

import "testing"

func TestDefaultDir(t *testing.T) {
	t.Setenv("LocalAppData", `C:\Users\ann\AppData\Local`)
	if got, err := DefaultDir(); err != nil || got != `C:\Users\ann\AppData\Local\kv` {
		t.Fatalf("got %q, %v", got, err)
	}
	t.Setenv("LocalAppData", "")
	if _, err := DefaultDir(); err == nil {
		t.Fatal("no error")
	}
}
