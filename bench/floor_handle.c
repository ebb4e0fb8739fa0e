/* floor_handle DIR DOC COMMAND: runs COMMAND for each name that is moved into
 * DIR, with what follows the first empty line as the file DOC on its standard
 * input, and waits for it. It is the yardstick for the time from a publish to a
 * handler's first instruction, never a receiver to use: it checks nothing and
 * moves nothing. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "floor_handle: %s: %s\n", what, strerror(errno));
	exit(74);
}

static void lay_out(const char *path, const char *doc)
{
	static char buffer[1 << 20];
	int in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		die(path);
	ssize_t n = read(in, buffer, sizeof buffer - 1);
	if (n < 0)
		die(path);
	close(in);
	buffer[n] = '\0';
	char *body = strstr(buffer, "\n\n");
	body = body ? body + 2 : buffer + n;
	unlink(doc);
	int out = open(doc, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0 || write(out, body, (size_t)(buffer + n - body)) < 0)
		die(doc);
	close(out);
}

static void run(const char *doc, char **argv)
{
	pid_t child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		int in = open(doc, O_RDONLY);
		if (in < 0 || dup2(in, 0) < 0)
			_exit(74);
		execv(argv[0], argv);
		_exit(74);
	}
	if (waitpid(child, NULL, 0) < 0)
		die("wait");
	unlink(doc);
}

int main(int argc, char **argv)
{
	char buffer[65536] __attribute__((aligned(__alignof__(struct inotify_event))));
	if (argc < 4) {
		fprintf(stderr, "usage: %s DIR DOC COMMAND\n", argv[0]);
		return 64;
	}
	int fd = inotify_init1(IN_CLOEXEC);
	if (fd < 0 || inotify_add_watch(fd, argv[1], IN_MOVED_TO) < 0)
		die(argv[1]);
	for (;;) {
		ssize_t n = read(fd, buffer, sizeof buffer);
		if (n < 0)
			die("read");
		for (char *p = buffer; p < buffer + n;) {
			struct inotify_event *e = (struct inotify_event *)p;
			char path[4500];
			snprintf(path, sizeof path, "%s/%s", argv[1], e->name);
			lay_out(path, argv[2]);
			run(argv[2], argv + 3);
			p += sizeof *e + e->len;
		}
	}
}
