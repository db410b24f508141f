# rdma4j exec: sets the environment of a C program so that its libibverbs and librdmacm use this project's devices (decision 052).
# Sourced by the launchers of a checkout and of an installation.
# shellcheck shell=sh disable=SC2154

# Options of the virtual machine in a program. Java accepts a cache only with the options with which it was created.
exec_java_options="$machine_options --enable-native-access=io.rdma4j.exec,io.rdma4j.verbs,io.rdma4j.cm,io.rdma4j.link,io.rdma4j.hardware"

cannot_execute=126
no_such_program=127

exec_usage() {
    echo "rdma4j exec: $*; see rdma4j exec --help" >&2
    exit 2
}

# Prints the message in the other arguments and exits with status $1.
exec_fail() {
    exec_status=$1
    shift
    echo "rdma4j exec: $*" >&2
    exit "$exec_status"
}

require_linux() {
    [ "$(uname -s)" = Linux ] || exec_fail 2 "C programs use libibverbs on Linux only, and this system is $(uname -s)"
}

# Appends the Java option $1 to exec_options, which has one option per line.
add_exec_option() {
    case $1 in
        *"
"*) exec_fail 2 "an option must not contain line breaks: $1" ;;
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

# Succeeds if the program $1 is one of perftest, whose measurements take less than a second: Java has compiled little of
# the code by then.
measures_at_once() {
    case ${1##*/} in
        ib_send_lat | ib_send_bw | ib_write_lat | ib_write_bw | ib_read_lat | ib_read_bw | ib_atomic_lat | ib_atomic_bw) return 0 ;;
    esac
    return 1
}

# Sets program_file to the file that the command $1 runs, or to nothing. "command -v" would also find functions and
# built-in commands.
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

# Sets elf_kind to "dynamic", "static" or "foreign" for the program $1, or to "other" if it is not an ELF file, such as
# a script. A dynamically linked program has a program header of type PT_INTERP (3). The program headers follow the ELF
# header.
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

# Exits with a message if the program $1 cannot use the library. The dynamic linker ignores LD_PRELOAD for a program
# that gains the rights of another user or group, or capabilities.
check_program() {
    find_program "$1"
    [ -n "$program_file" ] || exec_fail $no_such_program "there is no program $1"
    [ -x "$program_file" ] || exec_fail $cannot_execute "$program_file is not executable: check its permissions"
    # Every shell of Linux has -O and -G.
    # shellcheck disable=SC3067
    if { [ -u "$program_file" ] && [ ! -O "$program_file" ]; } || { [ -g "$program_file" ] && [ ! -G "$program_file" ]; }; then
        exec_fail $cannot_execute "$program_file runs with the rights of another user or group (setuid or setgid), for which Linux ignores LD_PRELOAD: run a copy without these rights"
    fi
    if [ "$(id -u)" -ne 0 ] && command -v getcap >/dev/null && [ -n "$(getcap "$program_file" 2>/dev/null)" ]; then
        exec_fail $cannot_execute "$program_file has capabilities (getcap), for which Linux ignores LD_PRELOAD: run a copy without them"
    fi
    look_at_elf "$program_file"
    case $elf_kind in
        static) exec_fail $cannot_execute "$program_file is linked statically, so its libibverbs cannot be replaced: run a dynamically linked build of it" ;;
        foreign) exec_fail $cannot_execute "$program_file is not a 64-bit program for $(uname -m), as the library requires" ;;
    esac
}

# Prints a shell command that exports the variable $1.
print_variable() {
    eval "value=\$$1"
    printf "export %s='%s'\n" "$1" "$(printf '%s' "$value" | sed "s/'/'\\\\''/g")"
}

# Replaces the process with the program that follows the options, or prints the variables. Returns only if the options
# request help. The launcher defines the function find_library. It sets library to the folder of the library, exec_home
# to the home of Java, RDMA4J_EXEC_MODULES to the module path (empty if that Java contains the modules), and exec_cache
# to the ahead-of-time cache, or to nothing.
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
    [ -r "$RDMA4J_EXEC_JVM" ] || exec_fail 2 "the Java in $exec_home has no lib/server/libjvm.so: set RDMA4J_JAVA_HOME to a full JDK"
    # shellcheck disable=SC2086
    for option in $exec_java_options; do add_exec_option "$option"; done
    if [ -n "$exec_cache" ]; then
        add_exec_option "-XX:AOTCache=$exec_cache"
        add_exec_option "-Xlog:aot*=off,cds*=off:stderr"
    fi
    RDMA4J_EXEC_OPTIONS=$exec_options
    # By default the virtual machine uses SIGUSR2, which belongs to the program. It reads this variable only from the
    # environment.
    _JAVA_SR_SIGNUM=62
    LD_LIBRARY_PATH=$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    # A blank separates the names in LD_PRELOAD. The dynamic linker searches LD_LIBRARY_PATH for a name without a
    # folder.
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
