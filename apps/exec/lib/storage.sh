# Ceph's messenger, tgt with libiscsi and QEMU's tools over iSER, and libfabric; sourced by
# apps/exec/run.

define_storage_rows() {
    row_add Ceph/async+rdma 'C->C' full 180 stores_objects
    row_add libiscsi/iSER 'C->C' full 120 uses_target
    row_add libfabric/fi_info C full 30 one_program 'type: FI_EP_MSG' fi_info -p verbs -d rdma4j_eth0 -t FI_EP_MSG
    fabric_add MSG '-p verbs -e msg'
    fabric_add RxM '-p verbs;ofi_rxm -e rdm'
    fabric_add RxM-tagged '-p verbs;ofi_rxm -e rdm -m tagged'
}

# These packages are large, and tgt's starts a service: packages of rows that do not run are not
# installed.
install_storage_programs() {
    local selected each rows_of program package missing=()
    selected=$(rows_list)
    for each in Ceph/:ceph-mon:ceph-mon Ceph/:ceph-osd:ceph-osd Ceph/:rados:ceph-common libiscsi/:tgtd:tgt \
        libiscsi/:iscsi-perf:libiscsi-bin libiscsi/:qemu-img:qemu-utils libfabric/:fi_pingpong:libfabric-bin; do
        IFS=: read -r rows_of program package <<<"$each"
        [[ $selected != *"$rows_of"* ]] || type -P "$program" >/dev/null || missing+=("$package")
    done
    [[ $selected != *libiscsi/* ]] || [ -n "$(find /usr/lib -name block-iscsi.so -path '*/qemu/*')" ] || missing+=(qemu-block-extra)
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

# Runs a program with rdma4j exec and expects success. Each has its own limit, so that a row ends in
# time.
runs() { # LABEL HOST COMMAND...
    start "$1" "$2" 40 "$launcher" exec -- "${@:3}"
    finish "$1"
    [ $status -eq 0 ] || wrong "the $1 ended with $status" || return
    no_complaint "$1"
}

# ---- libfabric ----

# All message sizes in both directions, comparing the data.
fabric_add() { # NAME OPTIONS
    local command="fi_pingpong $2 -c -I 100"
    row_add "libfabric/$1" 'C->C' full 60 pair 'C->C' tcp:47592 "$command" "$command $server_address" fabric_figures
}

fabric_figures() {
    local label
    for label in client server; do prints $label 6 '^(64|256|1k|4k|64k|1m) +100 +=100 ' || return; done
    remark "$(awk '$1 == "1k" { print "1 KiB: " $7 " us" } $1 == "1m" { print "1 MiB: " $6 " MB/s" }' "$row_dir/client.out" | paste -sd',')"
}

# ---- Ceph ----

ceph_id=2d0f4b52-6c35-4f0e-9a3c-7b8a2f1e5d10
store_id=9b6d7c1e-41f2-4c8b-8f0d-3e5a6c7d8e9f

# A monitor on the server and an in-memory store on the client. All messages go by RDMA; TCP is used
# only to exchange the queue pair numbers. By default each process posts 4096 receives of 128 KiB,
# which a test with two machines does not need.
ceph_settings() {
    cat >"$row_dir/ceph.conf" <<END
[global]
fsid = $ceph_id
mon_host = v2:$server_address:3300
mon_data = $row_dir/monitor-data
osd_data = $row_dir/store-data
osd_objectstore = memstore
admin_socket =
run_dir = $row_dir
crash_dir = $row_dir
log_file =
log_to_stderr = true
mon_cluster_log_to_file = false
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_type = async+rdma
ms_async_rdma_device_name = rdma4j_eth0
ms_async_rdma_receive_buffers = 2048
ms_async_rdma_receive_queue_len = 1024
ms_async_rdma_send_buffers = 512
osd_pool_default_size = 1
mon_allow_pool_size_one = true
END
    chmod a+r "$row_dir/ceph.conf"
    export CEPH_CONF=$row_dir/ceph.conf
}

# Like no_complaint. Ceph warns about the limit of locked memory, which does not matter here.
no_complaint_of_ceph() { # LABEL
    local line
    no_complaint "$1" || return
    line=$(grep -E 'FAILED ceph_assert|Caught signal| -1 (Infiniband|RDMA)' "$row_dir/$1.err" | grep -vm 1 'verify_prereq') || return 0
    wrong "the $1 reports: $line"
}

runs_ceph() { # LABEL HOST COMMAND...
    runs "$@" && no_complaint_of_ceph "$1"
}

starts_cluster() {
    as_user server mkdir "$row_dir/monitor-data" && as_user client mkdir "$row_dir/store-data" || return
    runs map server monmaptool --create --fsid $ceph_id --addv a "[v2:$server_address:3300]" "$row_dir/map" || return
    runs_ceph new-monitor server ceph-mon --mkfs -i a --monmap "$row_dir/map" || return
    start monitor server "$limit" "$launcher" exec -- ceph-mon -f -i a
    wait_until 30 listens_tcp server 3300 || wrong 'the monitor does not listen' || return
    runs_ceph store-number server ceph osd new $store_id || return
    runs_ceph new-store client ceph-osd --mkfs -i 0 --osd-uuid $store_id || return
    start store client "$limit" "$launcher" exec -- ceph-osd -f -i 0
    runs_ceph pool server ceph osd pool create things 1 1 || return
    holds_port_4791 server && holds_port_4791 client || wrong 'the cluster does not use RDMA'
}

# Reads back the data that it has stored, and compares them. Then measures both directions briefly.
stores_objects() {
    local label CEPH_CONF
    ceph_settings
    starts_cluster || return
    head -c 10000000 /dev/urandom >"$row_dir/original"
    chmod a+r "$row_dir/original"
    runs_ceph put server rados -p things put thing "$row_dir/original" || return
    runs_ceph get server rados -p things get thing "$row_dir/copy" || return
    cmp -s "$row_dir/original" "$row_dir/copy" || wrong 'the copy differs' || return
    runs_ceph write server rados -p things bench 3 write -b 65536 -t 8 --no-cleanup || return
    runs_ceph read server rados -p things bench 3 seq -t 8 || return
    remark "$(sed -n 's/^Average IOPS: *//p' "$row_dir/write.out") writes/s, $(sed -n 's/^Average IOPS: *//p' "$row_dir/read.out") reads/s of 64 KiB"
    for label in store monitor; do
        program_of $label
        kill -TERM "$program_pid"
        finish $label
        [ $status -eq 0 ] || wrong "the $label ended with $status" || return
        no_complaint_of_ceph $label || return
    done
}

# ---- iSER ----

target_name=iqn.2026-01.io.rdma4j:disk
initiator_name=iqn.2026-01.io.rdma4j:initiator
disk_bytes=33554432

target_does() { # MODE ARGUMENTS...
    as_user server tgtadm --lld iser --mode "$@" >>"$row_dir/tgtadm" 2>&1 || wrong "the target refuses: $*"
}

starts_target() {
    as_user server truncate -s $disk_bytes "$row_dir/disk"
    start server server "$limit" "$launcher" exec -- tgtd -f
    pair_ready cm && wait_until 10 test -S "$TGT_IPC_SOCKET.0" || wrong 'the target does not start' || return
    target_does target --op new --tid 1 --targetname $target_name &&
        target_does logicalunit --op new --tid 1 --lun 1 --backing-store "$row_dir/disk" &&
        target_does target --op bind --tid 1 --initiator-address ALL &&
        target_does target --op bind --tid 1 --initiator-name $initiator_name
}

# tgt ends when it has no targets left. It can delete a target once the last connection has left the
# time-wait state, and crashes with --force.
ends_target() {
    wait_until 20 as_user server tgtadm --lld iser --mode target --op delete --tid 1 || wrong 'the target remains in use' || return
    target_does sys --op delete || return
    finish server
    [ $status -eq 0 ] || wrong "the target ended with $status" || return
    no_complaint server || return
    ! grep -E 'ibv_|rdma_|wr_id:.*err:' "$row_dir/server.err" >>"$row_dir/why"
}

# Runs an initiator. tgt drops an initiator if its first command arrives before the acknowledgement
# of the login response ("non-login pdu"), so these rows show that the two are processed in the same
# order as by a card.
initiates() { # LABEL COMMAND...
    start "$1" client 40 "$launcher" exec -- "${@:2}"
    finish "$1"
    [ $status -eq 0 ] || wrong "the $1 ended with $status" || return
    no_complaint "$1"
}

# The client inquires, writes and reads a disk of the server. libiscsi supports no commands of more
# than 256 KiB over iSER; QEMU's blkdebug splits longer ones.
uses_target() {
    local TGT_IPC_SOCKET=$row_dir/tgtd url=iser://$server_address/$target_name/1 image
    export TGT_IPC_SOCKET
    image=driver=blkdebug,max-transfer=262144,image.driver=iscsi,image.transport=iser,image.portal=$server_address:3260
    image+=,image.target=$target_name,image.lun=1,image.initiator-name=$initiator_name
    head -c $disk_bytes /dev/urandom >"$row_dir/original"
    chmod a+r "$row_dir/original"
    starts_target || return
    initiates inquiry iscsi-inq -i $initiator_name "$url" || return
    prints inquiry 1 '^Product:VIRTUAL-DISK' || return
    initiates capacity iscsi-readcapacity16 -i $initiator_name "$url" || return
    prints capacity 1 "^Total size:$disk_bytes$" || return
    initiates write qemu-img convert -n -f raw --target-image-opts "$row_dir/original" "$image" || return
    cmp -s "$row_dir/original" "$row_dir/disk" || wrong 'the disk differs' || return
    initiates read qemu-img convert -O raw --image-opts "$image" "$row_dir/copy" || return
    cmp -s "$row_dir/original" "$row_dir/copy" || wrong 'the copy differs' || return
    initiates perf iscsi-perf -i $initiator_name -m 8 -b 8 -t 5 "$url" || return
    remark "$(tr '\r' '\n' <"$row_dir/perf.out" | sed -n 's/^iops average \([0-9]*\).*/\1 reads\/s of 4 KiB/p')"
    ends_target
}
