/* floor_take SPOOL NAME: the file-system calls of taking the oldest queued
 * notification, and nothing else. It is the yardstick for xfer-inbox take,
 * never a reader to use: it checks no digest and no home.
 *
 * Compare with strace -f of xfer-inbox take. */

#include "floor.h"
#include <dirent.h>

/* oldest is the least name in the place, or "" in an empty one. */
static void oldest(const char *place, char id[256])
{
	DIR *dir = opendir(path("peers/%s/%s", name, place));
	if (dir == NULL)
		die(place);
	id[0] = 0;
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		if (e->d_name[0] != '.' && (id[0] == 0 || strcmp(e->d_name, id) < 0))
			strcpy(id, e->d_name);
	closedir(dir);
}

static char *in_place(const char *place, const char *id)
{
	return path("peers/%s/%s/%s", name, place, id);
}

static void absent(const char *place, const char *id)
{
	struct stat st;
	if (lstat(in_place(place, id), &st) == 0)
		die("a ghost");
}

static void hand_out(int fd)
{
	char buffer[65536];
	ssize_t n = pread(fd, buffer, sizeof buffer, 0);
	if (n < 0)
		die("read");
	char *body = memmem(buffer, (size_t)n, "\n\n", 2);
	if (body == NULL)
		die("no header");
	off_t at = body + 2 - buffer;
	/* Once for the digest, once to hand it out. */
	while ((n = pread(fd, buffer, sizeof buffer, at)) > 0)
		at += n;
	at = body + 2 - buffer;
	while ((n = pread(fd, buffer, sizeof buffer, at)) > 0) {
		write_all(1, buffer, (size_t)n);
		at += n;
	}
}

int main(int argc, char **argv)
{
	char id[256], cur[256];
	parse(argc, argv);

	open_spool();
	open_mailbox();
	read_policy();
	oldest("live", id);
	if (id[0] != 0)
		read_regular(in_place("live", id));
	oldest("new", id);
	oldest("cur", cur);
	if (id[0] == 0) {
		fprintf(stderr, "floor_take: nothing is queued\n");
		return 1;
	}

	char *queued = in_place("new", id);
	int fd = open_regular(queued, O_RDWR);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		die(queued);
	must_lstat(queued);
	absent("cur", id);
	absent("work", id);
	absent("done", id);
	absent("bad", id);
	hand_out(fd);
	if (renameat2(AT_FDCWD, queued, AT_FDCWD, in_place("done", id), RENAME_NOREPLACE) < 0)
		die(queued);
	sync_directory(path("peers/%s/done", name));
	flock(fd, LOCK_UN);
	close(fd);
	return 0;
}
