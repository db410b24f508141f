# rdma4j run: sets the environment of a command so that its Java virtual machines use RDMA sockets. The launcher reads this file.
# shellcheck shell=sh

run_help() {
    cat <<'HELP'
usage: rdma4j run [OPTION...] [--] COMMAND [ARGUMENT...]
       rdma4j run [OPTION...] --print
Runs a command whose Java programs use RDMA instead of TCP, without a change of the program: java -cp, -jar or -m, or a
script that starts java. Sets JDK_JAVA_OPTIONS for the command, behind what it contains already, and becomes the command:
signals and exit status are the command's. Java virtual machines that the command starts inherit it.
  --rules RULES   where RDMA is used and where TCP: 10.1.0.0/16=rdma,127.0.0.1=tcp,*=either
                  (either: RDMA, or TCP if the peer does not listen with RDMA)
  --every-jvm     set JAVA_TOOL_OPTIONS, which every virtual machine reads: for programs with a launcher other than java
                  (jsvc, launchers of jpackage; jwebserver is recognized)
  --print         print the variable as a line for the shell, and run nothing: eval "$(rdma4j run --print)"
  --device NAME   use only this device: its name (rdma4j_eth0), one of its addresses, or its provider (soft)
  --pcap FILE     write every packet to FILE in pcapng, for Wireshark; for a command with one virtual machine
  --fault SPEC    inject faults into the traffic, for example loss=1%,dup=1%,seed=7
  --trace         print a line per packet on stderr
Java 25 or newer has to run the programs; an older one ends with a sentence. What is on the command line of java takes
precedence over these options.
What stays on TCP or UDP: datagrams, Unix-domain sockets, connections for which the rules say so, and the sockets of
native libraries (Netty's epoll transport).
The status is that of the command; 2 for an invalid command line, 127 if there is no such command.
HELP
}

run_usage() {
    echo "rdma4j run: $*; see rdma4j run --help" >&2
    exit 2
}

# Sets quoted to $1 as one word of JDK_JAVA_OPTIONS, which has quotation marks but no escapes.
quote_java_option() {
    case $1 in
        *[\"\'[:space:]]*) ;;
        *) quoted=$1; return ;;
    esac
    case $1 in
        *\"*\'* | *\'*\"*) fail "Java takes no option with both kinds of quotation marks: $1" ;;
        *\"*) quoted="'$1'" ;;
        *) quoted="\"$1\"" ;;
    esac
}

# Appends the option $1 to java_run_options.
add_java_option() {
    quote_java_option "$1"
    java_run_options="$java_run_options${java_run_options:+ }$quoted"
}

# Sets absolute to the absolute path of file $1.
to_absolute() {
    case $1 in
        /*) absolute=$1 ;;
        *) absolute=$PWD/$1 ;;
    esac
}

# Reads the options of run, sets java_run_options, and sets words to the number of arguments that are options.
read_run_options() {
    java_run_options=
    java_variable=JDK_JAVA_OPTIONS
    print=
    words=$#
    while [ $# -gt 0 ]; do
        name=$1
        value=
        case $1 in
            --)
                shift
                break
                ;;
            --help | -h)
                run_help
                exit 0
                ;;
            --print) print=yes ;;
            --every-jvm) java_variable=JAVA_TOOL_OPTIONS ;;
            --trace) add_java_option -Drdma4j.trace=true ;;
            --rules | --device | --pcap | --fault)
                [ $# -ge 2 ] || run_usage "option $1 requires a value"
                value=$2
                shift
                ;;
            --rules=* | --device=* | --pcap=* | --fault=*)
                name=${1%%=*}
                value=${1#*=}
                ;;
            -*) run_usage "there is no option $1" ;;
            *) break ;;
        esac
        case $name in
            --rules) add_java_option "-Drdma4j.sockets.rules=$value" ;;
            --device) add_java_option "-Drdma4j.device=$value" ;;
            --fault) add_java_option "-Drdma4j.fault=$value" ;;
            --pcap)
                to_absolute "$value"
                add_java_option "-Drdma4j.pcap=$absolute"
                ;;
        esac
        shift
    done
    words=$((words - $#))
}

# Sets program_java to the feature version of the java program $1, or to nothing if it is unknown.
look_at_java() {
    java=$1
    while [ -h "$java" ]; do
        link=$(readlink "$java")
        case $link in
            /*) java=$link ;;
            *) java=${java%/*}/$link ;;
        esac
    done
    program_java=
    release=${java%/*}/../release
    if [ -r "$release" ]; then
        program_java=$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$release")
    else
        program_java=$("$java" -version 2>&1 | sed -n 's/^[^"]*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
    fi
}

# Refuses a java that is too old; a script may use another java than the one that is found here.
check_java_of() {
    program=$(command -v -- "$1") || {
        echo "rdma4j run: there is no command $1" >&2
        exit 127
    }
    case ${1##*/} in
        java) ;;
        jwebserver) java_variable=JAVA_TOOL_OPTIONS ;;
        *)
            program=
            [ -z "${JAVA_HOME:-}" ] || program=$JAVA_HOME/bin/java
            [ -x "$program" ] || program=$(command -v java) || return 0
            ;;
    esac
    look_at_java "$program"
    [ "${program_java:-$min_java}" -ge "$min_java" ] && return
    case ${1##*/} in
        java | jwebserver)
            fail "$program is Java $program_java, and RDMA needs Java $min_java or newer: name another, such as $jdk/bin/${1##*/}"
            ;;
        *)
            echo "rdma4j: note: $program is Java $program_java, and RDMA needs Java $min_java or newer; if $1 uses it, set JAVA_HOME=$jdk" >&2
            ;;
    esac
}

# Runs the command of the arguments, or prints the variable.
run_program() {
    # The agent puts its jar on the class path, whether the program is started by -cp, -jar or -m. With -m Java resolves only the
    # modules that the program requires, unless ALL-DEFAULT is added.
    agent=$modules/agent/rdma4j-agent.jar
    case $agent in *=*) fail "Java takes no agent with an equals sign in its path, such as $agent: set RDMA4J_BUILD_DIR to another folder." ;; esac
    java_own_options=$java_run_options
    java_run_options=
    add_java_option "-javaagent:$agent"
    add_java_option --add-modules=ALL-DEFAULT
    add_java_option --enable-native-access=ALL-UNNAMED
    add_java_option -XX:MaxInlineLevel=30
    java_run_options="$java_run_options${java_own_options:+ }$java_own_options"
    if [ $# -gt 0 ]; then
        check_java_of "$1"
    fi
    case $java_variable in
        JAVA_TOOL_OPTIONS) java_run_options="${JAVA_TOOL_OPTIONS:-}${JAVA_TOOL_OPTIONS:+ }$java_run_options" ;;
        *) java_run_options="${JDK_JAVA_OPTIONS:-}${JDK_JAVA_OPTIONS:+ }$java_run_options" ;;
    esac
    if [ -n "$print" ]; then
        printf "export %s='%s'\n" "$java_variable" "$(printf '%s' "$java_run_options" | sed "s/'/'\\\\''/g")"
        exit 0
    fi
    export "$java_variable=$java_run_options"
    exec "$@"
}
