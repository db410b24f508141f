package io.rdma4j.exec.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.abi.CmStructures.DatagramService;
import io.rdma4j.cm.abi.CmStructures.Event;
import io.rdma4j.cm.abi.CmStructures.GetEvent;
import io.rdma4j.cm.abi.CmStructures.Parameters;
import io.rdma4j.cm.abi.CmStructures.WriteEvent;
import io.rdma4j.cm.abi.KernelParameters;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;

/** Takes and writes events. */
final class EventCommands {
    /** The size of an event in a librdmacm without enhanced connection establishment. */
    private static final int SHORTEST = Event.ENHANCEMENT - Integer.BYTES;

    private EventCommands() {}

    /** Takes an event; returns false if there is none. */
    static boolean take(Request request) {
        request.requireResponse(SHORTEST);
        request.structure(GetEvent.BYTES);
        return request.file.files.takeEvent(request.file, event -> {
            MemorySegment response = Request.memory(Event.BYTES);
            write(response, event);
            request.respond(GetEvent.RESPONSE, response);
        });
    }

    private static void write(MemorySegment response, PendingEvent pending) {
        CmEvent event = pending.event();
        Fields.putLong(response, Event.UID, pending.uid());
        Fields.putInt(response, Event.ID, pending.number());
        Fields.putInt(response, Event.TYPE, event.type().code());
        Fields.putInt(response, Event.STATUS, event.status());
        if (event instanceof CmEvent.User written) {
            Fields.putLong(response, Event.PARAMETERS, written.argument());
        } else if (pending.owner().isDatagram()) {
            writeDatagram(response.asSlice(Event.PARAMETERS, DatagramService.BYTES), event);
        } else {
            MemorySegment parameters = response.asSlice(Event.PARAMETERS, Parameters.BYTES);
            KernelParameters.put(parameters, event.connection());
            Fields.putByte(parameters, Parameters.IS_VALID, 0); // only commands set it
        }
        KernelParameters.put(response.asSlice(Event.ENHANCEMENT), enhancement(event));
    }

    private static ConnectionEnhancement enhancement(CmEvent event) {
        return switch (event) {
            case CmEvent.ConnectRequest request -> request.enhancement();
            case CmEvent.ConnectResponse reply -> reply.enhancement();
            default -> ConnectionEnhancement.NONE;
        };
    }

    /** Writes the parameters that are needed to send to the peer; a request has only private data. */
    private static void writeDatagram(MemorySegment service, CmEvent event) {
        switch (event) {
            case CmEvent.ServiceResolved resolved -> KernelParameters.put(service, resolved.datagram());
            case CmEvent.MulticastJoin join -> KernelParameters.put(service, join.group());
            default -> {
                byte[] privateData = event.privateData();
                Fields.putBytes(service, DatagramService.PRIVATE_DATA, privateData);
                Fields.putByte(service, DatagramService.PRIVATE_DATA_BYTES, privateData.length);
            }
        }
    }

    /** Adds an event that the program has created. */
    static void write(Request request) {
        MemorySegment write = request.structure(WriteEvent.BYTES);
        int type = Fields.intAt(write, WriteEvent.TYPE);
        Identifier identifier = request.identifier(WriteEvent.ID);
        if (type != CmEvent.Type.USER.code()) {
            throw Request.invalid("event " + type);
        }
        identifier.onEvent(
                new CmEvent.User(Fields.intAt(write, WriteEvent.STATUS), Fields.longAt(write, WriteEvent.ARGUMENT)));
    }
}
