# Sourced by the launchers of a checkout and of an installation: messages, help, and the start of Java.
# shellcheck shell=sh disable=SC2154

fail() {
    echo "rdma4j: $*" >&2
    if [ -n "$document" ]; then
        quote "rdma4j: $*"
        printf '%s  "parameters": {},\n  "results": {},\n  "status": 1,\n  "reason": %s\n}\n' "$document" "$quoted"
    fi
    exit 1
}

# Sets quoted to $1 as a JSON string. Starts a process only if $1 contains characters that must be escaped.
quote() {
    case $1 in
        *[\\\"[:cntrl:]]*)
            quoted=\"$(printf '%s' "$1" | LC_ALL=C awk '
                BEGIN { for (i = 1; i < 32; i++) code[sprintf("%c", i)] = sprintf("\\u%04x", i) }
                NR > 1 { printf "\\u000a" }
                {
                    for (i = 1; i <= length($0); i++) {
                        c = substr($0, i, 1)
                        if (c == "\\" || c == "\"") c = "\\" c
                        else if (c in code) c = code[c]
                        printf "%s", c
                    }
                }')\"
            ;;
        *) quoted=\"$1\" ;;
    esac
}

# Sets document to the start of the JSON document that the tools write with --json; fail completes it. Without --json,
# document is empty.
begin_document() {
    document=
    asked=
    for word in "$@"; do
        case $word in
            --json) asked=yes ;;
            --) break ;;
        esac
    done
    [ -n "$asked" ] || return 0
    quoted=null
    case $1 in
        -*) ;;
        *) quote "$1"; shift ;;
    esac
    document="{
  \"tool\": $quoted,
  \"arguments\": ["
    separator=
    for word in "$@"; do
        quote "$word"
        document="$document$separator$quoted"
        separator=", "
    done
    document="$document],
"
}

# Prints the help. The variable more_usage contains the options that only this launcher has, and environment the lines
# about environment variables.
help() {
    cat <<HELP
usage: rdma4j TOOL [OPTION...]
       rdma4j --help | --version$more_usage

RDMA for Java, over a software RoCEv2 device (no RDMA hardware, no kernel module, no root) and over RDMA hardware.

Tools:
  run             runs a command whose Java programs use RDMA instead of TCP
  exec            runs a C program that uses libibverbs or librdmacm over the software device
  demo            server and client on this machine: pings, latencies, a packet capture
  rping           RDMA ping-pong: the rping of librdmacm, option for option
  ucmatose        many connections at a time, with messages both ways
  udaddy          datagrams to services that the connection manager finds
  mckey           messages to a multicast group, and from it
  rdma_client     one connection with a message each way, to rdma_server
  rdma_server     the server of rdma_client: one connection with a message each way
  rdma_xclient    a message to rdma_xserver, over RC or XRC
  rdma_xserver    the server of rdma_xclient: a message over RC or XRC
  rstream         latency and bandwidth of RDMA sockets, or of TCP sockets for comparison
  riostream       latency and bandwidth of direct writes into memory that the peer has mapped
  udpong          latency and bandwidth of datagram RDMA sockets, or of UDP sockets for comparison
  rcopy           copies a file to another machine over an RDMA socket
  cmtime          how long each step of opening and closing connections takes
  ibv_rc_pingpong messages in both directions over a reliable connection, without the connection manager
  ibv_uc_pingpong messages in both directions over an unreliable connection, without the connection manager
  ibv_ud_pingpong datagrams in both directions, without the connection manager
  ibv_srq_pingpong messages in both directions over connections with a shared receive queue
  ibv_xsrq_pingpong messages between a server and its clients over extended connections (XRC)
  ib_send_lat     latency of SEND, as perftest measures it
  ib_write_lat    latency of RDMA WRITE, as perftest measures it
  ib_read_lat     latency of RDMA READ, as perftest measures it
  ib_atomic_lat   latency of atomic operations, as perftest measures it
  ib_send_bw      bandwidth of SEND, as perftest measures it
  ib_write_bw     bandwidth of RDMA WRITE, as perftest measures it
  ib_read_bw      bandwidth of RDMA READ, as perftest measures it
  ib_atomic_bw    bandwidth of atomic operations, as perftest measures it
  ibv_devices     RDMA devices by name and GUID
  ibv_devinfo     attributes of RDMA devices, ports and their GIDs
  ibv_asyncwatch  asynchronous events of an RDMA device, as they happen
  doctor          what this machine offers: addresses, GIDs, MTU, who holds UDP port 4791
  top             queue pairs and devices of the processes of this host: rates, retransmissions, peers
  guardian        disconnects the peers of processes of this user that are killed
  sim             seeded runs of a simulated fabric under faults, checked against a model
  man             prints the manual page of a tool, for man(1)
  completion      prints the completion of command lines for bash, zsh or fish

Examples:
  rdma4j demo
  rdma4j run -- java -jar server.jar           an unmodified program with TCP sockets
  rdma4j exec -- ib_write_bw                   perftest in C, over the software device
  rdma4j rping -s -v -C 10                     server on every IPv4 address, ends after one client
  rdma4j rping -c -a 192.0.2.1 -v -V -C 10     ten validated pings to it, from another terminal or machine
  rdma4j rping --help                          the options of one tool

Options of every tool (before or after its own):
  --pcap FILE    write every packet to FILE in pcapng, for Wireshark
  --fault SPEC   inject faults into the traffic: loss=1%,dup=1%,reorder=1%,corrupt=1%,delay=1ms,rate=10Gbit,seed=7
  --trace        print one line per packet on stderr
  --no-shared-memory  send packets by UDP also to processes of this host
  --device NAME  use only this device: its name (rdma4j_eth0), one of its addresses, or its provider (soft, hardware)
  --no-warm-up   measure immediately; by default the tools that measure first let Java compile their code
  --json         one JSON document of parameters and results on stdout; messages go to stderr

Environment:
$environment
HELP
}

# Options of every virtual machine, including the virtual machine in a C program. Java accepts a cache only with the
# options with which it was created. Short runs start faster with the serial collector, and produce almost no garbage.
# Messages of Java itself (warnings, and the thread dump at SIGQUIT) go to standard error, since standard output belongs
# to the tool. Decision 033 explains MaxInlineLevel and FreqInlineSize, decision 036 TieredCompileTaskTimeout.
machine_options="-XX:+UseSerialGC -XX:-UsePerfData -XX:MaxInlineLevel=30 -XX:FreqInlineSize=70 -XX:TieredCompileTaskTimeout=100000 -XX:+DisplayVMOutputToStderr -Xlog:disable -Xlog:all=warning:stderr -Djava.net.preferIPv6Addresses=system"

# Options of the tools.
java_options="$machine_options --enable-native-access=io.rdma4j.link,io.rdma4j.hardware,io.rdma4j.verbs,io.rdma4j.tools"

# Java encodes file names and arguments in the encoding of the locale, and no option changes this. Without a locale, for
# example in containers and under cron, the encoding would be ASCII.
choose_locale() {
    case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
        C | POSIX) ;;
        *)
            # A locale that is not installed has no effect.
            case $(locale charmap 2>/dev/null) in ANSI_X3.4-1968 | US-ASCII) ;; *) return ;; esac
            ;;
    esac
    LC_ALL=C.UTF-8
    export LC_ALL
}

# Handles the options that need no Java. The launcher defines the function version.
answer_without_java() {
    case ${1:---help} in
        --help | -h | help) help; exit 0 ;;
        --version | -V) version; exit 0 ;;
    esac
}

# Replaces this process with the tool. Variables: java is the program; modules is the folder of the jars, or empty if
# the runtime contains them; cache is the file of the ahead-of-time cache, or empty.
start_tool() {
    choose_locale
    # shellcheck disable=SC2086
    exec "$java" $java_options ${cache:+"-XX:AOTCache=$cache" "-Xlog:aot*=off,cds*=off:stderr" "-Drdma4j.start.cache=$cache"} \
        ${RDMA4J_JAVA_OPTS:-} ${modules:+--module-path "$modules"} --module io.rdma4j.tools/io.rdma4j.tools.Main "$@"
}
