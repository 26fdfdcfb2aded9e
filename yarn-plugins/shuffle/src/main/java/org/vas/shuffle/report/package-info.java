/**
 * Reports of reduce tasks on their reads, to this node's {@code ShuffleNodeService}: it sums them,
 * as a task's own metrics end with its process.
 */
package org.vas.shuffle.report;
