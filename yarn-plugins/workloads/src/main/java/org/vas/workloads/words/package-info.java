/** Jobs that count the words of text. */
package org.vas.workloads.words;
