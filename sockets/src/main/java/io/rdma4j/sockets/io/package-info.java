/** Sockets over queue pairs: drives the protocols, waits, and connects. What the public classes are made of. */
package io.rdma4j.sockets.io;
