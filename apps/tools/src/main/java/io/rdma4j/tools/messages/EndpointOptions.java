package io.rdma4j.tools.messages;

import org.jspecify.annotations.Nullable;

/**
 * The server's address and port.
 *
 * @param server {@code -s}: the server's address as typed, or null for none
 * @param port {@code -p}: the server's port as typed
 */
record EndpointOptions(@Nullable String server, String port) {}
