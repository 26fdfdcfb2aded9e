/** Input that is nothing but the maps' numbers. */
package org.vas.workloads.numbered;
