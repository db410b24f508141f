/**
 * Declares the nullness annotations that the sources use, so that the launcher can compile them without a download.
 * Only the launcher's compiler uses this module. The Maven build checks nullness with JSpecify's annotations.
 */
module org.jspecify {
    exports org.jspecify.annotations;
}
