/** Faults of a file system at named points, for tests of jobs on a real cluster. */
package org.vas.workloads.fault;
