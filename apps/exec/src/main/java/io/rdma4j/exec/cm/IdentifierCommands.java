package io.rdma4j.exec.cm;

import io.rdma4j.cm.abi.CmStructures.CreateId;
import io.rdma4j.cm.abi.CmStructures.CreatedId;
import io.rdma4j.cm.abi.CmStructures.DestroyId;
import io.rdma4j.cm.abi.CmStructures.DestroyedId;
import io.rdma4j.cm.abi.CmStructures.MigrateId;
import io.rdma4j.cm.abi.CmStructures.MigratedId;
import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Creates, destroys and moves identifiers. */
final class IdentifierCommands {
    private IdentifierCommands() {}

    static void create(Request request) {
        request.requireResponse(CreatedId.BYTES);
        MemorySegment create = request.structure(CreateId.BYTES);
        PortSpace portSpace = portSpace(Fields.shortAt(create, CreateId.PORT_SPACE));
        QueuePairType type = portSpace == PortSpace.IB
                ? type(Fields.byteAt(create, CreateId.QUEUE_PAIR_TYPE))
                : portSpace.queuePairType();
        CmFile file = request.file;
        CmFiles files = file.files;
        Identifier created = new Identifier(files, file, Fields.longAt(create, CreateId.UID), portSpace, type);
        created.provider(Failures.reporting(() -> files.provider().create(portSpace, type, created)));
        files.add(created);
        request.respond(CreateId.RESPONSE, created.number());
    }

    private static PortSpace portSpace(int code) {
        return PortSpace.ofCode(code).orElseThrow(() -> Request.invalid("port space " + code));
    }

    private static QueuePairType type(int code) {
        return QueuePairType.ofCode(code).orElseThrow(() -> Request.invalid("queue pair type " + code));
    }

    static void destroy(Request request) {
        request.requireResponse(DestroyedId.BYTES);
        int number = Fields.intAt(request.structure(DestroyId.BYTES), DestroyId.ID);
        CmFiles files = request.file.files;
        request.respond(DestroyId.RESPONSE, files.destroy(files.hide(request.file, number)));
    }

    /** Moves an identifier to the file that the command is written to. */
    static void migrate(Request request, @Nullable CmFile from) {
        request.requireResponse(MigratedId.BYTES);
        MemorySegment migrate = request.structure(MigrateId.BYTES);
        if (from == null) {
            throw Request.invalid("the descriptor to migrate from does not belong to this device");
        }
        int number = Fields.intAt(migrate, MigrateId.ID);
        request.respond(MigrateId.RESPONSE, request.file.files.migrate(from, number, request.file));
    }
}
