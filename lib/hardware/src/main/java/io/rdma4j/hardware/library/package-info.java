/** Calls of libibverbs through the foreign-function API. */
package io.rdma4j.hardware.library;
