/** Utilities for connection management on this host: routes, the text of addresses, and tasks at process exit. */
package io.rdma4j.cm.host;
