/** A job of any shape whose output tells whether a shuffle was right: docs/shuffle.md, "Tests". */
package org.vas.workloads.probe;
