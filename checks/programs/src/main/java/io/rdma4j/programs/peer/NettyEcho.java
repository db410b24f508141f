package io.rdma4j.programs.peer;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Netty over NIO: 1 MiB there and back. */
final class NettyEcho implements ServingPeer {
    private static final int BYTES = 1 << 20;

    @Override
    public void serve(int port, Path folder) throws Exception {
        new ServerBootstrap()
                .group(loop())
                .channel(NioServerSocketChannel.class)
                .childHandler(initializer(Echo::new))
                .bind("127.0.0.1", port)
                .sync();
    }

    private static EventLoopGroup loop() {
        return new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    }

    private static ChannelInitializer<Channel> initializer(Supplier<ChannelHandler> handler) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(handler.get());
            }
        };
    }

    @Override
    public PeerClient connect(int port) throws Exception {
        Collector collector = new Collector();
        Channel channel = new Bootstrap()
                .group(loop())
                .channel(NioSocketChannel.class)
                .handler(initializer(() -> collector))
                .connect("127.0.0.1", port)
                .sync()
                .channel();
        Blocks blocks = new Blocks(BYTES);
        return () -> {
            var _ = channel.writeAndFlush(Unpooled.wrappedBuffer(blocks.next().clone()));
            byte[] echo = collector.arrived.poll(30, TimeUnit.SECONDS);
            if (echo == null || echo.length == 0) {
                throw new IOException(echo == null ? "no echo" : "the connection is closed");
            }
            blocks.requireSame(echo);
        };
    }

    /** Writes what it reads. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.writeAndFlush(message);
        }
    }

    /** Collects blocks; an empty one says that the connection is closed. */
    private static final class Collector extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<byte[]> arrived = new LinkedBlockingQueue<>();
        private byte[] block = new byte[BYTES];
        private int length;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            int bytes = buffer.readableBytes();
            buffer.readBytes(block, length, bytes);
            buffer.release();
            length += bytes;
            if (length == BYTES) {
                arrived.add(block);
                block = new byte[BYTES];
                length = 0;
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            arrived.add(new byte[0]);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            var _ = context.close();
        }
    }
}
