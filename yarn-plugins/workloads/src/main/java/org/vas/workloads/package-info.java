/**
 * Runs a whole job in one process: for tests, and for {@code vas accept} on a mount
 * (docs/accept.md).
 */
package org.vas.workloads;
