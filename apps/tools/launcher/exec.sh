# rdma4j exec: sets the environment of a C program so that its libibverbs and librdmacm use this project's devices. Sourced by the
# launchers of a checkout and of an installation.
# shellcheck shell=sh disable=SC2154

# Options of the virtual machine in a program. Java accepts a cache only with the options that it was created with.
exec_java_options="$machine_options --enable-native-access=io.rdma4j.exec,io.rdma4j.verbs,io.rdma4j.cm,io.rdma4j.link,io.rdma4j.hardware"

cannot_execute=126
no_such_program=127

exec_usage() {
    echo "rdma4j exec: $*; see rdma4j exec --help" >&2
    exit 2
}

# Ends with status $1 after the sentence in the other arguments.
exec_fail() {
    exec_status=$1
    shift
    echo "rdma4j exec: $*" >&2
    exit "$exec_status"
}

require_linux() {
    [ "$(uname -s)" = Linux ] || exec_fail 2 "C programs use libibverbs on Linux only, and this system is $(uname -s)"
}

# Appends the Java option $1 to exec_options, which has one option a line.
add_exec_option() {
    case $1 in
        *"
"*) exec_fail 2 "an option has no line breaks: $1" ;;
    esac
    exec_options="$exec_options${exec_options:+
}$1"
}

# Appends the Java option for option $1 of exec with value $2.
add_valued_exec_option() {
    case $1 in
        --device) add_exec_option "-Drdma4j.device=$2" ;;
        --fault) add_exec_option "-Drdma4j.fault=$2" ;;
        --pcap)
            case $2 in
                /*) add_exec_option "-Drdma4j.pcap=$2" ;;
                *) add_exec_option "-Drdma4j.pcap=$PWD/$2" ;;
            esac
            ;;
    esac
}

# Succeeds if the program $1 is one of perftest, whose measurement takes less than a second, in which Java has compiled little.
measures_at_once() {
    case ${1##*/} in
        ib_send_lat | ib_send_bw | ib_write_lat | ib_write_bw | ib_read_lat | ib_read_bw | ib_atomic_lat | ib_atomic_bw) return 0 ;;
    esac
    return 1
}

# Sets program_file to the file that the command $1 runs, or to nothing. "command -v" would find functions and built-in commands too.
find_program() {
    program_file=
    case $1 in
        */*) [ ! -f "$1" ] || program_file=$1; return ;;
    esac
    IFS=:
    set -f
    for folder in ${PATH:-/usr/bin:/bin}; do
        if [ -f "${folder:-.}/$1" ] && [ -x "${folder:-.}/$1" ]; then
            program_file=${folder:-.}/$1
            break
        fi
    done
    set +f
    unset IFS
}

# Sets number to the little-endian number in the bytes of the arguments, the lowest first.
number_of() {
    number=0
    factor=1
    for byte in "$@"; do
        number=$((number + byte * factor))
        factor=$((factor * 256))
    done
}

# Sets elf_kind to "dynamic", "static" or "foreign" for the program $1, or to "other" for scripts and the like. A program that the
# dynamic linker loads has a program header of type PT_INTERP, which is 3. These headers follow the header of the file.
look_at_elf() {
    elf_kind=other
    # shellcheck disable=SC2046
    set -- $(od -A n -v -t u1 -N 2048 "$1" 2>/dev/null)
    [ "$#" -ge 64 ] && [ "$1 $2 $3 $4" = "127 69 76 70" ] || return 0
    elf_kind=foreign
    number_of "${19}" "${20}"
    case $number in
        62) elf_machine=x86_64 ;;
        183) elf_machine=aarch64 ;;
        *) return 0 ;;
    esac
    [ "$elf_machine" = "$(uname -m)" ] && [ "$5" = 2 ] || return 0
    elf_kind=static
    number_of "${33}" "${34}" "${35}" "${36}"
    header_offset=$number
    number_of "${55}" "${56}"
    header_size=$number
    number_of "${57}" "${58}"
    header_count=$number
    [ $# -gt "$header_offset" ] || return 0
    shift "$header_offset"
    while [ "$header_count" -gt 0 ]; do
        if [ "$1" = 3 ]; then
            elf_kind=dynamic
            return
        fi
        [ $# -gt "$header_size" ] || return 0
        shift "$header_size"
        header_count=$((header_count - 1))
    done
}

# Ends with a sentence if the program $1 cannot use the library. The dynamic linker ignores LD_PRELOAD for a program that gets the
# rights of another user, group or capability.
check_program() {
    find_program "$1"
    [ -n "$program_file" ] || exec_fail $no_such_program "there is no program $1"
    [ -x "$program_file" ] || exec_fail $cannot_execute "$program_file may not be executed: see its permissions"
    # Every shell of Linux has -O and -G.
    # shellcheck disable=SC3067
    if { [ -u "$program_file" ] && [ ! -O "$program_file" ]; } || { [ -g "$program_file" ] && [ ! -G "$program_file" ]; }; then
        exec_fail $cannot_execute "$program_file runs with the rights of another user or group (setuid or setgid), for which Linux ignores LD_PRELOAD: run a copy without these rights"
    fi
    if [ "$(id -u)" -ne 0 ] && command -v getcap >/dev/null && [ -n "$(getcap "$program_file" 2>/dev/null)" ]; then
        exec_fail $cannot_execute "$program_file has capabilities of its own (getcap), and Linux ignores LD_PRELOAD for it: run a copy without them"
    fi
    look_at_elf "$program_file"
    case $elf_kind in
        static) exec_fail $cannot_execute "$program_file is linked statically, so that no other libibverbs can take the place of its own: run a dynamically linked build of it" ;;
        foreign) exec_fail $cannot_execute "$program_file is not a 64-bit program for $(uname -m), and the library is" ;;
    esac
}

# Prints an assignment of variable $1 for the shell.
print_variable() {
    eval "value=\$$1"
    printf "export %s='%s'\n" "$1" "$(printf '%s' "$value" | sed "s/'/'\\\\''/g")"
}

# Becomes the program behind the options, or prints the variables; returns only if the options ask for help. The launcher has the
# function find_library, which sets library to the folder of the library, exec_home to the home of Java, RDMA4J_EXEC_MODULES to the
# module path, or to nothing if that Java contains the modules, and exec_cache to the ahead-of-time cache, or to nothing.
exec_program() {
    exec_options=
    print=
    warm_up=
    while [ $# -gt 0 ]; do
        case $1 in
            --) shift; break ;;
            --help | -h) return ;;
            --print) print=yes ;;
            --trace) add_exec_option -Drdma4j.trace=true ;;
            --no-shared-memory) add_exec_option -Drdma4j.shared-memory=off ;;
            --no-guardian) add_exec_option -Drdma4j.exec.guardian=off ;;
            --warm-up) warm_up=yes ;;
            --no-warm-up) warm_up=no ;;
            --device | --pcap | --fault)
                [ $# -ge 2 ] || exec_usage "option $1 requires a value"
                add_valued_exec_option "$1" "$2"
                shift
                ;;
            --device=* | --pcap=* | --fault=*) add_valued_exec_option "${1%%=*}" "${1#*=}" ;;
            -*) exec_usage "there is no option $1" ;;
            *) break ;;
        esac
        shift
    done
    if [ $# -gt 0 ]; then
        check_program "$1"
        [ -n "$warm_up" ] || ! measures_at_once "$1" || warm_up=yes
    else
        [ -n "$print" ] || exec_usage "which program?"
    fi
    [ "$warm_up" != yes ] || add_exec_option -Drdma4j.exec.warmUpMillis=3000
    find_library
    RDMA4J_EXEC_JVM=$exec_home/lib/server/libjvm.so
    [ -r "$RDMA4J_EXEC_JVM" ] || exec_fail 2 "the Java in $exec_home has no lib/server/libjvm.so: name a whole JDK by RDMA4J_JAVA_HOME"
    # shellcheck disable=SC2086
    for option in $exec_java_options; do add_exec_option "$option"; done
    if [ -n "$exec_cache" ]; then
        add_exec_option "-XX:AOTCache=$exec_cache"
        add_exec_option "-Xlog:aot*=off,cds*=off:stderr"
    fi
    RDMA4J_EXEC_OPTIONS=$exec_options
    # The virtual machine would take SIGUSR2, which is the program's, otherwise. It reads the variable only from the environment.
    _JAVA_SR_SIGNUM=62
    LD_LIBRARY_PATH=$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    # A blank separates the names of LD_PRELOAD. A name without a folder is searched for in LD_LIBRARY_PATH.
    preload=$library/libibverbs.so.1
    case $preload in *[[:space:]]*) preload=libibverbs.so.1 ;; esac
    LD_PRELOAD=$preload${LD_PRELOAD:+:$LD_PRELOAD}
    if [ -n "$print" ]; then
        for variable in RDMA4J_EXEC_JVM RDMA4J_EXEC_MODULES RDMA4J_EXEC_OPTIONS LD_LIBRARY_PATH LD_PRELOAD _JAVA_SR_SIGNUM; do
            print_variable $variable
        done
        exit 0
    fi
    export RDMA4J_EXEC_JVM RDMA4J_EXEC_MODULES RDMA4J_EXEC_OPTIONS LD_LIBRARY_PATH LD_PRELOAD _JAVA_SR_SIGNUM
    exec "$@"
}
