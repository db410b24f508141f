# The perftest programs; sourced by apps/exec/run.

define_perftest_rows() {
    local name
    for name in send write read atomic; do
        perftest_add ib_${name}_lat quick -n 200
        perftest_add ib_${name}_bw quick -n 200
        perftest_add ib_${name}_lat full -n 100 -R
        perftest_add ib_${name}_bw full -n 100 -R
        perftest_add ib_${name}_bw full -n 100 -q 4
        perftest_add ib_${name}_bw full -n 100 -b
        [ $name = write ] || perftest_add ib_${name}_bw full -n 100 -e # perftest has no events for WRITE
    done
    way=pair_with_one_channel perftest_add ib_send_lat full -n 100 -e
    perftest_add ib_read_lat full -n 100 -e
    perftest_add ib_send_lat full -n 100 -I 64
    perftest_add ib_write_lat full -n 100 -I 64
    perftest_add ib_send_bw full -n 100 -s 64 -I 64
    for name in UC UD XRC; do
        [ $name = XRC ] || local way=pair_that_may_lose
        perftest_add ib_send_lat quick -n 100 -s 512 -c $name
        perftest_add ib_send_bw full -n 100 -s 512 -c $name
        [ $name = UD ] || perftest_add ib_write_lat full -n 100 -c $name
        [ $name = UD ] || perftest_add ib_write_bw full -n 100 -c $name
        unset way
    done
    # Without -M, perftest uses the group ff01::2:c985:0:0, which Linux does not send to other
    # hosts. This one is 239.1.0.1.
    roles='C->C' perftest_add ib_send_lat full -n 100 -s 512 -c UD -g -M 0:0:0:0:0:0:0:0:0:0:255:255:239:1:0:1
    perftest_add ib_read_lat full -n 100 -c XRC
    perftest_add ib_send_lat full -n 100 -s 512 -c UD -R
    perftest_add ib_send_bw full -n 100 -s 512 -c UD -b
    perftest_add ib_send_bw full -n 100 --use-srq
    perftest_add ib_write_bw full -n 200 -s 64 -l 10
    perftest_add ib_write_bw full -n 5 -a
    perftest_add ib_send_bw full -n 100 -z
    near=true perftest_add ib_send_lat full -n 500 --same-host
    near=true perftest_add ib_write_bw full -n 500 --same-host
    near=true perftest_add ib_send_bw full -n 500 -s 65536 -c UC --same-host # more than fits into the shared memory
}

# Adds the rows of a tool with the same options on both sides.
perftest_add() { # TOOL quick|full OPTIONS...
    local tool=$1 which=$2 options="${*:3}" ready=tcp:18515 place="-F -d rdma4j_eth0"
    options=${options/ --same-host/}
    case " $options " in
        *' -R '* | *' -z '*) ready=cm ;;
        *) place+=" -x $gid_index" ;;
    esac
    [ -n "${near:-}" ] || local way=${way:-pair_with_clock}
    pair_add "$tool/$(tr -d ' ' <<<"${*:3}" | sed 's/-M[0-9].*/-M/')" "$which" $ready "$tool $place $options" "$tool $place $options $server_address" "perftest_table $tool"
}

# The output of the perftest client ends with a row of figures.
perftest_table() { # TOOL
    grep -qE '^ *[0-9]+ +[0-9]+ +[0-9.]+' "$row_dir/client.out" || wrong 'the client prints no row of figures' || return
    remark "$(awk '/^ *[0-9]+ +[0-9]+ +[0-9]/ { row = $0 } END { $0 = row; print (NF > 6 ? "typical " $5 " us" : NF > 4 ? $4 " MB/s" : "average " $3 " us") }' "$row_dir/client.out")"
}
