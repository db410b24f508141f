/** The tools over RDMA sockets: rstream, riostream, udpong and rcopy. */
package io.rdma4j.tools.sockets;
