package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.CmMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Listeners by service ID.
 *
 * @param <M> the kind of request
 */
final class ListenerTable<M extends CmMessage> {
    private final Map<Long, List<ListenedService<M>>> listeners = new HashMap<>();

    ListenedService<M> listen(long serviceId, RequestFilter<M> filter, int backlog, Object attachment) {
        ListenedService<M> service = new ListenedService<>(this, serviceId, filter, backlog, attachment);
        listeners.computeIfAbsent(serviceId, id -> new ArrayList<>(1)).add(service);
        return service;
    }

    /** Returns the listeners of a service ID in registration order. */
    List<ListenedService<M>> of(long serviceId) {
        return listeners.getOrDefault(serviceId, List.of());
    }

    void remove(ListenedService<M> service) {
        List<ListenedService<M>> registered = listeners.get(service.serviceId());
        if (registered != null && registered.remove(service) && registered.isEmpty()) {
            listeners.remove(service.serviceId());
        }
    }
}
