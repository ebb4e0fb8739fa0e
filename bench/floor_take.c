/* floor_take SPOOL NAME: the file-system calls of taking the oldest queued
 * notification, and nothing else. It is the yardstick for xfer-inbox take,
 * never a reader to use: it checks no digest and no home.
 *
 * Compare with strace -f of xfer-inbox take. */

#include "floor.h"

static void may_lstat(const char *p)
{
	struct stat st;
	if (lstat(p, &st) < 0 && errno != ENOENT)
		die(p);
}

static void may_unlink(const char *p)
{
	if (unlink(p) < 0 && errno != ENOENT)
		die(p);
}

/* A directory that is made when there is something for it. */
static void may_read_names(const char *p)
{
	if (access(p, F_OK) == 0)
		read_names(p);
}

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

/* One claim, as in a mailbox that no other host ever worked. */
static void find_home(void)
{
	char host[256], *live = path("peers/%s/live", name);
	must_lstat(live);
	oldest("live", host);
	if (host[0] != 0)
		read_regular(in_place("live", host));
	read_regular(path("local/claims/%s", name));
	must_lstat(live);
}

int main(int argc, char **argv)
{
	char id[256], cur[256];
	parse(argc, argv);

	open_spool();
	open_mailbox();
	find_home();
	read_policy();
	oldest("new", id);
	oldest("cur", cur);
	may_read_names(path("local/released"));
	if (id[0] == 0) {
		fprintf(stderr, "floor_take: nothing is queued\n");
		return 1;
	}

	char *queued = in_place("new", id);
	int fd = open_regular(queued, O_RDWR);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		die(queued);
	must_lstat(queued);
	may_lstat(in_place("cur", id));
	may_lstat(in_place("work", id));
	may_lstat(in_place("done", id));
	may_lstat(in_place("bad", id));
	may_read_names(path("peers/%s/past", name));
	may_lstat(path("local/ids/%s/%s", id + strlen(id) - 2, id));
	hand_out(fd);
	if (renameat2(AT_FDCWD, queued, AT_FDCWD, in_place("done", id), RENAME_NOREPLACE) < 0)
		die(queued);
	append_to_log(id);
	sync_directory(path("peers/%s/done", name));
	may_unlink(path("local/released/%s", id));
	flock(fd, LOCK_UN);
	close(fd);
	return 0;
}
