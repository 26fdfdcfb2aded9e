/** What a map attempt leaves on Lustre: segments in files, and the manifest that publishes them. */
package org.vas.shuffle.mof;
