# Sourced by the launcher of a checkout, and by the build of an installation.
# shellcheck shell=sh disable=SC2154

# Runs the training and creates the ahead-of-time cache $2 (decision 018). $1 is the program java; modules the folder of
# the jars, or empty if the runtime contains them; run_dir a run directory; java_options those of launch.sh. It is a
# subshell, because it unsets the user's environment variables for the tool. The cache contains no profiles
# (AOTRecordTraining): with profiles Java compiles so early that a short run takes longer. Java silently ignores a
# faulty cache. The last command therefore checks the new cache with AOTMode=on, which fails instead.
train_and_check() (
    unset JDK_JAVA_OPTIONS JAVA_TOOL_OPTIONS RDMA4J_DEVICE
    made=$2
    # shellcheck disable=SC2086
    set -- "$1" $java_options -XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:-AOTRecordTraining \
        ${modules:+--module-path "$modules"}
    "$@" -XX:AOTMode=record -XX:AOTConfiguration="$made.record" -Drdma4j.run.dir="$run_dir" \
        --module io.rdma4j.tools/io.rdma4j.tools.StartTraining &&
        "$@" -XX:AOTMode=create -XX:AOTConfiguration="$made.record" -XX:AOTCache="$made" \
            --module io.rdma4j.tools/io.rdma4j.tools.Main &&
        "$@" -XX:AOTMode=on -XX:AOTCache="$made" --module io.rdma4j.tools/io.rdma4j.tools.Main rping --help
)

# Does the same for the virtual machine in a C program: $1 is the source of the program to run, $2 the folder of the
# library, $3 the home of Java, $4 the module path, or empty, and $5 the cache. exec_java_options comes from exec.sh.
train_exec_and_check() (
    unset JDK_JAVA_OPTIONS JAVA_TOOL_OPTIONS RDMA4J_JAVA_OPTS RDMA4J_DEVICE
    made=$5
    "${CC:-cc}" -O1 -o "$made.program" "$1" "$2/libibverbs.so.1" || exit 1
    RDMA4J_EXEC_JVM=$3/lib/server/libjvm.so
    RDMA4J_EXEC_MODULES=$4
    LD_LIBRARY_PATH=$2
    export RDMA4J_EXEC_JVM RDMA4J_EXEC_MODULES LD_LIBRARY_PATH
    # shellcheck disable=SC2086
    train_exec() {
        RDMA4J_EXEC_OPTIONS=$(printf '%s\n' $exec_java_options -XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions \
            -XX:-AOTRecordTraining "$@") LD_PRELOAD=libibverbs.so.1 "$made.program"
    }
    train_exec -XX:AOTMode=record "-XX:AOTConfiguration=$made.record" &&
        train_exec -XX:AOTMode=create "-XX:AOTConfiguration=$made.record" "-XX:AOTCache=$made" &&
        train_exec -XX:AOTMode=on "-XX:AOTCache=$made"
    status=$?
    rm -f "$made.program"
    exit $status
)
