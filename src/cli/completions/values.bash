
# Completes values of options and the names of runs; _seekless completes everything else.
_seekless_values() {
    local line="${COMP_LINE:0:COMP_POINT}" word before option typed list="" values=() value disk
    # The whole word: readline ends words at : and =, too.
    word="${line##*[[:blank:]]}"
    before="${line%"$word"}"
    before="${before%"${before##*[![:blank:]]}"}"
    option="${before##*[[:blank:]]}"
    typed="$word"
    if [[ $word == --*=* ]]; then
        option="${word%%=*}"
        typed="${word#*=}"
    fi
    case "$option" in
        -k | --keep)
            values=(@RULES@)
            list="${typed%"${typed##*,}"}"
            ;;
        --threads)
            values=(@SELECTORS@)
            for disk in /sys/block/*; do
                disk="${disk##*/}"
                case "$disk" in
                    loop* | ram* | zram* | '*') ;;
                    *) values+=("dev:/dev/$disk:" "dev:/dev/$disk:hdd" "dev:/dev/$disk:ssd") ;;
                esac
            done
            # Numbers follow.
            compopt -o nospace 2>/dev/null
            ;;
        --preset)
            values=($(@PRESETS@))
            ;;
        --progress)
            values=(@PROGRESS@)
            ;;
        *)
            if [[ ${COMP_WORDS[1]} == config && $word != -* ]]; then
                values=(@READERS@)
            elif [[ ${COMP_WORDS[1]} != undo || $word == -* || $option == --journal || $option == --patience ]]; then
                _seekless "$@"
                return
            else
                values=($(seekless undo --list 2>/dev/null | @UNDOABLE@ | cut -d ' ' -f 1))
            fi
            ;;
    esac
    COMPREPLY=()
    for value in "${values[@]}"; do
        value="${word%"$typed"}$list$value"
        if [[ $value == "$word"* ]]; then
            # readline replaces the end of the word only.
            COMPREPLY+=("${value#"${word%"$2"}"}")
        fi
    done
}
