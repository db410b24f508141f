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
 * Messages to and fro over Netty's channels on epoll. Parameters: {@code size}, {@code wait} ({@code poll}: its loop never
 * blocks; {@code block}).
 */
public final class NettyLatency implements PairTest {
    /** Creates one. */
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
            control.answer();
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
            figures.addLatency(meter.samples(), 0.5);
            control.stopPeer();
        }
    }

    /** Takes messages of one size out of the stream. */
    private abstract static class Messages extends ChannelInboundHandlerAdapter {
        private final int size;
        private int missing;

        Messages(int size) {
            this.size = size;
            missing = size;
        }

        /** A message is there; its last byte is its stamp. */
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
        void onMessage(ChannelHandlerContext context, byte answer) {
            if (answer != stamp) {
                done.completeExceptionally(new IllegalStateException("another answer came than was asked for"));
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
