/**
 * Runs one server of map output and its clients, without the rest of a job: docs/bench-fetch.md.
 */
package org.vas.workloads.fetch;
