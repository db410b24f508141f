package io.rdma4j.bench.peers;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A stream of bytes in one direction over Netty's epoll channels, in writes of {@code size}; parameters as of
 * {@link NettyLatency}.
 */
public final class NettyStream implements PairTest {
    /** Creates the measurement. */
    public NettyStream() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (NettyLoop loop = new NettyLoop(parameters)) {
            control.send(loop.listen(() -> new ChannelInboundHandlerAdapter() {
                private long received;

                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                    ByteBuf bytes = (ByteBuf) message;
                    received += bytes.readableBytes();
                    control.count(received);
                    bytes.release();
                }
            }));
            control.serveQueries();
            control.awaitStop();
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        int size = parameters.number("size", 65_536);
        try (NettyLoop loop = new NettyLoop(parameters)) {
            Writer writer = new Writer(size);
            Channel channel = loop.connect((int) control.receive(), writer);
            StreamMeter meter = new StreamMeter(control, parameters);
            channel.eventLoop().execute(() -> writer.begin(channel, meter));
            writer.done.get();
            control.stopPeer();
            meter.report(figures, size);
        }
    }

    /**
     * Writes while the channel is writable, and continues when it becomes writable again.
     *
     * <p>A task that queues itself again would keep the loop from polling its sockets, for up to a second.
     */
    private static final class Writer extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Boolean> done = new CompletableFuture<>();
        private final ByteBuf data;
        private @Nullable StreamMeter meter;
        private boolean isWriting;

        Writer(int size) {
            data = Unpooled.directBuffer(size, size).writeZero(size);
        }

        /** Starts writing; called in the event loop's thread. */
        void begin(Channel channel, StreamMeter meter) {
            this.meter = meter;
            write(channel, meter);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            // A flush can make the channel writable during the write.
            if (meter != null && !isWriting && !done.isDone()) {
                write(context.channel(), meter);
            }
        }

        private void write(Channel channel, StreamMeter meter) {
            isWriting = true;
            try {
                while (meter.running()) {
                    if (!channel.isWritable()) {
                        return;
                    }
                    var _ = channel.writeAndFlush(data.retainedDuplicate(), channel.voidPromise());
                }
                done.complete(true);
            } catch (IOException e) {
                done.completeExceptionally(e);
            } finally {
                isWriting = false;
            }
        }
    }
}
