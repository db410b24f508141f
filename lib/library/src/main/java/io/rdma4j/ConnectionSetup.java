package io.rdma4j;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RemoteMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings that both ends of a connection can change before it is established. Used by one thread.
 *
 * @param <S> the type of the end
 */
public abstract sealed class ConnectionSetup<S extends ConnectionSetup<S>> permits Connector, ConnectionRequest {
    private ConnectionOptions options = ConnectionOptions.defaults();
    private byte[] privateData = {};
    private @Nullable Exposed exposed;

    ConnectionSetup() {}

    /** Returns this object as its own type. */
    abstract S self();

    ConnectionOptions options() {
        return options;
    }

    /** Sets all sizes and times. */
    public S options(ConnectionOptions value) {
        options = value;
        return self();
    }

    /** Sets the time for connecting or accepting; see {@link ConnectionOptions#timeout}. */
    public S timeout(Duration value) {
        return options(options.withTimeout(value));
    }

    /** Sets the time for each operation of the connection; see {@link ConnectionOptions#operationTimeout}. */
    public S operationTimeout(Duration value) {
        return options(options.withOperationTimeout(value));
    }

    /**
     * Makes the connection receive messages; see {@link Connection#receive()}.
     *
     * @param count the number of messages that can arrive before the program takes one, 0 for none
     * @param bytes the maximum length of a message; 0 for writes with immediate data, which need a place without memory
     */
    public S messages(int count, int bytes) {
        return options(options.withMessages(count, bytes));
    }

    /**
     * Sets the data that the peer's program receives with the request or the acceptance, in {@link Peer#privateData}, in place of
     * any memory.
     *
     * @param value the data; at most {@link ConnectionParameters#REQUEST_PRIVATE_DATA} bytes to connect, {@link
     *     ConnectionParameters#REPLY_PRIVATE_DATA} to accept
     */
    public S privateData(byte[] value) {
        privateData = value.clone();
        exposed = null;
        return self();
    }

    /**
     * Lets the peer use memory: its address and key are sent with the request or the acceptance, for {@link Peer#memory}, in place of any other
     * private data.
     */
    public S privateData(Exposed memory) {
        return privateData(memory, new byte[0]);
    }

    /**
     * Lets the peer use memory, like {@link #privateData(Exposed)}, and sends more data with it, for {@link Peer#dataAfterMemory}.
     *
     * @param more the data; the memory takes {@value RemoteMemory#ENCODED_BYTES} of the bytes that {@link #privateData(byte[])} may have
     */
    public S privateData(Exposed memory, byte[] more) {
        privateData = more.clone();
        exposed = memory;
        return self();
    }

    /** Returns the parameters for the peer, by the device of an identifier. */
    ConnectionParameters parameters(CmId id) {
        Exposed memory = exposed;
        if (memory == null) {
            return ConnectionParameters.defaults().withPrivateData(privateData);
        }
        ByteBuffer both = ByteBuffer.allocate(RemoteMemory.ENCODED_BYTES + privateData.length)
                .put(memory.at(id.protectionDomain()).encode())
                .put(privateData);
        return ConnectionParameters.defaults().withPrivateData(both.array());
    }

    QueuePairInitAttributes attributes() {
        return QueuePairInitAttributes.of(QueuePairCapabilities.defaults()
                .withSends(options.sends())
                .withReceives(Math.max(1, options.messages())));
    }
}
