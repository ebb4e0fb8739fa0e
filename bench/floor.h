/* What the two yardsticks in C have in common: a spool opened as the programs
 * open it, and system calls that must succeed. */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *spool, *name;

static void die(const char *what)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(74);
}

/* path is "SPOOL/" and what printf makes of the rest. */
__attribute__((format(printf, 1, 2)))
static char *path(const char *format, ...)
{
	char *p, *tail;
	va_list args;
	va_start(args, format);
	if (vasprintf(&tail, format, args) < 0 || asprintf(&p, "%s/%s", spool, tail) < 0)
		die("path");
	va_end(args);
	free(tail);
	return p;
}

static void must_lstat(const char *p)
{
	struct stat st;
	if (lstat(p, &st) < 0)
		die(p);
}

/* open_regular trusts nothing: a link, a FIFO or a file that was swapped in
 * between is found by comparing what was seen with what was opened. */
static int open_regular(const char *p, int mode)
{
	struct stat before, after;
	if (lstat(p, &before) < 0)
		return -1;
	int fd = open(p, mode | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &after) < 0 || before.st_ino != after.st_ino)
		die(p);
	return fd;
}

static char *in_place(const char *place, const char *id)
{
	return path("peers/%s/%s/%s", name, place, id);
}

static void read_to_end(int fd)
{
	char buffer[4096];
	while (read(fd, buffer, sizeof buffer) > 0)
		;
	close(fd);
}

static void read_regular(const char *p)
{
	int fd = open_regular(p, O_RDONLY);
	if (fd < 0)
		die(p);
	read_to_end(fd);
}

static int open_directory(const char *p)
{
	int fd = open(p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		die(p);
	return fd;
}

/* The names that readdir gives cost one call or two, however many are used. */
static void read_names(const char *p)
{
	char buffer[8192];
	int fd = open_directory(p);
	while (getdents64(fd, buffer, sizeof buffer) > 0)
		;
	close(fd);
}

/* The home alone writes peer.json: most mailboxes have none. A conflict copy
 * beside it would count. */
static void read_policy(void)
{
	read_names(path("peers/%s", name));
	int fd = open_regular(path("peers/%s/peer.json", name), O_RDONLY);
	if (fd >= 0)
		read_to_end(fd);
	else if (errno != ENOENT)
		die("peer.json");
}

static void sync_directory(const char *p)
{
	int fd = open_directory(p);
	if (fsync(fd) < 0)
		die(p);
	close(fd);
}

static void write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t w = write(fd, p, n);
		if (w < 0)
			die("write");
		p += w;
		n -= (size_t)w;
	}
}

static void append_to_log(const char *id)
{
	char line[256];
	int fd = open(path("local/log/events.jsonl"), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return;
	int n = snprintf(line, sizeof line, "{\"at\":\"2026-11-30T06:33:33.000000000Z\",\"event\":\"yardstick\","
		"\"id\":\"%s\",\"peer\":\"%s\",\"from\":\"bench\",\"kind\":\"notification\"}\n", id, name);
	write_all(fd, line, (size_t)n);
	close(fd);
}

static void open_spool(void)
{
	struct stat st;
	if (stat(spool, &st) < 0)
		die(spool);
	read_regular(path("xfer-spool"));
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		read_to_end(fd);
	must_lstat(path("local"));
	read_regular(path("local/self"));
}

static void open_mailbox(void)
{
	must_lstat(path("peers"));
	must_lstat(path("peers/%s", name));
}

static void parse(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s SPOOL NAME\n", argv[0]);
		exit(64);
	}
	spool = argv[1];
	name = argv[2];
}
