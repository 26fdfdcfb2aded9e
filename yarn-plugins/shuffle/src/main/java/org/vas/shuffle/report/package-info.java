/**
 * What reduce tasks report of their reads to this node's {@code ShuffleNodeService}, which sums it:
 * a task's own metrics end with its process.
 */
package org.vas.shuffle.report;
