/** The verbs API: devices, memory regions, queue pairs and completion queues, and the interface of their providers. */
package io.rdma4j.verbs;
