/** Parts that the link sets share; not exported. */
package io.rdma4j.link.internal;
