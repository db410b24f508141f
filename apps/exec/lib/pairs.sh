# A server and its client, each in C or in Java; sourced by apps/exec/run.

# Adds a row for each combination of roles: client and server in C, and either one in Java; or those
# in the variable roles. The client is on the other host, or on the server's host if near is set.
# The variable way names a function to use instead of pair.
pair_add() { # NAME quick|full READY "SERVER COMMAND" "CLIENT COMMAND" [CHECK]
    local each
    for each in ${roles:-C->C C->Java Java->C}; do
        row_add "$1" "$each" "$2" 30 "${way:-${near:+near_}pair}" "$each" "${@:3}"
    done
}

near_pair() {
    local client_host=server
    pair "$@"
}

# Sets words to the command line of a tool for C or Java. Java's measuring tools would warm up for
# three seconds.
words_of() { # C|Java COMMAND
    words=("$launcher")
    [ "$1" = Java ] || words+=(exec --no-warm-up --)
    # The commands have no quotation marks, and are meant to be split into words.
    # shellcheck disable=SC2206
    words+=($2)
    [ "$1" = C ] || [[ $2 != ib_* ]] || words+=(--no-warm-up)
}

# Starts a server, waits until it is READY, starts a client, and expects that both end with status
# 0. READY is tcp:PORT if the client first connects to the server over TCP, cm if the server listens
# with the connection manager, and none if it cannot be observed.
pair() { # ROLES READY "SERVER COMMAND" "CLIENT COMMAND" [CHECK]
    local roles=$1 ready=$2 server=$3 client=$4 check=${5:-} label
    pair_start "$roles" "$ready" "$server" "$client" || return
    finish client
    [ $status -eq 0 ] || wrong "the client ended with $status" || { end server; return 1; }
    finish server
    [ $status -eq 0 ] || wrong "the server ended with $status" || return
    for label in client server; do no_complaint $label || return; done
    [ -z "$check" ] || $check
}

# Like pair, but runs once more if the reason of the failure or the output of a side matches a
# pattern: a known fault of perftest.
pair_again() { # PATTERN REMARK ROLES READY "SERVER COMMAND" "CLIENT COMMAND" [CHECK]
    local pattern=$1 reason=$2
    shift 2
    pair "$@" && return
    grep -qE "$pattern" "$row_dir"/why "$row_dir"/{server,client}.{out,err} || return
    rm "$row_dir/why"
    remark "ran again: $reason"
    pair "$@"
}

# perftest calibrates the processor's counter against the clock before it measures, and prints inf
# for every time if a busy machine disturbs that.
perftest_clock='^ *Correlation coefficient'
pair_with_clock() { pair_again "$perftest_clock" 'perftest could not measure the frequency of the processor' "$@"; }

# perftest waits indefinitely when a message of an unreliable service is lost.
pair_that_may_lose() { pair_again "ended with 124\$|$perftest_clock" 'a message was lost, or the frequency not measured' "$@"; }

# Before 23.07, perftest waits for both queues with one channel, and takes the event of one for that
# of the other if they arrive together.
pair_with_one_channel() { pair_again "^ *Failed status|$perftest_clock" 'perftest took the event of the other queue, or did not measure the frequency' "$@"; }

pair_start() { # ROLES READY "SERVER COMMAND" "CLIENT COMMAND"
    local words
    words_of "${1#*->}" "$3"
    start server server "$limit" "${words[@]}"
    pair_ready "$2" || { end server; return 1; }
    words_of "${1%->*}" "$4"
    start client "${client_host:-client}" "$limit" "${words[@]}"
}

pair_ready() { # READY
    case $1 in
        tcp:*) wait_until 15 listens_tcp server "${1#tcp:}" || wrong "the server does not listen on TCP port ${1#tcp:}" ;;
        none) sleep 2 ;;
        cm)
            wait_until 15 holds_port_4791 server || wrong 'the server does not bind UDP port 4791' || return
            sleep 0.5 # a listener of the connection manager cannot be seen from outside
            ;;
    esac
}

# Java and the library must write nothing to standard error in a successful run.
no_complaint() { # LABEL
    ! grep -qE '^(rdma4j|WARNING|Exception|Caused by|Error occurred|OpenJDK|#)|\bat io\.rdma4j|^\[warning' "$row_dir/$1.err" || wrong "the $1 reports: $(grep -m 1 -E 'rdma4j|WARNING|Exception' "$row_dir/$1.err")"
}

# Expects COUNT lines of standard output that match.
prints() { # LABEL COUNT PATTERN
    local count
    count=$(grep -cE -- "$3" "$row_dir/$1.out")
    [ "$count" -eq "$2" ] || wrong "the $1 prints $count lines of '$3' instead of $2"
}
