/** Queue pair 1, the general services interface, and the multicast groups that the main engine receives. */
package io.rdma4j.soft.gsi;
