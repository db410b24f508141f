# The rows, which run one after another, and the table; sourced by apps/exec/run.

rows=()

# A row has a name, its roles, whether --quick includes it, the time limit of a process, and a
# function with its arguments.
row_add() { # NAME ROLES quick|full SECONDS FUNCTION ARGUMENTS...
    local line
    printf -v line '%q ' "$@"
    rows+=("$line")
}

row_selected() { # NAME ROLES quick|full
    local pattern
    ! $quick || [ "$3" = quick ] || return 1
    [ ${#only[@]} -gt 0 ] || return 0
    for pattern in "${only[@]}"; do [[ "$1 $2" =~ $pattern ]] && return 0; done
    return 1
}

row_print() { printf '%-34s %-11s %-7s %6s  %s\n' "$1" "$2" "$3" "$4" "${5:-}"; }

rows_list() {
    local line
    for line in "${rows[@]}"; do
        eval "set -- $line"
        ! row_selected "$1" "$2" "$3" || row_print "$1" "$2" "$3" "$4"
    done
}

# Records why a row fails, and fails.
wrong() {
    printf '%s\n' "$*" >>"$row_dir/why"
    return 1
}
remark() { printf '%s\n' "$*" >>"$row_dir/remark"; }

# Prints the command and the last lines of output of each process in a failed row.
row_explain() {
    local file stream
    for file in "$row_dir"/*.cmd; do
        [ -e "$file" ] || continue
        say "    \$ $(cat "$file")    # ended with $(cat "${file%.cmd}.status" 2>/dev/null)"
        for stream in out err; do
            [ ! -s "${file%.cmd}.$stream" ] || tail -n 6 "${file%.cmd}.$stream" | cut -c1-160 | sed 's/^/        /'
        done
    done
}

row_run() { # NAME ROLES quick|full SECONDS FUNCTION ARGUMENTS...
    local name=$1 roles=$2 function=$5 start result=ok label
    limit=$4
    shift 5
    row_dir=$work_dir/$(printf '%s' "$name-$roles" | tr -c 'a-zA-Z0-9._\n-' _)
    mkdir -p "$row_dir"
    chmod 1777 "$row_dir"
    start=$(now_ms)
    "$function" "$@" || result=FAILED
    for label in "${!started_pid[@]}"; do end "$label"; done
    row_print "$name" "$roles" $result "$(seconds $(($(now_ms) - start)))" "$(cat "$row_dir"/{why,remark} 2>/dev/null | paste -sd';' | cut -c1-150)"
    if [ $result = FAILED ]; then
        row_explain
        return 1
    fi
    $keep || rm -rf "$row_dir"
}

rows_run() {
    local line begin run=0 failed=()
    begin=$(now_ms)
    row_print row 'client->server' result seconds
    for line in "${rows[@]}"; do
        eval "set -- $line"
        row_selected "$1" "$2" "$3" || continue
        run=$((run + 1))
        row_run "$@" || failed+=("$1 $2")
    done
    [ $run -gt 0 ] || die 'no row matches; apps/exec/run --list prints them all'
    say "$((run - ${#failed[@]})) of $run rows passed in $(seconds $(($(now_ms) - begin))) s"
    [ ${#failed[@]} -eq 0 ] || {
        printf 'failed: %s\n' "${failed[@]}"
        say "Output is in $work_dir."
        return 1
    }
}
