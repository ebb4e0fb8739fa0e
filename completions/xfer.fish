# Completion for xfer's programs in fish. It runs no program and evaluates
# nothing of the line: words come from the tables below, names from a glob.

# The verb of the line: the first word that is one, wherever the flags stand.
function __xfer_verb
    for word in (commandline -opc)[2..]
        if contains -- $word list show take conclude seen release await status \
                conversation sent watch peers hold unhold policy create remove init \
                append edit unread
            echo $word
            return 0
        end
    end
    return 1
end

function __xfer_verb_is
    set -l verb (__xfer_verb)
    or set verb list # stands in where none is typed
    contains -- $verb $argv
end

function __xfer_no_verb
    not __xfer_verb >/dev/null
end

function __xfer_peers
    set -l dir $HOME/.local/share/xfer
    test -n "$XDG_DATA_HOME"; and set dir $XDG_DATA_HOME/xfer
    test -n "$XFER_SPOOL"; and set dir $XFER_SPOOL
    set -l words (commandline -opc)
    if set -l at (contains -i -- --spool $words)
        set dir (string replace -r '^~/' $HOME/ -- $words[(math $at + 1)])
    end
    for path in $dir/peers/*/
        string match -r '(?<=/)[a-z0-9][a-z0-9._-]*(?=/$)' -- $path
    end
end

function __xfer_cards
    set -l dir $HOME/.local/share/xfer
    test -n "$XDG_DATA_HOME"; and set dir $XDG_DATA_HOME/xfer
    test -n "$XFER_SPOOL"; and set dir $XFER_SPOOL
    set -l words (commandline -opc)
    if set -l at (contains -i -- --spool $words)
        set dir (string replace -r '^~/' $HOME/ -- $words[(math $at + 1)])
    end
    for path in $dir/board/*.md
        string match -r '(?<=/)(?!.*sync-conflict)[a-z0-9][a-z0-9._-]*(?=\.md$)' -- $path
    end
end

# __xfer_list WORD...: any of them, separated by commas
function __xfer_list
    set -l before (string match -r '^.*,' -- (commandline -ct))
    for word in $argv
        echo "$before$word"
    end
end

for program in xfer-board xfer-gc xfer-inbox xfer-recv xfer-send
    complete -c $program -f
    complete -c $program -l spool -x -a '(__fish_complete_directories)' -d 'the spool'
    complete -c $program -l as -x -a '(__xfer_peers)' -d 'be NAME'
    complete -c $program -l json -d 'print JSON lines'
    complete -c $program -s q -l quiet -d 'say nothing but errors'
    complete -c $program -s h -l help -d 'print a summary'
    complete -c $program -l version -d 'print the version'
end

complete -c xfer-send -a '(__xfer_peers)'
complete -c xfer-send -s k -l kind -x -a 'task notification' -d 'what is asked for'
complete -c xfer-send -s s -l subject -x -d 'what it is about'
complete -c xfer-send -s f -l file -r -F -d 'the body'
complete -c xfer-send -l in-reply-to -x -d 'it answers ID'
complete -c xfer-send -l label -x -d 'a word to filter by'
complete -c xfer-send -l id -x -d 'send under this ID'
complete -c xfer-send -l key -x -d 'an idempotency key of your own'
complete -c xfer-send -l await -x -d 'wait for the conclusion'
complete -c xfer-send -l batch -d 'JSON lines in, outcomes out'
complete -c xfer-send -l type -x -d 'MIME type of the body'
complete -c xfer-send -l no-sync -d 'do not wait for the disk'
complete -c xfer-send -l force -d 'past the limit of a conversation'

complete -c xfer-recv -l once -d 'announce one handoff'
complete -c xfer-recv -l drain -d 'announce what is there'
complete -c xfer-recv -l takeover -d 'work the mailbox from this host'
complete -c xfer-recv -l describe -x -d 'what the peer does'
complete -c xfer-recv -l poll -x -d 'look again this often'
complete -c xfer-recv -l beat -x -d 'say this often that it lives'
complete -c xfer-recv -l conclude -d 'conclude tasks as COMMAND exits'
complete -c xfer-recv -l jobs -x -d 'run up to N at once'
complete -c xfer-recv -l timeout -x -d 'TERM, then KILL, what runs longer'
complete -c xfer-recv -l grace -x -d 'the time from TERM to KILL'
complete -c xfer-recv -l retries -x -d 'try again up to N times'
complete -c xfer-recv -l rate -x -d 'start at most N/s'
complete -c xfer-recv -n 'contains -- -- (commandline -opc)' -F

set -l doctor 'contains -- doctor (commandline -opc)'
complete -c xfer-gc -n "not $doctor" -a doctor -d 'tell what is wrong'
complete -c xfer-gc -n "not $doctor" -s n -l dry-run -d 'print what would go'
complete -c xfer-gc -n "not $doctor" -l keep-done -x -d 'keep what is finished'
complete -c xfer-gc -n "not $doctor" -l keep-bad -x -d 'keep what was set aside'
complete -c xfer-gc -n "not $doctor" -l keep-ids -x -d 'remember ids'
complete -c xfer-gc -n "not $doctor" -l tmp-age -x -d 'temporary files are stale after'
complete -c xfer-gc -n $doctor -l deep -d 'check every digest'
complete -c xfer-gc -n $doctor -l repair -d 'mend what can be mended'

complete -c xfer-inbox -n __xfer_no_verb -a list -d 'what stands in a mailbox'
complete -c xfer-inbox -n __xfer_no_verb -a show -d 'a handoff as it lies on disk'
complete -c xfer-inbox -n __xfer_no_verb -a take -d 'hand out the oldest, or ID, and consume it'
complete -c xfer-inbox -n __xfer_no_verb -a conclude -d 'end a task'
complete -c xfer-inbox -n __xfer_no_verb -a seen -d 'end notifications unread'
complete -c xfer-inbox -n __xfer_no_verb -a release -d 'offer taken tasks again'
complete -c xfer-inbox -n __xfer_no_verb -a status -d 'what is known of handoffs, or of you'
complete -c xfer-inbox -n __xfer_no_verb -a await -d 'wait for the conclusions of tasks you sent'
complete -c xfer-inbox -n __xfer_no_verb -a conversation -d 'handoffs that answer one another'
complete -c xfer-inbox -n __xfer_no_verb -a sent -d 'what you sent, and what became of it'
complete -c xfer-inbox -n __xfer_no_verb -a watch -d 'a line for each arrival'
complete -c xfer-inbox -n __xfer_no_verb -a peers -d 'who is there'
complete -c xfer-inbox -n __xfer_no_verb -a hold -d 'leave what is queued'
complete -c xfer-inbox -n __xfer_no_verb -a unhold -d 'receive it again'
complete -c xfer-inbox -n __xfer_no_verb -a policy -d 'who may send to you'
complete -c xfer-inbox -n __xfer_no_verb -a create -d 'make your own mailbox'
complete -c xfer-inbox -n __xfer_no_verb -a remove -d 'remove a peer'
complete -c xfer-inbox -n __xfer_no_verb -a init -d 'make a spool'

set -l filtered '__xfer_verb_is list take sent watch'
complete -c xfer-inbox -n $filtered -l from -x -a '(__xfer_peers)' -d 'sent by NAME'
complete -c xfer-inbox -n $filtered -l to -x -a '(__xfer_peers)' -d 'addressed to NAME'
complete -c xfer-inbox -n $filtered -s k -l kind -x -a '(__xfer_list task notification conclusion)' -d 'of KIND'
complete -c xfer-inbox -n $filtered -l label -x -d 'with this label'
complete -c xfer-inbox -n $filtered -l since -x -a 'today yesterday' -d 'sent at TIME or later'
complete -c xfer-inbox -n $filtered -l before -x -a 'today yesterday' -d 'sent before TIME'
complete -c xfer-inbox -n $filtered -l limit -x -d 'at most N'
complete -c xfer-inbox -n '__xfer_verb_is list take' -l wait -x -d 'until there is one'
complete -c xfer-inbox -n '__xfer_verb_is list' -l state -x -a '(__xfer_list new cur work done bad all)' -d 'in STATE'

complete -c xfer-inbox -n '__xfer_verb_is list sent' -l resume -x -d 'go on after TOKEN'
complete -c xfer-inbox -n '__xfer_verb_is sent' -l open -d 'tasks without a conclusion'
complete -c xfer-inbox -n '__xfer_verb_is watch' -l poll -x -d 'look again this often'
complete -c xfer-inbox -n '__xfer_verb_is await' -l timeout -x -d 'wait at most'

complete -c xfer-inbox -n '__xfer_verb_is show' -l body -d 'the body only'
complete -c xfer-inbox -n '__xfer_verb_is show' -l header -d 'the header only'
complete -c xfer-inbox -n '__xfer_verb_is show take await' -l quote -d 'every line behind "> "'
complete -c xfer-inbox -n '__xfer_verb_is show' -l offset -x -d 'begin after N bytes'
complete -c xfer-inbox -n '__xfer_verb_is show' -l length -x -d 'at most N bytes'

complete -c xfer-inbox -n '__xfer_verb_is take' -l all -d 'all that is there'
complete -c xfer-inbox -n '__xfer_verb_is take await' -l dir -x -a '(__fish_complete_directories)' -d 'write bodies to files in DIR'
complete -c xfer-inbox -n '__xfer_verb_is take' -l by -x -d 'who takes it'
complete -c xfer-inbox -n '__xfer_verb_is take conclude seen release' -l takeover -d 'work the mailbox from this host'

complete -c xfer-inbox -n '__xfer_verb_is conclude' -s f -l file -r -F -d 'the body'
complete -c xfer-inbox -n '__xfer_verb_is conclude' -l type -x -d 'MIME type of the body'
complete -c xfer-inbox -n '__xfer_verb_is conclude' -a 'done blocked needs-input' -d 'how it ended'

complete -c xfer-inbox -n '__xfer_verb_is create' -l describe -x -d 'what the peer does'

complete -c xfer-inbox -n '__xfer_verb_is peers remove policy' -a '(__xfer_peers)' -d peer
complete -c xfer-inbox -n '__xfer_verb_is policy' -a 'all only' -d 'who may send'
complete -c xfer-inbox -n '__xfer_verb_is policy' -l max-queued -x -d 'refuse more once N are queued'
complete -c xfer-inbox -n '__xfer_verb_is remove' -l yes -d 'do not ask'
complete -c xfer-inbox -n '__xfer_verb_is init' -l shared -x -a '(string match -r "^[^:#]+" </etc/group)' -d 'for the members of GROUP'

complete -c xfer-board -n __xfer_no_verb -a list -d 'the cards'
complete -c xfer-board -n __xfer_no_verb -a create -d 'make a card'
complete -c xfer-board -n __xfer_no_verb -a show -d 'a card, or one entry of it'
complete -c xfer-board -n __xfer_no_verb -a append -d 'add an entry'
complete -c xfer-board -n __xfer_no_verb -a edit -d 'edit a copy and merge it'
complete -c xfer-board -n __xfer_no_verb -a unread -d 'entries you have not seen'
complete -c xfer-board -n __xfer_no_verb -a seen -d 'mark entries as seen'
complete -c xfer-board -n __xfer_no_verb -a watch -d 'a line for each new entry'
complete -c xfer-board -n __xfer_no_verb -a remove -d 'remove cards'

complete -c xfer-board -n '__xfer_verb_is show append edit unread seen watch remove' -a '(__xfer_cards)' -d card
complete -c xfer-board -n '__xfer_verb_is list' -l since -x -a 'today yesterday' -d 'updated at TIME or later'
complete -c xfer-board -n '__xfer_verb_is list' -l before -x -a 'today yesterday' -d 'updated before TIME'
complete -c xfer-board -n '__xfer_verb_is list unread watch' -l limit -x -d 'at most N'
complete -c xfer-board -n '__xfer_verb_is list unread' -l resume -x -d 'go on after TOKEN'
complete -c xfer-board -n '__xfer_verb_is create' -l id -x -d 'the card is NAME'
complete -c xfer-board -n '__xfer_verb_is show' -l quote -d 'every line behind "> "'
complete -c xfer-board -n '__xfer_verb_is append' -l type -x -d 'what the entry is'
complete -c xfer-board -n '__xfer_verb_is append' -s f -l file -r -F -d 'the text'
complete -c xfer-board -n '__xfer_verb_is append' -l key -x -d 'append once for each TEXT'
complete -c xfer-board -n '__xfer_verb_is append' -l from-reply -d 'what board-entry blocks hold'
complete -c xfer-board -n '__xfer_verb_is append' -l notify -x -a '(__xfer_peers)' -d 'tell PEER'
complete -c xfer-board -n '__xfer_verb_is watch' -l poll -x -d 'look again this often'
complete -c xfer-board -n '__xfer_verb_is remove' -l all -d 'every card'
complete -c xfer-board -n '__xfer_verb_is remove' -l yes -d 'do not ask'
