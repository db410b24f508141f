package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A provider identifier that records its calls. */
final class FakeProviderId implements ProviderCmId {
    final List<String> calls = new ArrayList<>();

    /** The exception that listening and confirming a connection throw, or null. */
    @Nullable
    RdmaException refusal;

    /** Called when the request of this identifier is taken. */
    Runnable onTaken = () -> {};

    /** Called when attributes of a queue pair are requested. */
    Runnable onAttributes = () -> {};

    /** The device of this identifier, or null. */
    @Nullable
    Device device;

    @Override
    public void bind(InetSocketAddress local) {
        calls.add("bind");
    }

    @Override
    public void resolveAddress(
            @Nullable InetSocketAddress source,
            InetSocketAddress destination,
            @Nullable InetAddress routeSource,
            Duration timeout) {
        calls.add("resolveAddress from " + source + " to " + destination + " by " + routeSource);
    }

    @Override
    public void resolveRoute(Duration timeout) {
        calls.add("resolveRoute");
    }

    @Override
    public void listen(int backlog) {
        calls.add("listen " + backlog);
        if (refusal != null) {
            throw refusal;
        }
    }

    @Override
    public void connect(ConnectionParameters parameters) {
        calls.add("connect " + parameters);
    }

    @Override
    public void accept(ConnectionParameters parameters) {
        calls.add("accept " + parameters);
    }

    @Override
    public void establish() {
        calls.add("establish");
        if (refusal != null) {
            throw refusal;
        }
    }

    @Override
    public void reject(byte[] privateData, boolean becauseOfEnhancement) {
        calls.add("reject " + privateData.length);
    }

    @Override
    public void setPath(RoutePath path) {
        calls.add("setPath " + path);
    }

    @Override
    public void disconnect() {
        calls.add("disconnect");
    }

    @Override
    public boolean isConnected() {
        return false;
    }

    @Override
    public void notifyCommunicationEstablished() {
        calls.add("notify");
    }

    @Override
    public void joinMulticast(MulticastJoinAttributes attributes, Object membership) {
        calls.add("join " + attributes.groupText());
    }

    @Override
    public void leaveMulticast(Object membership) {
        calls.add("leave " + membership);
    }

    @Override
    public void setTypeOfService(int typeOfService) {
        calls.add("typeOfService " + typeOfService);
    }

    @Override
    public void setReuseAddress(boolean reuseAddress) {
        calls.add("reuseAddress " + reuseAddress);
    }

    @Override
    public void setIpv6Only(boolean ipv6Only) {
        calls.add("ipv6Only " + ipv6Only);
    }

    @Override
    public void setAccessFilter(Predicate<ConnectionAttempt> filter) {
        calls.add("accessFilter");
    }

    @Override
    public void setAckTimeout(int exponent) {
        calls.add("ackTimeout " + exponent);
    }

    @Override
    public void setLocalEnhancement(ConnectionEnhancement enhancement) {
        calls.add("localEnhancement " + enhancement);
    }

    @Override
    public QueuePairAttributes initQueuePairAttributes(QueuePairState target) {
        onAttributes.run();
        return new QueuePairAttributes().state(target);
    }

    @Override
    public @Nullable Device device() {
        return device;
    }

    @Override
    public int portNumber() {
        return 0;
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return null;
    }

    @Override
    public @Nullable InetSocketAddress peerAddress() {
        return null;
    }

    @Override
    public void onRequestTaken() {
        calls.add("taken");
        onTaken.run();
    }

    @Override
    public @Nullable RoutePath path() {
        return null;
    }

    @Override
    public String describe() {
        return "a fake";
    }

    @Override
    public void close() {
        calls.add("close");
    }
}
