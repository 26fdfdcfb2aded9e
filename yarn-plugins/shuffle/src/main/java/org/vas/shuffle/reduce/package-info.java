/** The reduce side's plugin: which map outputs there are, whether they are intact, and the merge. */
package org.vas.shuffle.reduce;
