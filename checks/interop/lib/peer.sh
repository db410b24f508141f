# Runs Peer, the program in checks/interop/java: a connection that is idle, or carries numbered messages in both directions. Sourced by
# other scripts.

# Compiles the program once for the run.
peer_build() {
    local java_home
    java_home=$("$launcher" --java-home) && module_path=$("$launcher" --module-path) || die "$launcher does not say where its JDK and its modules are"
    java=$java_home/bin/java
    "$java_home/bin/javac" -Xlint:all -Werror --module-path "$module_path" --add-modules io.rdma4j.cm -d "$work_dir/classes" \
        "$interop_dir/java/Peer.java" || die "cannot compile $interop_dir/java/Peer.java"
}

peer_start() { # SIDE LABEL ARGUMENTS...
    local side=$1 label=$2
    shift 2
    java_start "$side" "$label" "$java" -XX:+UseSerialGC -XX:-UsePerfData -Djava.net.preferIPv6Addresses=system \
        --enable-native-access=io.rdma4j.link --module-path "$module_path" --add-modules io.rdma4j.cm,io.rdma4j.soft \
        -cp "$work_dir/classes" Peer "$@"
}

# Prints the time of the first line that begins with a word, in milliseconds, or nothing.
peer_time() { awk -v word="$2" '$2 == word { print $1; exit }' "$case_dir/$1.out"; } # LABEL WORD
peer_field() { sed -n "s/.* $2=\([-A-Z_0-9]*\).*/\1/p" "$case_dir/$1.out" | tail -n 1; } # LABEL FIELD : the last one's value
peer_said() { rping_ended "$1" || [ -n "$(peer_time "$1" "$2")" ]; }                     # LABEL WORD
peer_await() { # LABEL WORD SECONDS
    wait_until "$3" peer_said "$1" "$2"
    [ -n "$(peer_time "$1" "$2")" ] || explain "$1 did not say $2 within $3 s"
}

# peer_pair SERVER CLIENT FAMILY FIRST(server|client) OPTIONS... : connects "server" and "client". The first process owns
# the port of an address that both have.
peer_pair() {
    local server=$1 client=$2 family=$3 first=$4 address
    shift 4
    address=$(side_address "$server" "$family" "$client")
    if [ "$first" = server ]; then
        peer_start "$server" server serve "$(side_address "$server" "$family")" $port "$@"
        peer_await server LISTENING 20 || return 1
        peer_start "$client" client connect "$address" $port "$@"
    else
        peer_start "$client" client connect "$address" $port "$@"
        peer_await client REFUSED 20 || return 1
        peer_start "$server" server serve "$(side_address "$server" "$family")" $port "$@"
    fi
    peer_await client CONNECTED 20 && peer_await server CONNECTED 20
}

expect_between() { # WHAT VALUE LOW HIGH : milliseconds
    { [ -n "$2" ] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; } || explain "$1 took ${2:-an unknown number of} ms, expected $3 to $4"
}
