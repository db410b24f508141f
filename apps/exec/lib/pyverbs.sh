# The tests of pyverbs, rdma-core's Python binding, as installed by the distribution; sourced by
# apps/exec/run.

# Result files, for comparison with other devices: the name of a test, its outcome and the reason,
# separated by tabs.
pyverbs_results=$exec_dir/target/pyverbs

define_pyverbs_rows() {
    row_add pyverbs/some C quick 60 pyverbs some '' --only '^test_(mr|cq_events|atomic|pd|rdmacm)\.(?!.*(reject|external|ex_|udp))'
    row_add pyverbs/all C full 300 pyverbs all ''
    row_add pyverbs/all-with-loss C full 600 pyverbs all-with-loss '--fault loss=1%,seed=7' --without "$exec_dir/lib/pyverbs-without-with-loss.tsv"
}

# Both ends of a test are in one process; tests of the connection manager use two processes on one
# host.
pyverbs() { # NAME "OPTIONS OF RDMA4J EXEC" OPTIONS...
    local name=$1 options=$2
    shift 2
    # shellcheck disable=SC2086
    start program server "$limit" "$launcher" exec $options -- /usr/bin/python3 "$exec_dir/lib/pyverbs.py" --output "$row_dir/results.tsv" \
        --known "$exec_dir/lib/pyverbs-known.tsv" --device rdma4j_eth0 --gid $gid_index --address $server_address --fork-first "$@"
    finish program
    mkdir -p "$pyverbs_results"
    cp "$row_dir/results.tsv" "$pyverbs_results/$name.tsv" 2>/dev/null
    remark "$(tail -n 1 "$row_dir/program.out")"
    [ $status -eq 0 ] || wrong "it ended with $status" || return
    no_complaint program
}
