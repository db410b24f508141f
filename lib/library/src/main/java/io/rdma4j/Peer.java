package io.rdma4j;

import io.rdma4j.verbs.RemoteMemory;
import java.net.InetSocketAddress;
import java.util.Arrays;

/**
 * The other side of a connection. Immutable.
 *
 * @param address its address and port
 * @param privateData the data that its program has sent with the connection request or the acceptance; the field of the message has a
 *     fixed length, so zeros follow
 */
@SuppressWarnings("ArrayRecordComponent") // copied in and out, and compared by content
public record Peer(InetSocketAddress address, byte[] privateData) {
    /** Copies the private data. */
    public Peer {
        privateData = privateData.clone();
    }

    /** Returns a copy of the private data. */
    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    /**
     * Returns the memory that the peer has {@linkplain Exposed exposed} in its private data.
     *
     * @throws IllegalStateException if the peer has sent no private data, which are then zeros
     * @throws IllegalArgumentException if the private data are shorter than the {@value RemoteMemory#ENCODED_BYTES} bytes of a
     *     memory. Other private data cannot be distinguished from a memory
     */
    public RemoteMemory memory() {
        if (isEmpty()) {
            throw new IllegalStateException("the peer " + Addresses.text(address)
                    + " has exposed no memory: it does so with privateData(exposed)");
        }
        return RemoteMemory.decode(privateData);
    }

    /**
     * Returns a copy of the private data that follow the memory: what the peer has added by {@link ConnectionSetup#privateData(Exposed, byte[])},
     * and zeros.
     *
     * @throws IllegalStateException as {@link #memory}
     * @throws IllegalArgumentException as {@link #memory}
     */
    public byte[] dataAfterMemory() {
        var _ = memory();
        return Arrays.copyOfRange(privateData, RemoteMemory.ENCODED_BYTES, privateData.length);
    }

    private boolean isEmpty() {
        for (byte each : privateData) {
            if (each != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Peer that
                && address.equals(that.address)
                && Arrays.equals(privateData, that.privateData);
    }

    @Override
    public int hashCode() {
        return 31 * address.hashCode() + Arrays.hashCode(privateData);
    }

    @Override
    public String toString() {
        return "peer " + Addresses.text(address) + ", " + privateData.length + " bytes of private data";
    }
}
