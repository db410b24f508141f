package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmRoute;
import java.lang.foreign.MemorySegment;

/**
 * A MAD with its addresses, received or to be sent. Immutable.
 *
 * @param route source and destination, as local and remote address
 * @param trafficClass IPv4 type of service or IPv6 traffic class of a MAD to be sent; unused in a received one
 * @param mad the bytes after BTH and DETH, without padding and ICRC: 256, unless a peer sends another length. Those of a MAD
 *     to be sent never change; those of a received one need to be valid only during {@link CmAgent#onMad}
 */
public record CmDatagram(CmRoute route, int trafficClass, MemorySegment mad) {
    /** Creates the MAD of a message to be sent. */
    static CmDatagram of(CmMessage message, long transactionId, CmRoute route, int trafficClass) {
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        message.emit(mad, 0, transactionId);
        return new CmDatagram(route, trafficClass, mad.asReadOnly());
    }
}
