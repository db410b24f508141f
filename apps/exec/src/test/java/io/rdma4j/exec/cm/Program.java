package io.rdma4j.exec.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures.Accept;
import io.rdma4j.cm.abi.CmStructures.BindIp;
import io.rdma4j.cm.abi.CmStructures.CommandHeader;
import io.rdma4j.cm.abi.CmStructures.Connect;
import io.rdma4j.cm.abi.CmStructures.CreateId;
import io.rdma4j.cm.abi.CmStructures.CreatedId;
import io.rdma4j.cm.abi.CmStructures.DestroyId;
import io.rdma4j.cm.abi.CmStructures.Event;
import io.rdma4j.cm.abi.CmStructures.GetEvent;
import io.rdma4j.cm.abi.CmStructures.Listen;
import io.rdma4j.cm.abi.CmStructures.MigrateId;
import io.rdma4j.cm.abi.CmStructures.Parameters;
import io.rdma4j.cm.abi.CmStructures.ResolveIp;
import io.rdma4j.cm.abi.CmStructures.ResolveRoute;
import io.rdma4j.cm.abi.KernelParameters;
import io.rdma4j.cm.abi.SocketAddresses;
import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Readiness.Descriptors;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A program on a host. Like librdmacm, it encodes commands and writes them to its open files. */
final class Program implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int MARK = 0x5a;

    final Arena arena = Arena.ofShared();
    final CmFiles files;

    /** The eventfds by descriptor, each with true if it is readable. */
    final Map<Integer, Boolean> readable = new ConcurrentHashMap<>();

    private int nextDescriptor = 100;

    Program(TestHost host) {
        files = new CmFiles(ManagerAccess.providerOf(host.stack().connectionManager()), null, new Descriptors() {
            @Override
            public void raise(int descriptor) {
                assertThat(readable.put(descriptor, true)).isNotEqualTo(true);
            }

            @Override
            public void lower(int descriptor) {
                assertThat(readable.put(descriptor, false)).isEqualTo(true);
            }
        });
    }

    CmFile open() {
        return files.open(nextDescriptor++);
    }

    /** Returns whether the descriptor of a file is readable; 0 is the file that was opened first. */
    boolean isReadable(int file) {
        return readable.getOrDefault(100 + file, false);
    }

    /** Writes a command; returns 0 or the error number. */
    int write(CmFile file, MemorySegment command, @Nullable CmFile other) {
        try {
            return Commands.execute(file, command, other);
        } catch (RuntimeException refused) {
            return Failures.errno(refused);
        }
    }

    /** Returns a command whose structure is zeroed. */
    MemorySegment command(int number, int structureBytes, int responseBytes) {
        MemorySegment command = arena.allocate((long) CommandHeader.BYTES + structureBytes, 8);
        Fields.putInt(command, CommandHeader.COMMAND, number);
        Fields.putShort(command, CommandHeader.REQUEST_BYTES, structureBytes);
        Fields.putShort(command, CommandHeader.RESPONSE_BYTES, responseBytes);
        return command;
    }

    static MemorySegment structure(MemorySegment command) {
        return command.asSlice(CommandHeader.BYTES);
    }

    /** Sends a command without a response; returns 0 or the error number. */
    int send(CmFile file, int number, int structureBytes, Consumer<MemorySegment> fill) {
        MemorySegment command = command(number, structureBytes, 0);
        fill.accept(structure(command));
        return write(file, command, null);
    }

    /** Returns memory for a response in which every byte has a mark. */
    MemorySegment marked(int bytes) {
        return arena.allocate(bytes, 8).fill((byte) MARK);
    }

    /** Returns whether memory from an offset still has its mark. */
    static boolean isUntouched(MemorySegment memory, long from) {
        for (long at = from; at < memory.byteSize(); at++) {
            if (Fields.byteAt(memory, at) != MARK) {
                return false;
            }
        }
        return true;
    }

    /** Sends a command with a response; returns 0 or the error number. */
    int ask(
            CmFile file,
            int number,
            int structureBytes,
            int responseAt,
            MemorySegment response,
            int responseBytes,
            Consumer<MemorySegment> fill) {
        return ask(file, number, structureBytes, responseAt, response, responseBytes, fill, null);
    }

    private int ask(
            CmFile file,
            int number,
            int structureBytes,
            int responseAt,
            MemorySegment response,
            int responseBytes,
            Consumer<MemorySegment> fill,
            @Nullable CmFile other) {
        MemorySegment command = command(number, structureBytes, responseBytes);
        Fields.putLong(structure(command), responseAt, response.address());
        fill.accept(structure(command));
        return write(file, command, other);
    }

    // ---- commands that succeed

    int create(CmFile file, long uid, PortSpace portSpace) {
        MemorySegment response = marked(CreatedId.BYTES);
        assertThat(ask(file, CmNumbers.CREATE_ID, CreateId.BYTES, CreateId.RESPONSE, response, 4, create -> {
                    Fields.putLong(create, CreateId.UID, uid);
                    Fields.putShort(create, CreateId.PORT_SPACE, portSpace.code());
                    Fields.putByte(
                            create,
                            CreateId.QUEUE_PAIR_TYPE,
                            portSpace.queuePairType().code());
                }))
                .isZero();
        return Fields.intAt(response, CreatedId.ID);
    }

    /** Destroys an identifier; returns the number of its events that were reported. */
    int destroy(CmFile file, int id) {
        MemorySegment response = marked(4);
        assertThat(ask(
                        file,
                        CmNumbers.DESTROY_ID,
                        DestroyId.BYTES,
                        DestroyId.RESPONSE,
                        response,
                        4,
                        destroy -> Fields.putInt(destroy, DestroyId.ID, id)))
                .isZero();
        return Fields.intAt(response, 0);
    }

    int bind(CmFile file, int id, InetSocketAddress local) {
        return send(file, CmNumbers.BIND_IP, BindIp.BYTES, bind -> {
            Fields.putInt(bind, BindIp.ID, id);
            SocketAddresses.write(bind, BindIp.ADDRESS, local);
        });
    }

    void listen(CmFile file, int id, InetSocketAddress local, int backlog) {
        assertThat(bind(file, id, local)).isZero();
        listen(file, id, backlog);
    }

    /** Listens without binding the identifier first. */
    void listen(CmFile file, int id, int backlog) {
        assertThat(send(file, CmNumbers.LISTEN, Listen.BYTES, listen -> {
                    Fields.putInt(listen, Listen.ID, id);
                    Fields.putInt(listen, Listen.BACKLOG, backlog);
                }))
                .isZero();
    }

    /** Resolves an address. */
    void resolveAddress(CmFile file, int id, InetSocketAddress peer) {
        assertThat(send(file, CmNumbers.RESOLVE_IP, ResolveIp.BYTES, resolve -> {
                    Fields.putInt(resolve, ResolveIp.ID, id);
                    Fields.putInt(resolve, ResolveIp.TIMEOUT_MILLIS, 1000);
                    SocketAddresses.write(resolve, ResolveIp.DESTINATION, peer);
                }))
                .isZero();
        expect(file, CmEvent.Type.ADDRESS_RESOLVED);
    }

    /** Resolves an address and its route. */
    void resolve(CmFile file, int id, InetSocketAddress peer) {
        resolveAddress(file, id, peer);
        assertThat(send(file, CmNumbers.RESOLVE_ROUTE, ResolveRoute.BYTES, resolve -> {
                    Fields.putInt(resolve, ResolveRoute.ID, id);
                    Fields.putInt(resolve, ResolveRoute.TIMEOUT_MILLIS, 1000);
                }))
                .isZero();
        expect(file, CmEvent.Type.ROUTE_RESOLVED);
    }

    /** Connects with a structure of a size in bytes, which depends on the version of librdmacm. */
    void connect(CmFile file, int id, ConnectionParameters parameters, int bytes) {
        assertThat(send(file, CmNumbers.CONNECT, bytes, connect -> {
                    Fields.putInt(connect, Connect.ID, id);
                    KernelParameters.put(connect.asSlice(Connect.PARAMETERS, Parameters.BYTES), parameters);
                }))
                .isZero();
    }

    /** Accepts a request or, without parameters, the reply of the peer. */
    void accept(CmFile file, int id, long uid, @Nullable ConnectionParameters parameters) {
        assertThat(send(file, CmNumbers.ACCEPT, Accept.BYTES, accept -> {
                    Fields.putInt(accept, Accept.ID, id);
                    Fields.putLong(accept, Accept.UID, uid);
                    if (parameters != null) {
                        KernelParameters.put(accept.asSlice(Accept.PARAMETERS, Parameters.BYTES), parameters);
                    }
                }))
                .isZero();
    }

    /** Sends a command whose structure has only the number of the identifier, at its start. */
    int simple(CmFile file, int number, int bytes, int id) {
        return send(file, number, bytes, structure -> Fields.putInt(structure, 0, id));
    }

    /** Moves an identifier; returns 0 or the error number. */
    int migrate(CmFile from, int id, CmFile to, MemorySegment response) {
        return ask(
                to,
                CmNumbers.MIGRATE_ID,
                MigrateId.BYTES,
                MigrateId.RESPONSE,
                response,
                4,
                migrate -> Fields.putInt(migrate, MigrateId.ID, id),
                from);
    }

    /** Takes an event, with a response of a size in bytes; returns 0 or the error number. */
    int take(CmFile file, MemorySegment response, int bytes) {
        return ask(file, CmNumbers.GET_EVENT, GetEvent.BYTES, GetEvent.RESPONSE, response, bytes, get -> {});
    }

    /** Waits for an event and returns it. */
    MemorySegment expect(CmFile file, CmEvent.Type type) {
        MemorySegment event = marked(Event.BYTES);
        long end = System.nanoTime() + PATIENCE.toNanos();
        int error = take(file, event, Event.BYTES);
        while (error != 0 && System.nanoTime() < end) {
            Thread.onSpinWait();
            error = take(file, event, Event.BYTES);
        }
        assertThat(error).as("no event %s", type).isZero();
        assertThat(Fields.intAt(event, Event.TYPE)).as("event %s", type).isEqualTo(type.code());
        return event;
    }

    @Override
    public void close() {
        arena.close();
    }
}
