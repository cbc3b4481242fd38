
_seekless_rules() {
    _values -s , rule @RULES@
}

_seekless_threads() {
    local -a disks
    disks=(/sys/block/*(N:t))
    disks=(${disks:#(loop|ram|zram)*})
    compadd -S '' -- @SELECTORS@ dev:/dev/${^disks}: dev:/dev/${^disks}:hdd dev:/dev/${^disks}:ssd
}

_seekless_presets() {
    compadd -- ${(f)"$(@PRESETS@)"}
}

_seekless_runs() {
    local -a runs
    runs=(${(f)"$(seekless undo --list 2>/dev/null | @UNDOABLE@)"})
    # A name, two blanks, and what the run did.
    runs=(${${runs//:/\\:}/  /:})
    _describe -V run runs
}

