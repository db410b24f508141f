/** The tools over RDMA sockets: rstream and its family. */
package io.rdma4j.tools.sockets;
