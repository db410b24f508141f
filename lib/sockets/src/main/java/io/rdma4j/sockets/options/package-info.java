/** Options of RDMA sockets, and the rules that choose between RDMA and TCP. */
package io.rdma4j.sockets.options;
