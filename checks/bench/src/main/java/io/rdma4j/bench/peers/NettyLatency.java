package io.rdma4j.bench.peers;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.LatencyMeter;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import java.util.concurrent.CompletableFuture;

/**
 * Round trips of messages over Netty's epoll channels.
 *
 * <p>Parameters: {@code size}, {@code wait} ({@code poll}: the event loop never blocks; {@code block}).
 */
public final class NettyLatency implements PairTest {
    /** Creates the measurement. */
    public NettyLatency() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        int size = parameters.number("size", 64);
        try (NettyLoop loop = new NettyLoop(parameters)) {
            control.send(loop.listen(() -> new Messages(size) {
                @Override
                void onMessage(ChannelHandlerContext context, byte stamp) {
                    send(context.channel(), stamp);
                }
            }));
            control.serveQueries();
            control.awaitStop();
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        int size = parameters.number("size", 64);
        try (NettyLoop loop = new NettyLoop(parameters)) {
            LatencyMeter meter = new LatencyMeter(parameters);
            Pings pings = new Pings(size, meter);
            Channel channel = loop.connect((int) control.receive(), pings);
            channel.eventLoop().execute(() -> pings.ping(channel));
            pings.done.get();
            meter.report(figures, 0.5);
            control.stopPeer();
        }
    }

    /** Splits the stream into messages of one size. */
    private abstract static class Messages extends ChannelInboundHandlerAdapter {
        private final int size;
        private int missing;

        Messages(int size) {
            this.size = size;
            missing = size;
        }

        /** Called for each message; its last byte is the stamp. */
        abstract void onMessage(ChannelHandlerContext context, byte stamp);

        final void send(Channel channel, byte stamp) {
            ByteBuf message = channel.alloc().directBuffer(size, size);
            message.writeZero(size - 1).writeByte(stamp);
            var _ = channel.writeAndFlush(message, channel.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            try {
                missing -= bytes.readableBytes();
                if (missing == 0) {
                    missing = size;
                    onMessage(context, bytes.getByte(bytes.writerIndex() - 1));
                }
            } finally {
                bytes.release();
            }
        }
    }

    private static final class Pings extends Messages {
        private final LatencyMeter meter;
        private final CompletableFuture<Boolean> done = new CompletableFuture<>();
        private byte stamp;

        Pings(int size, LatencyMeter meter) {
            super(size);
            this.meter = meter;
        }

        void ping(Channel channel) {
            stamp = meter.next();
            send(channel, stamp);
        }

        @Override
        void onMessage(ChannelHandlerContext context, byte replyStamp) {
            if (replyStamp != stamp) {
                done.completeExceptionally(new IllegalStateException("the reply does not match the request"));
                return;
            }
            meter.done();
            if (stamp == LatencyMeter.LAST) {
                done.complete(true);
            } else {
                ping(context.channel());
            }
        }
    }
}
