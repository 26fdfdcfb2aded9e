/** Makes input for the project's own jobs, the same for the same seed. */
package org.vas.workloads.data;
