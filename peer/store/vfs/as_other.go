//go:build !linux

package vfs

import (
	"errors"
	"io/fs"
)

// errNoUsers answers every call for another user.
var errNoUsers = errors.New("only the owner of the daemon may use files here: other users can on Linux")

// As returns the system's file system as far as a user may use it, which is not at all here.
func As(_ *User, _ string) FS { return noUsers{} }

type noUsers struct{}

func (noUsers) OpenRoot(string) (Root, error)                   { return nil, errNoUsers }
func (noUsers) Resolve(string) (string, error)                  { return "", errNoUsers }
func (noUsers) OpenFile(string, int, fs.FileMode) (File, error) { return nil, errNoUsers }
func (noUsers) Lstat(string) (fs.FileInfo, error)               { return nil, errNoUsers }
func (noUsers) Stat(string) (fs.FileInfo, error)                { return nil, errNoUsers }
func (noUsers) Mkdir(string, fs.FileMode) error                 { return errNoUsers }
func (noUsers) MkdirAll(string, fs.FileMode) error              { return errNoUsers }
func (noUsers) Remove(string) error                             { return errNoUsers }
