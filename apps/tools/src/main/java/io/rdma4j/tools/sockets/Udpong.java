package io.rdma4j.tools.sockets;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import java.util.List;

/**
 * {@code udpong} measures latency and bandwidth of datagram RDMA sockets, or of UDP sockets for comparison. It has the
 * options, lines and exit statuses of librdmacm's tool. {@code docs/tools/udpong.md} lists the differences.
 */
public final class Udpong implements Tool {
    private static final String EXAMPLES = """

        Without -s it is the server, which serves any number of clients until it is killed. Without -C and -S a client
        runs a series: latencies, then bandwidths, of 64 to 1536 bytes. Datagrams that do not reach the server are not
        counted in xfers. Both sides need the same -p, and both -T s or none. -T may be given more than once.

        examples:
          udpong                                 the server
          udpong -s 192.0.2.1                    the series
          udpong -s 192.0.2.1 -S 1000 -C 100000  one test of bandwidth
          udpong -s 192.0.2.1 -T e               one test of latency
          udpong -s 192.0.2.1 -T s               the same over UDP, for comparison

        """;

    /** Creates the tool. */
    public Udpong() {}

    @Override
    public String name() {
        return "udpong";
    }

    @Override
    public String summary() {
        return "latency and bandwidth of datagram RDMA sockets, or of UDP sockets for comparison";
    }

    @Override
    public String help() {
        return UdpongCommandLine.USAGE + EXAMPLES + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(UdpongCommandLine.OPTIONS);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        UdpongOptions options;
        try {
            options = new UdpongCommandLine(environment).read(arguments);
        } catch (ToolFailure e) {
            return e.status();
        }
        if (options.server() == null) {
            try (WarmUp warmUp = WarmUp.start(round(options), environment)) {
                return new UdpongServer(options, environment, warmUp).run();
            }
        }
        WarmUp.perform(name(), round(options), environment, options.server(), options.bind());
        return new UdpongClient(options, environment).run();
    }

    static WarmUp.Round round(UdpongOptions options) {
        return (environment, address, isServer, work) -> {
            UdpongOptions own = options.forWarmUp(address, isServer);
            if (isServer) {
                return new UdpongServer(own, environment, WarmUp.NONE).run() == 0;
            }
            UdpongClient client = new UdpongClient(own, environment);
            client.shorten(work);
            return client.run() == 0;
        };
    }
}
