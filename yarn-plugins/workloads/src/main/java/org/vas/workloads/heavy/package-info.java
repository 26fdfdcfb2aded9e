/**
 * Four jobs whose maps leave much to shuffle, of those that the dissertation measures in 5.2.8:
 * docs/bench.md. Their code is our own, and follows what those programs are known to compute. The
 * bytes of an output are the same in every run on the same input, whatever combiners ran.
 */
package org.vas.workloads.heavy;
