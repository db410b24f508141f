package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.CommonOptions;
import io.rdma4j.tools.Tool;
import io.rdma4j.tools.ToolEnvironment;
import java.util.List;

/**
 * {@code ibv_rc_pingpong}: SENDs to and fro over a reliable connection, with the options, lines and exit statuses of
 * libibverbs' tool (rdma-core 44). What differs is in {@code docs/tools/ibv_rc_pingpong.md}.
 */
public final class RcPingpong implements Tool {
    private static final String LETTERS = "p:d:i:s:m:r:n:l:eg:oOPtcjN";

    private static final String USAGE = """
            Usage:
              ibv_rc_pingpong            start a server and wait for connection
              ibv_rc_pingpong <host>     connect to server at <host>

            Options:
              -p, --port=<port>      listen on/connect to port <port> (default 18515)
              -d, --ib-dev=<dev>     use IB device <dev> (default first device found)
              -i, --ib-port=<port>   use port <port> of IB device (default 1)
              -s, --size=<size>      size of message to exchange (default 4096)
              -m, --mtu=<size>       path MTU (default 1024)
              -r, --rx-depth=<dep>   number of receives to post at a time (default 500)
              -n, --iters=<iters>    number of exchanges (default 1000)
              -l, --sl=<sl>          service level value
              -e, --events           sleep on CQ events (default poll)
              -g, --gid-idx=<gid index> local port gid index
              -o, --odp\t\t    use on demand paging
              -O, --iodp\t\t    use implicit on demand paging
              -P, --prefetch\t    prefetch an ODP MR
              -t, --ts\t            get CQE with timestamp
              -c, --chk\t            validate received buffer
              -j, --dm\t            use device memory
              -N, --new_send            use new post send WR API
            """;

    private static final String EXAMPLES = """

            RoCE needs -g on both sides (ibv_devinfo -v lists the GIDs), or --device with an address.

            examples:
              ibv_rc_pingpong -d rdma4j_eth0 -g 0
              ibv_rc_pingpong -d rdma4j_eth0 -g 0 192.0.2.1
              ibv_rc_pingpong --device 192.0.2.1 -n 10000 -s 64

            """;

    /** Creates the tool. */
    public RcPingpong() {}

    @Override
    public String name() {
        return "ibv_rc_pingpong";
    }

    @Override
    public String summary() {
        return "messages to and fro over a reliable connection, without connection manager";
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        if (arguments.equals(List.of("--help"))) {
            environment.out().print(USAGE + EXAMPLES + CommonOptions.HELP);
            return 0;
        }
        try {
            PingpongOptions options = new PingpongCommandLine(name(), LETTERS, USAGE, environment).read(arguments);
            environment
                    .report()
                    .parameter("server", options.server())
                    .parameter("tcpPort", options.tcpPort())
                    .parameter("device", options.device())
                    .parameter("port", options.port())
                    .parameter("sizeBytes", options.sizeBytes())
                    .parameter("mtuBytes", options.mtu().bytes())
                    .parameter("receiveDepth", options.receiveDepth())
                    .parameter("exchanges", options.exchanges())
                    .parameter("events", options.events())
                    .parameter("gidIndex", options.gidIndex())
                    .parameter("validate", options.validate());
            new Pingpong(name(), new ReliableTransport(), options, environment).run();
            return 0;
        } catch (PingpongFailure e) {
            return e.status();
        }
    }
}
