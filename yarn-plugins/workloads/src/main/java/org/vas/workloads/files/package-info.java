/** How many files a job's map output takes: docs/bench-shuffle.md. */
package org.vas.workloads.files;
