package io.rdma4j.exec.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures.Bind;
import io.rdma4j.cm.abi.CmStructures.CommandHeader;
import io.rdma4j.cm.abi.CmStructures.Connect;
import io.rdma4j.cm.abi.CmStructures.CreateId;
import io.rdma4j.cm.abi.CmStructures.DestroyId;
import io.rdma4j.cm.abi.CmStructures.Disconnect;
import io.rdma4j.cm.abi.CmStructures.Notify;
import io.rdma4j.cm.abi.CmStructures.Query;
import io.rdma4j.cm.abi.CmStructures.ResolveIp;
import io.rdma4j.cm.abi.CmStructures.ResolveRoute;
import io.rdma4j.cm.abi.CmStructures.SetOption;
import io.rdma4j.cm.abi.SocketAddresses;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that commands are refused which the kernel also refuses. */
class RefusedCommandsTest {
    private static final int INVALID = Errno.EINVAL.number();

    private final TestNetwork network = new TestNetwork();
    private final Program program = new Program(network.addHost("192.0.2.1"));
    private final CmFile file = program.open();

    @AfterEach
    void close() {
        program.files.close(file);
        program.close();
        network.close();
    }

    @Test
    void aCommandMustBeAsLongAsItsHeaderSpecifies() {
        MemorySegment command = program.command(CmNumbers.DISCONNECT, Disconnect.BYTES, 0);
        assertThat(program.write(file, command.asSlice(0, CommandHeader.BYTES - 1), null))
                .isEqualTo(INVALID);
        assertThat(program.write(file, command.asSlice(0, CommandHeader.BYTES + 3), null))
                .isEqualTo(INVALID);
    }

    @Test
    void aShortStructureIsRefused() {
        assertThat(program.send(file, CmNumbers.CONNECT, Connect.ENHANCEMENT - 1, connect -> {}))
                .isEqualTo(INVALID);
        assertThat(program.send(file, CmNumbers.QUERY, Query.BYTES - 1, query -> {}))
                .isEqualTo(INVALID);
    }

    @Test
    void aShortResponseIsRefused() {
        MemorySegment response = program.marked(4);
        assertThat(program.ask(file, CmNumbers.CREATE_ID, CreateId.BYTES, CreateId.RESPONSE, response, 3, create -> {}))
                .isEqualTo(Errno.ENOSPC.number());
        assertThat(program.ask(
                        file, CmNumbers.DESTROY_ID, DestroyId.BYTES, DestroyId.RESPONSE, response, 3, destroy -> {}))
                .isEqualTo(Errno.ENOSPC.number());
        assertThat(Program.isUntouched(response, 0)).isTrue();
    }

    @Test
    void aNumberIsOnlyValidInItsFile() {
        int id = program.create(file, 1, PortSpace.TCP);
        CmFile other = program.open();
        assertThat(program.simple(file, CmNumbers.DISCONNECT, Disconnect.BYTES, id + 1))
                .isEqualTo(Errno.ENOENT.number());
        assertThat(program.simple(other, CmNumbers.DISCONNECT, Disconnect.BYTES, id))
                .isEqualTo(INVALID);
        assertThat(program.destroy(file, id)).isZero();
        assertThat(program.simple(file, CmNumbers.DISCONNECT, Disconnect.BYTES, id))
                .isEqualTo(Errno.ENOENT.number());
    }

    @Test
    void commandsThatNeedADeviceAreRefusedWithoutOne() {
        int id = program.create(file, 1, PortSpace.TCP);
        assertThat(program.simple(file, CmNumbers.DISCONNECT, Disconnect.BYTES, id))
                .isEqualTo(INVALID);
        assertThat(program.simple(file, CmNumbers.RESOLVE_ROUTE, ResolveRoute.BYTES, id))
                .isEqualTo(INVALID);
        assertThat(program.send(file, CmNumbers.NOTIFY, Notify.BYTES, notify -> {
                    Fields.putInt(notify, Notify.ID, id);
                    Fields.putInt(notify, Notify.EVENT, CmNumbers.COMMUNICATION_ESTABLISHED);
                }))
                .isEqualTo(INVALID);
    }

    @Test
    void addressesOfInfinibandAreRefused() throws Exception {
        int id = program.create(file, 1, PortSpace.IB);
        assertThat(program.send(file, CmNumbers.BIND, Bind.BYTES, bind -> {
                    Fields.putInt(bind, Bind.ID, id);
                    int bytes = SocketAddresses.write(bind, Bind.ADDRESS, new Gid(1, 2));
                    Fields.putShort(bind, Bind.ADDRESS_BYTES, bytes);
                }))
                .isEqualTo(INVALID);
    }

    @Test
    void anAddressOfAnotherHostCannotBeBoundAndCannotBeASource() {
        InetSocketAddress foreign = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.99"), 0);
        assertThat(program.bind(file, program.create(file, 1, PortSpace.TCP), foreign))
                .isEqualTo(Errno.EADDRNOTAVAIL.number());
        int id = program.create(file, 2, PortSpace.TCP);
        assertThat(program.send(file, CmNumbers.RESOLVE_IP, ResolveIp.BYTES, resolve -> {
                    Fields.putInt(resolve, ResolveIp.ID, id);
                    Fields.putInt(resolve, ResolveIp.TIMEOUT_MILLIS, 1000);
                    SocketAddresses.write(resolve, ResolveIp.SOURCE, foreign);
                    SocketAddresses.write(
                            resolve,
                            ResolveIp.DESTINATION,
                            new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 7471));
                }))
                .isEqualTo(Errno.EADDRNOTAVAIL.number());
    }

    @Test
    void optionsThatTheKernelRefusesAreRefused() {
        int connection = program.create(file, 1, PortSpace.TCP);
        int datagrams = program.create(file, 2, PortSpace.UDP);
        int listener = program.create(file, 3, PortSpace.TCP);
        program.listen(file, listener, 1);
        MemorySegment one = program.arena.allocate(Integer.BYTES, Integer.BYTES);
        Fields.putInt(one, 0, 1);
        assertThat(setOption(connection, CmNumbers.OPTION_ACK_TIMEOUT, one, Byte.BYTES))
                .isZero();
        assertThat(setOption(connection, CmNumbers.OPTION_ACK_TIMEOUT, one, Integer.BYTES))
                .isEqualTo(INVALID);
        assertThat(setOption(datagrams, CmNumbers.OPTION_ACK_TIMEOUT, one, Byte.BYTES))
                .isEqualTo(INVALID);
        assertThat(setOption(connection, CmNumbers.OPTION_REUSE_ADDRESS, one, Integer.BYTES))
                .isZero();
        assertThat(setOption(listener, CmNumbers.OPTION_REUSE_ADDRESS, one, Integer.BYTES))
                .isEqualTo(INVALID);
        assertThat(setOption(listener, CmNumbers.OPTION_FAMILY_ONLY, one, Integer.BYTES))
                .isEqualTo(INVALID);
        assertThat(setOption(connection, 99, one, Integer.BYTES)).isEqualTo(Errno.ENOSYS.number());
        assertThat(setOption(connection, CmNumbers.OPTION_TYPE_OF_SERVICE, MemorySegment.NULL, Byte.BYTES))
                .isEqualTo(Errno.EFAULT.number());
    }

    private int setOption(int id, int name, MemorySegment value, int bytes) {
        return program.send(file, CmNumbers.SET_OPTION, SetOption.BYTES, option -> {
            Fields.putLong(option, SetOption.VALUE, value.address());
            Fields.putInt(option, SetOption.ID, id);
            Fields.putInt(option, SetOption.LEVEL, CmNumbers.LEVEL_ID);
            Fields.putInt(option, SetOption.NAME, name);
            Fields.putInt(option, SetOption.VALUE_BYTES, bytes);
        });
    }

    @Test
    void anUnboundListenerGetsAPortOfAllAddresses() {
        int id = program.create(file, 1, PortSpace.TCP);
        program.listen(file, id, 1);
        program.listen(file, id, 1); // as in Linux, nothing changes
    }

    @Test
    void unsupportedCommandsAreRefused() {
        assertThat(program.send(file, CmNumbers.GET_OPTION, 0, none -> {})).isEqualTo(Errno.ENOSYS.number());
        assertThat(program.send(file, CmNumbers.RESOLVE_SERVICE, 0, none -> {})).isEqualTo(Errno.EOPNOTSUPP.number());
        assertThat(program.send(file, 99, 0, none -> {})).isEqualTo(INVALID);
    }

    @Test
    void closingAFileDestroysItsIdentifiers() {
        CmFile other = program.open();
        int id = program.create(other, 1, PortSpace.TCP);
        program.files.close(other);
        assertThat(program.simple(file, CmNumbers.DISCONNECT, Disconnect.BYTES, id))
                .isEqualTo(Errno.ENOENT.number());
    }

    @Test
    void aNumberIsReusedLate() {
        NumberTable<String> table = new NumberTable<>();
        int first = table.add("first");
        assertThat(table.remove(first, "other")).isFalse();
        assertThat(table.remove(first, "first")).isTrue();
        assertThat(table.find(first)).isNull();
        assertThat(table.add("second")).isNotEqualTo(first);
        for (int i = 0; i < 3000; i++) {
            int number = table.add("more" + i);
            assertThat(table.find(number)).isEqualTo("more" + i);
            assertThat(number).isLessThan(1 << 16);
        }
    }
}
