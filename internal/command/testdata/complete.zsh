# zsh complete.zsh SCRIPT <LINES: the words offered at the end of each line, as
# an interactive zsh at a terminal of its own offers them.
zmodload zsh/zpty
zpty shell zsh -f -i
typeset -a setup=(
	"unset PROMPT RPROMPT; stty -echo 2>/dev/null"
	"fpath=(${(q)1:h} \$fpath); autoload -Uz compinit; compinit -u -D"
	'unsetopt autolist automenu beep; LISTMAX=0'
	# Each word that is offered is shown behind a byte of its own.
	'compadd() {
		local -a offered
		if [[ " $* " != *" -"[OAD]" "* ]]; then
			builtin compadd -A offered "$@"
			(( $#offered )) && print -rl -- $'\''\x02'\''${^offered}
		fi
		builtin compadd "$@"
	}'
	'finish() { print -r -- $'\''\x03'\''; zle kill-whole-line }; zle -N finish; bindkey "^X^D" finish'
	'print READY$((1))'
)
for line in $setup; do zpty -w shell $line; done
while zpty -r shell line; do [[ $line == *READY1* ]] && break; done
while IFS= read -r typed; do
	zpty -w -n shell "${typed//$'\t'/ }"$'\t\x18\x04'
	words=()
	while zpty -r shell line; do
		line=${line//[$'\r\n']/}
		[[ $line == *$'\x03'* ]] && break
		[[ $line == *$'\x02'* ]] && words+=("${line##*$'\x02'}")
	done
	print -r -- ${(pj:\t:)words}
done
zpty -d shell
