/** What the project's own jobs have in common. */
package org.vas.workloads.tool;
