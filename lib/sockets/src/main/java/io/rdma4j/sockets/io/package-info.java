/**
 * Endpoints, which run the socket protocols over queue pairs, connect and wait. The public classes are built on them.
 */
package io.rdma4j.sockets.io;
