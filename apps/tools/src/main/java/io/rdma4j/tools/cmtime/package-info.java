/** cmtime: opens many connections and reports how long each step takes. */
package io.rdma4j.tools.cmtime;
