package boardcmd

import (
	"errors"
	"os/exec"
	"strings"

	"xfer/internal/command"
	"xfer/internal/tool"
	"xfer/spool"
	"xfer/spool/board"
)

// fallbackEditor is what every POSIX system has.
const fallbackEditor = "vi"

func editVerb() *tool.Verb {
	return &tool.Verb{
		Name:     "edit",
		Synopsis: []string{"edit [flags] CARD"},
		About: "Edits a card. A copy is opened in $VISUAL, else $EDITOR, else vi, and what was saved is merged into the card, " +
			"which may go on meanwhile. What cannot be merged is kept in the copy, and told. Waits for the editor.",
		Min: 1, Max: 1,
		Examples: []string{
			"xfer-board edit release-2",
			"EDITOR='code --wait' xfer-board edit release-2",
			"EDITOR='sed -i s/Draft/Plan/' xfer-board edit release-2",
		},
		Statuses: []int{65, 66, 73, 75, 79},
		Run:      editCard,
	}
}

func editCard(c *tool.Call) error {
	id, err := board.ParseCardID(c.Arguments[0])
	if err != nil {
		return err
	}
	x, err := openBoard(c)
	if err != nil {
		return err
	}
	e, err := x.b.Edit(c.Ctx, id)
	if err != nil {
		return x.cardError(id, err)
	}
	if err := x.runEditor(e.Path); err != nil {
		err = &spool.Error{Op: "edit", Name: string(id), Err: err}
		if e.Abandon() {
			err = tool.WithHint(err, "the copy is kept at "+e.Path)
		}
		return err
	}
	out, err := e.Finish(c.Ctx)
	for _, note := range out.Notes {
		x.Err.Always("%s", note)
	}
	switch {
	case err != nil && out.Kept:
		return tool.WithHint(err, "the copy is kept at "+e.Path)
	case err != nil:
		return x.cardError(id, err)
	case out.Changed:
		x.Err.Say("edited card %s", id)
	default:
		x.Err.Say("card %s is unchanged", id)
	}
	return nil
}

// runEditor runs the user's editor by the shell: what the variables hold is a
// command, with flags. The signals of a terminal are the editor's own affair.
func (c *boarder) runEditor(path string) error {
	env := c.Process.System.Env
	editor := fallbackEditor
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if value := strings.TrimSpace(env(name)); value != "" {
			editor = value
		}
	}
	cmd := exec.Command("sh", "-c", editor+` "$@"`, editor, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Process.Stdin, c.Process.Stderr, c.Process.Stderr
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return errors.New("editor " + command.Quoted(editor) + ": " + ended.String())
	}
	return err
}
