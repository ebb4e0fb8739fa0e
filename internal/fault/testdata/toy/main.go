// Toy replaces the file "done" by what is on its standard input and then says
// so, in the right order or in one of several wrong ones.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := replace(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func replace(order string) error {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if err := write("tmp", body); err != nil {
		return err
	}
	if order == "says it before the rename" {
		say()
	}
	if err := os.Rename("tmp", "done"); err != nil {
		return err
	}
	switch order {
	case "right":
		if err := sync("."); err != nil {
			return err
		}
		return say()
	case "says it before the sync":
		say()
		return sync(".")
	case "syncs elsewhere":
		synced := make(chan error)
		go func() { synced <- sync(".") }()
		if err := <-synced; err != nil {
			return err
		}
		return say()
	case "panics":
		if err := sync("."); err != nil {
			panic(err)
		}
		return say()
	}
	return sync(".")
}

func say() error {
	_, err := fmt.Println("replaced")
	return err
}

func write(name string, body []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(body); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

func sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return err
	}
	return d.Close()
}
