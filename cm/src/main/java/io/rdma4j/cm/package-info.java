/** The RDMA connection manager API: event channels, identifiers, events. */
package io.rdma4j.cm;
