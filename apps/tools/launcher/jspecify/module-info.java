/**
 * The names of the nullness annotations that the sources use, so that the launcher can compile without a download. Only
 * the compiler sees this module: the Maven build checks with JSpecify's own.
 */
module org.jspecify {
    exports org.jspecify.annotations;
}
