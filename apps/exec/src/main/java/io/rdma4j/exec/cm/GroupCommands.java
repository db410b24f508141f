package io.rdma4j.exec.cm;

import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.cm.abi.CmStructures.CreatedId;
import io.rdma4j.cm.abi.CmStructures.DestroyId;
import io.rdma4j.cm.abi.CmStructures.DestroyedId;
import io.rdma4j.cm.abi.CmStructures.JoinGroup;
import io.rdma4j.cm.abi.CmStructures.JoinIpGroup;
import io.rdma4j.cm.abi.SocketAddresses;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/** Multicast groups. */
final class GroupCommands {
    private GroupCommands() {}

    static void joinIp(Request request) {
        MemorySegment join = request.structure(JoinIpGroup.BYTES);
        join(
                request,
                request.identifier(JoinIpGroup.ID),
                group(join, JoinIpGroup.ADDRESS),
                Fields.longAt(join, JoinIpGroup.UID),
                JoinIpGroup.RESPONSE);
    }

    static void join(Request request) {
        MemorySegment join = request.structure(JoinGroup.BYTES);
        if (Fields.shortAt(join, JoinGroup.ADDRESS_BYTES) != SocketAddresses.bytesOf(join, JoinGroup.ADDRESS)) {
            throw Request.invalid("the size of the address is wrong");
        }
        join(
                request,
                request.identifier(JoinGroup.ID),
                group(join, JoinGroup.ADDRESS).withFlag(flag(Fields.shortAt(join, JoinGroup.FLAGS))),
                Fields.longAt(join, JoinGroup.UID),
                JoinGroup.RESPONSE);
    }

    private static MulticastJoinAttributes group(MemorySegment from, int at) {
        InetSocketAddress address = SocketAddresses.read(from, at);
        if (address == null) {
            throw Request.invalid("the address of the group is not an IP address");
        }
        return MulticastJoinAttributes.of(address.getAddress());
    }

    private static MulticastJoinFlag flag(int code) {
        for (MulticastJoinFlag each : MulticastJoinFlag.values()) {
            if (each.code() == code) {
                return each;
            }
        }
        throw Request.invalid("join flags " + code);
    }

    private static void join(
            Request request, Identifier identifier, MulticastJoinAttributes group, long uid, int responseAt) {
        request.requireResponse(CreatedId.BYTES);
        CmFiles files = request.file.files;
        Membership membership = new Membership(identifier, uid);
        synchronized (identifier.commandLock) {
            identifier.withDevice();
            files.add(membership);
            boolean joined = false;
            try {
                identifier.provider().joinMulticast(group, membership);
                joined = true;
            } finally {
                if (!joined) {
                    files.forget(membership);
                }
            }
        }
        request.respond(responseAt, membership.number());
    }

    static void leave(Request request) {
        request.requireResponse(DestroyedId.BYTES);
        int number = Fields.intAt(request.structure(DestroyId.BYTES), DestroyId.ID);
        CmFiles files = request.file.files;
        Membership left = files.removeMembership(request.file, number);
        synchronized (left.owner.commandLock) {
            left.owner.provider().leaveMulticast(left);
        }
        request.respond(DestroyId.RESPONSE, files.cleanEvents(left));
    }
}
