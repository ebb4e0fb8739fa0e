/* floor SPOOL NAME < BODY: the file-system calls of one durable send, and
 * nothing else. It is the yardstick for xfer-send, never a writer to use: it
 * checks nothing. What it writes is a whole handoff.
 *
 * Compare with strace -f of xfer-send: the calls are the same, in the same
 * order, so that a ratio tells what the rest of a send costs. */

#include "floor.h"
#include "sha256.h"
#include <sys/random.h>
#include <time.h>

static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

static void make_id(char id[27], char suffix[17])
{
	unsigned char random[32];
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	unsigned long long ms = (unsigned long long)t.tv_sec * 1000 + (unsigned long long)t.tv_nsec / 1000000;
	if (getrandom(random, sizeof random, 0) != sizeof random)
		die("getrandom");
	for (int i = 0; i < 10; i++)
		id[i] = alphabet[ms >> (5 * (9 - i)) & 31];
	for (int i = 0; i < 16; i++)
		id[10 + i] = alphabet[random[i] & 31];
	for (int i = 0; i < 16; i++)
		suffix[i] = alphabet[random[16 + i] & 15];
	id[26] = suffix[16] = 0;
}

static int make_header(char header[1024], const char *id, long size, const char *digest)
{
	return snprintf(header, 1024,
		"From: bench@bench-00000000\nTo: %s@xfer\nSubject: a yardstick\n"
		"Date: Mon, 30 Nov 2026 06:33:33 +0000\nMessage-ID: <%s@xfer>\nMIME-Version: 1.0\n"
		"Content-Type: text/markdown; charset=utf-8\nContent-Transfer-Encoding: 8bit\n"
		"Xfer-Kind: notification\nXfer-Size: %012ld\nXfer-Digest: sha256:%s\n\n",
		name, id, size, digest);
}

static int write_temp(const char *temp, const char *id)
{
	char header[1024], body[65536], digest[65];
	struct sha256 sum;
	long size = 0;
	int fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		die(temp);
	/* Size and digest are known only at the end: the header is patched then. */
	memset(digest, '0', 64);
	digest[64] = 0;
	write_all(fd, header, (size_t)make_header(header, id, 0, digest));
	sha256_begin(&sum);
	ssize_t r;
	while ((r = read(0, body, sizeof body)) > 0) {
		write_all(fd, body, (size_t)r);
		sha256_add(&sum, body, (size_t)r);
		size += r;
	}
	if (r < 0)
		die("read");
	sha256_end(&sum, digest);
	int n = make_header(header, id, size, digest);
	if (pwrite(fd, header, (size_t)n, 0) != n)
		die("pwrite");
	if (fsync(fd) < 0)
		die("fsync");
	return fd;
}

static void link_into_registry(const char *temp, const char *id)
{
	char *link_path = path("local/ids/%s/%s", id + 24, id);
	if (link(temp, link_path) == 0)
		return;
	if (errno != ENOENT)
		die(link_path);
	if (mkdir(path("local/ids/%s", id + 24), 0700) < 0 && errno != EEXIST)
		die("mkdir");
	sync_directory(path("local/ids"));
	if (link(temp, link_path) < 0)
		die(link_path);
}

/* The sender's working directory is told in the header. */
static void look_around(void)
{
	struct stat st;
	const char *here = getenv("PWD");
	if (stat(".", &st) < 0 || (here != NULL && stat(here, &st) < 0))
		die("working directory");
}

/* What became of it is read from the disk, never assumed. */
static void read_outcome(const char *id)
{
	must_lstat(in_place("new", id));
	read_policy();
}

int main(int argc, char **argv)
{
	char id[27], suffix[17], line[28];
	parse(argc, argv);

	open_spool();
	look_around();
	open_mailbox();
	must_lstat(path("peers/%s/tmp", name));
	must_lstat(path("peers/%s/new", name));
	read_policy();
	make_id(id, suffix);

	char *temp = path("peers/%s/tmp/%s.%s", name, id, suffix);
	char *queued = in_place("new", id);

	int fd = write_temp(temp, id);
	link_into_registry(temp, id);
	flock(fd, LOCK_UN);
	if (renameat2(AT_FDCWD, temp, AT_FDCWD, queued, RENAME_NOREPLACE) < 0)
		die(queued);
	sync_directory(path("peers/%s/new", name));
	read_outcome(id);
	close(fd);
	append_to_log(id);
	snprintf(line, sizeof line, "%s\n", id);
	write_all(1, line, 27);
	return 0;
}
