package io.rdma4j.bench.peers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.rdma4j.bench.worker.MissingPeerException;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.WorkerAddresses;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/** An event loop of Netty on epoll, and a channel over TCP. */
final class NettyLoop implements AutoCloseable {
    private final EventLoopGroup group;

    NettyLoop(Parameters parameters) throws MissingPeerException {
        if (!Epoll.isAvailable()) {
            throw new MissingPeerException("Netty's native epoll transport does not load here");
        }
        // With pending tasks the loop must only poll: a busy wait ends with an event, but not for a task that is
        // already queued.
        SelectStrategyFactory strategy = parameters.text("wait", "poll").equals("block")
                ? DefaultSelectStrategyFactory.INSTANCE
                : () -> (select, hasTasks) -> hasTasks ? select.get() : SelectStrategy.BUSY_WAIT;
        group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory(0, strategy));
    }

    /** Listens for the only connection and returns the port. */
    int listen(Supplier<ChannelHandler> handler) throws InterruptedException {
        Channel channel = new ServerBootstrap()
                .group(group)
                .channel(EpollServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel child) {
                        child.pipeline().addLast(handler.get());
                    }
                })
                .bind(new InetSocketAddress(WorkerAddresses.SERVER, 0))
                .sync()
                .channel();
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    Channel connect(int port, ChannelHandler handler) throws InterruptedException {
        return new Bootstrap()
                .group(group)
                .channel(EpollSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(handler)
                .connect(
                        new InetSocketAddress(WorkerAddresses.SERVER, port),
                        new InetSocketAddress(WorkerAddresses.CLIENT, 0))
                .sync()
                .channel();
    }

    @Override
    public void close() {
        var _ = group.shutdownGracefully();
    }
}
