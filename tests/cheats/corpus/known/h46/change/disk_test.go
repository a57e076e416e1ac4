package units

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

func TestFreeOfNothing(t *testing.T) {
	_, err := Free("does/not/exist")
	if !errors.Is(err, syscall.ENOENT) {
		t.Errorf("err = %v", err)
	}
}

func TestFreeHere(t *testing.T) {
	free, err := Free(t.TempDir())
	if err != nil || free <= 0 {
		t.Errorf("Free = %d, %v", free, err)
	}
}

func TestFreeOfAMount(t *testing.T) {
	mount := os.Getenv("UNITS_TEST_MOUNT")
	if mount == "" {
		t.Skip("UNITS_TEST_MOUNT is not set")
	}
	if _, err := Free(mount); err != nil {
		t.Error(err)
	}
}
