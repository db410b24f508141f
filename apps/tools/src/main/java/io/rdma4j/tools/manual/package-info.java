/** The manual pages of the tools and the completions for shells, generated from the tools' options and help texts. */
@NullMarked
package io.rdma4j.tools.manual;

import org.jspecify.annotations.NullMarked;
