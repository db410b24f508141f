# Starts tools on either side and checks their output; sourced by other scripts.
#
# A side is "linux" (the guest's C rping over the kernel's device), "inside" (Java rping in the guest; with --c of
# checks/interop/hardware C), "host" (Java rping in the namespace; with --peer c the second guest's C rping), "near" (Java in the same
# namespace, by its other addresses), "far" (Java in the other namespace) or "exec" (the C program in the namespace, by rdma4j exec).
# Every process has a label; its standard output, standard error and exit code are $case_dir/LABEL.out, .err and .rc.

declare -A job_pid job_side

# Whether Java's tools warm up before they measure. Without --warm-up only cases for that do: it takes three seconds.
warm_up=false

# What runs on the side "inside", and the kernel's device (rxe0 or siw0) that "linux" and "inside" use.
inside=java guest_device=rxe0

# The environment of Java in the guest, and whether Java uses the software device there: see hardware-cases.sh.
inside_environment=() inside_is_soft=false

# How long a server may take until it listens. Java in an emulated guest takes long.
start_seconds=20

side_guest() { if [ "$1" = host ]; then echo peer; else echo guest; fi; }
side_is_c() { [ "$1" = linux ] || { [ "$1" = host ] && [ "$peer" = c ]; } || { [ "$1" = inside ] && [ "$inside" = c ]; }; }
side_uses_kernel() { side_is_c "$1" || { [ "$1" = inside ] && ! $inside_is_soft; }; } # and not the software device
side_in_guest() { [ "$1" = inside ] || side_is_c "$1"; }
side_netns() { if [ "$1" = far ]; then echo "$far_netns"; else echo "$netns"; fi; }
in_side() { # SIDE COMMAND...
    local name
    name=$(side_netns "$1")
    shift
    ip netns exec "$name" "$@"
}
side_address() { # SIDE FAMILY(v4|v6|ll|twin|lo4|lo6) [FOR-SIDE] : the address of SIDE; link-local ones with the scope of FOR-SIDE
    local device=eth0
    case ${3:-$1} in
        host) [ "$peer" = c ] || device=tap0 ;;
        exec) device=tap0 ;;
        near | far) device=${3:-$1}0 ;;
        linux | inside) [ $guest_device = rxe0 ] || device=iwarp0 ;;
    esac
    [ "$2" != twin ] || device=${3:-$1}1
    case $1/$2 in
        */lo4) echo 127.0.0.1 ;;
        */lo6) echo ::1 ;;
        near/v4) echo $near_ip4 ;;
        near/v6) echo $near_ip6 ;;
        near/ll | near/twin) echo "$near_link_local%$device" ;;
        far/v4) echo $far_ip4 ;;
        far/v6) echo $far_ip6 ;;
        far/ll | far/twin) echo "$far_link_local%$device" ;;
        linux/* | inside/*)
            case $guest_device/$2 in
                rxe0/v4) echo $guest_ip4 ;;
                rxe0/v6) echo $guest_ip6 ;;
                rxe0/ll) echo "$guest_link_local%$device" ;;
                siw0/v4) echo $iwarp_ip4 ;;
                siw0/v6) echo $iwarp_ip6 ;;
                siw0/ll) echo "$iwarp_link_local%$device" ;;
            esac
            ;;
        host/v4 | exec/v4) echo $host_ip4 ;;
        host/v6 | exec/v6) echo $host_ip6 ;;
        host/ll | exec/ll) echo "$host_link_local%$device" ;;
    esac
}

rping_start() { tool_start "$1" "$2" rping "${@:3}"; } # SIDE LABEL ARGUMENTS...

# tool_start SIDE LABEL TOOL ARGUMENTS... : starts a tool in the background. The timeout of the case ends it, by SIGINT so that it
# can still print, and then by SIGKILL.
tool_start() {
    local side=$1 label=$2 tool=$3
    shift 3
    if side_is_c "$side"; then
        # stdbuf: a C tool buffers its output to a file or a pipe until it exits, and loses it when it is killed.
        guest_command "$side" "$label" stdbuf -oL "$tool" "$@"
        return
    fi
    if [ "$side" = exec ]; then
        exec_start "$label" "$tool" "$@"
        return
    fi
    case $tool in
        ib_* | rstream | riostream | udpong | cmtime) $warm_up || set -- "$@" --no-warm-up ;;
    esac
    if side_in_guest "$side"; then
        guest_command "$side" "$label" env "${inside_environment[@]}" "$launcher" "$tool" "$@"
    else
        java_start "$side" "$label" "$launcher" "$tool" "$@"
    fi
}

# guest_command SIDE LABEL COMMAND... : starts a command in a guest. Its output is moved to the case's files when it has ended: what
# stayed there would be taken for the output of the next case's command.
guest_command() {
    local side=$1 label=$2
    shift 2
    printf '%s\n' "$(who "$side") ($side) $*" >"$case_dir/$label.cmd"
    job_side[$label]=$side
    touch "$case_dir/$label.out" "$case_dir/$label.err"
    (
        guest_sh "$(side_guest "$side")" "echo \$\$ >/tmp/$label.pid
            timeout -s INT -k 3 $case_timeout $(printf '%q ' "$@") >/tmp/$label.out 2>/tmp/$label.err
            code=\$?; cat /tmp/$label.out; printf '\002'; cat /tmp/$label.err
            rm -f /tmp/$label.pid /tmp/$label.out /tmp/$label.err; exit \$code" >"$case_dir/$label.raw"
        echo $? >"$case_dir/$label.rc.new"
        awk -v RS='\002' -v out="$case_dir/$label" 'NR == 1 { printf "%s", $0 >out ".out" } NR == 2 { printf "%s", $0 >out ".err" }' "$case_dir/$label.raw"
        rm -f "$case_dir/$label.raw"
        mv "$case_dir/$label.rc.new" "$case_dir/$label.rc"
    ) &
    job_pid[$label]=$!
}

# java_start SIDE LABEL COMMAND... : starts a process on this host, with the same files and the same timeout.
java_start() {
    local side=$1 label=$2
    shift 2
    printf '%s\n' "$(who "$side") ($side) $*" >"$case_dir/$label.cmd"
    job_side[$label]=$side
    touch "$case_dir/$label.out" "$case_dir/$label.err"
    # A shell starts background commands with SIGINT ignored, and a JVM does not change that, so SIGINT is restored here.
    (
        in_side "$side" env --default-signal=INT,QUIT timeout -s INT -k 3 "$case_timeout" "$@" \
            >"$case_dir/$label.out" 2>"$case_dir/$label.err" </dev/null
        echo $? >"$case_dir/$label.rc.new"
        mv "$case_dir/$label.rc.new" "$case_dir/$label.rc"
    ) &
    job_pid[$label]=$!
}

# Prints the process ID of the tool itself, not of timeout, which runs it.
java_pid() {
    local timeout_pid
    timeout_pid=$(pgrep -P "${job_pid[$1]}" -x timeout) && pgrep -P "$timeout_pid"
}

# As in the table: C, Java, exec, or, where Java is on both kinds of devices, "soft" for that on the software device.
host_title=Java
who() {
    case $1 in
        exec) echo exec ;;
        host) if side_is_c host; then echo C; else echo "$host_title"; fi ;;
        *) if side_is_c "$1"; then echo C; else echo Java; fi ;;
    esac
}

# rping_serve SIDE LABEL PORT ARGUMENTS... : starts a server and waits until it listens.
rping_serve() {
    local side=$1 label=$2 port=$3
    shift 3
    rping_start "$side" "$label" -s -p "$port" "$@"
    wait_until $start_seconds listening "$side" "$label" "$port" "$@" ||
        { explain "$label did not listen on port $port within $start_seconds s"; return 1; }
    ! rping_ended "$label" || explain "$label ended at once with $(exit_code "$label")"
}

listening() { # SIDE LABEL PORT ARGUMENTS...
    local side=$1 label=$2 port=$3 address=
    shift 3
    while [ $# -gt 0 ]; do
        [ "$1" != -a ] || address=$2
        shift
    done
    listens_on "$side" "$label" "$port" "$address"
}

listens_on() { # SIDE LABEL PORT ADDRESS
    ! rping_ended "$2" || return 0 # nothing to wait for
    if side_in_guest "$1"; then
        guest_sh "$(side_guest "$1")" "$(guest_listens "$1" "$3" "$4")"
        return
    fi
    # A listening Java server has a UDP socket at its address: on port 4791 or, if another process has bound that, on another
    # port. The pause after that covers the remaining steps.
    udp_sockets "$1" "$2" | grep -Eq "${4%\%*}\]?(%[a-z0-9]+)?\]?:[0-9]+\$" && sleep 0.3
}

# Prints a command that succeeds if a server in the guest listens. Only the software device has a socket of its own.
guest_listens() { # SIDE PORT ADDRESS
    if ! side_uses_kernel "$1"; then
        echo "ss -lunH | grep -q '${3%\%*}.*:4791 ' && sleep 1"
    else
        echo "rdma resource show cm_id | grep -q 'LISTEN.*:$2 '"
    fi
}

udp_sockets() { # SIDE LABEL : local ends of the process' UDP sockets
    in_side "$1" ss -lunpH | awk -v "pid=pid=$(java_pid "$2")," 'index($0, pid) { print $4 }'
}
owns_port() { udp_sockets "$1" "$2" | grep -q ':4791$'; } # SIDE LABEL

rping_ended() { [ -e "$case_dir/$1.rc" ]; }
rping_wait() { # LABEL [SECONDS] : true when it ended in time
    wait_until "${2:-$((case_timeout + 10))}" rping_ended "$1"
}
exit_code() { cat "$case_dir/$1.rc" 2>/dev/null || echo none; }

# rping_signal LABEL SIGNAL : sends a signal to the tool itself, not to timeout, which runs it.
rping_signal() {
    local label=$1 signal=$2 pid
    if side_in_guest "${job_side[$label]}"; then
        guest_sh "$(side_guest "${job_side[$label]}")" "read -r shell </tmp/$label.pid && pkill -$signal -P \$(pgrep -P \$shell -x timeout)"
    else
        pid=$(java_pid "$label") && kill "-$signal" "$pid"
    fi
}

# ping_lines PREFIX SIZE COUNT : prints the lines that rping -v prints for COUNT pings of SIZE bytes.
ping_lines() {
    LC_ALL=C awk -v prefix="$1" -v size="$2" -v count="$3" 'BEGIN {
        for (c = 65; c <= 122; c++) alphabet = alphabet sprintf("%c", c)
        while (length(cycle) < size + 58) cycle = cycle alphabet
        for (ping = 0; ping < count; ping++) {
            text = "rdma-ping-" ping ": "
            print prefix substr(text substr(cycle, ping % 58 + 1), 1, size - 1)
        }
    }'
}

# Checks: each succeeds, or records the reason and fails. `explain` adds a line to the result of the case.
explain() { printf '%s\n' "$*" >>"$case_dir/why"; return 1; }

expect_code() { # LABEL CODE
    [ "$(exit_code "$1")" = "$2" ] || explain "$1 ended with $(exit_code "$1"), expected $2"
}
expect_code_or() { # LABEL CODE OTHER-CODE : the other one is accepted and remarked
    [ "$(exit_code "$1")" != "$3" ] || { remark "$1 ended with $3"; return 0; }
    expect_code "$1" "$2"
}
expect_lines() { # LABEL STREAM(out|err) EXTENDED-REGEX
    grep -Eq -- "$3" "$case_dir/$1.$2" || explain "$1 did not print /$3/"
}
expect_pings() { # LABEL server|client SIZE COUNT : exactly the lines of COUNT pings, every byte of them
    local prefix='ping data: '
    [ "$2" = client ] || prefix='server ping data: '
    grep -a "^$prefix" "$case_dir/$1.out" >"$case_dir/$1.pings"
    ping_lines "$prefix" "$3" "$4" | cmp -s - "$case_dir/$1.pings" ||
        { explain "$1 printed $(wc -l <"$case_dir/$1.pings") pings, not the right bytes of $4"; return 1; }
    rm -f "$case_dir/$1.pings"
}
# With Linux 6.12 the time-wait of a connection may end before its process does, which rping reports as C's does.
expect_no_complaint() { # LABEL : nothing but the lines every good end prints
    local lines
    lines=$(grep -av -e '^server DISCONNECT EVENT\.\.\.$' -e '^client DISCONNECT EVENT\.\.\.$' \
        -e '^wait for RDMA_READ_ADV state 10$' -e '^unhandled event: RDMA_CM_EVENT_TIMEWAIT_EXIT, ignoring$' -e '^$' "$case_dir/$1.err" | head -3)
    [ -z "$lines" ] || explain "$1 complained: $lines"
}
