
function __seekless_rules
    set -l list (commandline -ct | string replace -r '^--[^=]*=' '' | string match -r '^.*,')
    for rule in @RULES@
        echo "$list$rule"
    end
end

function __seekless_threads
    printf '%s\n' @SELECTORS@
    for disk in /sys/block/*
        set disk (string replace -r '.*/' '' -- $disk)
        string match -qr '^(loop|ram|zram)' -- $disk
        or printf '%s\n' dev:/dev/$disk: dev:/dev/$disk:hdd dev:/dev/$disk:ssd
    end
end

function __seekless_presets
    @PRESETS@
end

function __seekless_runs
    # A name, two blanks, and what the run did.
    seekless undo --list 2>/dev/null | @UNDOABLE@ | string replace '  ' \t
end

complete -c seekless -n "__fish_seekless_using_subcommand undo" -f -k -a '(__seekless_runs)'
complete -c seekless -n "__fish_seekless_using_subcommand config" -f -a '@READERS@'
