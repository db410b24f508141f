package io.rdma4j.exec.cm;

import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.verbs.Errno;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Executes the commands of a program. Thread safe. */
final class Commands {
    private Commands() {}

    /**
     * Executes a command.
     *
     * @param file the file that the program has written to
     * @param written the command with its header
     * @param other the file of the descriptor in the command, or null
     * @return 0 or a positive error number; {@code EAGAIN} if there is no event
     * @throws RuntimeException if the command or the provider refuses it
     */
    static int execute(CmFile file, MemorySegment written, @Nullable CmFile other) {
        Request request = new Request(file, written);
        switch (request.command()) {
            case CmNumbers.CREATE_ID -> IdentifierCommands.create(request);
            case CmNumbers.DESTROY_ID -> IdentifierCommands.destroy(request);
            case CmNumbers.MIGRATE_ID -> IdentifierCommands.migrate(request, other);
            case CmNumbers.SET_OPTION -> OptionCommands.set(request);
            case CmNumbers.BIND_IP -> AddressCommands.bindIp(request);
            case CmNumbers.BIND -> AddressCommands.bind(request);
            case CmNumbers.RESOLVE_IP -> AddressCommands.resolveIp(request);
            case CmNumbers.RESOLVE_ADDRESS -> AddressCommands.resolveAddress(request);
            case CmNumbers.RESOLVE_ROUTE -> AddressCommands.resolveRoute(request);
            case CmNumbers.QUERY_ROUTE -> QueryCommands.route(request);
            case CmNumbers.QUERY -> QueryCommands.query(request);
            case CmNumbers.INITIALIZE_ATTRIBUTES -> QueryCommands.attributes(request);
            case CmNumbers.CONNECT -> ConnectionCommands.connect(request);
            case CmNumbers.LISTEN -> ConnectionCommands.listen(request);
            case CmNumbers.ACCEPT -> ConnectionCommands.accept(request);
            case CmNumbers.REJECT -> ConnectionCommands.reject(request);
            case CmNumbers.DISCONNECT -> ConnectionCommands.disconnect(request);
            case CmNumbers.NOTIFY -> ConnectionCommands.notifyEvent(request);
            case CmNumbers.JOIN_IP_GROUP -> GroupCommands.joinIp(request);
            case CmNumbers.JOIN_GROUP -> GroupCommands.join(request);
            case CmNumbers.LEAVE_GROUP -> GroupCommands.leave(request);
            case CmNumbers.WRITE_EVENT -> EventCommands.write(request);
            case CmNumbers.GET_EVENT -> {
                return EventCommands.take(request) ? 0 : Errno.EAGAIN.number();
            }
            case CmNumbers.RESOLVE_SERVICE -> {
                return Errno.EOPNOTSUPP.number(); // needs the subnet administrator of InfiniBand
            }
            case CmNumbers.GET_OPTION -> {
                return Errno.ENOSYS.number(); // as in the kernel
            }
            default -> {
                return Errno.EINVAL.number();
            }
        }
        return 0;
    }
}
