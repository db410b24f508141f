# Runs the cases one after another, with captures, and prints the table; sourced by other scripts.

cases=() cannot=()
total_dropped=0 faulty_cases=0
capture_pid=

case_add() { # see cases.sh
    local line
    printf -v line '%q ' "$@"
    cases+=("$line")
}

# A case that Linux's device cannot run is listed and counted separately, not as passed.
case_cannot() { # NAME SERVER CLIENT REASON
    local line
    printf -v line '%q ' "$@"
    cannot+=("$line")
}

case_title() { # NAME SERVER CLIENT : as printed and as matched by --only
    printf '%s %s->%s' "$1" "$(who "$3")" "$(who "$2")"
}

case_selected() { # NAME SERVER CLIENT
    local pattern title
    title=$(case_title "$@")
    ! $quick || [[ ! $1 =~ $beyond_quick ]] || return 1
    case $part in
        guest) case_needs_guest "$2" "$3" || return 1 ;;
        host) ! case_needs_guest "$2" "$3" || return 1 ;;
    esac
    [ ${#only[@]} -gt 0 ] || return 0
    for pattern in "${only[@]}"; do [[ $title =~ $pattern ]] && return 0; done
    return 1
}

# Succeeds if a selected case has a name that matches an extended regular expression.
cases_selected() { # PATTERN
    local line
    for line in "${cases[@]}"; do
        eval "set -- '$1' $line"
        [[ ! $2 =~ $1 ]] || ! case_selected "$2" "$3" "$4" || return 0
    done
    return 1
}

# Succeeds if a selected case needs the guest.
cases_need_guest() {
    local line
    for line in "${cases[@]}"; do
        eval "set -- $line"
        ! case_selected "$1" "$2" "$3" || ! case_needs_guest "$2" "$3" || return 0
    done
    return 1
}
case_needs_guest() { [[ "$1 $2" != *near* ]]; } # SERVER CLIENT

cases_list() {
    local line
    for line in "${cases[@]}"; do
        eval "set -- $line"
        ! case_selected "$1" "$2" "$3" || row "$1" "$(who "$3") -> $(who "$2")" "$4" '' ''
    done
    cannot_list
}

# Prints the cases that cannot run, and counts them in cannot_count.
cannot_list() {
    local line
    cannot_count=0
    for line in "${cannot[@]}"; do
        eval "set -- $line"
        case_selected "$1" "$2" "$3" || continue
        cannot_count=$((cannot_count + 1))
        row "$1" "$(who "$3") -> $(who "$2")" 'cannot run' - '' "$4"
    done
}

row() { printf '%-26s %-12s %-20s %-6s %6s  %s\n' "$1" "$2" "$3" "$4" "$5" "${6:-}"; }
remark() { printf '%s\n' "$*" >>"$case_dir/remark"; }

# Captures the packets on the tap, or on all interfaces of the namespace, beginning before the first packet of the case.
capture_start() { # FILE [INTERFACE]
    ip netns exec "$netns" tcpdump -Z root -i "${2:-tap0}" -U -w "$1" 'udp port 4791 or icmp or (icmp6 and ip6[40] < 128)' 2>"$1.log" >/dev/null &
    capture_pid=$!
    disown $capture_pid
    wait_until 5 grep -q 'listening on' "$1.log"
}
capture_stop() {
    [ -n "$capture_pid" ] || return 0
    kill "$capture_pid" 2>/dev/null
    wait_until 3 capture_gone
    rm -f "${case_dir:-/nonexistent}/capture.pcap.log"
    capture_pid=
}
capture_gone() { ! kill -0 "$capture_pid" 2>/dev/null; }

# One pattern for all processes, since the emulated machine needs a third of a second to read all of /proc.
guest_clean='tools="rping|ucmatose|udaddy|mckey|rdma_x?(client|server)|cmtime|rstream|riostream|udpong|rcopy|ib_[a-z]+_(bw|lat)|ibv_.*|timeout|rdma4j|java"
    for i in $(seq 50); do pkill -9 -x "$tools" 2>/dev/null || break; sleep 0.1; done
    rm -f /tmp/*.pid /tmp/*.out /tmp/*.err'

# Ends all processes of a case, so that they cannot affect the next one.
case_clean() {
    local label
    ! $needs_guest || guest_sh guest "$guest_clean"
    [ "$peer" = java ] || guest_sh peer "$guest_clean"
    for label in "${!job_pid[@]}"; do
        side_in_guest "${job_side[$label]}" || rping_ended "$label" || rping_signal "$label" KILL
        rping_wait "$label" 5 || note "interop: $label does not end"
        unset "job_pid[$label]" "job_side[$label]"
    done
}

case_explain() { # what a reader needs first, from the files of a failed case
    local file stream
    for file in "$case_dir"/*.cmd; do
        [ -e "$file" ] || continue
        say "    \$ $(cat "$file")    # ended with $(exit_code "$(basename "$file" .cmd)")"
        for stream in out err; do
            [ -s "${file%.cmd}.$stream" ] && tail -n 4 "${file%.cmd}.$stream" | cut -c1-150 | sed 's/^/        /'
        done
    done
    [ -e "$case_dir/packets.txt" ] || return
    say "    last packets of $case_dir/capture.pcap:"
    tail -n 12 "$case_dir/packets.txt" | cut -c1-170 | sed 's/^/        /'
}

# A case sets fault_of_linux to a sentence if it failed by a fault of Linux that has no remedy; it runs again, up to five times.
fault_of_linux='' linux_faults=0

case_run() { # NAME SERVER CLIENT EXPECTED SECONDS FUNCTION ARGUMENTS...
    local name=$1 server=$2 client=$3 expected=$4 function=$6 start result=ok text interface=tap0
    local again=("${@:2}")
    case_timeout=$5
    shift 6
    case_dir=$work_dir/$(echo "$name-$(who "$client")-to-$(who "$server")" | tr '/%' '-_')
    while [ -e "$case_dir" ]; do case_dir+=-again; done # it runs again, or both roles have the same name with --peer c
    mkdir -p "$case_dir"
    fault_of_linux=
    if case_needs_guest "$server" "$client"; then
        guest_answers guest || guest_revive "$mtu"
    else
        interface=any
    fi
    # No packet leaves the guest if both sides are in it.
    [ "$(side_guest "$server")" = "$(side_guest "$client")" ] && side_in_guest "$server" && side_in_guest "$client" ||
        capture_start "$case_dir/capture.pcap" $interface
    start=$(now_ms)
    "$function" "$server" "$client" "$@" || result=FAILED
    text=$(seconds $(($(now_ms) - start)))
    if [ $result = FAILED ] && case_needs_guest "$server" "$client" && ! guest_answers guest; then
        result=stopped
        remark 'the guest does not answer any more: once more with a new one'
    fi
    if [ $result = FAILED ] && [ -n "$fault_of_linux" ] && [ $linux_faults -lt 5 ]; then
        result=again
        remark "$fault_of_linux"
    fi
    case_clean
    capture_stop
    row "$name" "$(who "$client") -> $(who "$server")" "$expected" "$result" "$text" "$(cat "$case_dir"/{why,remark} 2>/dev/null | paste -sd';' | sed 's/;/; /g' | cut -c1-200)"
    if [ $result = stopped ]; then
        [ $guest_revivals -lt 3 ] || die "three guests have stopped; see $work_dir/guest*.log"
        guest_revive "$mtu"
        case_run "$name" "${again[@]}"
        return
    fi
    if [ $result = again ]; then
        linux_faults=$((linux_faults + 1))
        case_run "$name" "${again[@]}"
        return
    fi
    linux_faults=0
    if [ $result = FAILED ]; then
        ! $needs_guest || guest_sh guest 'dmesg | tail -n 30' >"$case_dir/guest-dmesg.txt" 2>&1
        [ ! -e "$case_dir/capture.pcap" ] || tshark -r "$case_dir/capture.pcap" -t r 2>/dev/null >"$case_dir/packets.txt"
        case_explain
        return 1
    fi
    $keep || rm -rf "$case_dir"
}

cases_run() {
    local line start run=0 failed=()
    start=$(now_ms)
    row case 'client->server' expected result seconds
    for line in "${cases[@]}"; do
        eval "set -- $line"
        case_selected "$1" "$2" "$3" || continue
        run=$((run + 1))
        [ "$6" != case_faulty ] || faulty_cases=$((faulty_cases + 1))
        case_run "$@" || failed+=("$(case_title "$1" "$2" "$3")")
        if [ "$max_failures" -gt 0 ] && [ ${#failed[@]} -ge "$max_failures" ]; then
            say "Stopped after $max_failures failed cases (--max-failures 0 runs all)."
            break
        fi
    done
    cannot_list
    [ $((run + cannot_count)) -gt 0 ] || die 'no case matches; checks/interop/run --list prints them all'
    if [ $faulty_cases -ge 4 ] && [ $total_dropped -eq 0 ]; then
        say 'No packet was dropped in any case with loss: the fault injection does not work.'
        failed+=('fault injection')
    fi
    say "$((run - ${#failed[@]})) of $run cases passed in $(seconds $(($(now_ms) - start))) s$([ $cannot_count = 0 ] || echo ", $cannot_count cannot run"); logs in $work_dir"
    [ ${#failed[@]} -eq 0 ] || {
        printf 'failed: %s\n' "${failed[@]}"
        return 1
    }
}
