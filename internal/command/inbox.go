package command

import (
	"xfer/internal/tool"
)

// Inbox is xfer-inbox.
func Inbox() *tool.Program {
	return &tool.Program{
		Name:    "xfer-inbox",
		About:   "Look into mailboxes, take handoffs out of one's own, and conclude tasks.",
		Default: "list",
		Verbs: []*tool.Verb{
			listVerb(), showVerb(), takeVerb(), concludeVerb(), seenVerb(), releaseVerb(), awaitVerb(),
			statusVerb(), conversationVerb(), sentVerb(), watchVerb(), peersVerb(), holdVerb(), unholdVerb(), policyVerb(),
			createVerb(), removeVerb(), initVerb(),
		},
	}
}
