/** Classes shared by the link sets. Not exported. */
package io.rdma4j.link.internal;
