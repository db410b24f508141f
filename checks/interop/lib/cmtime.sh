# cmtime, C against Java; sourced by other scripts. rdma-core 44 has the older of the two tools of this name. INTEROP_CMTIME
# names a newer one, if the guest has it.

# Prints the command of a side's tool in the given form.
cmtime_of() { # SIDE classic|mesh
    if [ "$1" = exec ]; then
        echo cmtime # that of the host's package, which is the classic one
    elif ! side_is_c "$1"; then
        [ "$2" = mesh ] && echo cmtime || echo cmtime --classic
    else
        [ "$2" = mesh ] && echo "$INTEROP_CMTIME" || echo cmtime
    fi
}

# Opens and closes connections. The server keeps running until SIGINT ends it.
case_cmtime_classic() { # SERVER CLIENT FAMILY CONNECTIONS [OPTIONS OF BOTH...]
    local server=$1 client=$2 family=$3 count=$4 listener_port=7471 address bad=0
    shift 4
    [[ " $*" != *' -p '* ]] || { listener_port=" $*" listener_port=${listener_port##* -p }; listener_port=${listener_port%% *}; }
    address=$(side_address "$server" "$family")
    # shellcheck disable=SC2046
    tool_start "$server" server $(cmtime_of "$server" classic) -b "$address" "$@"
    wait_until $start_seconds listens_on "$server" server "$listener_port" "$address" || { explain "the server did not listen within $start_seconds s"; return 1; }
    # shellcheck disable=SC2046
    tool_start "$client" client $(cmtime_of "$client" classic) -s "$(side_address "$server" "$family" "$client")" -c "$count" "$@"
    rping_wait client || explain 'the client did not end' || bad=1
    expect_code client 0 || bad=1
    expect_cmtime_lines client "$(cmtime_classic_lines " $*")" || bad=1
    expect_quiet client || bad=1
    ! rping_ended server || explain 'the server ended' || bad=1
    rping_signal server INT
    rping_wait server 10 || explain 'the server did not end on SIGINT' || bad=1
    expect_text server out '' || bad=1
    expect_quiet server || bad=1
    remark "$(awk '$1 == "connect" { print $NF " us per connection" }' "$case_dir/client.out")"
    return $bad
}

# Compares the lines of a table without their numbers.
expect_cmtime_lines() { # LABEL TEXT
    sed -E -e 's/:( *[0-9]+\.[0-9]{2}){4}$/:/' -e 's/( +[0-9]+){6}$/ :/' "$case_dir/$1.out" >"$case_dir/$1.lines"
    printf '%s\n' "$2" | cmp -s - "$case_dir/$1.lines" || explain "$1.out is not what it must be"
}

cmtime_classic_lines() { # " OPTIONS"
    local bound=
    [[ $1 != *' -b '* ]] || bound=1
    echo 'creating id'
    [ -z "$bound" ] || echo 'binding source address'
    printf '%s\n' 'resolving address' 'resolving route' 'creating qp' connecting disconnecting 'destroying id' \
        'step              total ms     max ms     min us  us / conn' 'create id    :'
    [ -z "$bound" ] || echo 'bind addr    :'
    printf '%-13s:\n' 'resolve addr' 'resolve route' 'create qp' connect disconnect destroy
}

# A server and a client, one of which is the controller.
case_cmtime_mesh() { # SERVER CLIENT FAMILY CONTROLLER(server|client) CONNECTIONS [OPTIONS OF BOTH...]
    local server=$1 client=$2 family=$3 controller=$4 count=$5 label bad=0 at role
    local -A side=([server]=$server [client]=$client)
    shift 5
    at=$(side_address "${side[$controller]}" v4)
    for label in $controller $([ "$controller" = server ] && echo client || echo server); do
        role=-L
        [ $label = server ] || role=
        # shellcheck disable=SC2046,SC2086
        tool_start "${side[$label]}" $label $(cmtime_of "${side[$label]}" mesh) \
            -b "$(side_address "${side[$label]}" "$family")" -C "$at" -c "$count" $role "$@"
        [ $label != "$controller" ] || wait_until $start_seconds tool_said $label 'OOB root' || { explain "the $label did not begin within $start_seconds s"; return 1; }
    done
    for label in client server; do
        rping_wait $label || explain "the $label did not end" || bad=1
        expect_code $label 0 || bad=1
        expect_cmtime_lines $label "$(cmtime_mesh_lines $label "$controller" "$count")" || bad=1
        expect_quiet $label || bad=1
    done
    remark "$(awk '$1 == "full" && $2 == "connect" { print $3 " us per connection" }' "$case_dir/client.out" | paste -sd, | sed 's/,/, without queue pairs /')"
    return $bad
}

cmtime_mesh_lines() { # server|client CONTROLLER COUNT
    local test verb=Connect
    [ "$1" != "$2" ] || echo 'Running as OOB root'
    [ "$1" = client ] || verb=Accept
    for test in "${1^} warmup" "$verb ($3) QPs test" "$verb ($3) test - no QPs"; do
        echo "$test"
        cmtime_mesh_steps "$1" "$test"
        case $test in
            *' QPs test') cmtime_mesh_table "$(printf 'qp_conn        %10d' "$3")" ;;
            *'no QPs') cmtime_mesh_table "$(printf 'cm_conn        %10d' "$3")" ;;
        esac
    done
}
cmtime_mesh_steps() { # server|client TEST
    local verbs=()
    [[ $2 != *warmup ]] || verbs=('Allocating verbs resources')
    if [ "$1" = server ]; then
        printf '\t%s\n' Accepting "${verbs[@]}" Disconnecting
    else
        printf '\t%s\n' 'Creating IDs' 'Binding addresses' 'Resolving addresses' 'Resolving routes' 'Creating QPs' \
            "${verbs[@]}" 'Modify QPs to INIT' Connecting Disconnecting 'Destroying QPs' 'Destroying IDs'
    fi
}
cmtime_mesh_table() { # FIRST-LINE
    printf '%s\n' "$1" 'threads                 1' \
        'step             avg/conn  total(us)    us/conn    sum(us)    max(us)    min(us)'
    printf '%-13s :\n' 'full connect' 'create id' 'bind addr' 'resolve addr' 'resolve route' 'create qp' 'init qp attr' \
        'init qp' 'rtr qp attr' 'rtr qp' 'rts qp attr' 'rts qp' 'cm connect' establish disconnect 'destroy id' 'destroy qp' |
        sed 's/ *:$/ :/'
}

define_cmtime_cases() { # SERVER CLIENT
    local family count
    if [ -n "$guest_layer" ]; then
        case_cannot cmtime "$1" "$2" 'cmtime of rdma-core 45 to 60 has a protocol of its own; Java has those of 44 and of 61'
        return
    fi
    for count in 1 10 64; do
        case_add "cmtime/classic/-c-$count" "$1" "$2" "$count connections" 90 case_cmtime_classic v4 $count
    done
    for family in v6 ll; do
        case_add "cmtime/classic/$family" "$1" "$2" '10 connections' 60 case_cmtime_classic $family 10
    done
    case_add cmtime/classic/-p "$1" "$2" '10 connections' 60 case_cmtime_classic v4 10 -p 7999 -r 3 -t 5000
    [ -n "${INTEROP_CMTIME:-}" ] || return 0
    for count in 1 10 64; do
        case_add "cmtime/mesh/-c-$count" "$1" "$2" "$count connections" 90 case_cmtime_mesh v4 server $count
    done
    case_add cmtime/mesh/client-root "$1" "$2" '10 connections' 60 case_cmtime_mesh v4 client 10
    case_add cmtime/mesh/v6 "$1" "$2" '10 connections' 60 case_cmtime_mesh v6 server 10
}

# Between processes of one host, and between two hosts that both run Java.
define_host_cmtime_cases() {
    local family
    for family in lo4 v4 lo6 v6 ll; do
        case_add "host/cmtime/classic/$family" near near '10 connections' 30 case_cmtime_classic $family 10
        case_add "host/cmtime/mesh/$family" near near '10 connections' 30 case_cmtime_mesh $family server 10
    done
    case_add host/cmtime/classic/far-v4 far near '1000 connections' 60 case_cmtime_classic v4 1000
    case_add host/cmtime/mesh/far-v4 far near '1000 connections' 60 case_cmtime_mesh v4 client 1000
    for family in v6 ll; do
        case_add "host/cmtime/mesh/far-$family" far near '10 connections' 30 case_cmtime_mesh $family server 10
    done
}
