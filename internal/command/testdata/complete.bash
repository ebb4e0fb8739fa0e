# bash complete.bash SCRIPT <LINES: the words offered at the end of each line.
# A line's words are separated by TAB, so that nothing has to be expanded.
source "$1"
while IFS= read -r line; do
	COMP_WORDS=() COMPREPLY=()
	while IFS= read -rd $'\t' word; do COMP_WORDS+=("$word"); done <<<"$line"$'\t'
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	registered=$(complete -p "${COMP_WORDS[0]}")
	if [[ $registered =~ " -F "([^ ]+) ]]; then
		"${BASH_REMATCH[1]}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}"
	fi
	(IFS=$'\t' && printf '%s\n' "${COMPREPLY[*]}")
done
