# Signals, processes that are killed, and machines that lack something; sourced by apps/exec/run.

define_fault_rows() {
    local place="-F -d rdma4j_eth0 -x $gid_index"
    row_add fault/client-is-killed 'C->C' quick 30 killed client
    row_add fault/server-is-killed 'C->C' quick 30 killed server
    row_add fault/client-exits 'C->C' quick 30 exits client
    row_add fault/server-exits 'C->C' quick 30 exits server
    row_add fault/perftest-server-is-killed 'C->C' full 40 perftest_killed
    local way
    for way in KILL TERM SEGV exit _exit return abort exec fork; do
        row_add "end/$way" 'C->C' quick 60 ended 1 exec $way
    done
    for way in KILL TERM SEGV exit _exit; do row_add "end/$way-100-times" 'C->C' full 60 ended 100 exec $way; done
    row_add end/KILL-without-guardian 'C->C' quick 60 ended_without_guardian
    for way in KILL fault halt; do row_add "end/$way-with-guardian" 'C->Java' quick 60 ended_with_guardian 1 $way; done
    for way in KILL fault halt; do row_add "end/$way-with-guardian-100-times" 'C->Java' full 60 ended_with_guardian 100 $way; done
    row_add end/guardian-starts-late 'C->Java' quick 60 guardian_starts_late
    row_add fault/loss 'C->C' quick 30 with_options '--fault loss=3%,dup=2%,seed=7'
    row_add fault/loss-rping 'C->C' quick 60 lossy cm "rping -s -a $server_address -C 100 -V" "rping -c -a $server_address -C 100 -V"
    row_add fault/loss-ib_send_bw 'C->C' quick 60 lossy tcp:18515 "ib_send_bw $place -n 1000 -c RC" "ib_send_bw $place -n 1000 -c RC $server_address"
    row_add fault/loss-ib_write_lat 'C->C' quick 60 lossy tcp:18515 "ib_write_lat $place -n 1000" "ib_write_lat $place -n 1000 $server_address"
    row_add option/--no-shared-memory 'C->C' full 30 with_options --no-shared-memory
    row_add option/--warm-up 'C->C' full 30 with_options --warm-up
    row_add signal/INT C quick 20 signaled INT 130
    row_add signal/TERM C full 20 signaled TERM 143
    row_add signal/PIPE C quick 20 closed_pipe
    row_add signal/SEGV C quick 20 process segv 139
    row_add process/fork C quick 20 process fork 0
    row_add process/system C full 20 process system 0
    row_add process/memory C quick 40 memory_taken_away
    row_add process/status C full 20 refused 7 '' sh -c 'exit 7'
    row_add process/script C full 20 one_program rdma4j_eth0 sh -c 'ibv_devices'
    row_add missing/program C quick 10 refused 127 'there is no program no-such-program' no-such-program
    row_add missing/JDK C quick 10 without_jdk
    row_add missing/JDK-too-old C quick 10 with_old_jdk
    row_add missing/libjvm C full 10 without_libjvm
    row_add missing/compiler C full 60 without_compiler
    row_add program/Java C quick 20 java_program
    row_add program/static C quick 10 static_program
    row_add program/setuid C quick 10 setuid_program
    row_add machine/full-dev-shm 'C->C' quick 30 full_shared_memory
    row_add start C quick 10 start_time
}

# The remaining end learns from another process on the victim's host that the victim is gone, and
# ends.
killed() { # client|server
    local victim=$1 other=server
    [ "$victim" = client ] || other=client
    start bystander "$victim" 60 "$launcher" exec -- rping -s -P -p 9999
    wait_until 15 holds_port_4791 "$victim" || wrong 'the other process does not start' || return
    pair_start 'C->C' cm "rping -s -a $server_address -C 0 -v" "rping -c -a $server_address -C 0 -v" || return
    wait_until 10 grep -q 'ping data' "$row_dir/client.out" "$row_dir/server.out" || wrong 'no ping arrives' || return
    program_of "$victim"
    kill -9 "$program_pid"
    finish "$victim"
    finish "$other"
    [ $status -ne 124 ] && [ $status -ne 137 ] || wrong "the $other does not end"
}

# The only process of its address calls exit without closing anything. The remaining end learns of
# it immediately, and ends.
exits() { # client|server
    local victim=$1 other=server begin
    [ "$victim" = client ] || other=client
    cc -O1 -shared -fPIC -o "$row_dir/exit_early.so" "$exec_dir/lib/exit_early.c" -pthread || wrong 'cannot compile' || return
    start_end() { # LABEL COMMAND...
        local variable=
        [ "$1" != "$victim" ] || variable=$row_dir/exit_early.so
        # shellcheck disable=SC2016
        start "$1" "$1" "$limit" "$launcher" exec -- sh -c 'LD_PRELOAD="$LD_PRELOAD $1"; shift; exec "$@"' sh "$variable" "${@:2}"
    }
    start_end server rping -s -a $server_address -C 0 -v
    pair_ready cm || return
    start_end client rping -c -a $server_address -C 0 -v
    finish "$victim"
    begin=$(now_ms)
    [ $status -eq 3 ] || wrong "the $victim ended with $status instead of its exit status" || return
    [ ! -s "$row_dir/$victim.err" ] || wrong "the $victim writes to standard error" || return
    grep -q 'ping data' "$row_dir/client.out" "$row_dir/server.out" || wrong 'no ping arrived' || return
    finish "$other"
    [ $status -ne 124 ] && [ $status -ne 137 ] || wrong "the $other does not end" || return
    remark "the $other ends after $(($(now_ms) - begin)) ms"
    [ $(($(now_ms) - begin)) -lt 1500 ] || wrong "the $other ends late"
}

# The programs ends.c and Ends.java, which keep idle connections. The server runs in "rdma4j exec"
# or in Java.
compile_ends() {
    [ -x "$row_dir/ends" ] || cc -O1 -o "$row_dir/ends" "$exec_dir/lib/ends.c" -lrdmacm -libverbs -pthread || wrong 'cannot compile' || return
    local java_home module_path
    java_home=$("$launcher" --java-home) module_path=$("$launcher" --module-path)
    [ -d "$row_dir/classes" ] || "$java_home/bin/javac" -nowarn -XDignore.symbol.file -d "$row_dir/classes" --module-path "$module_path" --add-modules io.rdma4j.cm \
        "$exec_dir/lib/Ends.java" || wrong 'cannot compile' || return
    java_ends=("$java_home/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ErrorFile=/dev/null --enable-native-access=io.rdma4j.link
        --module-path "$module_path" --add-modules io.rdma4j.cm,io.rdma4j.soft -cp "$row_dir/classes" Ends)
}

# Starts a server and its clients, one in C and one in Java, and waits until they are connected.
# Sets server_pid.
start_ends() { # exec|exec-alone|Java WAY
    local server=("$launcher" exec -- "$row_dir/ends")
    case $1 in
        exec-alone) server=("$launcher" exec --no-guardian -- "$row_dir/ends") ;;
        Java) server=("${java_ends[@]}") ;;
    esac
    start server server "$limit" "${server[@]}" server 2 "$2"
    wait_until 30 grep -q listening "$row_dir/server.out" || wrong 'the server does not listen' || return
    start client client "$limit" "$launcher" exec -- "$row_dir/ends" client $server_address
    start java-client client "$limit" "${java_ends[@]}" client $server_address
    wait_until 30 grep -q connected "$row_dir/server.out" || wrong 'the clients do not connect' || return
    wait_until 10 grep -q ESTABLISHED "$row_dir/client.out" || wrong 'the client is not connected' || return
    wait_until 10 grep -q ESTABLISHED "$row_dir/java-client.out" || wrong 'the client in Java is not connected' || return
    server_pid=$(sed -n 's/^listening //p' "$row_dir/server.out")
}

end_server() { # WAY
    case $1 in
        KILL | TERM) kill -s "$1" "$server_pid" ;;
        fork) kill -s KILL "$server_pid" ;;
        halt) kill -s USR2 "$server_pid" ;;
        fault) kill -s SEGV "$server_pid" ;;
        *) kill -s USR1 "$server_pid" ;;
    esac
}

# Both clients must learn of the end within a second.
hear_of_end() { # BEGIN-MS
    local label heard
    for label in client java-client; do
        wait_until 5 grep -q DISCONNECTED "$row_dir/$label.out" || wrong "the $label does not learn of the end" || return
        heard=$(($(sed -n 's/.*DISCONNECTED //p' "$row_dir/$label.out") - $1))
        [ $heard -lt 1000 ] || wrong "the $label learns of the end after $heard ms" || return
        [ $heard -le "$latest" ] || latest=$heard
        finish "$label"
    done
}

no_guardian_left() { # PID
    ! pgrep -f "^rdma4j-guardian $1 " >/dev/null
}

ended() { # TIMES exec|Java WAY
    local i begin latest=0 java_ends server_pid
    compile_ends || return
    for ((i = 0; i < $1; i++)); do
        start_ends "$2" "$3" || return
        begin=$(now_ms)
        end_server "$3"
        hear_of_end "$begin" || return
        [ "$2" != exec ] || wait_until 5 no_guardian_left "$server_pid" || wrong 'the guardian does not end' || return
        end server
    done
    remark "the peers learn of it within $latest ms"
}

# The program has no guardian, and nobody else has its address: its peers only have their own
# timeouts.
ended_without_guardian() {
    local java_ends server_pid
    compile_ends && start_ends exec-alone KILL || return
    end_server KILL
    sleep 3
    ! grep -q DISCONNECTED "$row_dir/client.out" "$row_dir/java-client.out" || wrong 'a peer learns of the end' || return
    wait_until 10 port_4791_is_free server || wrong "UDP port 4791 is held: $(ip netns exec "${netns[server]}" ss -Hulnp "sport = :4791")"
}

ended_with_guardian() { # TIMES WAY
    start guardian server 3600 "$launcher" guardian
    wait_until 20 grep -q watching "$row_dir/guardian.out" || wrong 'the guardian does not start' || return
    as_user server "$launcher" doctor >"$row_dir/doctor.out" && grep -q "^guardian  runs" "$row_dir/doctor.out" || wrong 'doctor does not see the guardian' || return
    ended "$1" Java "$2" || return
    end guardian TERM
}

# The guardian starts after the connections.
guardian_starts_late() {
    local begin latest=0 java_ends server_pid
    compile_ends && start_ends Java KILL || return
    start guardian server 60 "$launcher" guardian
    wait_until 20 grep -q watching "$row_dir/guardian.out" || wrong 'the guardian does not start' || return
    sleep 2
    begin=$(now_ms)
    end_server KILL
    hear_of_end "$begin"
}

perftest_killed() {
    local place="-F -d rdma4j_eth0 -x $gid_index -D 20"
    pair_start 'C->C' tcp:18515 "ib_write_bw $place" "ib_write_bw $place $server_address" || return
    sleep 3
    program_of server
    kill -9 "$program_pid"
    finish server
    finish client
    [ $status -ne 0 ] && [ $status -ne 124 ] && [ $status -ne 137 ] || wrong "the client ended with $status"
}

# rping with options of rdma4j exec on both sides.
with_options() { # OPTIONS
    # shellcheck disable=SC2086
    start server server "$limit" "$launcher" exec $1 -- rping -s -a $server_address -C 30 -V
    pair_ready cm || return
    # shellcheck disable=SC2086
    start client client "$limit" "$launcher" exec $1 -- rping -c -a $server_address -C 30 -V
    finish client
    [ $status -eq 0 ] || wrong "the client ended with $status" || return
    finish server
    [ $status -eq 0 ] || wrong "the server ended with $status"
}

# Each side drops one percent of the packets in each direction.
lossy() { # READY "SERVER COMMAND" "CLIENT COMMAND"
    local label
    # shellcheck disable=SC2086
    start server server "$limit" "$launcher" exec --no-warm-up --fault loss=1%,seed=5 -- $2
    pair_ready "$1" || return
    # shellcheck disable=SC2086
    start client client "$limit" "$launcher" exec --no-warm-up --fault loss=1%,seed=6 -- $3
    for label in client server; do
        finish $label
        [ $status -eq 0 ] || wrong "the $label ended with $status" || return
        no_complaint $label || return
    done
    [[ $3 != ib_* ]] || perftest_table "${3%% *}"
}

signaled() { # SIGNAL STATUS
    start program server "$limit" "$launcher" exec -- rping -s -a $server_address -P
    wait_until 10 holds_port_4791 server || wrong 'it does not open the device' || return
    sleep 0.5
    program_of program
    kill -s "$1" "$program_pid"
    finish program
    [ $status -eq "$2" ] || wrong "it ended with $status instead of $2"
}

# The reader has ended by the time the program writes.
closed_pipe() {
    compile_process || return
    mkfifo -m 666 "$row_dir/pipe"
    (exec 3<"$row_dir/pipe") &
    as_user server timeout -k 3 "$limit" "$launcher" exec -- "$row_dir/process" pipe >"$row_dir/pipe" 2>"$row_dir/program.err"
    status=$?
    [ $status -eq 141 ] || wrong "it ended with $status instead of SIGPIPE"
}

compile_process() {
    cc -O1 -o "$row_dir/process" "$exec_dir/lib/process.c" "$(library_folder)/libibverbs.so.1" || wrong 'cannot compile'
}
library_folder() { "$launcher" exec --print | sed -n "s/^export LD_LIBRARY_PATH='\([^:']*\).*/\1/p"; }

process() { # STEP STATUS
    compile_process || return
    start program server "$limit" "$launcher" exec -- "$row_dir/process" "$1"
    finish program
    [ $status -eq "$2" ] || wrong "it ended with $status instead of $2" || return
    [ -z "$(find / -maxdepth 1 -name 'hs_err*' -newer "$row_dir/program.cmd")" ] || wrong 'the virtual machine has written a crash report'
}

# Memory is unmapped, freed or protected while it is registered.
memory_taken_away() {
    cc -std=gnu11 -O1 -I "$exec_dir/native" -o "$row_dir/memory" "$exec_dir/native/test/memory.c" "$(library_folder)/libibverbs.so.1" -pthread ||
        wrong 'cannot compile' || return
    start program server "$limit" "$launcher" exec -- "$row_dir/memory" rdma4j_eth0
    finish program
    one_sentence 0 ''
}

# Expects a status, and one sentence if TEXT is not empty.
refused() { # STATUS TEXT PROGRAM ARGUMENTS...
    local expected=$1 text=$2
    shift 2
    start program server "$limit" "$launcher" exec -- "$@"
    finish program
    one_sentence "$expected" "$text"
}

# A process has only one virtual machine: a Java program that calls libibverbs gets an error message
# and no devices.
java_program() {
    cat >"$row_dir/Devices.java" <<'END'
import java.lang.foreign.*;

class Devices {
    public static void main(String[] arguments) throws Throwable {
        var library = SymbolLookup.libraryLookup("libibverbs.so.1", Arena.global());
        var list = Linker.nativeLinker().downcallHandle(
                library.findOrThrow("ibv_get_device_list"),
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        System.exit(((MemorySegment) list.invoke(MemorySegment.NULL)).address() == 0 ? 3 : 0);
    }
}
END
    refused 3 'a Java program cannot use RDMA through this library' "$("$launcher" --java-home)/bin/java" --enable-native-access=ALL-UNNAMED "$row_dir/Devices.java"
}

one_sentence() { # STATUS TEXT
    [ $status -eq "$1" ] || wrong "it ended with $status instead of $1" || return
    if [ -z "$2" ]; then
        [ ! -s "$row_dir/program.err" ] || wrong 'it writes to standard error'
        return
    fi
    [ "$(grep -c '' "$row_dir/program.err")" -eq 1 ] || wrong 'it does not print exactly one sentence' || return
    grep -qF -- "$2" "$row_dir/program.err" || wrong "it does not print '$2'"
}

without_jdk() {
    start program server "$limit" env RDMA4J_JAVA_HOME="$row_dir" "$launcher" exec -- ibv_devices
    finish program
    one_sentence 1 'holds no JDK'
}

with_old_jdk() {
    mkdir -p "$row_dir/old/bin"
    printf 'JAVA_VERSION="17.0.9"\n' >"$row_dir/old/release"
    install -m 755 /dev/null "$row_dir/old/bin/java"
    install -m 755 /dev/null "$row_dir/old/bin/javac"
    start program server "$limit" env RDMA4J_JAVA_HOME="$row_dir/old" "$launcher" exec -- ibv_devices
    finish program
    one_sentence 1 'is Java 17'
}

# The variables are set, as in a service file, but the JDK is gone.
without_libjvm() {
    # shellcheck disable=SC2016
    start program server "$limit" sh -c 'eval "$("$1" exec --print)"; RDMA4J_EXEC_JVM=/no/libjvm.so exec ibv_devices' sh "$launcher"
    finish program
    [ $status -ne 0 ] || wrong 'it ended with 0' || return
    [ "$(grep -c '^rdma4j' "$row_dir/program.err")" -eq 1 ] || wrong 'rdma4j does not print exactly one sentence'
}

without_compiler() {
    mkdir -m 777 "$row_dir/build"
    cp -a "$("$launcher" --module-path)" "$row_dir/build/" && basename "$("$launcher" --module-path)" >"$row_dir/build/current"
    chmod -R a+rwX "$row_dir/build"
    start program server "$limit" env CC=no-such-compiler RDMA4J_BUILD_DIR="$row_dir/build" "$launcher" exec -- ibv_devices
    finish program
    one_sentence 2 'there is no C compiler'
}

static_program() {
    printf 'int main(void) { return 0; }\n' >"$row_dir/static.c"
    cc -static -o "$row_dir/static" "$row_dir/static.c" || wrong 'cannot compile' || return
    refused 126 'is linked statically' "$row_dir/static"
}

setuid_program() {
    install -m 4755 "$(command -v ibv_devices)" "$row_dir/setuid"
    refused 126 'runs with the rights of another user' "$row_dir/setuid"
}

full_shared_memory() {
    # shellcheck disable=SC2034
    local mounts='mount -t tmpfs -o size=4k none /dev/shm && { head -c 100000 /dev/zero >/dev/shm/full; true; } 2>/dev/null' client_host=server
    pair 'C->C' cm "rping -s -a $server_address -C 30 -V" "rping -c -a $server_address -C 30 -V"
}

# The time is only a remark: it depends on the load of the machine.
start_time() {
    local begin i best=100000
    for i in 1 2 3; do
        begin=$(now_ms)
        start program server "$limit" "$launcher" exec -- ibv_devices
        finish program
        [ $status -eq 0 ] || wrong "it ended with $status" || return
        [ $(($(now_ms) - begin)) -ge $best ] || best=$(($(now_ms) - begin))
    done
    remark "ibv_devices takes $best ms"
}
