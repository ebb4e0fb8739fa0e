# zsh -f complete.zsh SCRIPT <LINES: the words offered at the end of each line,
# as an interactive zsh at a terminal of its own offers them.

inner() { # what that zsh does before it is asked
	fpath=($1:h $fpath)
	autoload -Uz compinit
	compinit -u -D
	unsetopt autolist automenu beep
	# Each word that is offered is shown behind a byte of its own.
	compadd() {
		local -a offered
		if [[ " $* " != *" -"[OAD]" "* ]]; then
			builtin compadd -A offered "$@"
			(( $#offered )) && print -rl -- $'\x02'${^offered}
		fi
		builtin compadd "$@"
	}
	finish() {
		print -r -- $'\x03'
		zle kill-buffer
	}
	zle -N finish
	bindkey '^X^D' finish
	# Keys that come before the line editor are the terminal driver's.
	zle-line-init() print -r -- $'\x03'
	zle -N zle-line-init
}

if [[ $2 == inner ]]; then
	inner $1
	return
fi
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source ${(q)0:A} ${(q)1:A} inner"
while zpty -r shell line; do [[ $line == *$'\x03'* ]] && break; done
while IFS= read -r typed; do
	zpty -w -n shell "${typed//$'\t'/ }"$'\t\x18\x04'
	words=()
	while zpty -r shell line; do
		[[ $line == *$'\x03'* ]] && break
		line=${line//[$'\r\n']/}
		[[ $line == *$'\x02'* ]] && words+=("${line##*$'\x02'}")
	done
	print -r -- ${(pj:\t:)words}
done
zpty -d shell
