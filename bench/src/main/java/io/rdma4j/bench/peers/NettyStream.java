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

/** Bytes one way over Netty's channels on epoll, in writes of {@code size}. Parameters as of {@link NettyLatency}. */
public final class NettyStream implements PairTest {
    /** Creates one. */
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
            control.answer();
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
            channel.eventLoop().execute(() -> writer.write(channel, meter));
            writer.done.get();
            control.stopPeer();
            meter.report(figures, size);
        }
    }

    /** Writes as long as the channel says that it can be written to. */
    private static final class Writer extends ChannelInboundHandlerAdapter {
        private static final int WRITES_A_TURN = 8;

        private final CompletableFuture<Boolean> done = new CompletableFuture<>();
        private final ByteBuf data;

        Writer(int size) {
            data = Unpooled.directBuffer(size, size).writeZero(size);
        }

        void write(Channel channel, StreamMeter meter) {
            try {
                if (!meter.running()) {
                    done.complete(true);
                    return;
                }
                for (int i = 0; i < WRITES_A_TURN && channel.isWritable(); i++) {
                    var _ = channel.writeAndFlush(data.retainedDuplicate(), channel.voidPromise());
                }
                channel.eventLoop().execute(() -> write(channel, meter));
            } catch (IOException e) {
                done.completeExceptionally(e);
            }
        }
    }
}
