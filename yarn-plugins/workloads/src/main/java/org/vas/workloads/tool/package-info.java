/** Base classes of the project's own jobs. */
package org.vas.workloads.tool;
