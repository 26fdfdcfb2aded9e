/** Counts the files of a job's map output: docs/bench-shuffle.md. */
package org.vas.workloads.files;
