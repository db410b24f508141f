/**
 * The link set that uses Linux system calls through the foreign-function API. Not exported, and loaded only if native
 * access is enabled for this module.
 */
package io.rdma4j.link.linux;
