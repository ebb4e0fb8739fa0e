# Completion for xfer's programs in bash. It runs no program and evaluates
# nothing of the line: words come from the tables below, names from a glob.

# The flags of a program or verb, those that take a value with "=" behind.
_xfer_flags() {
	local common='--spool= --as= --json -q --quiet -h --help --version'
	local filters='--from= --to= -k= --kind= --label= --since= --before= --limit='
	case $1 in
	xfer-send) echo "-k= --kind= -s= --subject= -f= --file= --in-reply-to= --label= --id= --key= --await= --batch --type= --no-sync --force $common" ;;
	xfer-recv) echo "--once --drain --takeover --describe= --poll= --beat= --conclude --jobs= --timeout= --grace= --retries= --rate= $common" ;;
	xfer-gc) echo "-n --dry-run --keep-done= --keep-bad= --keep-ids= --tmp-age= $common" ;;
	'xfer-gc doctor') echo "--deep --repair $common" ;;
	'xfer-inbox list') echo "$filters --state= --wait= --resume= $common" ;;
	'xfer-inbox show') echo "--body --header --quote --offset= --length= $common" ;;
	'xfer-inbox take') echo "$filters --wait= --all --dir= --quote --by= --takeover $common" ;;
	'xfer-inbox conclude') echo "-f= --file= --type= --takeover $common" ;;
	'xfer-inbox seen' | 'xfer-inbox release') echo "--takeover $common" ;;
	'xfer-inbox await') echo "--timeout= --dir= --quote $common" ;;
	'xfer-inbox sent') echo "$filters --open --resume= $common" ;;
	'xfer-inbox watch') echo "$filters --poll= $common" ;;
	'xfer-inbox policy') echo "--max-queued= $common" ;;
	'xfer-inbox create') echo "--describe= $common" ;;
	'xfer-inbox remove') echo "--yes $common" ;;
	'xfer-inbox init') echo "--shared= $common" ;;
	xfer-inbox\ *) echo "$common" ;;
	'xfer-board list') echo "--since= --before= --limit= --resume= $common" ;;
	'xfer-board create') echo "--id= $common" ;;
	'xfer-board show') echo "--quote $common" ;;
	'xfer-board append') echo "--type= -f= --file= --key= --from-reply --notify= $common" ;;
	'xfer-board unread') echo "--limit= --resume= $common" ;;
	'xfer-board watch') echo "--limit= --poll= $common" ;;
	'xfer-board remove') echo "--all --yes $common" ;;
	xfer-board\ *) echo "$common" ;;
	esac
}

_xfer_verbs() {
	case $1 in
	xfer-board) echo 'list create show append edit unread seen watch remove' ;;
	xfer-gc) echo 'doctor' ;;
	xfer-inbox) echo 'list show take conclude seen release await status conversation sent watch peers hold unhold policy create remove init' ;;
	esac
}

# Every flag that takes a value takes one in every verb.
_xfer_takes_value() {
	case $1 in
	-[kfs] | --as | --await | --beat | --before | --by | --describe | --dir | --file | --from | --grace | --id) return 0 ;;
	--in-reply-to | --jobs | --keep-bad | --keep-done | --keep-ids | --key | --rate | --retries) return 0 ;;
	--kind | --label | --length | --limit | --max-queued | --notify | --offset | --poll | --resume | --shared | --since) return 0 ;;
	--spool | --state | --subject | --timeout | --tmp-age | --to | --type | --wait) return 0 ;;
	esac
	return 1
}

# _xfer_words CUR WORD...: those that begin with CUR. Not compgen -W, which
# expands what it is given, and the names of peers are somebody else's.
_xfer_words() {
	local cur=$1 word
	shift
	for word; do
		[[ $word == "$cur"* ]] && COMPREPLY+=("$word")
	done
}

# _xfer_list CUR WORD...: the last one of a list that commas separate.
_xfer_list() {
	local cur=$1 before=
	shift
	[[ $cur == *,* ]] && before=${cur%,*},
	_xfer_words "$cur" "${@/#/$before}"
}

_xfer_peers() {
	local dir=${2:-${XFER_SPOOL:-${XDG_DATA_HOME:-$HOME/.local/share}/xfer}} path name
	dir=${dir/#\~\//$HOME/}
	for path in "$dir"/peers/*/; do
		path=${path%/}
		name=${path##*/}
		[[ $name == *[!a-z0-9._-]* || $name == [._-]* ]] || _xfer_words "$1" "$name"
	done
}

_xfer_paths() { # _xfer_paths -f|-d CUR
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

_xfer_cards() {
	local dir=${2:-${XFER_SPOOL:-${XDG_DATA_HOME:-$HOME/.local/share}/xfer}} path name
	dir=${dir/#\~\//$HOME/}
	for path in "$dir"/board/*.md; do
		path=${path%.md}
		name=${path##*/}
		[[ $name == *[!a-z0-9._-]* || $name == [._-]* || $name == *sync-conflict* ]] || _xfer_words "$1" "$name"
	done
}

# _xfer_value FLAG CUR SPOOL PROGRAM
_xfer_value() {
	case $1 in
	-f | --file) _xfer_paths -f "$2" ;;
	--shared) mapfile -t COMPREPLY < <(compgen -g -- "$2") ;;
	--dir | --spool) _xfer_paths -d "$2" ;;
	--as | --from | --notify | --to) _xfer_peers "$2" "$3" ;;
	--state) _xfer_list "$2" new cur work 'done' bad all ;;
	-k | --kind)
		if [[ $4 == xfer-send ]]; then
			_xfer_words "$2" task notification
		else
			_xfer_list "$2" task notification conclusion
		fi
		;;
	--since | --before) _xfer_words "$2" today yesterday ;;
	esac
}

# What stands before the cursor sets, in its caller, the verb, the number of
# arguments, the flag whose value is due and the spool.
_xfer_parse() {
	local i word verbs
	verbs=" $(_xfer_verbs "$program") "
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $flag ]]; then
			[[ $word == '=' ]] && continue # a word of its own: COMP_WORDBREAKS
			[[ $flag == --spool ]] && spool=$word
			flag=
		elif [[ $word == -- ]]; then
			ended=1
		elif [[ -z $ended ]] && _xfer_takes_value "$word"; then
			flag=$word
		elif [[ $word == -?* && -z $ended ]]; then
			:
		elif [[ -z $verb && $verbs == *" $word "* ]]; then
			verb=$word
		else
			((arguments++))
		fi
	done
}

_xfer() {
	local program=${1##*/} cur=${COMP_WORDS[COMP_CWORD]}
	local verb='' flag='' spool='' ended='' arguments=0 all=()
	COMPREPLY=()
	_xfer_parse
	[[ $cur == '=' ]] && cur=
	if [[ -n $flag ]]; then
		_xfer_value "$flag" "$cur" "$spool" "$program"
		return
	fi
	if [[ $cur == -* && -z $ended ]]; then
		[[ $program == xfer-inbox || $program == xfer-board ]] && verb=${verb:-list}
		read -ra all <<<"$(_xfer_flags "$program${verb:+ $verb}")"
		_xfer_words "$cur" "${all[@]%=}"
		return
	fi
	case $program/$verb in
	xfer-send/) _xfer_peers "$cur" "$spool" ;;
	xfer-recv/)
		if [[ -n $ended ]]; then
			if ((arguments == 0)) && [[ $cur != */* ]]; then
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			else
				_xfer_paths -f "$cur"
			fi
		fi
		;;
	xfer-board/ | xfer-gc/ | xfer-inbox/)
		read -ra all <<<"$(_xfer_verbs "$program")"
		_xfer_words "$cur" "${all[@]}"
		;;
	xfer-board/show | xfer-board/append | xfer-board/edit | xfer-board/seen | xfer-board/watch)
		((arguments == 0)) && _xfer_cards "$cur" "$spool"
		;;
	xfer-board/unread | xfer-board/remove) _xfer_cards "$cur" "$spool" ;;
	xfer-inbox/conclude) ((arguments == 1)) && _xfer_words "$cur" 'done' blocked needs-input ;;
	xfer-inbox/peers | xfer-inbox/remove) _xfer_peers "$cur" "$spool" ;;
	xfer-inbox/policy)
		if ((arguments == 0)); then _xfer_words "$cur" all only; else _xfer_peers "$cur" "$spool"; fi
		;;
	esac
}

complete -F _xfer xfer-board xfer-gc xfer-inbox xfer-recv xfer-send
