/** Utilities of the host for connection management: routes, the text of addresses, and tasks at the end of the process. */
package io.rdma4j.cm.host;
