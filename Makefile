# The common targets; what they do in detail stands in scripts/.

GO      ?= go
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

PROGRAMS = $(notdir $(patsubst %/main.go,%,$(wildcard cmd/*/main.go)))
PAGES    = $(notdir $(wildcard man/*.[157]))

bindir = $(DESTDIR)$(PREFIX)/bin
sharedir = $(DESTDIR)$(PREFIX)/share
mandir   = $(sharedir)/man

# bash loads a completion by the program's name.
bashdir = $(sharedir)/bash-completion/completions
zshdir  = $(sharedir)/zsh/site-functions
fishdir = $(sharedir)/fish/vendor_completions.d

# The tags leave out parts of urfave/cli that no program uses, and without cgo
# a program starts in two thirds of the time.
BUILD = CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false \
	-tags urfave_cli_no_docs,urfave_cli_no_suggest \
	-ldflags "-s -w -X xfer/internal/tool.Version=$(VERSION)"

.PHONY: build install uninstall test test-sync demo ratio bench lint clean

build:
	$(BUILD) -o bin/ ./cmd/...

install: build
	install -d $(bindir)
	for p in $(PROGRAMS); do install -m 755 bin/$$p $(bindir)/ || exit; done
	for m in $(PAGES); do \
		install -d $(mandir)/man$${m##*.} && \
		install -m 644 man/$$m $(mandir)/man$${m##*.}/ || exit; done
	install -d $(bashdir) $(zshdir) $(fishdir)
	install -m 644 completions/xfer.bash $(bashdir)/xfer
	for p in $(PROGRAMS); do ln -sf xfer $(bashdir)/$$p || exit; done
	install -m 644 completions/_xfer $(zshdir)/
	for p in $(PROGRAMS); do install -m 644 completions/xfer.fish $(fishdir)/$$p.fish || exit; done

uninstall:
	for p in $(PROGRAMS); do rm -f $(bindir)/$$p || exit; done
	for m in $(PAGES); do rm -f $(mandir)/man$${m##*.}/$$m || exit; done
	for p in xfer $(PROGRAMS); do rm -f $(bashdir)/$$p $(fishdir)/$$p.fish || exit; done
	rm -f $(zshdir)/_xfer

test:
	GO=$(GO) scripts/test.sh

test-sync:
	GO=$(GO) scripts/test-sync.sh

demo: build
	scripts/demo.sh

# Speed as ratios, each to a yardstick in the same run: on a quiet machine.
ratio: build
	$(GO) test -count=1 -timeout 60m -tags ratio ./bench/ratio

bench: build
	GO=$(GO) bench/run.sh

lint:
	GO=$(GO) scripts/lint.sh

clean:
	rm -rf bin
