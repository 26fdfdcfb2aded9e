/** Counting words. */
package org.vas.workloads.words;
