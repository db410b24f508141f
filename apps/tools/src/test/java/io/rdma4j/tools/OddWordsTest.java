package io.rdma4j.tools;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Invalid, unusual and conflicting options of the measuring tools.
 *
 * <p>Each run must end without an interrupt, with C's status and an explanation, and never with an unexpected
 * exception. No process listens on port 1.
 */
class OddWordsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_send_bw -p 0 127.0.0.1",
                "ib_send_bw -p 1 --source_ip=::1 127.0.0.1",
                "ib_send_bw -R -p 1 --source_ip=::1 127.0.0.1",
                "ib_send_bw -R -p 1 --source_ip=192.0.2.1 127.0.0.1",
                "ib_send_bw -p 1 --source_ip=192.0.2.1 127.0.0.1",
                "ib_send_bw --source_ip=192.0.2.1",
                "ib_send_bw -R --source_ip=192.0.2.1",
                "ib_send_bw --source_ip=no.such.host.invalid",
                "ib_send_bw -R -p 1 no.such.host.invalid",
                "ib_send_bw -p 1 --ipv6 127.0.0.1",
                "ib_send_bw -R -p 1 --ipv6 127.0.0.1",
                "ib_send_bw -p 1 fe80::1%nope",
                "ib_send_bw -R -p 1 0.0.0.0",
                "ib_write_bw -R -p 1 -x 64 127.0.0.1",
                "ib_write_bw -R -p 1 -T 255 --tclass=-1 -u 99 --retry_count=99 127.0.0.1",
                "ib_write_bw -p 1 -q 16384 -t 15000 -r 1 127.0.0.1",
                "ib_write_bw -w",
                "ib_write_bw -m x",
                "ib_write_bw -s 3K3 -p 1 127.0.0.1",
                "ib_write_bw -s 99999999999999999999",
                "ib_write_bw -p 1 -D 99999999999 127.0.0.1",
                "ib_write_bw -D 2 -f 99999999999 -p 1 127.0.0.1",
                "ib_write_bw -D 2 --run_infinitely -a",
                "ib_write_bw -a -l 16 -n 8",
                "ib_write_bw -c UC -R -z",
                "ib_send_lat -c UD -s 8M -p 1 127.0.0.1",
                "ib_send_lat -n 100000001",
                "ib_read_lat -p 1 -o 99999999999 127.0.0.1",
                "ib_atomic_lat -A",
                "ib_atomic_bw -a",
                "ib_read_lat --latency_gap=-1",
                "ib_read_lat --wait_destroy=x",
                "ib_read_lat --pkey_index=1",
                "ib_read_lat --force-link=IB",
                "ib_read_lat --output",
                "ib_read_lat --re",
                "ib_read_lat -",
            })
    void ofPerftest(String words) throws InterruptedException {
        ToolRun.start(words).requireRefused();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ibv_rc_pingpong -r 0 -p 1 127.0.0.1",
                "ibv_rc_pingpong -r -1",
                "ibv_rc_pingpong -r 2147483647",
                "ibv_rc_pingpong -g 2147483647",
                "ibv_rc_pingpong -g -2147483648 -p 1 127.0.0.1",
                "ibv_rc_pingpong -i 65537",
                "ibv_rc_pingpong -p 99999999999",
                "ibv_rc_pingpong -p -1",
                "ibv_rc_pingpong -n",
                "ibv_rc_pingpong -p 1 fe80::1%nope",
                "ibv_rc_pingpong -p 1 224.0.0.1",
                "ibv_uc_pingpong -m 0",
                "ibv_uc_pingpong -r 99999999999",
                "ibv_ud_pingpong -d rdma4j_lo -s -1",
                "ibv_ud_pingpong -r 40000",
                "ibv_srq_pingpong -q 0",
                "ibv_srq_pingpong -q -1",
                "ibv_srq_pingpong -q 500",
                "ibv_srq_pingpong -q 16 -r 15",
                "ibv_srq_pingpong -s 0",
                "ibv_srq_pingpong -r 40000",
                "ibv_srq_pingpong -r 2147483647",
                "ibv_xsrq_pingpong -c 0",
                "ibv_xsrq_pingpong -n 0",
                "ibv_xsrq_pingpong -c 40000",
                "ibv_xsrq_pingpong -c 2147483647 -n 2147483647",
                "ibv_xsrq_pingpong -c 65536 -n 65536",
                "ibv_xsrq_pingpong -c 2 -n 2147483647",
                "ibv_xsrq_pingpong -n 2000000000 127.0.0.1",
                "ibv_xsrq_pingpong -s -1",
                "ibv_xsrq_pingpong -i 2",
                "ibv_xsrq_pingpong -i 99999999999",
                "ibv_xsrq_pingpong -d",
            })
    void ofThePingPongs(String words) throws InterruptedException {
        ToolRun.start(words).requireRefused();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cmtime -b 127.0.0.1 -C 127.0.0.1 -p -1",
                "cmtime -b 127.0.0.1 -C 127.0.0.1 -c x",
                "cmtime -b 127.0.0.1 -C 127.0.0.1 -n 99999999999 -m -1",
                "cmtime -b 127.0.0.1 -C 127.0.0.1 -P 2147483647",
                "cmtime -b 127.0.0.1 -C 127.0.0.1 -q 16777216",
                "cmtime -b 127.0.0.1 -C 127.0.0.1 -S -P 3",
                "cmtime -b 224.0.0.1 -C 127.0.0.1 -L",
                "cmtime -S -b 192.0.2.1 -C 127.0.0.1 -L",
                "cmtime --classic -c 0 -s 127.0.0.1",
                "cmtime --classic -c 2000000000 -s 127.0.0.1",
                "cmtime --classic -p 70000 -s 127.0.0.1",
                "cmtime --classic -p x -s 127.0.0.1 -c 1",
                "cmtime --classic -r 300 -s 127.0.0.1 -c 1 -p 1",
                "cmtime --classic -b ::1 -s 127.0.0.1 -c 1",
                "cmtime --classic -b 192.0.2.1 -s 127.0.0.1 -c 1",
                "cmtime --classic -b 192.0.2.1",
                "cmtime --classic -s",
            })
    void ofCmtime(String words) throws InterruptedException {
        ToolRun.start(words).requireRefused();
    }
}
