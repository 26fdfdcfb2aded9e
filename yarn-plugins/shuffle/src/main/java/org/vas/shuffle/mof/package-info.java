/** The files of a map attempt on Lustre: segments, and the manifest that publishes them. */
package org.vas.shuffle.mof;
