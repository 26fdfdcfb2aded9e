/** Input that consists of the maps' numbers alone. */
package org.vas.workloads.numbered;
