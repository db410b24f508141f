# rdma4j run: sets the environment of a command so that its Java virtual machines use RDMA sockets (decision 039). Sourced by
# the launchers of a checkout and of an installation.
# shellcheck shell=sh

required_java=25

run_usage() {
    echo "rdma4j run: $*; see rdma4j run --help" >&2
    exit 2
}

# Sets quoted_option to $1 as one word of JDK_JAVA_OPTIONS, which supports quotation marks but no escapes.
quote_java_option() {
    case $1 in
        *[\"\'[:space:]]*) ;;
        *) quoted_option=$1; return ;;
    esac
    case $1 in
        *\"*\'* | *\'*\"*) fail "a Java option must not contain both kinds of quotation marks: $1" ;;
        *\"*) quoted_option="'$1'" ;;
        *) quoted_option="\"$1\"" ;;
    esac
}

# Appends the option $1 to java_run_options.
add_java_option() {
    quote_java_option "$1"
    java_run_options="$java_run_options${java_run_options:+ }$quoted_option"
}

# Appends the Java option for option $1 of run with value $2.
add_valued_option() {
    case $1 in
        --rules) add_java_option "-Drdma4j.sockets.rules=$2" ;;
        --device) add_java_option "-Drdma4j.device=$2" ;;
        --fault) add_java_option "-Drdma4j.fault=$2" ;;
        --pcap)
            case $2 in
                /*) add_java_option "-Drdma4j.pcap=$2" ;;
                *) add_java_option "-Drdma4j.pcap=$PWD/$2" ;;
            esac
            ;;
    esac
}

# Sets program_java to the feature version of the java program $1, or to nothing if it is unknown.
look_at_java() {
    java_file=$1
    while [ -h "$java_file" ]; do
        link=$(readlink "$java_file")
        case $link in
            /*) java_file=$link ;;
            *) java_file=${java_file%/*}/$link ;;
        esac
    done
    release=${java_file%/*}/../release
    if [ -r "$release" ]; then
        program_java=$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$release")
    else
        program_java=$("$java_file" -version 2>&1 | sed -n 's/^[^"]*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
    fi
}

# Rejects the command $1 if it is a java that is too old. A script may use another java than the one found here, so that
# it only causes a note. $2 is the home of a JDK that is new enough, or empty.
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
    [ "${program_java:-$required_java}" -ge "$required_java" ] && return
    case ${1##*/} in
        java | jwebserver)
            fail "$program is Java $program_java, and RDMA needs Java $required_java or newer: use another${2:+, such as $2/bin/${1##*/}}"
            ;;
        *)
            echo "rdma4j: note: $program is Java $program_java, and RDMA needs Java $required_java or newer; if $1 uses it, set JAVA_HOME to a newer one${2:+, such as $2}" >&2
            ;;
    esac
}

# Replaces the process with the command that follows the options, or prints the variable. Returns only if the options
# request help. $1 is the jar of the agent, $2 the home of a JDK that is new enough, or empty.
run_command() {
    agent=$1
    newer_java=$2
    shift 2
    case $agent in *=*) fail "the path of a Java agent must not contain an equals sign: move the folder of $agent" ;; esac
    java_run_options=
    java_variable=JDK_JAVA_OPTIONS
    print=
    # -javaagent puts the jar on the class path, whether the program is started with -cp, -jar or -m. With -m, Java
    # resolves only the modules that the program requires, unless ALL-DEFAULT is added.
    quote_java_option "-javaagent:$agent"
    agent_option=$quoted_option
    add_java_option --add-modules=ALL-DEFAULT
    add_java_option --enable-native-access=ALL-UNNAMED
    add_java_option -XX:MaxInlineLevel=30
    while [ $# -gt 0 ]; do
        case $1 in
            --) shift; break ;;
            --help | -h) return ;;
            --print) print=yes ;;
            --every-jvm) java_variable=JAVA_TOOL_OPTIONS ;;
            --trace) add_java_option -Drdma4j.trace=true ;;
            --no-shared-memory) add_java_option -Drdma4j.shared-memory=off ;;
            --rules | --device | --pcap | --fault)
                [ $# -ge 2 ] || run_usage "option $1 requires a value"
                add_valued_option "$1" "$2"
                shift
                ;;
            --rules=* | --device=* | --pcap=* | --fault=*) add_valued_option "${1%%=*}" "${1#*=}" ;;
            -*) run_usage "there is no option $1" ;;
            *) break ;;
        esac
        shift
    done
    if [ $# -gt 0 ]; then
        check_java_of "$1" "$newer_java"
    else
        [ -n "$print" ] || run_usage "which command?"
    fi
    case $java_variable in
        JAVA_TOOL_OPTIONS) user_options=${JAVA_TOOL_OPTIONS:-} ;;
        *) user_options=${JDK_JAVA_OPTIONS:-} ;;
    esac
    # Later options take precedence, but agents start in the given order: this agent must set the channel provider
    # before another agent opens a channel.
    java_run_options="$agent_option${user_options:+ }$user_options $java_run_options"
    if [ -n "$print" ]; then
        printf "export %s='%s'\n" "$java_variable" "$(printf '%s' "$java_run_options" | sed "s/'/'\\\\''/g")"
        exit 0
    fi
    export "$java_variable=$java_run_options"
    exec "$@"
}
