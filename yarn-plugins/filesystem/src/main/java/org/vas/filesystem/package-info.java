/** {@code lustre:///}: a mounted Lustre as a Hadoop file system that knows where stripes lie. */
package org.vas.filesystem;
